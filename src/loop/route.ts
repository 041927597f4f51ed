import type { Mode } from '../../machines/index.ts';
import { checkDuration, checkOneOf, invalid } from '../task/options.ts';
import type { ToolCall } from '../tools/tool.ts';

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

/** Decides before a call starts, so that no task can be faster than the decision. */
export function routeOf(routing: Routing, request: RouteRequest): Route {
  if (typeof routing === 'function') return checkRoute(routing(request));
  if (typeof routing === 'string' || 'detachAfterMs' in routing) return checkRoute(routing);
  const { tools = {}, otherwise = 'foreground' } = routing;
  const { tool } = request.call;
  return checkRoute((Object.hasOwn(tools, tool) ? tools[tool] : undefined) ?? otherwise);
}

function checkRoute(route: Route): Route {
  if (typeof route === 'string') {
    return checkOneOf<Mode>('route', route, ['foreground', 'background']);
  }
  if (typeof route !== 'object' || route === null) {
    throw invalid('route', route, "'foreground', 'background' or { detachAfterMs }");
  }
  checkDuration('route.detachAfterMs', route.detachAfterMs);
  return route;
}
