const FAR_AWAY_MS = 2 ** 31 - 1;

let waits = 0;
let timer: NodeJS.Timeout | undefined;

/**
 * Keeps the process alive for as long as somebody waits for something. What ends the wait may come
 * from another process, of which the event loop of this one knows nothing.
 */
export async function holdProcess<Value>(wait: () => Promise<Value>): Promise<Value> {
  timer ??= setInterval(() => {}, FAR_AWAY_MS);
  waits += 1;
  try {
    return await wait();
  } finally {
    waits -= 1;
    if (waits === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  }
}
