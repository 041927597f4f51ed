/** The time and the timers of a runtime. Tests use a virtual one. */
export interface Clock {
  now(): number;
  /** Calls back once after `ms`; gives back how to call it off. */
  after(ms: number, callback: () => void): () => void;
  /** Calls back again and again, without keeping the process alive; gives back how to end it. */
  every(ms: number, callback: () => void): () => void;
}

const LONGEST = 2 ** 31 - 1;

/** Node's own time. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, Math.min(ms, LONGEST));
    return () => clearTimeout(timer);
  },
  every(ms, callback) {
    const timer = setInterval(callback, Math.min(ms, LONGEST)).unref();
    return () => clearInterval(timer);
  },
};
