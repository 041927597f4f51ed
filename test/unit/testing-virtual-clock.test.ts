import { virtualClock } from 'offstage/testing';
import { describe, expect, test } from 'vitest';

describe('virtualClock', () => {
  test('stands still until it is told to go on', () => {
    const clock = virtualClock(500);
    expect(clock.now()).toBe(500);
    clock.advance(20);
    expect(clock.now()).toBe(520);
  });

  test('runs what becomes due in order, each at its own time', () => {
    const clock = virtualClock(0);
    const seen: string[] = [];
    const note = (name: string) => () => seen.push(`${name} at ${clock.now()}`);
    clock.after(20, note('second'));
    clock.after(10, note('first'));
    clock.after(20, note('third'));
    clock.after(21, note('later'));
    clock.advance(20);
    expect(seen).toEqual(['first at 10', 'second at 20', 'third at 20']);
  });

  test('runs what is set meanwhile if it is due as well', () => {
    const clock = virtualClock(0);
    const seen: number[] = [];
    clock.after(10, () => clock.after(5, () => seen.push(clock.now())));
    clock.advance(20);
    expect(seen).toEqual([15]);
  });

  test('repeats until it is told to end, also from within', () => {
    const clock = virtualClock(0);
    let count = 0;
    const end = clock.every(10, () => {
      count += 1;
      if (count === 3) end();
    });
    clock.advance(100);
    expect(count).toBe(3);
    expect(clock.nextAt).toBeNull();
  });

  test('calls nothing that was called off, and knows what is set', () => {
    const clock = virtualClock(0);
    const callOff = clock.after(10, () => expect.fail());
    clock.every(7, () => {});
    expect(clock).toMatchObject({ pending: 1, nextAt: 7 });
    callOff();
    expect(clock).toMatchObject({ pending: 0, nextAt: 7 });
    clock.advance(10);
    expect(clock.nextAt).toBe(14);
  });
});
