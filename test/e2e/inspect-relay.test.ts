import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { promisify } from 'node:util';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { createInspector, type InspectorOptions } from '../../src/inspect/index.ts';
import { open, TestViewer, wait } from './inspect-viewer.ts';

describe('the end of an inspector', () => {
  test('ends every connection and frees the port', async () => {
    const { inspector, runtime } = await open();
    const viewer = await TestViewer.connect(inspector.url);
    const idle = connect(inspector.port, '127.0.0.1').resume();
    await once(idle, 'connect');
    const [[code], [hadError]] = await Promise.all([
      once(viewer.socket, 'close'),
      once(idle, 'close'),
      inspector.close(),
      inspector.close(),
    ]);
    expect([code, hadError]).toEqual([1001, false]);
    await expect(fetch(inspector.page)).rejects.toThrow();
    const task = await runtime.supervisor('thread-1').spawn(wait);
    expect(task.status).toBe('running');
    expect(inspector.counts.actors).toBe(0);
    const next = await createInspector({ port: inspector.port });
    await next.close();
  });

  test('leaves nothing that keeps the process alive', async () => {
    const program = `
      import { once } from 'node:events';
      import { WebSocket } from 'ws';
      import { createInspector } from './src/inspect/index.ts';
      import { createRuntime, defineTask } from './src/index.ts';
      const work = defineTask({ name: 'work', run: () => 42 });
      const inspector = await createInspector();
      const runtime = await createRuntime({ tasks: [work], inspect: inspector.inspect });
      const viewer = new WebSocket(inspector.url);
      await once(viewer, 'open');
      const task = await runtime.supervisor('thread-1').spawn(work);
      console.log(await task.result());
      await runtime.close();
      await inspector.close();
    `;
    const options = { cwd: new URL('../..', import.meta.url), timeout: 50_000 };
    const args = ['--input-type=module', '-e', program];
    const { stdout } = await promisify(execFile)(process.execPath, args, options);
    expect(stdout).toBe('42\n');
  });
});

describe('the server', () => {
  test('is reached through 127.0.0.1 only', async () => {
    const { inspector } = await open();
    expect(inspector.url).toBe(`ws://127.0.0.1:${inspector.port}`);
    for (const host of ['127.0.0.2', '::1']) {
      const [error] = await once(connect(inspector.port, host), 'error').catch((e) => [e]);
      expect(error).toMatchObject({ code: expect.stringMatching(/^E(CONNREFUSED|ADDRNOTAVAIL)/) });
    }
  });

  /** What a page of an origin gets: `open`, or the status of a refusal. */
  async function asPage(url: string, origin: string | undefined): Promise<string | number> {
    const socket = new WebSocket(url, origin === undefined ? {} : { headers: { origin } });
    const answer = await Promise.race([
      once(socket, 'open').then(() => 'open'),
      once(socket, 'unexpected-response').then(([, response]) => {
        response.resume();
        return Number(response.statusCode);
      }),
    ]);
    if (answer === 'open') socket.close();
    return answer;
  }

  test.each<[string, InspectorOptions, string | undefined, string | number]>([
    ['lets programs in', {}, undefined, 'open'],
    ['lets Stately in', {}, 'https://stately.ai', 'open'],
    ['lets pages of this machine in', {}, 'http://localhost:5173', 'open'],
    ['lets its own page in', {}, 'http://127.0.0.1:4000', 'open'],
    ['refuses other pages', {}, 'https://example.com', 403],
    ['refuses a page that only sounds local', {}, 'http://localhost.example.com', 403],
    ['refuses a page without a name', {}, 'null', 403],
    ['takes a list instead', { origins: ['https://mine.dev'] }, 'https://mine.dev', 'open'],
    ['refuses what the list lacks', { origins: ['https://mine.dev'] }, 'https://stately.ai', 403],
    ['refuses all pages if none is listed', { origins: [] }, 'http://localhost', 403],
  ])('%s', async (_title, options, origin, expected) => {
    const { inspector } = await open(options);
    expect(await asPage(inspector.url, origin)).toBe(expected);
  });

  test('ignores what viewers say, and closes on those that say too much', async () => {
    const { inspector, runtime } = await open();
    const viewer = await TestViewer.connect(inspector.url);
    viewer.socket.send('not even JSON');
    const task = await runtime.supervisor('thread-1').spawn(wait);
    await viewer.reached(task.id, { running: 'working' });
    viewer.socket.send('x'.repeat(2 ** 17));
    const [code] = await once(viewer.socket, 'close');
    expect(code).toBe(1009);
  });

  test('has a page that connects whenever the framed viewer is ready', async () => {
    const { inspector, runtime } = await open();
    const task = await runtime.supervisor('thread-1').spawn(wait);
    const response = await fetch(inspector.page);
    const html = await response.text();
    const script = /<script>(.*)<\/script>/s.exec(html)?.[1] ?? '';

    const posted = Promise.withResolvers<readonly [{ readonly type: string }, string]>();
    const contentWindow = {
      postMessage: (message: { readonly type: string }, origin: string) =>
        posted.resolve([message, origin]),
    };
    const frame = { contentWindow, src: '' };
    const listeners: ((event: object) => void)[] = [];
    let sockets = 0;
    class PageSocket extends WebSocket {
      constructor(url: string) {
        super(url);
        sockets += 1;
      }
    }
    runInNewContext(script, {
      document: { querySelector: () => frame },
      location: { host: new URL(inspector.page).host },
      addEventListener: (_type: string, listener: (event: object) => void) =>
        listeners.push(listener),
      WebSocket: PageSocket,
    });
    expect(frame.src).toBe('https://stately.ai/inspect');
    const data = { type: '@statelyai.connected' };
    const origin = 'https://stately.ai';
    for (const listener of listeners) listener({ data, origin, source: {} });
    expect(sockets).toBe(0);
    for (const listener of listeners) listener({ data, origin, source: contentWindow });
    const [message, target] = await posted.promise;
    expect([message.type, target]).toEqual(['@xstate.actor', origin]);
    expect(task.status).toBe('running');
    expect((await fetch(`${inspector.page}/else`)).status).toBe(404);
  });
});

describe('options that make no sense are refused', () => {
  test.each<InspectorOptions>([
    { sample: 1.1 },
    { sample: Number.NaN },
    { maxLength: -1 },
    { maxBuffered: 0 },
    { port: 70_000 },
    { origins: ['https://stately.ai/'] },
    { origins: ['stately.ai'] },
  ])('%j', async (options) => {
    const [option] = Object.keys(options);
    await expect(createInspector(options)).rejects.toMatchObject({
      code: 'invalid_option',
      details: { option },
    });
  });

  test('and so is a port that is taken', async () => {
    const { inspector } = await open();
    await expect(createInspector({ port: inspector.port })).rejects.toMatchObject({
      code: 'invalid_option',
      details: { option: 'port', value: inspector.port },
    });
  });
});
