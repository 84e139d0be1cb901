import type { StorageProfile } from '../../../contracts/crds/storage-profile.ts';
import type { ObservedProfile, StorageProfileObservation } from '../../../contracts/data-volume/storage-profile-run.ts';
import { applyObject, mergeObject } from '../../../lab/kubernetes-objects.ts';
import { resourcePath } from '../../../runtime/kubernetes/resource-path.ts';
import { openObjects } from '../../../runtime/kubernetes/objects.ts';
import type { AuditEntry } from '../../../runtime/telemetry/audit.ts';
import { openVirtual } from '../../../test/contracts/hosts/subject.ts';
import { createFakeKubernetes } from '../../../test/fakes/kubernetes/fake-kubernetes.ts';
import { testScope } from '../../../test/fixtures/activities/nova.ts';
import type { ActivityScope } from '../../lib/context.ts';
import { createStorageProfileActivities, type StorageProfileDependencies } from './storage-profile.ts';

const name = 'fast';
const cdi = 'cdi.kubevirt.io/v1beta1';
const settings = { mode: 'act', recheckMs: 1_000, lingerMs: 0, publishMinMs: 0 } as const;

const storageClass = (provisioner = 'rbd.csi.ceph.com', annotations: Record<string, string> = {}): object => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name, annotations },
  provisioner,
});

function open(change: Partial<StorageProfileDependencies> = {}, scope: Partial<ActivityScope> = {}) {
  const virtual = openVirtual();
  const { clock, run } = virtual;
  const kubernetes = createFakeKubernetes(virtual);
  const audited: AuditEntry[] = [];
  const signalled: string[] = [];
  const activities = createStorageProfileActivities({
    client: openObjects(kubernetes.client),
    settings,
    cluster: '',
    signalWithStart: async (input) => void signalled.push(input.name),
    stopGate: async () => undefined,
    audit: { record: async (entry) => void audited.push(entry) },
    clock,
    scope: () => testScope({ deadlineMs: clock.now() + 60_000, ...scope }),
    ...change,
  });
  const { admin } = kubernetes;
  const { signal } = new AbortController();
  return {
    ...virtual,
    activities,
    audited,
    signalled,
    apply: (object: object) => run(() => applyObject(admin, object)),
    merge: (patch: object) =>
      run(() => mergeObject(admin, { apiVersion: cdi, kind: 'StorageProfile', metadata: { name }, ...patch })),
    remove: (apiVersion: string, plural: string) =>
      run(() => admin.request({ method: 'DELETE', path: resourcePath(apiVersion, plural, { name }) }, signal)),
    observe: async (): Promise<StorageProfileObservation> => {
      const found = await run(() => activities.observeStorageProfile({ name }));
      if (found.kind !== 'observed') throw new Error(found.message);
      return found;
    },
    profile: () => kubernetes.object('storageprofiles', { name }) as StorageProfile | null,
    run,
  };
}

type World = ReturnType<typeof open>;

async function publish({ run, activities, observe }: World, retryHandled: string | null = null): Promise<void> {
  const { desired, observed } = await observe();
  const { computed: status } = observed;
  if (status === null) throw new Error('nothing is known');
  await run(() => activities.publishStorageProfile({ name, uid: desired?.uid ?? '', status, retryHandled }));
}

test('of a class that is there, all that is known is observed, where snapshots are not installed too', async () => {
  const { apply, observe } = open();
  await apply(storageClass());
  expect(await observe()).toEqual({
    kind: 'observed',
    digest: null,
    settings,
    retry: null,
    desired: null,
    observed: {
      hasClass: true,
      computed: {
        storageClass: name,
        provisioner: 'rbd.csi.ceph.com',
        cloneStrategy: 'csi-clone',
        claimPropertySets: [
          { accessModes: ['ReadWriteMany'], volumeMode: 'Block' },
          { accessModes: ['ReadWriteOnce'], volumeMode: 'Block' },
          { accessModes: ['ReadWriteOnce'], volumeMode: 'Filesystem' },
        ],
        dataImportCronSourceFormat: 'pvc',
        snapshotClass: null,
        recognized: {
          status: 'True',
          reason: 'RecognizedProvisioner',
          message: 'What volumes of rbd.csi.ceph.com can be is known',
        },
      },
      snapshotClassWhy: 'No VolumeSnapshotClass is of driver rbd.csi.ceph.com',
      isSaid: false,
    } satisfies ObservedProfile,
  });
});

