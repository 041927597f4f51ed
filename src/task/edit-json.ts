import { enablePatches, type Patch, produceWithPatches } from 'immer';
import type { Json } from '../../machines/index.ts';
import { copyJson } from './json.ts';
import { invalid } from './options.ts';

enablePatches();

/** What a recipe made of a value, and the change as JSON patches. */
export interface EditedJson {
  readonly value: unknown;
  readonly patches: readonly Patch[];
}

/**
 * Lets a recipe change the draft of a value, or give a new one back. A recipe that is not done when
 * it returns is refused: its promise would be taken for the new value, and its draft is gone.
 */
export function editJson(
  option: string,
  value: Json | undefined,
  recipe: (draft: unknown) => unknown,
): EditedJson {
  const [edited, patches] = produceWithPatches<unknown>(copyJson(value), (draft: unknown) => {
    const returned = recipe(draft);
    if (!(returned instanceof Promise)) return returned;
    returned.catch(() => {});
    throw invalid(option, returned, 'a function that has done its work when it returns');
  });
  return { value: edited, patches };
}
