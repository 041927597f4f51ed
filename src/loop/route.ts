import type { Mode } from '../../machines/index.ts';
import { checkDuration, checkOneOf, invalid } from '../task/options.ts';
import type { ToolCall } from '../tools/definition/tool.ts';

/** Where a call runs: a turn waits for it, or none does, or a turn waits for it only so long. */
export type Route = 'foreground' | 'background' | { readonly detachAfterMs: number };

/** What a route is decided from. */
export interface RouteRequest {
  readonly call: ToolCall;
  readonly turn: string;
}

/** Routes by tool, and one for all others. */
export interface RouteTable {
  readonly tools?: { readonly [tool: string]: Route };
  /** Default `'foreground'`. */
  readonly otherwise?: Route;
}

/** How calls are routed: all alike, by tool, or as a function says. */
export type Routing = Route | RouteTable | ((request: RouteRequest) => Route);

/** Refuses a wrong routing at once where that can be seen. */
export function checkRouting(routing: Routing): Routing {
  if (typeof routing === 'function') return routing;
  if (isTable(routing)) {
    const { tools = {}, otherwise = 'foreground' } = routing;
    for (const route of [...Object.values(tools), otherwise]) checkRoute(route);
  } else checkRoute(routing);
  return routing;
}

function isTable(routing: Route | RouteTable): routing is RouteTable {
  return typeof routing === 'object' && routing !== null && !('detachAfterMs' in routing);
}

/** Decides before a call starts, so that no task can be faster than the decision. */
export function routeOf(routing: Routing, request: RouteRequest): Route {
  if (typeof routing === 'function') return checkRoute(routing(request));
  if (!isTable(routing)) return routing;
  const { tools = {}, otherwise = 'foreground' } = routing;
  const { tool } = request.call;
  return (Object.hasOwn(tools, tool) ? tools[tool] : undefined) ?? otherwise;
}

export function checkRoute(route: Route): Route {
  if (typeof route === 'string') {
    return checkOneOf<Mode>('route', route, ['foreground', 'background']);
  }
  // A promise of a route is none: the call must not wait for it.
  if (typeof route === 'object' && route !== null && 'detachAfterMs' in route) {
    checkDuration('route.detachAfterMs', route.detachAfterMs ?? Number.NaN);
    return route;
  }
  throw invalid('route', route, "'foreground', 'background' or { detachAfterMs }");
}