test('it is created once, says what is known, and says it once', async () => {
  const world = open();
  const { apply, run, activities, audited, profile, observe } = world;
  await apply(storageClass());
  await run(() => activities.createStorageProfile({ name }));
  await run(() => activities.createStorageProfile({ name }));
  expect(audited.map(({ action }) => action)).toEqual(['createStorageProfile']);
  await publish(world);
  const said = profile();
  expect(said?.status).toMatchObject({
    storageClass: name,
    provisioner: 'rbd.csi.ceph.com',
    cloneStrategy: 'csi-clone',
    conditions: [{ type: 'Recognized', status: 'True', reason: 'RecognizedProvisioner' }],
  });
  expect((await observe()).observed.isSaid).toBe(true);
  await publish(world);
  expect(profile()?.metadata.resourceVersion).toBe(said?.metadata.resourceVersion);
});

test('what users say goes first, and what is no more is taken away', async () => {
  const world = open();
  const { apply, run, activities, merge, profile, observe } = world;
  await apply(storageClass('csi.example.com', { 'cdi.kubevirt.io/clone-strategy': 'csi-clone' }));
  await run(() => activities.createStorageProfile({ name }));
  const sets = [{ accessModes: ['ReadWriteMany'], volumeMode: 'Filesystem' }];
  await merge({ spec: { claimPropertySets: sets } });
  await publish(world);
  expect(profile()?.status).toMatchObject({
    cloneStrategy: 'csi-clone',
    claimPropertySets: sets,
    conditions: [{ status: 'False', reason: 'UnrecognizedProvisioner' }],
  });
  await merge({ spec: { claimPropertySets: [] } });
  expect((await observe()).observed.isSaid).toBe(false);
  await publish(world);
  expect(profile()?.status?.claimPropertySets).toEqual([]);
});

test('a retry is answered', async () => {
  const world = open();
  const { apply, run, activities, merge, observe, profile } = world;
  await apply(storageClass());
  await run(() => activities.createStorageProfile({ name }));
  await merge({ metadata: { name, annotations: { 'drover.dev/retry': 'now' } } });
  expect((await observe()).retry).toBe('now');
  await publish(world, 'now');
  expect((await observe()).retry).toBeNull();
  expect(profile()?.metadata.annotations?.['drover.dev/retry-handled']).toBe('now');
});

const remove = async ({ run, activities, observe }: World): Promise<void> => {
  const { desired } = await observe();
  await run(() => activities.deleteStorageProfile({ name, uid: desired?.uid ?? '' }));
};

test('it goes with its class, and not before', async () => {
  const world = open();
  const { apply, run, activities, profile, audited } = world;
  await apply(storageClass());
  await run(() => activities.createStorageProfile({ name }));
  await remove(world);
  expect(profile()).not.toBeNull();
  await world.remove('storage.k8s.io/v1', 'storageclasses');
  await remove(world);
  expect(profile()).toBeNull();
  expect(audited.map(({ action }) => action)).toEqual(['createStorageProfile', 'deleteStorageProfile']);
});

test('one that others have made stays', async () => {
  const world = open();
  await world.apply({ apiVersion: cdi, kind: 'StorageProfile', metadata: { name }, spec: {} });
  expect(await world.observe()).toMatchObject({
    desired: { isOwn: false },
    observed: { hasClass: false, computed: null },
  });
  await remove(world);
  expect(world.profile()).not.toBeNull();
});

test('one that was made anew since is another', async () => {
  const world = open();
  const { apply, run, activities, profile } = world;
  await apply(storageClass());
  await run(() => activities.createStorageProfile({ name }));
  const { computed: status } = (await world.observe()).observed;
  if (status === null) throw new Error('nothing is known');
  await run(() => activities.publishStorageProfile({ name, uid: 'another', status, retryHandled: null }));
  expect(profile()?.status).toBeUndefined();
});

test('nothing is created while drover is stopped', async () => {
  const { run, activities, profile } = open({ stopGate: () => Promise.reject(new Error('stopped')) });
  await expect(run(() => activities.createStorageProfile({ name }))).rejects.toThrow('stopped');
  expect(profile()).toBeNull();
});

test('the object may say that it is only observed', async () => {
  const { apply, observe } = open();
  await apply({
    apiVersion: cdi,
    kind: 'StorageProfile',
    metadata: { name, annotations: { 'drover.dev/mode': 'observe' } },
    spec: {},
  });
  expect((await observe()).settings.mode).toBe('observe');
});

test('a kind that is switched off, another run, and bad input', async () => {
  const off = open({ settings: null });
  expect(await off.run(() => off.activities.observeStorageProfile({ name }))).toMatchObject({ kind: 'nothing' });
  const other = open({}, { run: { workflowId: 'mine', runId: 'r' } });
  expect(await other.run(() => other.activities.observeStorageProfile({ name }))).toEqual({
    kind: 'handedOver',
    message: 'Run storage-profile/fast drives fast',
  });
  expect(other.signalled).toEqual([name]);
  await expect(other.run(() => other.activities.observeStorageProfile({ name: 'No Name' }))).rejects.toThrow(
    'is no name of a StorageClass',
  );
});
