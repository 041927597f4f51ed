import type { Subscription } from 'rxjs';
import {
  backgroundCapable,
  createLoop,
  createRuntime,
  defineTool,
  type Loop,
  type Runtime,
  type Store,
  type Tool,
  type ToolContext,
  type Turn,
} from '../../src/index.ts';
import { engineOf } from '../../src/runtime/runtime.ts';
import type { VirtualClock } from '../../src/testing/index.ts';
import { type MortalStore, mortal } from '../lives/mortal-store.ts';

export const LEASE_MS = 1_000;

/** Steered tools: plain, resumable, one that needs approval, and one that does not listen. */
export const TOOLS = ['plain', 'sturdy', 'risky', 'stubborn'] as const;
export type ToolName = (typeof TOOLS)[number];

/** What a process is made of. */
interface ProcessParts {
  readonly clock: VirtualClock;
  readonly connection: Store;
  /** Whose loop it runs, and whose tasks it can reach besides. */
  readonly owner: string;
  readonly others: readonly string[];
  run(process: Process, name: ToolName, context: ToolContext): Promise<string>;
}

/** One process: a runtime with the loop of one owner, which also reaches the tasks of others. */
export class Process {
  readonly turns = new Map<string, Turn>();
  /** Keys of the notices that it has taken. */
  readonly taken = new Set<string>();
  readonly mortal: MortalStore;
  runtime!: Runtime;
  loop!: Loop;
  listening: Subscription | null = null;
  /** Loops of the same tools for other owners, as a second window of theirs would have them. */
  readonly windows = new Map<string, Loop>();
  isClosing = false;
  readonly #parts: ProcessParts;

  constructor(parts: ProcessParts) {
    this.#parts = parts;
    this.mortal = mortal(parts.connection);
  }

  async open(): Promise<void> {
    const { clock, owner, others } = this.#parts;
    this.runtime = await createRuntime({
      clock,
      store: this.mortal.store,
      leaseMs: LEASE_MS,
      limits: { perOwner: 50, perRuntime: 50, graceMs: 500 },
      onError: () => {},
    });
    const tools = TOOLS.map((name) => this.#tool(name));
    const thread = this.runtime.supervisor(owner);
    this.loop = createLoop(thread, { tools, continue: 'request' });
    for (const other of others) {
      this.windows.set(other, createLoop(this.runtime.supervisor(other), { tools }));
    }
    await thread.recover();
  }

  /** What it is told reaches nobody any more. */
  get isGone(): boolean {
    return this.isClosing || this.mortal.isDead;
  }

  get isQuiet(): boolean {
    if (this.mortal.isDead) return true;
    const { journal, cells } = engineOf(this.runtime);
    return journal.isIdle && [...cells.values()].every((cell) => cell.isQuiet);
  }

  async leave(): Promise<void> {
    this.listening?.unsubscribe();
    await this.#parts.connection.close();
  }

  #tool(name: ToolName): Tool {
    const tool = defineTool({
      name,
      description: name,
      ...(name === 'risky' ? { policy: 'approval' as const } : {}),
      execute: (_args, context) => this.#parts.run(this, name, context),
    });
    return name === 'sturdy' ? backgroundCapable(tool, { resumable: true }) : tool;
  }
}
