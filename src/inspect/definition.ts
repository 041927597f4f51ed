/** Up to so many live actors, viewers get whole definitions. */
const WHOLE_UP_TO = 250;

/** Up to so many, they get states and arrows; with more, only states. */
const ARROWS_UP_TO = 2_500;

interface Texts {
  readonly whole: string;
  readonly arrows: string;
  readonly states: string;
}

const textsByConfig = new WeakMap<object, Texts>();

/**
 * The definition of a machine as the JSON string that the protocol wants in every actor message.
 * Made once for each machine. Whole ones for thousands of actors would come to many megabytes, so
 * the more there are, the less is drawn of each.
 */
export function definitionText(config: object, liveCount: number): string {
  const texts = textsByConfig.get(config) ?? textsOf(config);
  textsByConfig.set(config, texts);
  if (liveCount <= WHOLE_UP_TO) return texts.whole;
  return liveCount <= ARROWS_UP_TO ? texts.arrows : texts.states;
}

function textsOf(config: object): Texts {
  const whole = JSON.stringify(config, (_key, value: unknown) =>
    typeof value === 'function' ? { type: value.name } : value,
  );
  const machine: StateConfig = JSON.parse(whole);
  return {
    whole: JSON.stringify(whole),
    arrows: JSON.stringify(JSON.stringify(outlineOf(machine, true))),
    states: JSON.stringify(JSON.stringify(outlineOf(machine, false))),
  };
}

interface StateConfig {
  readonly id?: string;
  readonly type?: string;
  readonly initial?: string;
  readonly on?: { readonly [event: string]: Transition | readonly Transition[] };
  readonly states?: { readonly [key: string]: StateConfig };
}

type Transition = string | { readonly target?: string };

/** A valid machine that draws the same boxes and, if wanted, the same arrows between them. */
function outlineOf(state: StateConfig, hasArrows: boolean): object {
  const { id, type, initial, on, states } = state;
  return {
    id,
    type,
    initial,
    on: hasArrows && on ? mapValues(on, targetsOf) : undefined,
    states: states && mapValues(states, (inner) => outlineOf(inner, hasArrows)),
  };
}

function targetsOf(transitions: Transition | readonly Transition[]): unknown {
  const targets = [transitions].flat().flatMap((transition) => {
    const target = typeof transition === 'string' ? transition : transition.target;
    return target === undefined ? [] : [target];
  });
  return targets.length > 1 ? targets : targets[0];
}

function mapValues<Value>(
  object: { readonly [key: string]: Value },
  map: (value: Value) => unknown,
): object {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value)]));
}
