import type { ContinuePolicy, Delivery, Json, Mode, TaskLink } from '../../machines/index.ts';
import type { Link, Wake } from './record.ts';

/** How a task is started. */
export interface SpawnOptions {
  /** The id of the task. Default: a new unique one. */
  readonly id?: string;
  /** A second spawn with the same key gives back the first task. Unique for the owner until the task is pruned. */
  readonly key?: string;
  /** Unique among the live siblings; `self`, `parent` and `child` are reserved. */
  readonly name?: string;
  /** Shown to people. Default: the title of the definition. */
  readonly title?: string;
  readonly description?: string;
  /** The id of the parent, or `null` for none. Default: the task in which the call is made, if it has the same owner. */
  readonly parent?: string | null;
  /** Whether it ends with its parent. Default `'linked'`. */
  readonly link?: Link;
  /** Default `'background'`. */
  readonly mode?: Mode;
  /** Which notices wake an idle owner. Default `'onTerminal'`. */
  readonly wake?: Wake;
  /** Whether the end gives a notice. Default: yes for a background task without a parent. */
  readonly notify?: boolean;
  /** Who gets its notices: the loop by itself, or the host that drains them. Default `'loop'`. */
  readonly delivery?: Delivery;
  /** Whether its end asks an idle loop to go on, whatever `wake` says. Default `'notify'`: only by `wake`. */
  readonly continue?: ContinuePolicy;
  /** What the task has to do with. */
  readonly links?: readonly TaskLink[];
  /** Free data, stored and shown as it is. */
  readonly metadata?: Json;
}
