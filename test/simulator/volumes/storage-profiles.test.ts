import type { StorageProfile } from '../../../contracts/crds/storage-profile.ts';
import { storageProfileId, workflowQueue, workflowTypes } from '../../../contracts/ids.ts';
import { applyObject, mergeObject } from '../../../lab/kubernetes-objects.ts';
import { resources } from '../../../runtime/kubernetes/resources.ts';
import { resourcePath } from '../../../runtime/kubernetes/resource-path.ts';
import { storageNames } from './storage-classes.ts';
import { inVolumeWorld, minute, never, second, type VolumeWorld } from './volume-world.ts';

/** The run of a StorageProfile, from the StorageClass that it is made for to the one that is gone. */

const { plain: name, fixed, delayed } = storageNames.classes;
const sections = { modes: { Eviction: 'off', StorageProfile: 'act' } };
const cdi = 'cdi.kubevirt.io/v1beta1';
/** Long before the bridge compares what it may have missed. */
const soonMs = 10 * second;

const profile = ({ client }: VolumeWorld, of: string = name): Promise<StorageProfile | null> =>
  client.get(resources.StorageProfile, { name: of }, never);
const merge = ({ api }: VolumeWorld, patch: object): Promise<unknown> =>
  mergeObject(api, { apiVersion: cdi, kind: 'StorageProfile', metadata: { name }, ...patch });
const remove = async (
  { api }: VolumeWorld,
  apiVersion: string,
  plural: string,
  called: string = name,
): Promise<void> => {
  await api.request({ method: 'DELETE', path: resourcePath(apiVersion, plural, { name: called }) }, never);
};
const runs = ({ deployment }: VolumeWorld) =>
  deployment.simulation.runs().filter(({ type }) => type === workflowTypes.reconcileStorageProfile);

test('each StorageClass gets one, which follows what users say and what there is', () =>
  inVolumeWorld({ sections }, async (world) => {
    const says = async (status: object): Promise<void> => {
      await world.until(async () => {
        const found = (await profile(world))?.status ?? {};
        return Object.entries(status).every(
          ([field, value]) => JSON.stringify(found[field as keyof typeof found]) === JSON.stringify(value),
        );
      }, soonMs);
      expect((await profile(world))?.status).toMatchObject(status);
    };
    await says({ cloneStrategy: 'snapshot', snapshotClass: storageNames.snapshotClass, claimPropertySets: [] });
    expect((await profile(world))?.status?.conditions).toMatchObject([
      { type: 'Recognized', status: 'False', reason: 'UnrecognizedProvisioner' },
    ]);
    for (const other of [fixed, delayed])
      expect(await world.until(async () => (await profile(world, other))?.status?.storageClass === other, soonMs)).toBe(
        true,
      );

    const claimPropertySets = [{ accessModes: ['ReadWriteOnce'], volumeMode: 'Filesystem' }];
    await merge(world, { spec: { claimPropertySets, cloneStrategy: 'csi-clone' } });
    await says({ claimPropertySets, cloneStrategy: 'csi-clone' });
    await merge(world, { spec: { cloneStrategy: null } });
    await says({ cloneStrategy: 'snapshot' });

    await remove(world, 'snapshot.storage.k8s.io/v1', 'volumesnapshotclasses', storageNames.snapshotClass);
    await says({ cloneStrategy: 'copy' });
    expect((await profile(world))?.status?.snapshotClass).toBeUndefined();

    await remove(world, 'storage.k8s.io/v1', 'storageclasses');
    expect(await world.until(async () => (await profile(world)) === null, soonMs)).toBe(true);
    expect(await profile(world, fixed)).not.toBeNull();
    await world.pass(5 * second);
    expect(runs(world).filter(({ status }) => status !== 'COMPLETED')).toEqual([]);
  }));

test('one that is deleted is made anew', () =>
  inVolumeWorld({ sections }, async (world) => {
    await world.until(async () => (await profile(world))?.status !== undefined, soonMs);
    const before = await profile(world);
    await remove(world, cdi, 'storageprofiles');
    await world.until(async () => (await profile(world))?.status !== undefined, soonMs);
    expect((await profile(world))?.metadata.uid).not.toBe(before?.metadata.uid);
  }));

test('where drover only observes, nothing is made or said', () =>
  inVolumeWorld({ sections: { modes: { Eviction: 'off', StorageProfile: 'observe' } } }, async (world) => {
    await applyObject(world.api, { apiVersion: cdi, kind: 'StorageProfile', metadata: { name }, spec: {} });
    await world.pass(minute);
    expect((await profile(world))?.status).toBeUndefined();
    expect(await profile(world, fixed)).toBeNull();
    expect(runs(world).map(({ result }) => result)).toMatchObject([{ outcome: 'reconciled' }]);
  }));

test('one that others have made for no class stays', () =>
  inVolumeWorld({ sections }, async (world) => {
    await applyObject(world.api, { apiVersion: cdi, kind: 'StorageProfile', metadata: { name: 'gone' }, spec: {} });
    await world.pass(minute);
    expect((await profile(world, 'gone'))?.status).toBeUndefined();
    const last = runs(world).findLast(({ workflowId }) => workflowId === storageProfileId('gone'));
    expect(last?.result).toMatchObject({ outcome: 'blocked', reason: 'ClassNotFound' });
  }));

test('a run that is started by hand under another id hands over', () =>
  inVolumeWorld({ sections, bridge: false }, async (world) => {
    await world.deployment.simulation.client.workflow.start(workflowTypes.reconcileStorageProfile, {
      workflowId: 'mine',
      taskQueue: workflowQueue(''),
      args: [{ name }],
    });
    await world.pass(minute);
    expect(runs(world)).toMatchObject([
      { workflowId: 'mine', result: { outcome: 'handedOver' } },
      { workflowId: storageProfileId(name), result: { outcome: 'reconciled' } },
    ]);
    expect((await profile(world))?.status?.storageClass).toBe(name);
  }));
