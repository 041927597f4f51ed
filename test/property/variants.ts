import type { Recovery } from '../../machines/index.ts';
import { defineTask, type RunContext, type TaskDefinition } from '../../src/index.ts';

interface VariantOptions {
  readonly options: {
    readonly resumable?: boolean;
    readonly restart?: { readonly maxAttempts: number; readonly minDelayMs: number };
    readonly timeoutMs?: number;
    readonly stallMs?: number;
    readonly children?: 'wait' | 'cancel';
    readonly recovery?: Recovery;
    readonly idempotent?: boolean;
  };
  readonly isStubborn?: boolean;
  readonly throwsAtOnce?: boolean;
}

const RETRIES = { maxAttempts: 3, minDelayMs: 200 };

/** The kinds of task that the model plays with. */
const VARIANTS = {
  plain: { options: {} },
  resumable: { options: { resumable: true } },
  transient: { options: { resumable: true, restart: RETRIES } },
  timed: { options: { resumable: true, timeoutMs: 3_000, stallMs: 2_000 } },
  timedTransient: { options: { timeoutMs: 2_000, restart: RETRIES } },
  stubborn: { options: { resumable: true }, isStubborn: true },
  stubbornTimed: {
    options: { timeoutMs: 2_000, restart: { maxAttempts: 2, minDelayMs: 100 } },
    isStubborn: true,
  },
  throwing: {
    options: { restart: { maxAttempts: 2, minDelayMs: 100 } },
    throwsAtOnce: true,
  },
  cancelsChildren: { options: { resumable: true, children: 'cancel' } },
  asks: { options: { resumable: true, recovery: 'ask' } },
  stays: { options: { resumable: true, recovery: 'stay' } },
  goesOn: { options: { resumable: true, recovery: 'resume' } },
  repeats: { options: { resumable: true, recovery: 'resume', idempotent: true } },
  repeatsTransient: {
    options: { resumable: true, recovery: 'resume', idempotent: true, restart: RETRIES },
  },
  cannotGoOn: { options: { recovery: 'resume', idempotent: true } },
} satisfies Record<string, VariantOptions>;

export type Variant = keyof typeof VARIANTS;
export const VARIANT_NAMES = Object.keys(VARIANTS) as Variant[];

export function variantOf(name: string): VariantOptions {
  return VARIANTS[name as Variant];
}

/** A definition of each kind. */
export function definitionsOf(
  run: (name: Variant, context: RunContext<unknown>) => Promise<number>,
): readonly TaskDefinition[] {
  return VARIANT_NAMES.map((name) =>
    defineTask({ name, ...variantOf(name).options, run: (context) => run(name, context) }),
  );
}
