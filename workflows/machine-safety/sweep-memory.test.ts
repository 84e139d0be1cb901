import { providerIdKey } from '../../contracts/machine-safety/provider-id.ts';
import type { Candidate, ObservedSweep, SweepMemory, SweptClass } from '../../contracts/machine-safety/sweep.ts';
import {
  answerLeftover,
  apartMs,
  approve,
  askForLeftover,
  noSweepMemory,
  pruneRun,
  recordDeletion,
  recordFailure,
  recordRefusal,
  rememberSweep,
} from './sweep-memory.ts';

const minute = 60_000;
const settings = { periodMs: 15 * minute, probationMs: 60 * minute };
const apart = apartMs(settings);
const id = 'vsphere://eu-1/one';
const key = providerIdKey(id);
const one: Candidate = {
  providerId: id,
  machineName: 'one',
  machineClass: 'small',
  createdMs: null,
  why: 'MachineMissing',
  keptBy: null,
};
const found = (change: Partial<ObservedSweep> = {}) => ({
  clusterUid: 'uid-1',
  resourceVersion: 100,
  candidates: [one],
  classes: [] as SweptClass[],
  ...change,
});
const first = rememberSweep(null, found(), settings, 0);
const failedClass: SweptClass = { name: 'small', provider: 'vSphere', failure: { code: null, message: 'no' } };

test('without a memory probation begins, and the first sighting', () => {
  expect(first).toEqual({
    clusterUid: 'uid-1',
    resourceVersion: 100,
    probationUntilMs: 60 * minute,
    probationWhy: 'no sweep is remembered',
    sightings: {
      [key]: { firstMs: 0, countedMs: 0, count: 1, machineName: 'one', machineClass: 'small', why: 'MachineMissing' },
    },
    approved: {},
    round: { startedMs: 0, deleted: 0 },
  });
});

test.each<[rule: string, change: Partial<ObservedSweep>, atMs: number, expected: Partial<SweepMemory> & object]>([
  ['the same observation again changes nothing', {}, 0, first],
  ['a burst counts once', {}, apart - 1, { sightings: { [key]: { ...first.sightings[key]!, count: 1 } } }],
  [
    'half a period later it counts, and the cap is a new one',
    {},
    apart,
    {
      sightings: { [key]: { ...first.sightings[key]!, countedMs: apart, count: 2 } },
      round: { startedMs: apart, deleted: 0 },
    },
  ],
  ['one that is no orphan any more is forgotten', { candidates: [] }, apart, { sightings: {} }],
  [
    'but not where its class could not be listed',
    { candidates: [], classes: [failedClass] },
    apart,
    { sightings: first.sightings },
  ],
  [
    'one of another name is another one',
    { candidates: [{ ...one, machineName: 'two' }] },
    apart,
    {
      sightings: {
        [key]: { ...first.sightings[key]!, machineName: 'two', firstMs: apart, countedMs: apart, count: 1 },
      },
    },
  ],
  [
    'a newer list is remembered',
    { resourceVersion: 101 },
    apart,
    { resourceVersion: 101, probationUntilMs: 60 * minute },
  ],
  [
    'an older list: probation begins anew, and nothing was ever seen',
    { resourceVersion: 99 },
    apart,
    {
      resourceVersion: 99,
      probationUntilMs: apart + 60 * minute,
      probationWhy: 'the Machines are older than they were (resourceVersion 99 after 100): kube-apiserver was restored',
      sightings: { [key]: { ...first.sightings[key]!, firstMs: apart, countedMs: apart, count: 1 } },
    },
  ],
  [
    'another cluster, too',
    { clusterUid: 'uid-2', resourceVersion: 500 },
    apart,
    { clusterUid: 'uid-2', resourceVersion: 500, probationUntilMs: apart + 60 * minute },
  ],
])('%s', (_rule, change, atMs, expected) => {
  expect(rememberSweep(first, found(change), settings, atMs)).toMatchObject(expected);
});

