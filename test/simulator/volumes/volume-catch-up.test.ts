import { volumeAnnotations } from '../../../contracts/data-volume/metadata.ts';
import { workflowTypes } from '../../../contracts/ids.ts';
import { applyObject, mergeObject } from '../../../lab/kubernetes-objects.ts';
import { resourcePath } from '../../../runtime/kubernetes/resource-path.ts';
import { storageNames } from './storage-classes.ts';
import { elsewhere, home, inVolumeWorld, minute, never, ofClaim, type VolumeWorld } from './volume-world.ts';

/**
 * A bridge is killed beside many reconciled objects of storage, and begins anew: what real runs have left is compared
 * with its copies.
 */

/** A clone costs the simulation a hundred times what a profile does. */
const manyClones = 40;
const many = 200;
const storage = 'storage.k8s.io/v1';
const snapshots = 'snapshot.storage.k8s.io/v1';
const cdi = 'cdi.kubevirt.io/v1beta1';

/** The objects whose runs are started by a bridge that begins, by name; the change is made while none is there. */
async function startedAfter(
  world: VolumeWorld,
  type: string,
  change: () => Promise<unknown> = async () => undefined,
): Promise<string[]> {
  const { deployment } = world;
  deployment.bridge?.kill();
  const before = new Set(deployment.simulation.runs().map(({ runId }) => runId));
  await change();
  deployment.bridge?.start();
  await world.pass(2 * minute);
  const started = deployment.simulation.runs().filter((run) => run.type === type && !before.has(run.runId));
  return [...new Set(started.map(({ workflowId }) => workflowId.slice(workflowId.lastIndexOf('/') + 1)))].toSorted();
}

const remove = ({ api }: VolumeWorld, apiVersion: string, plural: string, key: { namespace?: string; name: string }) =>
  api.request({ method: 'DELETE', path: resourcePath(apiVersion, plural, key) }, never);
const all = (count: number, prefix: string): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}`);

test(
  `beside ${manyClones} volumes that are made no run is started, and what has changed is noticed`,
  () =>
    inVolumeWorld({}, async (world) => {
      await world.makeSource('golden', 'bytes');
      await world.makeSource('distant', 'bytes', {}, elsewhere);
      const clones = all(manyClones, 'disk');
      await Promise.all(clones.map((name) => world.makeVolume(name, {})));
      await world.makeVolume('moved', { source: ofClaim('distant', elsewhere) });
      await world.makeVolume('copied', { storageClass: storageNames.classes.fixed });
      await world.makeVolume('blank', { source: { blank: {} }, size: '1Gi' });
      for (const name of [...clones, 'moved', 'copied', 'blank']) await world.made(name, 60 * minute);
      const started = (change?: () => Promise<unknown>) => startedAfter(world, workflowTypes.cloneDataVolume, change);
      expect(await started()).toEqual([]);
      expect(world.deployment.bridge?.stats()?.unchanged).toBe(manyClones + 3);

      // One that waits for its source has it.
      await world.makeVolume('late', { source: ofClaim('later') });
      await world.pass(minute);
      expect(await started(() => world.makeSource('later', 'bytes'))).toEqual(['late']);
      // Clones need them once.
      const removeNeeded = async (): Promise<void> => {
        await remove(world, 'v1', 'persistentvolumeclaims', { namespace: home, name: 'golden' });
        await mergeObject(world.api, {
          apiVersion: storage,
          kind: 'StorageClass',
          metadata: { name: storageNames.classes.plain, annotations: { note: 'changed' } },
        });
      };
      expect(await started(removeNeeded)).toEqual([]);

      const claims = 'persistentvolumeclaims';
      expect(await started(() => remove(world, 'v1', claims, { namespace: home, name: 'disk-1' }))).toEqual(['disk-1']);
      const replace = async (): Promise<void> => {
        await remove(world, 'v1', claims, { namespace: home, name: 'disk-2' });
        await world.makeSource('disk-2', 'of a user');
      };
      // The source of the first is gone, so that it is not reconciled from now on.
      expect(await started(replace)).toEqual(['disk-1', 'disk-2']);
      const annotate = (): Promise<unknown> =>
        mergeObject(world.api, {
          apiVersion: cdi,
          kind: 'DataVolume',
          metadata: { namespace: home, name: 'disk-3', annotations: { [volumeAnnotations.onDeadline]: 'fail' } },
        });
      expect(await started(annotate)).toEqual(['disk-1', 'disk-2', 'disk-3']);
    }),
  1_800_000,
);

test(
  `beside ${many} StorageProfiles that say what they should no run is started`,
  () =>
    inVolumeWorld({ sections: { modes: { Eviction: 'off', StorageProfile: 'act' } } }, async (world) => {
      const { name } = storageClass('class-0').metadata;
      for (const one of all(many, 'class')) await applyObject(world.api, storageClass(one));
      await world.pass(2 * minute);
      const started = (change?: () => Promise<unknown>) =>
        startedAfter(world, workflowTypes.reconcileStorageProfile, change);
      expect(await started()).toEqual([]);
      expect(world.deployment.bridge?.stats()?.unchanged).toBe(many + Object.keys(storageNames.classes).length);
      const strategy = { [volumeAnnotations.classCloneStrategy]: 'copy' };
      const merge = (apiVersion: string, kind: string, change: object): Promise<unknown> =>
        mergeObject(world.api, { apiVersion, kind, metadata: { name }, ...change });
      expect(
        await started(() => merge(storage, 'StorageClass', { metadata: { name, annotations: strategy } })),
      ).toEqual([name]);
      expect(await started(() => merge(cdi, 'StorageProfile', { spec: { cloneStrategy: 'csi-clone' } }))).toEqual([
        name,
      ]);
      expect(await started(() => remove(world, storage, 'storageclasses', { name: 'class-1' }))).toEqual(['class-1']);
      const removed = await started(() =>
        remove(world, snapshots, 'volumesnapshotclasses', { name: storageNames.snapshotClass }),
      );
      expect(removed).toHaveLength(many - 1 + Object.keys(storageNames.classes).length);
      expect(await started()).toEqual([]);
    }),
  1_800_000,
);

const storageClass = (name: string) => ({
  apiVersion: storage,
  kind: 'StorageClass',
  metadata: { name },
  provisioner: storageNames.driver,
});
