import type { EvictionProgress, InstanceProgress } from '../../contracts/eviction/eviction.ts';
import { plain } from './paint.ts';
import { ago, now, sampleInstance, sampleProgress } from '../../test/fixtures/starters/progress.ts';
import { describeChanges, renderFrame } from './watch.ts';

const screen = { widthColumns: 120, heightRows: 24, paint: plain };

test('a frame: the sentence that matters, then those that need a person', () => {
  const progress = sampleProgress({ waitingFor: 'room on some target', nextWakeUp: ago(-20), deadline: ago(-5000) });
  expect(renderFrame(progress, now, screen)).toEqual([
    'node-1  Moving for 4m 10s  1 of 4 done, 1 moving, 1 pending, 1 blocked',
    '6 GiB to go, ETA 6m 20s, 1h 17m before the deadline',
    'waiting for room on some target; observes again in 20s',
    'INSTANCE  STATE    ATTEMPT  TARGET  PROGRESS         ETA  MEMORY   SINCE  MESSAGE',
    'web-3     blocked        3  -                          -   2 GiB     30s  Nova refused: No valid host',
    'web-2     moving         2  node-3  █████░░░░░  50%  10s   2 GiB     10s',
    'db-1      pending        -  -                          -   2 GiB  4m 10s',
    'web-1     moved          1  node-2                     -   2 GiB  3m 20s',
  ]);
});

test('a small terminal shows the worst and counts the rest', () => {
  const frame = renderFrame(sampleProgress(), now, { ...screen, heightRows: 7 });
  expect(frame.slice(3)).toEqual([
    expect.stringMatching(/^web-3 /),
    expect.stringMatching(/^web-2 /),
    '… and 2 more: 1 pending, 1 moved',
  ]);
  expect(frame.length).toBeLessThan(7);
});

test('every size of terminal is respected', () => {
  const instances = Array.from({ length: 100 }, (_, index) => sampleInstance({ name: `web-${String(index)}` }));
  for (const heightRows of [6, 10, 24, 103, 200]) {
    const frame = renderFrame(sampleProgress({ instances }), now, { ...screen, widthColumns: 40, heightRows });
    expect(frame.length).toBeLessThan(heightRows);
    expect(Math.max(...frame.map((line) => line.length))).toBeLessThanOrEqual(40);
  }
});

const web = (facts: Partial<InstanceProgress> = {}) => sampleInstance({ name: 'web-1', since: ago(60), ...facts });
const holding = (instance: InstanceProgress, facts: Partial<EvictionProgress> = {}) =>
  sampleProgress({
    instances: [instance],
    counts: { total: 1, done: 0, moving: 0, pending: 1, blocked: 0, skipped: 0 },
    ...facts,
  });

test.each<[why: string, before: EvictionProgress | null, after: EvictionProgress, lines: string[]]>([
  ['the first answer', null, holding(web()), ['Moving: 0 of 1 done, 1 pending']],
  ['nothing new', holding(web()), holding(web()), []],
  [
    'only the percentage',
    holding(web({ state: 'moving', percent: 1 })),
    holding(web({ state: 'moving', percent: 2 })),
    [],
  ],
  ['a phase', holding(web(), { phase: 'Preflight' }), holding(web()), ['Moving: 0 of 1 done, 1 pending']],
  ['a pause', holding(web()), holding(web(), { paused: 'lunch' }), ['Moving (paused): 0 of 1 done, 1 pending']],
  [
    'a wait',
    holding(web()),
    holding(web(), { waitingFor: 'its share' }),
    ['Moving: 0 of 1 done, 1 pending: waiting for its share'],
  ],
  ['a move begins', holding(web()), holding(web({ state: 'moving', attempt: 1 })), ['web-1 moving']],
  [
    'the scheduler has chosen',
    holding(web({ state: 'moving', attempt: 1 })),
    holding(web({ state: 'moving', attempt: 1, target: 'node-2' })),
    ['web-1 moving → node-2'],
  ],
  [
    'a second attempt',
    holding(web({ state: 'moving', attempt: 1 })),
    holding(web({ state: 'moving', attempt: 2, message: 'stuck' })),
    ['web-1 moving attempt 2 (stuck)'],
  ],
  [
    'it has moved',
    holding(web({ state: 'moving', attempt: 1, target: 'b' })),
    holding(web({ state: 'moved', attempt: 1, target: 'b', since: ago(48) })),
    ['web-1 moved → b after 12s'],
  ],
  [
    'a late arrival that moves at once',
    holding(web()),
    holding(sampleInstance({ name: 'late', state: 'moving' })),
    ['late moving'],
  ],
])('changes: %s', (_why, before, after, lines) => {
  expect(describeChanges(before, after)).toEqual(lines);
});
