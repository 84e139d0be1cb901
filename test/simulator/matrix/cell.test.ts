import { scenarios } from '../scenarios.ts';
import { activityCells, formatCell, pairCells, parseCell, type SimulatedCell } from './cell.ts';
import { readCleanRuns } from './clean-runs.ts';
import { cellsOf } from './stories.ts';

const rows: [text: string, cell: SimulatedCell][] = [
  [
    'happy/A/publishEviction.2/failAfter',
    { scenario: 'happy', targets: [{ at: 'activity', step: 'A/publishEviction.2', fault: 'failAfter' }] },
  ],
  [
    'made/call vsphere FindAllByUuid.3/slow',
    { scenario: 'made', targets: [{ at: 'call', call: 'vsphere FindAllByUuid.3', fault: 'slow' }] },
  ],
  [
    'made/call nova GET /servers/{id}.1/failBefore',
    { scenario: 'made', targets: [{ at: 'call', call: 'nova GET /servers/{id}.1', fault: 'failBefore' }] },
  ],
  [
    'happy/A1/awaitMigration.1/cancelMove',
    { scenario: 'happy', targets: [{ at: 'activity', step: 'A1/awaitMigration.1', fault: 'cancelMove' }] },
  ],
  ['happy/task 17/kill', { scenario: 'happy', targets: [{ at: 'task', number: 17 }] }],
  [
    'happy/A/openEviction.1/cancel + task 3/kill',
    {
      scenario: 'happy',
      targets: [
        { at: 'activity', step: 'A/openEviction.1', fault: 'cancel' },
        { at: 'task', number: 3 },
      ],
    },
  ],
];

test.each(rows)('%s is read and written alike', (text, cell) => {
  expect(parseCell(text)).toEqual(cell);
  expect(formatCell(cell)).toBe(text);
});

test.each(['happy', 'happy/A/publishEviction.2/explode', '/x/failAfter'])('%s is no cell', (text) => {
  expect(() => parseCell(text)).toThrow(/is no/u);
});

test('a server’s own run is ended at the first call of each of its activities, beside what ends its object’s', () => {
  const steps = ['A/openEviction.1', 'A1/awaitMigration.1', 'A1/awaitMigration.2'];
  const ends = (step: string): string[] =>
    activityCells('happy', { steps, calls: [], tasks: 0 })
      .map(formatCell)
      .filter((cell) => cell.startsWith(`happy/${step}/`) && /\/(cancel|terminate)/u.test(cell))
      .map((cell) => cell.slice(`happy/${step}/`.length));
  expect(steps.map(ends)).toEqual([
    ['cancel', 'terminate'],
    ['cancel', 'terminate', 'cancelMove', 'terminateMove'],
    ['cancel', 'terminate'],
  ]);
});

test('where nothing can be injected there is no cell, and each such place is one of a scenario', () => {
  const runs = readCleanRuns();
  const unreached = scenarios.flatMap(({ name, unreached: its = [] }) => its.map((one) => ({ name, one })));
  expect(unreached).not.toEqual([]);
  for (const { name, one } of unreached) {
    const run = runs[name] ?? { steps: [], calls: [], tasks: 0 };
    expect(run.steps).toContain(one.slice(0, one.lastIndexOf('/')));
    expect(cellsOf(name, run).activity.map(formatCell)).not.toContain(`${name}/${one}`);
  }
});

test('pairs are of one scenario each', () => {
  const cells: SimulatedCell[] = [1, 2, 3].map((number) => ({ scenario: 'happy', targets: [{ at: 'task', number }] }));
  const pairs = pairCells(cells, 4, () => 0.5);
  expect(pairs).toHaveLength(4);
  expect(pairs[0]?.targets).toHaveLength(2);
  expect(pairCells([], 4, () => 0.5)).toEqual([]);
});

test('of a loop, the first calls and the last ones are places for faults', () => {
  const steps = ['A/openEviction.1', ...Array.from({ length: 20 }, (_, index) => `A/observeHost.${index + 1}`)];
  const places = new Set(
    activityCells('happy', { steps, calls: [], tasks: 0 }).map((cell) => formatCell(cell).split('/')[2]),
  );
  const numbers = [1, 2, 3, 4, 5, 18, 19, 20];
  expect([...places]).toEqual(['openEviction.1', ...numbers.map((number) => `observeHost.${number}`)]);
});
