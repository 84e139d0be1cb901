import { describeWindow, type HostWindow, observeWindow } from './host-window.ts';

const one: HostWindow = { runs: 1, most: 1, quiet: 0, patience: 1 };
const tried: HostWindow = { ...one, most: 2 };
const queue = (running: number, waiting: number) => ({ running, waiting });

type Row = [
  why: string,
  before: HostWindow | null,
  observed: Partial<Parameters<typeof observeWindow>[1]>,
  after: HostWindow | null,
];
const rows: Row[] = [
  ['nothing has ever waited', null, { inProgress: 4 }, null],
  ['three wait while one runs', null, { queue: queue(1, 3), inProgress: 4 }, one],
  ['two run, one of them of others', null, { queue: queue(2, 3), inProgress: 4, others: 1 }, one],
  ['all that run are of others: one is asked for all the same', null, { queue: queue(2, 3), others: 2 }, one],
  ['nothing runs yet: they are on their way', null, { queue: queue(0, 2), inProgress: 2 }, null],
  ['they still wait, as nothing is aborted', one, { queue: queue(1, 2), inProgress: 3 }, one],
  ['none waits, and the window is in use: one more is tried', one, { inProgress: 1 }, tried],
  ['not while it is not in use', one, { inProgress: 0 }, one],
  [
    'what was tried waits: it is tried less often',
    tried,
    { queue: queue(1, 1), inProgress: 2 },
    { ...one, patience: 2 },
  ],
  ['and even less', { ...tried, patience: 16 }, { queue: queue(1, 1), inProgress: 2 }, { ...one, patience: 20 }],
  ['patience', { ...one, patience: 3 }, { inProgress: 1 }, { ...one, patience: 3, quiet: 1 }],
  ['has an end', { ...one, patience: 3, quiet: 2 }, { inProgress: 1 }, { ...tried, patience: 3 }],
  ['what was tried runs: one more at once', { ...tried, patience: 8 }, { inProgress: 2 }, { ...one, runs: 2, most: 3 }],
  ['it takes all that is wanted', { ...one, runs: 3, most: 4 }, { inProgress: 4 }, null],
  [
    'it takes fewer than when it was tried last',
    { ...one, runs: 3, most: 3 },
    { queue: queue(2, 1) },
    { ...one, runs: 2, most: 2 },
  ],
];

test.each(rows)('%s', (_why, before, observed, after) => {
  expect(observeWindow(before, { queue: undefined, inProgress: 0, others: 0, want: 4, ...observed })).toEqual(after);
});

test('a host that runs one at a time is tried about every ten minutes in the end', () => {
  let window: HostWindow | null = null;
  const triedAt: number[] = [];
  for (let observation = 0; observation < 200; observation += 1) {
    const inProgress: number = window?.most ?? 4;
    window = observeWindow(window, {
      queue: inProgress > 1 ? queue(1, inProgress - 1) : undefined,
      inProgress,
      others: 0,
      want: 4,
    });
    if ((window?.most ?? 4) > 1) triedAt.push(observation);
  }
  expect(triedAt.slice(0, 4)).toEqual([1, 4, 9, 18]);
  expect(triedAt.at(-1)! - triedAt.at(-2)!).toBe(21);
});

test('it is said', () => expect(describeWindow('node-3', 1)).toBe('Nova runs 1 at a time on node-3'));
