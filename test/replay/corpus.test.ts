import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Entry, Inventory } from './corpus.ts';
import { keepOnce, readEntries, replaceRecording, takeInventory, writeEntries } from './corpus.ts';
import type { Inventories } from './inventory.ts';
import { findLosses } from './inventory.ts';

const directory = mkdtempSync(join(tmpdir(), 'drover-corpus-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** A run that calls these activities, one after the other. */
const entry = (names: string | string[], activities: readonly string[], more: Partial<Entry> = {}): Entry => ({
  names: [names].flat(),
  workflowId: `eviction/${[names].flat()[0]}`,
  history: {
    events: [
      {
        eventId: '1',
        workflowExecutionStartedEventAttributes: {
          workflowType: { name: 'evictHypervisor' },
          taskQueue: { name: [names].flat()[0] },
        },
      },
      ...activities.flatMap((name) => [
        { workflowTaskScheduledEventAttributes: {} },
        { activityTaskScheduledEventAttributes: { activityType: { name } } },
        { activityTaskCompletedEventAttributes: {} },
      ]),
      { workflowExecutionCompletedEventAttributes: {} },
    ],
  },
  ...more,
});

test('of runs with the same commands one history is kept, with the names of all', () => {
  const kept = keepOnce([entry('happy-1', ['open']), entry('late-2', ['open']), entry('late-10', ['open', 'publish'])]);
  expect(kept.map(({ names }) => names)).toEqual([['happy-1', 'late-2'], ['late-10']]);
});

test('rather one whose calls were counted', () => {
  expect(keepOnce([entry('a-1', ['open']), entry('b-1', ['open'], { calls: { nova: 3 } })])).toMatchObject([
    { names: ['a-1', 'b-1'], calls: { nova: 3 }, workflowId: 'eviction/b-1' },
  ]);
});

test('runs that answer other events are not the same', () => {
  const twin = entry('b-1', ['open']);
  const { events } = twin.history as { events: object[] };
  const signaled = {
    ...twin,
    history: {
      events: [
        ...events.slice(0, -1),
        { workflowExecutionSignaledEventAttributes: { signalName: 'pause' } },
        ...events.slice(-1),
      ],
    },
  };
  expect(keepOnce([entry('a-1', ['open']), signaled])).toHaveLength(2);
});

test('a recording that is made again takes the place of what it had, and leaves what others have too', () => {
  const before = [
    entry(['happy-1', 'late-1'], ['open']),
    entry('happy-2', ['open', 'publish']),
    entry('happyend-1', ['close']),
  ];
  const after = replaceRecording(before, 'happy', [entry('happy-1', ['preflight']), entry('happy-2', ['close'])]);
  expect(after.map(({ names }) => names)).toEqual([['late-1'], ['happy-2', 'happyend-1'], ['happy-1']]);
});

test('the same entries give the same bytes, in whatever order they come', () => {
  const entries = [entry('b-1', ['open']), entry('a-1', ['close'])];
  const bytes = (some: Entry[]): Buffer => {
    writeEntries('0.0.1', some, directory);
    return readFileSync(join(directory, '0.0.1.jsonl.br'));
  };
  expect(bytes(entries).equals(bytes(entries.toReversed()))).toBe(true);
  expect(readEntries('0.0.1', directory)).toEqual(entries.toReversed());
  expect(takeInventory('0.0.1', directory)).toMatchObject({ types: { evictHypervisor: 2 }, kept: 2 });
});

const inventory = (types: Record<string, number>, sha256 = 'a'): Inventory => ({ types, kept: 1, sha256 });
const at = { exported: ['evictHypervisor', 'findDrift'], current: '0.2.0' };
test.each<[what: string, before: Inventories, now: Inventories, losses: string[]]>([
  ['the same', { '0.2.0': inventory({ findDrift: 2 }) }, { '0.2.0': inventory({ findDrift: 2 }, 'b') }, []],
  ['nothing before', {}, { '0.2.0': inventory({ findDrift: 2 }) }, []],
  [
    'fewer runs',
    { '0.2.0': inventory({ findDrift: 2 }) },
    { '0.2.0': inventory({ findDrift: 1 }) },
    ['2 runs were recorded, and 1 are', '2 runs of findDrift were recorded, and 1 are'],
  ],
  [
    'fewer runs of a type, and more of another',
    { '0.2.0': inventory({ findDrift: 2, evictHypervisor: 1 }) },
    { '0.2.0': inventory({ findDrift: 1, evictHypervisor: 5 }) },
    ['2 runs of findDrift were recorded, and 1 are'],
  ],
  [
    'a type of two releases',
    { '0.1.0': inventory({ findDrift: 2 }), '0.2.0': inventory({ findDrift: 1 }) },
    { '0.1.0': inventory({ findDrift: 2 }), '0.2.0': inventory({ findDrift: 1 }) },
    [],
  ],
  [
    'a type less',
    { '0.2.0': inventory({ findDrift: 1, evictHypervisor: 1 }) },
    { '0.2.0': inventory({ evictHypervisor: 2 }) },
    ['histories of 2 workflow types were recorded, and of 1 are', '1 runs of findDrift were recorded, and 0 are'],
  ],
  [
    'a type that has another name now',
    { '0.2.0': inventory({ lookForDrift: 1 }) },
    { '0.2.0': inventory({ findDrift: 1 }) },
    [],
  ],
  [
    'an earlier release that was written again',
    { '0.1.0': inventory({ findDrift: 1 }) },
    { '0.1.0': inventory({ findDrift: 1 }, 'b'), '0.2.0': inventory({}) },
    ['the histories of 0.1.0 are others: what a release wrote is never written again'],
  ],
  [
    'an earlier release that is gone',
    { '0.1.0': inventory({ findDrift: 1 }) },
    { '0.2.0': inventory({ findDrift: 1 }) },
    ['the histories of 0.1.0 are others: what a release wrote is never written again'],
  ],
])('what is lost: %s', (_, before, now, losses) => {
  expect(findLosses(before, now, at)).toEqual(losses);
});