test('a VM that comes and goes never counts to two', () => {
  let memory = first;
  for (let sweep = 1; sweep < 20; sweep += 1) {
    memory = rememberSweep(memory, found({ candidates: sweep % 2 === 0 ? [one] : [] }), settings, sweep * apart);
    expect(memory.sightings[key]?.count ?? 0).toBeLessThan(2);
  }
});

test('a deletion counts against the cap, and is not repeated while its provider still lists it', () => {
  const vm = { ...one, outcome: 'deleted', detachedDisks: [], atMs: 5 } as const;
  const memory = recordDeletion({ ...noSweepMemory, sweep: first }, vm);
  expect(memory).toMatchObject({
    sweep: { round: { deleted: 1 } },
    deletedCount: 1,
    deleted: [{ machineName: 'one' }],
  });
  expect(Object.keys(pruneRun(memory, found(), settings, apart).refused)).toEqual([key]);
  expect(pruneRun(memory, found(), settings, apart + 5).refused).toEqual({});
  expect(pruneRun(memory, found({ candidates: [] }), settings, 6).refused).toEqual({});
});

test('a deletion that failed counts against the cap, and is known to the sweeps after it', () => {
  const failedOnce = recordFailure({ ...noSweepMemory, sweep: first }, id, { message: 'no right', atMs: 5 });
  expect(failedOnce).toMatchObject({
    sweep: { round: { startedMs: 0, deleted: 0, failed: 1 }, sightings: { [key]: { count: 1, failedMs: 5 } } },
    refused: { [key]: { message: 'no right', atMs: 5 } },
    deletedCount: 0,
  });
  const next = rememberSweep(failedOnce.sweep, found(), settings, apart);
  expect(next).toMatchObject({ round: { startedMs: apart, deleted: 0 }, sightings: { [key]: { failedMs: 5 } } });
  expect(next.round.failed).toBeUndefined();
  expect(recordFailure(noSweepMemory, id, { message: 'no', atMs: 5 }).sweep).toBeNull();
});

test('a refusal holds one, or all', () => {
  const refusal = { message: 'no', atMs: 0 };
  expect(recordRefusal(noSweepMemory, id, refusal, false)).toMatchObject({ refused: { [key]: refusal }, halted: null });
  expect(recordRefusal({ ...noSweepMemory, sweep: first }, id, refusal, false).sweep).toEqual(first);
  const halted = recordRefusal(noSweepMemory, id, refusal, true);
  expect(halted).toMatchObject({ refused: {}, halted: refusal });
  expect(pruneRun(halted, found(), settings, apart - 1).halted).toEqual(refusal);
  expect(pruneRun(halted, found(), settings, apart).halted).toBeNull();
});

test('an approval goes with its VM', () => {
  const approval = { by: 'jane', reason: null, atMs: 0 };
  const approved = approve({ ...noSweepMemory, sweep: first }, [id], approval).sweep;
  expect(approved?.approved).toEqual({ [key]: approval });
  expect(rememberSweep(approved, found(), settings, 1).approved).toEqual({ [key]: approval });
  expect(rememberSweep(approved, found({ candidates: [] }), settings, 1).approved).toEqual({});
  expect(rememberSweep(approved, found({ resourceVersion: 1 }), settings, 1).approved).toEqual({});
});

test('a leftover is asked for once, and an answer is to who asked last', () => {
  const port = { machineClass: 'small', kind: 'port', id: 'p-1', by: 'jane', at: '1' } as const;
  const asked = [port, { ...port, id: 'p-2' }, { ...port, by: 'joe', at: '2' }].reduce(askForLeftover, noSweepMemory);
  expect(asked.askedLeftovers.map(({ id, by }) => `${id} ${by}`)).toEqual(['p-2 jane', 'p-1 joe']);
  const answer = { outcome: 'kept', message: '', atMs: 1 } as const;
  expect(answerLeftover(asked, { ...port, ...answer }).askedLeftovers).toHaveLength(2);
  const answered = answerLeftover(asked, { ...port, by: 'joe', at: '2', ...answer });
  expect(answered.askedLeftovers.map(({ id }) => id)).toEqual(['p-2']);
  expect(answered.answeredLeftovers).toHaveLength(1);
});
