import type { Artifact, Progress, TaskLink } from '../../machines/index.ts';
import { currentBody } from '../supervisor/current.ts';
import type { ErrorSource } from '../supervisor/host.ts';
import type { Clock } from '../task/clock.ts';
import type { TaskRecord } from '../task/record.ts';
import { Engine } from './engine.ts';
import { Supervisor } from './supervisor.ts';

/** The task in whose body code runs, for the parts of this package that stand on the runtime. */
export interface CurrentTask {
  /** As it is stored now. */
  readonly record: TaskRecord;
  readonly thread: Supervisor;
  /** What the body got beside its input. */
  readonly prepared: unknown;
  readonly clock: Clock;
  summary(text: string): void;
  progress(progress: Progress): void;
  status(text: string): void;
  artifact(artifact: Artifact): void;
  link(link: TaskLink): void;
  /** Tells whoever runs this of an error that harms nobody else. */
  report(error: unknown, source: ErrorSource): void;
}

/** The task in which the current code runs, also after awaits; `null` outside a task. */
export function currentTask(): CurrentTask | null {
  const executor = currentBody.getStore();
  if (executor === undefined || !(executor.cell.host instanceof Engine)) return null;
  const { cell } = executor;
  const engine = executor.cell.host;
  return {
    get record() {
      return cell.record;
    },
    thread: new Supervisor(engine, cell.record.owner),
    prepared: cell.prepared,
    clock: engine.clock,
    summary: (text) => {
      executor.summary = text;
    },
    progress: (progress) => executor.tell({ kind: 'progress', progress }),
    status: (text) => executor.tell({ kind: 'status', text }),
    artifact: (artifact) => executor.tell({ kind: 'artifact', artifact }),
    link: (link) => executor.tell({ kind: 'link', link }),
    report: (error, source) => engine.report(error, source),
  };
}
