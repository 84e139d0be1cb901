import type { KubernetesObjects } from '../../../runtime/kubernetes/objects.ts';
import { type Job, storageResources } from '../../../runtime/kubernetes/storage-resources.ts';
import { testClock, testScope } from '../../../test/fixtures/activities/nova.ts';
import { copyJobSpec, describeJob } from './copy-job.ts';
import type { VolumeTools } from './dependencies.ts';

const request = {
  from: 'source',
  to: { name: 'target', uid: 'u-target' },
  volumeMode: 'Filesystem',
  image: 'drover:1',
} as const;

test('a copy has the priority that its DataVolume asks for', () => {
  const { template } = copyJobSpec(request, { priorityClassName: 'soon' });
  expect(template.spec).toMatchObject({ priorityClassName: 'soon', restartPolicy: 'Never' });
  expect(copyJobSpec(request, {}).template.spec).not.toHaveProperty('priorityClassName');
});

const warning = (second: number, message: string) => ({
  metadata: { namespace: 'vms', name: `job.${second}` },
  message,
  lastTimestamp: `2026-11-28T07:00:0${second}Z`,
});
const unplaced = { status: { conditions: [{ type: 'PodScheduled', status: 'False', message: '0/3 nodes' }] } };

test.each([
  ['is young', 5_000, {}, [unplaced], ''],
  ['has a Pod that cannot be placed', 60_000, {}, [unplaced], '0/3 nodes'],
  ['has a Pod that is on its way', 60_000, {}, [{}], ''],
  ['gets no Pod', 60_000, {}, [], 'exceeded quota'],
  ['copies', 60_000, { ready: 1 }, [unplaced], ''],
])('a Job that %s', async (_, ageMs, status, pods, message) => {
  const clock = testClock();
  const creationTimestamp = new Date(clock.now() - ageMs).toISOString();
  const events = [warning(2, 'exceeded quota'), warning(1, 'before')];
  const listValid = (resource: unknown) => Promise.resolve(resource === storageResources.Pod ? pods : events);
  const tools = { client: { listValid } as unknown as KubernetesObjects, clock, scope: testScope() };
  const job = { metadata: { namespace: 'vms', name: 'job', uid: 'u-job', creationTimestamp }, status };
  expect(await describeJob(tools as unknown as VolumeTools, job as unknown as Job)).toMatchObject({ message });
});
