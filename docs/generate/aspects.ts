import type { Aspect } from './decision-list.ts';
import type { Situation } from './situations.ts';

function isOverstaying({ executor, abandoned }: Situation): boolean {
  return executor && !abandoned;
}

const RESTART: { readonly [Restart in Situation['restart']]: string } = {
  left: 'a restart is left',
  noPolicy: 'it has no restart policy',
  attemptsUsed: 'its attempts are used up',
  tooOften: 'it restarted too often of late',
  notRetryable: 'the failure is not retryable',
};

const QUESTIONS: { readonly [Open in Situation['questions']]: string } = {
  none: 'no question is open',
  asked: 'that is the only open question',
  other: 'that question is not open',
  both: 'another question is open too',
};

const END_REQUEST: { readonly [Kind in Situation['endRequest']]: string } = {
  none: 'nobody asked for its end',
  cancel: 'a cancel was asked for',
  stop: 'a stop was asked for',
};

/** What conditions are made of. No two aspects share a phrase. */
export const TASK_ASPECTS: readonly Aspect<Situation>[] = [
  (each) => (isOverstaying(each) || each.children > 0 ? 'it is held' : 'nothing holds it'),
  (each) =>
    isOverstaying(each)
      ? 'its body runs and is not abandoned'
      : 'its body has left or is abandoned',
  ({ executor }) => (executor ? 'a body of it still runs' : 'no body of it runs'),
  ({ children }) => (children > 0 ? 'children run' : 'no child runs'),
  ({ parentRunning }) => (parentRunning ? 'its parent runs' : 'its parent does not run'),
  ({ foreground }) => (foreground ? 'a turn waits for it' : 'no turn waits for it'),
  ({ admitted }) => (admitted ? 'there is room' : 'there is no room'),
  ({ resumable }) => (resumable ? 'it is resumable' : 'it is not resumable'),
  ({ restart }) => (restart === 'left' ? 'it may restart' : 'it may not restart'),
  ({ restart }) => RESTART[restart],
  ({ questions }) => QUESTIONS[questions],
  ({ endRequest }) => (endRequest === 'none' ? 'no end was asked for' : 'its end was asked for'),
  ({ endRequest }) => END_REQUEST[endRequest],
  ({ abandoned }) => (abandoned ? 'its body is abandoned' : 'its body is not abandoned'),
  ({ outcome }) => (outcome === 'failed' ? 'its body failed' : 'its body succeeded'),
];
