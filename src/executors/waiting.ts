/** Whether a promise settles well within a time. The timer does not outlive the answer. */
export async function settlesWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  const { promise: timeIsUp, resolve } = Promise.withResolvers<false>();
  const timer = setTimeout(resolve, ms, false);
  try {
    return await Promise.race([promise.then(() => true as const), timeIsUp]);
  } finally {
    clearTimeout(timer);
  }
}

/** Whether work is over before its signal aborts. A signal that has aborted already comes first. */
export async function endsBeforeAbort(
  work: Promise<unknown>,
  signal: AbortSignal,
): Promise<boolean> {
  if (signal.aborted) return false;
  const { promise: aborted, resolve } = Promise.withResolvers<false>();
  const onAbort = () => resolve(false);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work.then(() => true as const), aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
