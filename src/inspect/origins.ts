const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Decides who may connect. A browser names the page it connects for, and any page on the web can
 * reach a port of this machine; so only pages of allowed origins get in. Programs name none.
 */
export function originCheck(allowed: readonly string[]): (origin: string | undefined) => boolean {
  const origins = new Set(allowed);
  return (origin) => {
    if (origin === undefined || origins.has(origin)) return true;
    return origins.has('loopback') && LOOPBACK.has(URL.parse(origin)?.hostname ?? '');
  };
}
