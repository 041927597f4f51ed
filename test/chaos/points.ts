/** What a task of a worker is doing, or the worker itself, when it is killed. */
export const PHASES = [
  'queued',
  'working',
  'awaitingInput',
  'retrying',
  'joining',
  'cancelling',
  'stopping',
  /** Stopped in order to go on, and not resumed yet. */
  'between',
  /** The worker holds no task. */
  'idle',
] as const;

/** What a worker writes. `create` is a commit with a new task in it. */
const WRITES = [
  'create',
  'commit',
  'claim',
  'renew',
  'release',
  'postCommand',
  'dropCommands',
  'takeNotices',
  'acknowledge',
] as const;

/** Before the call, inside its transaction, and after the COMMIT while nobody has seen the answer. */
const MOMENTS = ['before', 'inside', 'after'] as const;

export type Phase = (typeof PHASES)[number];
export type WriteName = (typeof WRITES)[number];
type Moment = (typeof MOMENTS)[number];
export type PhasePoint = `phase ${Phase}`;
export type WritePoint = `${WriteName} ${Moment}`;
/** Where a worker can be held in order to be killed or stopped there. */
export type Point = PhasePoint | WritePoint;

export const PHASE_POINTS: readonly PhasePoint[] = PHASES.map((phase) => `phase ${phase}` as const);
export const WRITE_POINTS: readonly WritePoint[] = WRITES.flatMap((write) =>
  MOMENTS.map((moment) => `${write} ${moment}` as const),
);
export const POINTS: readonly Point[] = [...PHASE_POINTS, ...WRITE_POINTS];
