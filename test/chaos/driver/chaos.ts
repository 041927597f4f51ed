import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { findViolations } from '../checks/find-violations.ts';
import { JournalFile, readJournal } from '../journal.ts';
import type { Point } from '../points.ts';
import type { WorkerSettings } from '../protocol.ts';
import { randomFrom } from '../random.ts';
import { type Fault, KillPlan } from './plan.ts';
import { untilSettled } from './settled.ts';
import { WorkerProcess } from './worker-process.ts';

export interface ChaosOptions {
  readonly kills: number;
  readonly seed: number;
  readonly workers: number;
}

export interface ChaosResult {
  readonly plan: KillPlan;
  readonly violations: readonly string[];
  readonly tasks: number;
  readonly directory: string;
  readonly seconds: number;
  /** Processes that lost their lease because the machine was slow, not because they were stopped. */
  readonly late: number;
}

const LEASE_MS = 1_500;
const POINT_PATIENCE_MS = 2_500;
const EXIT_PATIENCE_MS = 15_000;

/** Runs workers on one file and kills them, until each point has had its kills; then looks what is left. */
export class Chaos {
  readonly #options: ChaosOptions;
  readonly #plan: KillPlan;
  readonly #random: () => number;
  readonly #directory = mkdtempSync(join(tmpdir(), 'offstage-chaos-'));
  readonly #journal: JournalFile;
  readonly #violations: string[] = [];
  #started = 0;

  constructor(options: ChaosOptions) {
    this.#options = options;
    this.#random = randomFrom(options.seed);
    this.#plan = new KillPlan(options.kills, this.#random);
    this.#journal = new JournalFile(this.#journalPath);
  }

  get #path(): string {
    return join(this.#directory, 'tasks.db');
  }

  get #journalPath(): string {
    return join(this.#directory, 'journal.jsonl');
  }

  async run(onKill: (plan: KillPlan) => void = () => {}): Promise<ChaosResult> {
    const began = performance.now();
    const slots = Array.from({ length: this.#options.workers }, () => this.#slot(onKill));
    const survivors = await Promise.all(slots);
    await this.#drain(survivors);
    const { violations, tasks, late } = await findViolations(
      this.#path,
      readJournal(this.#journalPath),
    );
    return {
      plan: this.#plan,
      violations: [...this.#violations, ...violations],
      tasks,
      late,
      directory: this.#directory,
      seconds: (performance.now() - began) / 1_000,
    };
  }

  /** One worker after the other; gives back the one that is left alive. */
  async #slot(onKill: (plan: KillPlan) => void): Promise<WorkerProcess> {
    for (;;) {
      const worker = this.#start();
      await worker.ready();
      if (this.#plan.isDone || this.#plan.isHopeless) return worker;
      let fault = this.#plan.next();
      for (; fault.kind === 'freeze'; fault = this.#plan.next()) await this.#freeze(worker);
      const at = await this.#reach(worker, fault);
      await worker.kill(at);
      this.#plan.killed(fault, at);
      if (worker.printed) this.#violations.push(`worker ${worker.pid} printed ${worker.printed}`);
      onKill(this.#plan);
    }
  }

  #start(): WorkerProcess {
    this.#started += 1;
    const settings: WorkerSettings = {
      path: this.#path,
      journal: this.#journalPath,
      seed: this.#options.seed * 10_007 + this.#started,
      leaseMs: LEASE_MS,
      workload: 'random',
    };
    return new WorkerProcess(settings, this.#journal);
  }

  async #reach(worker: WorkerProcess, fault: Exclude<Fault, { kind: 'freeze' }>) {
    if (fault.kind === 'random') {
      await Promise.race([pause(fault.afterMs), worker.exited]);
      return 'random' as const;
    }
    const reached = worker.at(fault.point, 'park', fault.skip);
    const at = await Promise.race([reached, later(POINT_PATIENCE_MS)]);
    return at === null ? ('random' as const) : (fault.point satisfies Point);
  }

  async #freeze(worker: WorkerProcess): Promise<void> {
    // With a write on its way: it reaches the file before anything tells the worker of its loss.
    await Promise.race([worker.at('commit before', 'wait'), later(POINT_PATIENCE_MS)]);
    worker.freeze();
    this.#journal.note({ what: 'late' }, worker.pid);
    await pause(LEASE_MS * 1.6);
    worker.thaw();
    await pause(LEASE_MS / 2);
  }

  async #drain(workers: readonly WorkerProcess[]): Promise<void> {
    for (const worker of workers) worker.order({ type: 'drain' });
    this.#violations.push(...(await untilSettled(this.#path)));
    for (const worker of workers) worker.order({ type: 'leave' });
    for (const worker of workers) {
      const code = await Promise.race([worker.exited, later(EXIT_PATIENCE_MS)]);
      if (code === 0) continue;
      this.#violations.push(`worker ${worker.pid} left with ${code}: ${worker.printed}`);
      await worker.kill('exit');
    }
  }
}

/** Gives up on something without keeping the process alive for it. */
function later(ms: number): Promise<null> {
  return pause(ms, null, { ref: false });
}
