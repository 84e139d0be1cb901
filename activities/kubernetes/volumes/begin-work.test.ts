import { dataVolumeFinalizer } from '../../../contracts/data-volume/metadata.ts';
import { systemClock } from '../../../runtime/clock.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import { holdWork } from './begin-work.ts';
import type { VolumeTools } from './dependencies.ts';

const of = { namespace: 'vms', name: 'disk', uid: 'u' };

test('whether it is still there is asked anew once its work has begun, however seldom that was asked before', async () => {
  let isThere = true;
  const get = async () => (isThere ? { metadata: { ...of }, spec: {} } : null);
  const tools = { client: { get }, scope: { signal: new AbortController().signal } } as unknown as VolumeTools;
  const work = await holdWork(tools, { ...of, begin: null });
  // It waits for room, and is deleted meanwhile.
  await work.say();
  isThere = false;
  await expect(work.live()).rejects.toMatchObject({ type: 'ObjectNotFound' });
});

test('a status that could not be written is written by the next attempt', async () => {
  const written: unknown[] = [];
  const volume = { metadata: { ...of, resourceVersion: '1', finalizers: [dataVolumeFinalizer] }, spec: {} };
  const client = {
    get: async () => volume,
    patchStatus: async (_resource: unknown, _metadata: unknown, status: unknown) => {
      written.push(status);
      if (written.length === 1) throw droverFailure('KubernetesUnavailable', 'kube-apiserver is away');
      return volume;
    },
  };
  const scope = { signal: new AbortController().signal, scheduledMs: 0 };
  const tools = { client, scope, clock: systemClock } as unknown as VolumeTools;
  const status = { phase: 'CloneScheduled', progress: 'N/A', claimName: 'disk', conditions: [], event: null } as const;
  const work = await holdWork(tools, { ...of, begin: { claimed: null, status } });
  await expect(work.say()).rejects.toThrow('is away');
  await work.say();
  await work.say();
  expect(written).toHaveLength(2);
});

test.each([
  ['Succeeded', 'before its work begins: what it makes is no complete volume', 1],
  ['CloneScheduled', 'when its work has begun', 0],
])('the status of one that says %s is written %s', async (phase, _when, writesBefore) => {
  let written = 0;
  const volume = {
    metadata: { ...of, resourceVersion: '1', finalizers: [dataVolumeFinalizer] },
    spec: {},
    status: { phase },
  };
  const client = {
    get: async () => volume,
    patchStatus: async () => {
      written += 1;
      return volume;
    },
  };
  const scope = { signal: new AbortController().signal, scheduledMs: 0 };
  const tools = { client, scope, clock: systemClock } as unknown as VolumeTools;
  const status = { phase: 'CloneInProgress', progress: 'N/A', claimName: 'disk', conditions: [], event: null } as const;
  const work = await holdWork(tools, { ...of, begin: { claimed: null, status } });
  expect(written).toBe(writesBefore);
  await work.say();
  expect(written).toBe(1);
});
