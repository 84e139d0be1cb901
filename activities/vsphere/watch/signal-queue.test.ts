import { openSignalQueue, type SignalQueue, type PendingSignal } from './signal-queue.ts';
import { openRecentObservations, type RecentObservations } from './recent-observations.ts';

const limits = { distanceMs: 1_000, atWorkMs: 500, perSecond: 4, laterPerSecond: 2 };
const owner = (name: string) => ({ namespace: 'team', name, uid: `uid-${name}` });
const change = (name: string, ...causes: string[]) => ({ owner: owner(name), vmId: `vm-${name}`, causes });

function open(): { queue: SignalQueue; recent: RecentObservations; states: Map<string, string> } {
  const recent = openRecentObservations();
  const states = new Map<string, string>();
  return { queue: openSignalQueue(recent, (vmId) => states.get(vmId) ?? null, limits), recent, states };
}

/** Everything that is due until then, each at its time. */
function takeUntil(queue: SignalQueue, fromMs: number, untilMs: number): [atMs: number, PendingSignal][] {
  const signals: [number, PendingSignal][] = [];
  for (let nowMs = fromMs; nowMs <= untilMs;) {
    const taken = queue.take(nowMs);
    if ('next' in taken) signals.push([nowMs, taken.next]);
    else if (taken.againMs === null) break;
    else nowMs += Math.max(1, taken.againMs);
  }
  return signals;
}
const inShort = (signals: [number, PendingSignal][]): string[] =>
  signals.map(
    ([
      atMs,
      {
        owner: { name },
        causes,
        isObserved,
      },
    ]) => `${atMs} ${name}: ${causes.join(', ')}${isObserved ? ' (known)' : ''}`,
  );

test('no run is at work: at once', () => {
  const { queue } = open();
  queue.add(change('web', 'powered off'), 0);
  expect(inShort(takeUntil(queue, 0, 10_000))).toEqual(['0 web: powered off']);
  expect(queue.size()).toBe(0);
});

test('a run is signalled once a second at most, of all that came meanwhile', () => {
  const { queue } = open();
  queue.add(change('web', 'powered off'), 0);
  expect(inShort(takeUntil(queue, 0, 100))).toEqual(['0 web: powered off']);
  queue.add(change('web', 'powered on'), 200);
  queue.add(change('web', 'an address', 'powered on'), 300);
  expect(inShort(takeUntil(queue, 300, 10_000))).toEqual(['1000 web: powered on, an address']);
});

test('what a long task has done is not signalled where its activity observes it when it ends', () => {
  const { queue, recent, states } = open();
  recent.noteMutation('team/web', 0);
  const task = recent.noteTask('team/web');
  queue.add(change('web', 'appeared'), 60_000);
  expect(inShort(takeUntil(queue, 60_000, 61_000))).toEqual([]);
  states.set('vm-web', 'on');
  recent.noteObservation('vm-web', 'on', 61_500);
  task.done(61_600);
  expect(inShort(takeUntil(queue, 61_600, 70_000))).toEqual(['61600 web: appeared (known)']);
});

test.each([
  ['after the change arrives', 1_100],
  ['before the change arrives, and after it was made', 900],
])('a run that is at work sees by itself what it has done: %s', (_what, startedMs) => {
  const { queue, recent, states } = open();
  recent.noteMutation('team/web', 0);
  recent.noteObservation('vm-web', 'on', startedMs);
  queue.add(change('web', 'powered on'), 1_000);
  states.set('vm-web', 'on');
  expect(inShort(takeUntil(queue, 1_000, 10_000))).toEqual(['1500 web: powered on (known)']);
});

test.each([
  ['the run that destroyed it has observed that', null, '1500 web: gone (known)'],
  ['the run has observed it before it went', 'on', '1500 web: gone'],
])('a VM is gone: %s', (_what, digest, expected) => {
  const { queue, recent } = open();
  recent.noteMutation('team/web', 0);
  recent.noteObservation('vm-web', digest, 1_100);
  queue.add(change('web', 'gone'), 1_000);
  expect(inShort(takeUntil(queue, 1_000, 10_000))).toEqual([expected]);
});

test('a signal is sent where that run has observed another state', () => {
  const { queue, recent, states } = open();
  recent.noteMutation('team/web', 0);
  recent.noteObservation('vm-web', 'off', 1_100);
  queue.add(change('web', 'powered on'), 1_000);
  states.set('vm-web', 'on');
  expect(inShort(takeUntil(queue, 1_000, 10_000))).toEqual(['1500 web: powered on']);
});

test('a run that is slow at its work is waited for, as long as its task may take', () => {
  const { queue, recent, states } = open();
  recent.noteMutation('team/web', 0);
  recent.noteMutation('team/db', 0);
  for (const name of ['web', 'db']) {
    queue.add(change(name, 'powered on'), 1_000);
    states.set(`vm-${name}`, 'on');
  }
  expect(takeUntil(queue, 1_000, 3_300)).toEqual([]);
  recent.noteObservation('vm-web', 'on', 3_200);
  expect(inShort(takeUntil(queue, 3_300, 10_000))).toEqual(['3500 web: powered on (known)', '5500 db: powered on']);
});

