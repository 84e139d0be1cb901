import type { KubernetesObjects, ListQuery } from '../../../runtime/kubernetes/objects.ts';
import type { Claim } from '../../../runtime/kubernetes/storage-resources.ts';
import { testClock, testScope } from '../../../test/fixtures/activities/nova.ts';
import { readClaimProblem, shareClaimWarnings } from './claim-problem.ts';
import type { VolumeTools } from './dependencies.ts';

const warning = (uid: string, second: number, message: string, reason = 'ProvisioningFailed') => ({
  metadata: { namespace: 'vms', name: `${uid}.${second}` },
  involvedObject: { uid },
  reason,
  message,
  lastTimestamp: `2026-11-28T07:00:0${second}Z`,
});

function world(events: readonly object[]) {
  const asked: ListQuery[] = [];
  const listValid = (_resource: unknown, query: ListQuery) => {
    asked.push(query);
    return Promise.resolve(events);
  };
  const clock = testClock();
  const client = { listValid } as unknown as KubernetesObjects;
  const tools = { client, clock, scope: testScope(), claimWarnings: shareClaimWarnings({ client, clock }) };
  const problemOf = (uid: string, namespace = 'vms'): Promise<string | null> =>
    readClaimProblem(
      tools as unknown as VolumeTools,
      { metadata: { namespace, name: uid, uid }, spec: {}, status: { phase: 'Pending' } } as unknown as Claim,
    );
  return { asked, clock, problemOf };
}

test('the last Warning of its reason on that claim counts', async () => {
  const { problemOf } = world([
    warning('a', 2, 'no pool of that name'),
    warning('a', 1, 'no monitor answers'),
    warning('a', 3, 'it cannot grow', 'VolumeResizeFailed'),
    warning('b', 4, 'the quota is used up'),
    { metadata: { namespace: 'vms', name: 'of-nobody' }, reason: 'ProvisioningFailed' },
  ]);
  expect(await problemOf('a')).toBe('no pool of that name');
  expect(await problemOf('b')).toBe('the quota is used up');
  expect(await problemOf('c')).toBeNull();
});

test('claims of a namespace share what was read within a second', async () => {
  const { asked, clock, problemOf } = world([]);
  const ofNamespace = (namespace: string) => ({
    namespace,
    fieldSelector: 'involvedObject.kind=PersistentVolumeClaim,type=Warning',
  });
  await Promise.all(['a', 'b', 'c'].map((uid) => problemOf(uid)));
  await problemOf('d', 'others');
  expect(asked).toEqual([ofNamespace('vms'), ofNamespace('others')]);
  await clock.sleep(1_001);
  await problemOf('a');
  expect(asked).toHaveLength(3);
});
