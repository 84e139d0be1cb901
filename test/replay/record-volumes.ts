import { volumeAnnotations } from '../../contracts/data-volume/metadata.ts';
import { applyObject, mergeObject } from '../../lab/kubernetes-objects.ts';
import { storageNames } from '../simulator/volumes/storage-classes.ts';
import {
  elsewhere,
  home,
  inVolumeWorld,
  minute,
  never,
  ofClaim,
  second,
  type VolumeWorld,
  type VolumeWorldOptions,
} from '../simulator/volumes/volume-world.ts';
import type { RecordedRun } from './corpus.ts';
import { takeRuns } from './take-runs.ts';

/** Volumes that are cloned, in a simulation. */
export interface VolumeRecording {
  name: string;
  options?: VolumeWorldOptions;
  readonly happen: (world: VolumeWorld) => Promise<void>;
}

const golden = (world: VolumeWorld, namespace = home) => world.makeSource('golden', 'bytes', {}, namespace);

/** Until there is nothing of it. */
async function removed(world: VolumeWorld, name: string): Promise<void> {
  await world.removeVolume(name);
  await world.until(() => world.isGone(name), minute);
  await world.pass(10 * second);
}

export const volumes: readonly VolumeRecording[] = [
  {
    name: 'volume-cloned',
    async happen(world) {
      await golden(world);
      await world.makeVolume('disk', { size: '2Gi' });
      await world.made('disk');
      await removed(world, 'disk');
    },
  },
  {
    name: 'volume-cloned-together',
    options: { settings: { concurrentPerDriver: 1 } },
    async happen(world) {
      await golden(world);
      const names = ['a', 'b', 'c'];
      for (const name of names) await world.makeVolume(name, {});
      for (const name of names) await world.made(name);
    },
  },
  {
    // They request their slots together, and all have one.
    name: 'volume-cloned-at-once',
    async happen(world) {
      await golden(world);
      const names = ['a', 'b', 'c', 'd', 'e'];
      await Promise.all(names.map((name) => world.makeVolume(name, {})));
      await Promise.all(names.map((name) => world.made(name)));
    },
  },
  {
    name: 'volume-from-elsewhere',
    async happen(world) {
      await golden(world, elsewhere);
      await world.makeVolume('disk', { source: ofClaim('golden', elsewhere), size: '2Gi' });
      await world.made('disk');
    },
  },
  {
    name: 'volume-cloned-by-driver',
    options: { settings: { strategyOverride: 'csi-clone' } },
    async happen(world) {
      await golden(world);
      await world.makeVolume('disk', {});
      await world.made('disk');
    },
  },
  {
    name: 'volume-copied',
    options: { settings: { strategyOverride: 'copy', copyImage: 'drover' } },
    async happen(world) {
      await golden(world);
      await world.makeVolume('disk', {});
      await world.made('disk');
    },
  },
  {
    name: 'volume-source-in-use',
    async happen(world) {
      await golden(world);
      await world.use('golden', 'vm');
      await world.makeVolume('disk', {});
      await world.inPhase('disk', 'CloneScheduled');
      await world.pass(20 * second);
      await world.endUse('vm');
      await world.made('disk');
    },
  },
  {
    name: 'volume-without-source',
    async happen(world) {
      await world.makeVolume('disk', {});
      await world.inPhase('disk', 'Pending');
      await world.pass(20 * second);
      await golden(world);
      await world.made('disk');
    },
  },
  {
    name: 'volume-of-consumer',
    async happen(world) {
      await golden(world);
      await world.makeVolume('disk', { storageClass: storageNames.classes.delayed });
      await world.inPhase('disk', 'WaitForFirstConsumer');
      const claim = await world.claim('disk');
      await mergeObject(world.api, {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: {
          namespace: home,
          name: claim?.metadata.name ?? '',
          annotations: { [volumeAnnotations.selectedNode]: 'node-1' },
        },
      });
      await world.made('disk');
    },
  },
  {
    name: 'volume-given-up',
    options: { settings: { deadlineMs: 30 * second, onDeadline: 'fail' } },
    async happen(world) {
      await golden(world);
      world.driver.fail('CreateSnapshot', { code: 'Internal', times: 1_000_000 });
      await world.makeVolume('disk', {});
      await world.inPhase('disk', 'Failed');
      await world.pass(minute);
    },
  },
  {
    name: 'volume-begun-anew',
    async happen(world) {
      await golden(world);
      await world.makeVolume('disk', {});
      await world.made('disk');
      world.driver.delay('CreateVolume', minute);
      await world.api.request(
        { method: 'DELETE', path: `/api/v1/namespaces/${home}/persistentvolumeclaims/disk` },
        never,
      );
      await world.inPhase('disk', 'SmartClonePVCInProgress', minute);
      await removed(world, 'disk');
    },
  },
  {
    name: 'volume-deleted',
    async happen(world) {
      await golden(world);
      world.driver.delay('CreateSnapshot', 10 * second);
      await world.makeVolume('disk', {});
      await world.inPhase('disk', 'SnapshotForSmartCloneInProgress');
      await removed(world, 'disk');
    },
  },
  {
    name: 'volume-profiles',
    options: { sections: { modes: { Eviction: 'off', DataVolume: 'off', StorageProfile: 'act' } } },
    async happen(world) {
      await world.pass(minute);
      await applyObject(world.api, {
        apiVersion: 'storage.k8s.io/v1',
        kind: 'StorageClass',
        metadata: { name: 'another' },
        provisioner: storageNames.driver,
      });
      await world.pass(minute);
    },
  },
];

export const recordVolume = ({ options = {}, happen }: VolumeRecording): Promise<Omit<RecordedRun, 'name'>[]> =>
  inVolumeWorld(options, async (world) => {
    await happen(world);
    return takeRuns(world.deployment);
  });
