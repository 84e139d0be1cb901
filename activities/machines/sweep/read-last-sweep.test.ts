import { type Client, WorkflowNotFoundError } from '@temporalio/client';

import type { SweepMemory } from '../../../contracts/machine-safety/sweep.ts';
import { systemClock as clock } from '../../../runtime/clock.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import { readLastSweep } from './read-last-sweep.ts';

const { signal } = new AbortController();
const memory: SweepMemory = {
  clusterUid: 'uid-1',
  resourceVersion: 7,
  probationUntilMs: 1,
  probationWhy: '',
  sightings: {
    'vsphere a': { firstMs: 1, countedMs: 1, count: 1, machineName: 'a', machineClass: 'small', why: 'MachineMissing' },
  },
  approved: {},
  round: { startedMs: 1, deleted: 0 },
};

const open = Symbol('open');
const of = { workflowId: 'orphan-sweep/shoot', runId: '0' };

/** Runs by their results, in the order in which they are listed; an Error: the result cannot be read. */
function clientWith(results: readonly unknown[]): Client {
  return {
    withDeadline: (_: unknown, use: () => unknown) => use(),
    withAbortSignal: (_: unknown, use: () => unknown) => use(),
    workflow: {
      async *list() {
        for (const [index] of results.entries()) {
          const run = { runId: String(index), closeTime: new Date(1_000 - index), status: { name: 'COMPLETED' } };
          yield results[index] === open ? { ...run, closeTime: null, status: { name: 'RUNNING' } } : run;
        }
      },
      getHandle: (_: string, runId: string) => ({
        async result() {
          const result = results[Number(runId)];
          if (result instanceof Error) throw result;
          return result;
        },
      }),
    },
  } as unknown as Client;
}

const withFailed: SweepMemory = {
  ...memory,
  sightings: { 'vsphere a': { ...memory.sightings['vsphere a']!, failedMs: 1 } },
  round: { startedMs: 1, deleted: 0, failed: 2 },
};
const notFound = new WorkflowNotFoundError('gone', 'orphan-sweep/shoot', '0');

test.each<[what: string, results: unknown[], found: SweepMemory | null]>([
  ['no run', [], null],
  ['the last one', [{ memory }, { memory: { ...memory, resourceVersion: 3 } }], memory],
  ['the one before, where the last did not sweep', [{ outcome: 'nothing' }, { memory: null }, { memory }], memory],
  ['the one before, where the history of the last is gone', [notFound, { memory }], memory],
  ['none, where the last cannot be decoded', [droverFailure('PayloadKeyMissing', 'lost'), { memory }], null],
  ['none, where the last cannot be understood', [{ memory: { ...memory, sightings: [7] } }, { memory }], null],
  ['one with deletions that failed', [{ memory: withFailed }], withFailed],
  ['none, where a field is missing', [{ memory: { ...memory, round: undefined } }], null],
])('%s', async (_what, results, found) => {
  expect(await readLastSweep({ temporal: clientWith([open, ...results]), clock }, of, signal)).toEqual(found);
});

test('where Temporal does not say, it is a failure, and not none', async () => {
  await expect(
    readLastSweep({ temporal: clientWith([open, new Error('no answer')]), clock }, of, signal),
  ).rejects.toMatchObject({ type: 'TemporalUnavailable' });
});

test('where the run before is still listed as open, it is a failure, and not the memory of the one before that', async () => {
  await expect(
    readLastSweep({ temporal: clientWith([open, open, { memory }]), clock }, of, signal),
  ).rejects.toMatchObject({
    type: 'TemporalUnavailable',
    message: expect.stringContaining('run 1'),
  });
});
