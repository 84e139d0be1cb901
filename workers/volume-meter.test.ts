import type { DataVolumeActivities, VolumeObservation } from '../contracts/data-volume/data-volume.ts';
import type { KubernetesObjects } from '../runtime/kubernetes/objects.ts';
import { storageResources } from '../runtime/kubernetes/storage-resources.ts';
import { createMetrics } from '../runtime/telemetry/metrics.ts';
import { meterVolumes } from './volume-meter.ts';

const input = { namespace: 'team', name: 'disk' };
const recheckMs = 600_000;

type Facts = {
  reason?: string;
  status?: string;
  phase?: string;
  desired?: Partial<NonNullable<VolumeObservation['desired']>> | null;
};

const observation = ({
  reason = 'CloneSourceInUse',
  status = 'False',
  phase = 'CloneScheduled',
  desired = {},
}: Facts) =>
  ({
    kind: 'observed',
    desired: desired === null ? null : { createdMs: 5_000, deleting: false, foreignSource: '', ...desired },
    observed: { recorded: { phase, conditions: [{ type: 'Ready', status, reason, message: '' }] } },
    settings: { recheckMs },
  }) as unknown as VolumeObservation;

function meter() {
  const metrics = createMetrics('worker', '1');
  const clock = { nowMs: 1_000, monotonicMs: () => clock.nowMs };
  const { metered, meteredClient } = meterVolumes(metrics, clock);
  const observe = (facts: Facts, name = input.name) =>
    metered({
      observeDataVolume: () => Promise.resolve(observation(facts)),
    } as unknown as DataVolumeActivities).observeDataVolume({ ...input, name });
  return { metrics, clock, metered, meteredClient, observe };
}

const series = (reason: string): string =>
  `drover_data_volume_waiting_timestamp_seconds{namespace="team",data_volume="disk",reason="${reason}"} 5`;

test('one that waits is shown while that is fresh, and no longer than it does', async () => {
  const { metrics, clock, metered, observe } = meter();
  await observe({});
  expect(await metrics.page()).toContain(series('CloneSourceInUse'));
  await observe({ reason: 'of another one: <b>' });
  expect(await metrics.page()).toContain(series('Other'));
  clock.nowMs += 2 * recheckMs;
  expect(await metrics.page()).not.toContain('drover_data_volume_waiting_timestamp_seconds{');
  await observe({});
  const completes = { completeDataVolume: () => Promise.resolve({ left: [] }) } as unknown as DataVolumeActivities;
  await metered(completes).completeDataVolume({ ...input, uid: 'u', begin: null, status: {} as never });
  expect(await metrics.page()).not.toContain('drover_data_volume_waiting_timestamp_seconds{');
});

test('what is stale is not kept, also where no page is made', async () => {
  const { metrics, clock, observe } = meter();
  for (const name of ['disk', 'other', 'disk']) {
    clock.nowMs += recheckMs;
    await observe({}, name);
  }
  clock.nowMs += recheckMs;
  await observe({}, 'third');
  // Back to when all were fresh: a page now shows what is kept.
  clock.nowMs = 1_000;
  const page = await metrics.page();
  expect(['disk', 'other', 'third'].filter((name) => page.includes(`data_volume="${name}"`))).toEqual([
    'disk',
    'third',
  ]);
});

test.each<[why: string, facts: Facts]>([
  ['it is complete', { phase: 'Succeeded' }],
  ['it goes on', { reason: 'TransferRunning' }],
  ['nothing was said', { reason: '' }],
  ['it is only observed', { reason: 'ObserveOnly' }],
  ['it is gone', { desired: null }],
  ['it is being deleted', { desired: { deleting: true } }],
  ['it is CDI’s', { desired: { foreignSource: 'http' } }],
])('none is shown: %s', async (_why, facts) => {
  const { metrics, observe } = meter();
  await observe({});
  await observe(facts);
  expect(await metrics.page()).not.toContain('drover_data_volume_waiting_timestamp_seconds{');
});

test('snapshots that are made are counted, and not those that were there', async () => {
  const { metrics, meteredClient } = meter();
  const answers = [{ metadata: {} }, null];
  const client = { create: () => Promise.resolve(answers.shift()) } as unknown as KubernetesObjects;
  const { signal } = new AbortController();
  const object = { metadata: { name: 'x' }, spec: { source: {} } };
  for (let times = 0; times < 2; times += 1)
    await meteredClient(client).create(storageResources.VolumeSnapshot, object, signal);
  expect(await metrics.page()).toContain('drover_clone_snapshots_total 1');
});
