import { violations } from '../../invariants/violations.ts';
import { good, move, t0 } from './sample.ts';

/** No guest runs twice, by what the machines themselves have recorded of their power. */

const off = { power: 'Off', atMs: t0 + 10_000 } as const;
const on = { power: 'On', atMs: t0 + 20_000 } as const;
const offAgain = { power: 'Off', atMs: t0 + 40_000 } as const;
const evacuation = (atMs: number) =>
  move({ id: 2, type: 'evacuation', status: 'accepted', sourceHost: 'node-2', atMs });
const back = move({ id: 3, sourceHost: 'node-1', targetHost: 'node-2', atMs: t0 + 30_000 });

type Events = typeof good.migrationEvents;
const judge = (events: Events, power: typeof good.power): string[] =>
  violations({ ...good, hosts: ['node-2'], migrationEvents: events, power }).filter((one) =>
    one.startsWith('invariant 32'),
  );

const rows: [why: string, events: Events, power: typeof good.power, wrong: RegExp | null][] = [
  ['its power is not known', [evacuation(t0)], {}, null],
  ['it is off', [evacuation(off.atMs)], { 'node-2': [off] }, null],
  ['it was off, and is on with nothing of what ran there', [evacuation(on.atMs + 1)], { 'node-2': [off, on] }, null],
  [
    'it is on and never was off',
    [evacuation(t0)],
    { 'node-2': [] },
    /server s1 began while its machine node-2 ran.*always On/u,
  ],
  ['it goes off afterwards', [evacuation(off.atMs - 1)], { 'node-2': [off] }, /began while its machine node-2 ran/u],
  [
    'it was off before the server came to it',
    [back, evacuation(t0 + 35_000)],
    { 'node-2': [off, on] },
    /began while its machine node-2 ran.*Off 25000 ms before, On 15000 ms before/u,
  ],
  ['it is off since the server came to it', [back, evacuation(t0 + 45_000)], { 'node-2': [off, on, offAgain] }, null],
];
test.each(rows)('an evacuation off a host: %s', (_why, events, power, wrong) => {
  expect(judge(events, power)).toEqual(wrong === null ? [] : [expect.stringMatching(wrong)]);
});
