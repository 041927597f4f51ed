import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { OffstageError } from '../task/errors.ts';
import { originCheck } from './origins.ts';
import { PAGE } from './page.ts';
import type { ViewerSocket } from './viewer.ts';

/** Never anything else: what tasks do is nobody's business but this machine's. */
const HOST = '127.0.0.1';

/** How long in ms a viewer may take to say goodbye. */
const GOODBYE_MS = 500;

const GOING_AWAY = 1001;

interface RelayOptions {
  readonly port: number;
  readonly origins: readonly string[];
  /** Takes a viewer in and gives back how to let it go. */
  readonly onViewer: (socket: ViewerSocket) => () => void;
  readonly report: (error: unknown) => void;
}

/** A server that viewers connect to. */
export interface Relay {
  readonly port: number;
  close(): Promise<void>;
}

/** Listens on this machine only. Whatever viewers send is ignored. */
export async function openRelay(options: RelayOptions): Promise<Relay> {
  const { onViewer, report } = options;
  const isAllowed = originCheck(options.origins);
  const sockets = new WebSocketServer({ noServer: true, maxPayload: 2 ** 16 });
  const server = createServer((request, response) => {
    const isPage = request.method === 'GET' && request.url === '/';
    response.writeHead(isPage ? 200 : 404, {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': "frame-ancestors 'none'",
    });
    response.end(isPage ? PAGE : '');
  });
  server.on('upgrade', (request, socket, head) => {
    if (!isAllowed(request.headers.origin)) refuse(socket);
    else sockets.handleUpgrade(request, socket, head, welcome);
  });

  const welcome = (socket: WebSocket) => {
    // A broken connection closes by itself; without a listener it would end the process.
    socket.on('error', () => {});
    socket.on('close', onViewer(socket));
  };

  await listen(server, options.port);
  server.on('error', report);
  const { port } = server.address() as AddressInfo;
  return { port, close: () => shut(server, sockets) };
}

async function listen(server: Server, port: number): Promise<void> {
  server.listen(port, HOST);
  try {
    await once(server, 'listening');
  } catch (cause) {
    throw new OffstageError(
      'invalid_option',
      `\`port\` ${port} of ${HOST} cannot be listened on; choose another, or 0 for a free one.`,
      { option: 'port', value: port },
      cause,
    );
  }
}

function refuse(socket: Duplex): void {
  socket.on('error', () => {});
  // The server leaves its half open otherwise, and waits for the other side when it closes.
  socket.once('finish', () => socket.destroy());
  socket.end('HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
}

async function shut(server: Server, sockets: WebSocketServer): Promise<void> {
  const closed = [once(server, 'close')];
  server.close();
  server.closeAllConnections();
  for (const socket of sockets.clients) {
    closed.push(new Promise((resolve) => socket.once('close', () => resolve([]))));
    socket.close(GOING_AWAY, 'The inspector was closed.');
  }
  const timer = setTimeout(() => {
    for (const socket of sockets.clients) socket.terminate();
  }, GOODBYE_MS);
  await Promise.all(closed);
  clearTimeout(timer);
}
