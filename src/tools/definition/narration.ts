import { invalid } from '../../task/options.ts';
import type { NarrationPhase, Tool, ToolCall } from './tool.ts';

/** A text about a call, or what makes one. `null` and `undefined` are none. */
export type Narration = string | ((call: ToolCall, locale: string) => string | null | undefined);

/** Texts for people about a call, by its phase. Phases may be left out. */
export type Narrations = { readonly [Phase in NarrationPhase]?: Narration };

/** A narrator that never throws: a text that cannot be made is none. */
export function narratorOf(narrations: Narrations = {}): Tool['narrate'] {
  if (typeof narrations !== 'object' || narrations === null) {
    throw invalid('narrate', narrations, 'an object with a text or a function by phase');
  }
  const byPhase = new Map(Object.entries(narrations));
  return (call, phase, locale) => {
    const narration = byPhase.get(phase);
    try {
      const text = typeof narration === 'function' ? narration(call, locale) : narration;
      return typeof text === 'string' ? text : null;
    } catch {
      return null;
    }
  };
}
