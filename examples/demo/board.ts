import type { TaskRecord } from 'offstage';

/** The tasks of the thread as they are stored at one moment. */
export class Board {
  readonly records: readonly TaskRecord[];

  constructor(records: readonly TaskRecord[]) {
    this.records = records;
  }

  /** The tasks that the agent itself has started. */
  get roots(): readonly TaskRecord[] {
    return this.records.filter(({ parent }) => parent === null);
  }

  /** The task of a tool, or the child with that name. */
  find(name: string): TaskRecord | undefined {
    return this.records.find(
      (record) => record.name === name || record.definition === `tool:${name}`,
    );
  }

  childrenOf({ id }: TaskRecord): readonly TaskRecord[] {
    return this.records.filter(({ parent }) => parent === id);
  }

  /** A task and everything below it. */
  tree(name: string): readonly TaskRecord[] {
    const root = this.find(name);
    if (root === undefined) return [];
    return this.records.filter(
      ({ id, lineage }) => id === root.id || lineage.some((ancestor) => ancestor.id === root.id),
    );
  }

  /** Whether a task has ended for good. */
  hasEnded(name: string): boolean {
    const status = this.find(name)?.status ?? 'running';
    return status !== 'running' && status !== 'stopped';
  }

  /** How far a task has come, 0 if it has not said. */
  reached(name: string): number {
    return this.find(name)?.progress?.current ?? 0;
  }
}
