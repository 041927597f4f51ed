import type { Json } from '../../src/index.ts';
import type { Point } from './points.ts';

/** Holds a worker at a point. It waits there to be killed, or until it is let go. */
export interface Arm {
  readonly type: 'arm';
  readonly point: Point;
  /** How many times to pass the point first. */
  readonly skip: number;
  readonly then: 'park' | 'wait';
}

/** Asks a worker for one thing by name, for scenarios that leave nothing to chance. */
export interface Ask {
  readonly type: 'ask';
  readonly id: number;
  readonly what: 'spawn' | 'cancel' | 'stop' | 'counts';
  readonly definition?: string;
  readonly input?: Json;
  readonly key?: string;
  readonly task?: string;
}

/** From the driver to a worker. */
export type Order =
  | Arm
  | Ask
  /** Start nothing new, help what runs to its end. */
  | { readonly type: 'drain' }
  /** Close everything and exit. */
  | { readonly type: 'leave' };

/** From a worker to the driver. */
export type Word =
  | { readonly type: 'ready' }
  | { readonly type: 'at'; readonly point: Point }
  | { readonly type: 'answer'; readonly id: number; readonly value: Json };

/** How a worker is set up. */
export interface WorkerSettings {
  readonly path: string;
  readonly journal: string;
  readonly seed: number;
  readonly leaseMs: number;
  /** Whether it makes work for itself, or does only what it is asked for. */
  readonly workload: 'random' | 'asked';
}

export const OWNERS = ['thread-1', 'thread-2', 'thread-3'] as const;
