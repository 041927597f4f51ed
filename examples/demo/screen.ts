import { stripVTControlCharacters, styleText } from 'node:util';
import type { Supervisor } from 'offstage';
import { Board } from './board.ts';
import { rowsOf } from './rows.ts';
import type { Stage, Voice } from './stage.ts';

const HIDE_CURSOR = '\x1b[?25l';
const SHOW_CURSOR = '\x1b[?25h';
const CLEAR_BELOW = '\x1b[J';
const CLEAR_LINE = '\x1b[K';
const FRAME_MS = 80;
const INDENT = 9;

/** The terminal, as far as the screen needs it. */
interface Terminal {
  readonly columns: number;
  readonly rows: number;
  write(text: string): unknown;
}

/**
 * Shows the demo on a terminal: the conversation scrolls, and below it the tasks are drawn again
 * and again in place. Rows come from `tasks$`, which is always right; the last lines of output come
 * from `events$`.
 */
export function openScreen(thread: Supervisor, terminal: Terminal): Stage {
  const tails = new Map<string, string>();
  let board = new Board([]);
  let frame = 0;
  let height = 0;

  // Some pseudo-terminals say that they are 0 by 0.
  const width = () => Math.max(20, (terminal.columns || 80) - 1);
  const toTop = () => (height > 0 ? `\x1b[${height}A\r` : '\r');
  const tasks = () => {
    const rule = ` off stage ${'─'.repeat(width() - 12)}`;
    const rows = rowsOf(board, { number: frame, width: width(), tails });
    const shown = rows.length === 0 ? [] : ['', styleText('dim', rule), ...rows];
    return shown.slice(0, (terminal.rows || 24) - 1);
  };
  const draw = (before = '') => {
    const shown = tasks();
    terminal.write(
      `${toTop()}${before}${shown.map((row) => `${row}${CLEAR_LINE}\n`).join('')}${CLEAR_BELOW}`,
    );
    height = shown.length;
  };

  const seeing = thread.tasks$.subscribe((records) => {
    board = new Board(records);
  });
  const hearing = thread.events$.subscribe((event) => {
    if (event.type !== 'output') return;
    const line = stripVTControlCharacters(event.text).trim().split('\n').at(-1);
    if (line) tails.set(event.task, line);
  });
  const timer = setInterval(() => {
    frame += 1;
    draw();
  }, FRAME_MS);
  terminal.write(HIDE_CURSOR);

  return {
    tell(voice, text) {
      draw(`${CLEAR_BELOW}${spoken(voice, wrap(text, width() - INDENT)).join('\n')}\n`);
    },
    end() {
      clearInterval(timer);
      seeing.unsubscribe();
      hearing.unsubscribe();
      draw();
      terminal.write(SHOW_CURSOR);
    },
  };
}

function spoken(voice: Voice, lines: readonly string[]): readonly string[] {
  const indent = ' '.repeat(INDENT);
  const under = (label: string) =>
    lines.map((line, index) => (index === 0 ? label : indent) + line);
  switch (voice) {
    case 'you':
      return ['', ...under(styleText(['bold', 'cyan'], ' you     '))];
    case 'agent':
      return under(styleText(['bold', 'green'], ' agent   '));
    case 'notice':
      return ['', ...under(styleText(['bold', 'yellow'], ' notice  '))];
    case 'demo':
      return ['', ...under(styleText(['bold', 'magenta'], ' demo    '))];
    case 'thought':
      return lines.map((line) => styleText(['dim', 'italic'], indent + line));
    case 'call':
      return lines.map((line, index) =>
        styleText('dim', `${indent}${index === 0 ? '> ' : '  '}${line}`),
      );
  }
}

function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}
