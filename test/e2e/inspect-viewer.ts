import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { createRuntime, defineTask, type Runtime, type RuntimeOptions } from '../../src/index.ts';
import { createInspector, type Inspector, type InspectorOptions } from '../../src/inspect/index.ts';

/** A message as a viewer reads it. */
export interface Shown {
  readonly type: '@xstate.actor' | '@xstate.event' | '@xstate.snapshot';
  readonly sessionId: string;
  readonly rootId: string;
  readonly parentId?: string;
  readonly sourceId?: string;
  readonly id: string;
  readonly createdAt: string;
  readonly _version: string;
  readonly name: string;
  readonly definition: string;
  readonly event: { readonly type: string; readonly [key: string]: unknown };
  readonly snapshot: {
    readonly status: string;
    readonly value?: unknown;
    readonly context?: { readonly attempt: number; readonly evidence: unknown };
  };
}

/** A real viewer at the other end of a real socket. */
export class TestViewer {
  readonly socket: WebSocket;
  readonly texts: string[] = [];
  readonly messages: Shown[] = [];
  #waiting: (() => void)[] = [];

  constructor(url: string) {
    this.socket = new WebSocket(url);
    this.socket.on('message', (data) => {
      const text = String(data);
      this.texts.push(text);
      this.messages.push(JSON.parse(text));
      for (const check of this.#waiting) check();
    });
  }

  static async connect(url: string): Promise<TestViewer> {
    const viewer = new TestViewer(url);
    await once(viewer.socket, 'open');
    return viewer;
  }

  get bytes(): number {
    return this.texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  }

  of(type: Shown['type']): readonly Shown[] {
    return this.messages.filter((message) => message.type === type);
  }

  /** The session of a task's actor, once it was introduced. */
  sessionOf(taskId: string): string | undefined {
    return this.of('@xstate.actor').find(({ name }) => name.endsWith(taskId))?.sessionId;
  }

  /** Resolves with the first message, past or future, that the test accepts. */
  async until(isIt: (message: Shown) => boolean): Promise<Shown> {
    let found: Shown | undefined;
    let seen = 0;
    await this.#wait(() => {
      while (found === undefined && seen < this.messages.length) {
        const message = this.messages[seen];
        if (message && isIt(message)) found = message;
        seen += 1;
      }
      return found !== undefined;
    });
    if (found === undefined) throw new Error('unreachable');
    return found;
  }

  /** Resolves when the task's actor has been seen in this state. */
  reached(taskId: string, value: unknown): Promise<Shown> {
    const wanted = JSON.stringify(value);
    return this.until(
      ({ type, sessionId, snapshot }) =>
        type === '@xstate.snapshot' &&
        sessionId === this.sessionOf(taskId) &&
        JSON.stringify(snapshot.value) === wanted,
    );
  }

  /** Resolves when so many messages have come. */
  async count(count: number): Promise<void> {
    await this.#wait(() => this.messages.length >= count);
  }

  #wait(isDone: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const check = () => {
        if (!isDone()) return;
        this.#waiting = this.#waiting.filter((each) => each !== check);
        resolve();
      };
      this.#waiting.push(check);
      check();
    });
  }
}

/** Works until it is told to leave. */
export const wait = defineTask({
  name: 'wait',
  resumable: true,
  run: ({ signal }) =>
    new Promise<void>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
    }),
});

/** Asks for a password and ends with what it was told. */
export const ask = defineTask({
  name: 'ask',
  run: ({ requestInput }) => requestInput({ prompt: 'password?', data: { hint: 'hush' } }),
});

/** Gives back what it is sent, as often as it is sent something. */
export const echo = defineTask({
  name: 'echo',
  run: async ({ messages, evidence }) => {
    for await (const { content } of messages) evidence(content);
  },
});

/** A runtime that is inspected, with room for many tasks. Both are closed after the test. */
export async function open(
  options: InspectorOptions = {},
  runtimeOptions: RuntimeOptions = {},
  wrap = (inspect: Inspector['inspect']) => inspect,
): Promise<{ readonly inspector: Inspector; readonly runtime: Runtime }> {
  const inspector = await createInspector(options);
  const runtime = await createRuntime({
    tasks: [wait, ask, echo],
    limits: { perOwner: 10_000, perRuntime: 10_000 },
    inspect: wrap(inspector.inspect),
    ...runtimeOptions,
  });
  onTestFinished(async () => {
    await runtime.close();
    await inspector.close();
  });
  return { inspector, runtime };
}
