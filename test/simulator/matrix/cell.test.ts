import { activityCells, formatCell, pairCells, parseCell, type SimulatedCell } from './cell.ts';

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
