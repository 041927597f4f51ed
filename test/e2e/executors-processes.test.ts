import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { endTree } from '../../src/executors/end-tree.ts';
import { membersByPs, membersOf } from '../../src/executors/group-members.ts';
import { type ShellEvidence, type ShellOptions, shellTask } from '../../src/executors/index.ts';
import { ProcessGroup } from '../../src/executors/process-group.ts';
import { createRuntime } from '../../src/index.ts';
import { makeGate, makePipe } from './fixtures/gate.ts';
import { isAlive, pidsOf } from './fixtures/processes.ts';

const strays: number[] = [];

afterEach(() => {
  for (const pid of strays.splice(0)) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
});

async function begin(command: string, options: Partial<ShellOptions> = {}) {
  const sh = shellTask({ name: 'sh', killAfterMs: 50, ...options });
  const runtime = await createRuntime({ tasks: [sh], flushMs: 5 });
  return { runtime, task: await runtime.supervisor('owner').spawn(sh, { command }) };
}

describe('what a command leaves behind at its normal end', () => {
  test('is ended, and the record says so', async () => {
    const gate = await makeGate();
    const { runtime, task } = await begin(`
      sleep 1000 & echo heedful $!
      sh -c 'trap "" TERM; echo deaf $$; exec sleep 1000' &
      ${gate.wait}`);
    const orphans = await pidsOf(task, 'heedful', 'deaf');
    await gate.open();
    expect(await task.result()).toMatchObject({ exitCode: 0 });
    expect(Object.values(orphans).filter(isAlive)).toEqual([]);
    const { stages, gone } = task.snapshot().evidence as ShellEvidence;
    expect(gone).toBe(true);
    expect(stages.map(({ signal, pids }) => [signal, pids])).toEqual([
      ['SIGTERM', Object.values(orphans).sort((a, b) => a - b)],
      ['SIGKILL', expect.arrayContaining([orphans.deaf])],
    ]);
    await runtime.close();
  });

  test('is not hurried if it leaves in time', async () => {
    const gate = await makeGate();
    const child = spawn('/bin/sh', ['-c', gate.wait], { detached: true });
    const leader = child.pid ?? 0;
    const ended = endTree(new ProcessGroup(leader), {
      leaveMs: 60_000,
      killAfterMs: 0,
      onStuck: () => {},
    });
    await gate.open();
    expect(await ended).toMatchObject({ leader, pids: [], stages: [], gone: true });
  });

  test('is left alone on request', async () => {
    const { runtime, task } = await begin('sleep 1000 & echo orphan $!', { keepOrphans: true });
    await task.result();
    const { orphan } = await pidsOf(task, 'orphan');
    strays.push(orphan);
    await runtime.close();
    expect(isAlive(orphan)).toBe(true);
  });

  test('does not hold the task back if it left the group and keeps the pipe open', async () => {
    const { runtime, task } = await begin('setsid sleep 1000 & echo stranger $!');
    const { stranger } = await pidsOf(task, 'stranger');
    strays.push(stranger);
    expect(await task.result()).toMatchObject({ exitCode: 0 });
    await runtime.close();
  });
});

describe('when this process exits without close()', () => {
  test.each([
    ['exit', 'leaves-without-close', 'exit'],
    ['exit while orphans are being ended', 'exits-with-group', 'exit'],
    ['SIGTERM', 'leaves-without-close', 'SIGTERM'],
    ['SIGINT', 'leaves-without-close', 'SIGINT'],
  ] as const)('by %s, no process is left', async (_, fixture, how) => {
    const { path, remove } = await makePipe();
    // Every process of the task holds the pipe open for writing: its end proves theirs.
    const lastOneGone = once(createReadStream(path).resume(), 'end');
    const program = fileURLToPath(new URL(`./fixtures/${fixture}.ts`, import.meta.url));
    const child = execFile(process.execPath, [program, path, how]);
    const ended = once(child, 'exit');
    const [line] = await once(child.stdout ?? child, 'data');
    strays.push(...Object.values<number>(JSON.parse(String(line))));
    if (how !== 'exit') child.kill(how);
    expect(await ended).toEqual(how === 'exit' ? [0, null] : [null, how]);
    await lastOneGone;
    await remove();
  });

  test('the listeners for it do not outlive the processes', async () => {
    const count = () =>
      ['exit', 'SIGTERM', 'SIGINT', 'SIGHUP'].map((name) => process.listenerCount(name));
    const before = count();
    const sh = shellTask({ name: 'sh', killAfterMs: 50 });
    const runtime = await createRuntime({ tasks: [sh], limits: { perOwner: 20 } });
    const command = 'echo leader $$; sleep 1000 & wait';
    const spawned = Array.from({ length: 12 }, () =>
      runtime.supervisor('owner').spawn(sh, { command }),
    );
    const tasks = await Promise.all(spawned);
    const leaders = await Promise.all(tasks.map((task) => pidsOf(task, 'leader')));
    expect(process.listenerCount('exit') - (before[0] ?? 0)).toBeLessThanOrEqual(2);
    await runtime.close();
    expect(leaders.filter(({ leader }) => isAlive(leader))).toEqual([]);
    expect(tasks.map(({ status }) => status)).toEqual(tasks.map(() => 'stopped'));
    expect(count()).toEqual(before);
  });
});

describe('the members of a group', () => {
  test('are the same by /proc and by ps', async () => {
    const script = 'sleep 1000 & echo $!; wait';
    const child = spawn('/bin/sh', ['-c', script], { detached: true });
    const leader = child.pid ?? 0;
    const [background] = await once(child.stdout, 'data');
    strays.push(leader, Number(background));
    const members = membersOf(leader);
    expect(members).toEqual([leader, Number(background)].sort((a, b) => a - b));
    expect(membersByPs(leader)).toEqual(members);
  });

  test('are none if only a zombie is left that nobody reaps', async () => {
    // The child ends when its parent has become a program that never waits for a child.
    const last = 'until grep -q sleep /proc/$PPID/comm; do :; done';
    const script = `
      sh -c 'setsid sh -c "$0" & echo $!; exec sleep 1000' '${last}' |
      { read pid; until grep -q ") Z" /proc/$pid/stat; do :; done; echo $pid; }`;
    const child = spawn('/bin/sh', ['-c', script], { detached: true });
    const [pid] = await once(child.stdout, 'data');
    const zombie = Number(pid);
    expect(process.kill(-zombie, 0)).toBe(true);
    expect(new ProcessGroup(zombie).isGone()).toBe(true);
    process.kill(-(child.pid ?? 0), 'SIGKILL');
  });

  test('that outlive SIGKILL are told of before they are gone', async () => {
    let isStuck = true;
    const told: ShellEvidence[] = [];
    const tree = { id: 1, members: () => [1], signal: () => {}, isGone: () => !isStuck };
    const evidence = await endTree(tree, {
      leaveMs: 0,
      killAfterMs: 0,
      onStuck(soFar) {
        told.push(soFar);
        isStuck = false;
      },
    });
    expect(told).toMatchObject([{ gone: false, pids: [1], stages: [{}, { signal: 'SIGKILL' }] }]);
    expect(evidence).toMatchObject({ gone: true, leader: 1 });
  });
});