test('of a run that does one thing after the other, what it did last is waited for', () => {
  const { queue, recent, states } = open();
  recent.noteMutation('team/web', 900);
  queue.add(change('web', 'appeared'), 1_000);
  recent.noteObservation('vm-web', 'made', 1_200);
  recent.noteMutation('team/web', 1_300);
  queue.add(change('web', 'powered on'), 1_400);
  states.set('vm-web', 'on');
  expect(takeUntil(queue, 1_400, 2_400)).toEqual([]);
  recent.noteObservation('vm-web', 'on', 2_300);
  expect(inShort(takeUntil(queue, 2_400, 10_000))).toEqual(['2500 web: appeared, powered on (known)']);
});

test('of one that never ends its work it is told after 10 s', () => {
  const { queue, recent } = open();
  queue.add(change('web', 'appeared'), 0);
  const signals: string[] = [];
  for (let nowMs = 0; nowMs <= 20_000; nowMs += 500) {
    recent.noteMutation('team/web', nowMs);
    signals.push(...inShort(takeUntil(queue, nowMs, nowMs)));
  }
  expect(signals).toEqual(['10500 web: appeared']);
});

test('what was observed before a signal does not count after it', () => {
  const { queue, recent, states } = open();
  recent.noteObservation('vm-web', 'on', 0);
  states.set('vm-web', 'off');
  queue.add(change('web', 'powered off'), 100);
  expect(inShort(takeUntil(queue, 100, 2_000))).toEqual(['100 web: powered off']);
  // Its run observes that on another worker.
  states.set('vm-web', 'on');
  queue.add(change('web', 'powered on'), 3_000);
  expect(inShort(takeUntil(queue, 3_000, 10_000))).toEqual(['3000 web: powered on']);
});

test('a VM that appears is being made: no hurry', () => {
  const { queue } = open();
  queue.add(change('web', 'appeared'), 0);
  queue.add(change('web', 'reconfigured'), 100);
  expect(inShort(takeUntil(queue, 100, 10_000))).toEqual(['500 web: appeared, reconfigured']);
  queue.add(change('db', 'appeared'), 2_000);
  expect(inShort(takeUntil(queue, 2_000, 10_000))).toEqual(['2500 db: appeared']);
});

test('a whole host at once: within the budget of all', () => {
  const { queue } = open();
  for (let index = 0; index < 8; index += 1) queue.add(change(`vm${index}`, 'on another host'), 0);
  expect(takeUntil(queue, 0, 10_000).map(([atMs]) => atMs)).toEqual([0, 0, 0, 0, 250, 500, 750, 1_000]);
});

test('what may have changed comes slowly, and what has changed before it', () => {
  const { queue } = open();
  for (const name of ['a', 'b', 'c', 'd']) queue.addLater(change(name, 'not watched'), 0);
  queue.add(change('web', 'powered off'), 0);
  queue.add(change('c', 'powered off'), 0);
  expect(inShort(takeUntil(queue, 0, 10_000))).toEqual([
    '0 web: powered off',
    '0 c: not watched, powered off',
    '0 a: not watched',
    '0 b: not watched',
    '500 d: not watched',
  ]);
});

test('a signal that failed is sent with what arrives meanwhile', () => {
  const { queue } = open();
  queue.add(change('web', 'powered off'), 0);
  const [first] = takeUntil(queue, 0, 10);
  queue.putBack(first![1], 1_000);
  queue.add(change('web', 'an address'), 500);
  expect(takeUntil(queue, 500, 10_000)).toEqual([
    [
      1_000,
      { owner: owner('web'), vmIds: ['vm-web'], causes: ['powered off', 'an address'], sinceMs: 0, isObserved: false },
    ],
  ]);
});

test('a waiting caller is woken by each change', async () => {
  const { queue } = open();
  const first = queue.changed();
  queue.add(change('web', 'gone'), 0);
  await first;
  const second = queue.changed();
  queue.addLater(change('db', 'gone'), 0);
  await second;
});

test('what was done counts for as long as a task takes, and what was observed for as long as changes wait', () => {
  const recent = openRecentObservations();
  recent.noteMutation('team/web', 0);
  expect([
    recent.isAtWork('team/web', 5_000),
    recent.isAtWork('team/web', 5_001),
    recent.isAtWork('team/db', 0),
  ]).toEqual([true, false, false]);
  const first = recent.noteTask('team/db');
  const second = recent.noteTask('team/db');
  first.done(10_000);
  expect([recent.isAtWork('team/db', 60_000), recent.isAtWork('team/web', 60_000)]).toEqual([true, false]);
  second.done(60_000);
  expect([recent.isAtWork('team/db', 65_000), recent.isAtWork('team/db', 65_001)]).toEqual([true, false]);
  recent.noteObservation('vm-1', 'on', 0);
  recent.noteObservation('vm-2', 'on', 30_000);
  expect([recent.hasObserved('vm-1', 'on', 30_000), recent.hasObserved('vm-1', 'on', 30_001)]).toEqual([true, false]);
  expect([recent.hasObservedSince('vm-1', 0), recent.hasObservedSince('vm-1', 1)]).toEqual([true, false]);
  recent.noteObservation('vm-2', 'on', 30_001);
  expect(recent.hasObserved('vm-1', 'on', 0)).toBe(false);
});
