import { describe, expect, it } from 'vitest';
import { commandIn } from '../../docs/generate/commands.ts';
import { factsIn, NOW } from '../../docs/generate/records.ts';
import { type Situation, situationsOf } from '../../docs/generate/situations.ts';
import {
  type Facts,
  leafOf,
  type RestartPolicy,
  type TaskCommandType,
} from '../../machines/index.ts';
import {
  type Command,
  decide,
  initialSnapshot,
  type TaskSnapshot,
} from '../../src/supervisor/decide.ts';

const [ORDINARY] = situationsOf('working') as readonly [Situation, ...Situation[]];
const POLICY: RestartPolicy = {
  maxAttempts: 10,
  minDelayMs: 100,
  maxDelayMs: 500,
  factor: 2,
  jitter: 0.5,
  intensity: { restarts: 3, windowMs: 1_000 },
};

/** A task on its way through the machine, command by command. */
class Walk {
  snapshot: TaskSnapshot = initialSnapshot;
  now = NOW;

  get context() {
    return this.snapshot.context;
  }

  get leaf() {
    return leafOf(this.snapshot);
  }

  take(given: TaskCommandType | Command, facts: Partial<Facts> = {}): this {
    const command =
      typeof given === 'string' ? commandIn(given, ORDINARY, this.context.epoch) : given;
    const step = decide(this.snapshot, command, { ...factsIn(ORDINARY), now: this.now, ...facts });
    if (step === undefined) throw new Error(`${command.type} was refused in ${this.leaf}`);
    this.snapshot = step.snapshot;
    return this;
  }

  after(ms: number): this {
    this.now += ms;
    return this;
  }
}

function ask(id: string, epoch = 1): Command {
  const request = { id, kind: 'input', prompt: 'Which one?', data: null, askedAt: NOW };
  return { type: 'ASK', epoch, request };
}

function answer(requestId: string): Command {
  return { type: 'ANSWER', requestId, value: null };
}

describe('waiting for a person', () => {
  it('is counted from the first open question to the last answer, and adds up', () => {
    const walk = new Walk().take('START');
    walk.after(10).take(ask('a')).after(20).take(ask('b')).after(30).take(answer('a'));
    expect(walk.context).toMatchObject({ waitingSince: NOW + 10, waitedMs: 0 });
    walk.after(40).take(answer('b'));
    expect(walk.context).toMatchObject({ waitingSince: null, waitedMs: 90, requests: [] });
    walk.after(50).take(ask('c')).after(60).take(answer('c'));
    expect(walk.context.waitedMs).toBe(150);
  });
});

describe('the grace of a body', () => {
  const withBody = { executor: true, graceMs: 5_000 };

  it('begins with the first abort, and a later cancel does not extend it', () => {
    const walk = new Walk().take('START').after(10).take('STOP', withBody);
    expect(walk.context.graceAt).toBe(NOW + 5_010);
    walk.after(100).take('CANCEL', withBody);
    expect(walk.leaf).toBe('cancelling');
    expect(walk.context.graceAt).toBe(NOW + 5_010);
    expect(walk.context.request).toMatchObject({ kind: 'cancel', at: NOW + 110 });
  });

  it('begins with a time-out and is kept by a cancel during the back-off', () => {
    const walk = new Walk().take('START').take('TIME_OUT', { ...withBody, restart: POLICY });
    expect(walk.leaf).toBe('retrying');
    expect(walk.after(100).take('CANCEL', withBody).context.graceAt).toBe(NOW + 5_000);
  });

  it('begins anew with the next attempt', () => {
    const walk = new Walk().take('START').take('STOP', withBody).take('GRACE_OVER', withBody);
    walk.take('JOIN', withBody).after(9_000).take('RESUME');
    expect(walk.context).toMatchObject({ graceAt: null, abandoned: false, request: null });
    expect(walk.take('STOP', withBody).context.graceAt).toBe(NOW + 14_000);
  });
});

describe('restarts', () => {
  const fail = (walk: Walk, jitter: number) => walk.take('FAIL', { restart: POLICY, jitter });

  it('wait longer each time, up to a limit', () => {
    const walk = new Walk().take('START');
    const delays = [1, 2, 3, 4].map(() => {
      fail(walk.after(2_000), 0);
      const { retryAt } = walk.context;
      walk.take('RETRY');
      return (retryAt ?? 0) - walk.now;
    });
    expect(delays).toEqual([100, 200, 400, 500]);
  });

  it('are spread by their jitter', () => {
    expect(fail(new Walk().take('START'), 0.5).context.retryAt).toBe(NOW + 75);
  });

  it('that come too often within the window fail the task', () => {
    const walk = new Walk().take('START');
    for (const _ of [1, 2, 3]) fail(walk.after(300), 0).take('RETRY');
    expect(walk.context.attempt).toBe(4);
    expect(fail(walk.after(300), 0).leaf).toBe('failed');
  });

  it('outside the window do not count', () => {
    const walk = new Walk().take('START');
    for (const _ of [1, 2, 3]) fail(walk.after(300), 0).take('RETRY');
    expect(fail(walk.after(400), 0).leaf).toBe('retrying');
  });

  it('are forgotten on resume', () => {
    const walk = new Walk().take('START');
    for (const _ of [1, 2, 3]) fail(walk, 0).take('RETRY');
    walk.take('STOP').take('RESUME');
    expect(walk.context).toMatchObject({ restarts: [], attempt: 5, epoch: 5 });
    expect(fail(walk, 0).leaf).toBe('retrying');
  });

  it('end with the last attempt', () => {
    const once = { restart: { ...POLICY, maxAttempts: 2 } };
    const walk = new Walk().take('START').take('FAIL', once).take('RETRY');
    expect(walk.take('FAIL', once).leaf).toBe('failed');
  });
});
