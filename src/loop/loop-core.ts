import type { ContinuePolicy, Delivery } from '../../machines/index.ts';
import type { Engine } from '../runtime/engine.ts';
import type { Supervisor } from '../runtime/supervisor.ts';
import type { Clock } from '../task/clock.ts';
import type { ToolRegistry } from '../tools/tool-registry.ts';
import type { Approvals } from './approvals.ts';
import type { Routing } from './route.ts';
import type { Turn } from './turn.ts';

/** What the parts of one loop share. */
export interface LoopCore {
  readonly thread: Supervisor;
  readonly engine: Engine;
  readonly clock: Clock;
  readonly tools: ToolRegistry;
  readonly routing: Routing;
  readonly delivery: Delivery;
  readonly continue: ContinuePolicy;
  readonly approvals: Approvals;
  turnOver(turn: Turn): void;
}
