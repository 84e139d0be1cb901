import { volumeAnnotations } from '../../../contracts/data-volume/metadata.ts';
import { annotations } from '../../../contracts/ids.ts';
import { applyObject, mergeObject } from '../../../lab/kubernetes-objects.ts';
import { storageNames } from './storage-classes.ts';
import {
  conditionOf,
  elsewhere,
  home,
  inVolumeWorld,
  minute,
  never,
  ofClaim,
  ofSnapshot,
  second,
  type VolumeWorld,
} from './volume-world.ts';

/** DataVolumes that cannot become what they ask for yet, or at all: each says why within seconds. */

const settled = 20 * second;

const removeClaim = (world: VolumeWorld, name: string): Promise<unknown> =>
  world.api.request({ method: 'DELETE', path: `/api/v1/namespaces/${home}/persistentvolumeclaims/${name}` }, never);

const annotate = (world: VolumeWorld, name: string, given: Record<string, string>): Promise<unknown> =>
  mergeObject(world.api, {
    apiVersion: 'cdi.kubevirt.io/v1beta1',
    kind: 'DataVolume',
    metadata: { namespace: home, name, annotations: given },
  });

/** Until the condition has that reason. @throws Error that tells what it has instead */
async function says(world: VolumeWorld, reason: string, words = '', withinMs = settled): Promise<void> {
  const said = async (): Promise<string> => {
    const volume = await world.volume('disk');
    const ready = volume.status?.conditions?.find(({ type }) => type === 'Ready');
    return `${conditionOf(volume, 'Ready')}: ${ready?.message ?? ''}`;
  };
  const isSo = await world.until(async () => {
    const text = await said();
    return text.startsWith(`False ${reason}:`) && text.includes(words);
  }, withinMs);
  if (!isSo) throw new Error(`it says ${await said()}`);
}

test('a source that is missing, until it comes', async () => {
  await inVolumeWorld({}, async (world) => {
    await world.makeVolume('disk', {});
    await says(world, 'CloneWithoutSource', 'golden');
    expect(world.events('disk').join()).toContain("CloneWithoutSource: The source pvc golden doesn't exist");
    await world.makeSource('golden', 'bytes');
    // A clone of a source that was empty when it came is empty.
    await world.made('disk', minute);
    expect(await world.violations()).toEqual([]);
  });
});

const snapshotOf = (claim: string, name: string): object => ({
  apiVersion: 'snapshot.storage.k8s.io/v1',
  kind: 'VolumeSnapshot',
  metadata: { namespace: home, name },
  spec: { volumeSnapshotClassName: storageNames.snapshotClass, source: { persistentVolumeClaimName: claim } },
});

test('what a DataSource stands for is not bound: the clone begins soon after it is', async () => {
  await inVolumeWorld({}, async (world) => {
    world.driver.fail('CreateVolume', { code: 'Internal', times: 10_000, description: 'the pool is full' });
    const isNotBound = await world.makeSource('golden', 'bytes').catch(String);
    expect(isNotBound).toContain('is not bound');
    await applyObject(world.api, {
      apiVersion: 'cdi.kubevirt.io/v1beta1',
      kind: 'DataSource',
      metadata: { namespace: home, name: 'latest' },
      spec: { source: { pvc: { namespace: home, name: 'golden' } } },
    });
    await world.makeVolume('disk', { source: null, spec: { sourceRef: { kind: 'DataSource', name: 'latest' } } });
    await says(world, 'SourceNotBound', 'PVC team/golden to be bound');
    world.driver.heal();
    await world.until(async () => (await world.claim('golden'))?.status?.phase === 'Bound', 10 * minute);
    await world.made('disk', minute);
    expect(await world.violations()).toEqual([]);
  });
});

test('a VolumeSnapshot that is not ready in time; then it is, and a user tries it again', async () => {
  await inVolumeWorld({ settings: { deadlineMs: minute, onDeadline: 'fail' } }, async (world) => {
    await world.makeSource('golden', 'bytes');
    world.driver.delay('CreateSnapshot', 5 * minute);
    await applyObject(world.api, snapshotOf('golden', 'monday'));
    await world.makeVolume('disk', { source: ofSnapshot('monday'), size: '1Gi' });
    await says(world, 'SnapshotNotReady', 'VolumeSnapshot team/monday to be ready');
    await world.inPhase('disk', 'Failed', 2 * minute);
    await says(world, 'DeadlineExceeded', 'team/monday to be ready');
    await world.pass(10 * minute);
    expect((await world.volume('disk')).status?.phase).toBe('Failed');
    await annotate(world, 'disk', { [annotations.retry]: 'again' });
    await world.made('disk', minute);
    expect(world.storage.read(home, 'disk')).toBe('bytes');
    expect(await world.violations()).toEqual([]);
  });
});

test('a source that is in use, until it is not', async () => {
  await inVolumeWorld({}, async (world) => {
    await world.makeSource('golden', 'bytes');
    await world.use('golden', 'vm');
    await world.makeVolume('disk', {});
    await says(world, 'CloneSourceInUse', 'pod team/vm using PersistentVolumeClaim golden');
    await world.pass(5 * minute);
    expect(world.driver.calls('CreateSnapshot')).toBe(0);
    await world.endUse('vm');
    await world.made('disk', minute);
    expect(world.storage.read(home, 'disk')).toBe('bytes');
    expect(await world.violations()).toEqual([]);
  });
});

test('… or until a user allows that, which is heeded at once', async () => {
  await inVolumeWorld({}, async (world) => {
    await world.makeSource('golden', 'bytes');
    await world.use('golden', 'vm');
    await world.makeVolume('disk', {});
    await says(world, 'CloneSourceInUse');
    await world.pass(2 * minute);
    await annotate(world, 'disk', { [volumeAnnotations.crashConsistent]: 'true' });
    await world.made('disk', 30 * second);
    expect(await world.violations()).toEqual([]);
  });
});

test('what a user says of a volume that the driver refuses is heeded at once', async () => {
  const settings = { deadlineMs: minute, copyImage: 'drover:test' };
  await inVolumeWorld({ settings }, async (world) => {
    await world.makeSource('golden', 'bytes');
    world.driver.fail('CreateVolume', { code: 'Internal', times: 10_000, description: 'the pool is full' });
    await world.makeVolume('disk', {});
    await says(world, 'VolumeFailing', 'the pool is full');
    await world.pass(2 * minute);
    await annotate(world, 'disk', { [volumeAnnotations.onDeadline]: 'fail' });
    await world.inPhase('disk', 'Failed', 30 * second);
    expect(await world.violations()).toEqual([]);
  });
});

test('what it waits for stays said, however long that takes', async () => {
  await inVolumeWorld({}, async (world) => {
    await world.makeSource('golden', 'bytes');
    world.driver.fail('CreateVolume', { code: 'Internal', times: 10_000, description: 'the pool is full' });
    await world.makeVolume('disk', {});
    await says(world, 'VolumeFailing', 'the pool is full');
    for (let passed = 0; passed < 90; passed += 1) {
      await world.pass(minute);
      expect(conditionOf(await world.volume('disk'), 'Running')).toBe('False VolumeFailing');
    }
    world.driver.heal();
    await world.made('disk', 10 * minute);
    expect(await world.violations()).toEqual([]);
  });
});

test('a source that is in use is cloned as it is, where that is asked for', async () => {
  await inVolumeWorld({}, async (world) => {
    await world.makeSource('golden', 'bytes');
    await world.use('golden', 'vm');
    await world.makeVolume('disk', { annotations: { [volumeAnnotations.crashConsistent]: 'true' } });
    await world.made('disk', minute);
    expect(world.storage.read(home, 'disk')).toBe('bytes');
    expect(await world.violations()).toEqual([]);
  });
});

test.each(['fail', 'copy', 'wait'] as const)(
  'a snapshot that the driver refuses, and the deadline: %s',
  async (outcome) => {
    const settings = { deadlineMs: 2 * minute, onDeadline: outcome, copyImage: 'drover:test' };
    await inVolumeWorld({ settings }, async (world) => {
      await world.makeSource('golden', 'bytes');
      world.driver.fail('CreateSnapshot', { code: 'Internal', times: 10_000, description: 'no space' });
      await world.makeVolume('disk', {});
      await says(world, 'SnapshotFailing', 'no space');
      if (outcome === 'wait') {
        await world.pass(10 * minute);
        world.driver.heal();
        await world.made('disk', 2 * minute);
      } else if (outcome === 'copy') {
        await world.made('disk', 5 * minute);
        expect(world.storage.jobs.copied).toBe(1);
        const { annotations = {} } = (await world.volume('disk')).metadata;
        expect(annotations[volumeAnnotations.cloneFallbackReason]).toContain('no space');
      } else {
        await world.inPhase('disk', 'Failed', 5 * minute);
        world.driver.heal();
        await world.pass(minute);
        expect(await world.claim('disk')).toBeNull();
      }
      await world.pass(minute);
      expect(await world.violations()).toEqual([]);
    });
  },
);

test('a clone says that its source has as many snapshots as it may have, and goes on when one is gone', async () => {
  await inVolumeWorld({ settings: { snapshotsPerSource: 1, sourceIntervalMs: 0 } }, async (world) => {
    await world.makeSource('golden', 'bytes');
    world.driver.fail('CreateVolume', { code: 'Internal', times: 10_000, description: 'the pool is full' });
    await world.makeVolume('first', {});
    await world.inPhase('first', 'SmartClonePVCInProgress', minute);
    await world.makeVolume('disk', {});
    await says(world, 'TooManySnapshots', 'team/golden has 1 VolumeSnapshots');
    await world.pass(10 * minute);
    expect(conditionOf(await world.volume('disk'), 'Running')).toBe('False TooManySnapshots');
    world.driver.heal();
    await world.made('first', 5 * minute);
    await world.made('disk', 5 * minute);
    expect(world.driver.calls('CreateSnapshot')).toBe(2);
    expect(await world.violations()).toEqual([]);
  });
});

test('a volume that the driver refuses to make, and the deadline', async () => {
  const settings = { deadlineMs: 2 * minute, onDeadline: 'copy', copyImage: 'drover:test' };
  await inVolumeWorld({ settings }, async (world) => {
    await world.makeSource('golden', 'bytes');
    world.driver.fail('CreateVolume', { code: 'InvalidArgument', description: 'not across pools' });
    await world.makeVolume('disk', {});
    const isSaid = async (): Promise<boolean> =>
      JSON.stringify(await world.volume('disk')).includes('not across pools');
    expect(await world.until(isSaid, settled)).toBe(true);
    await world.made('disk', 10 * minute);
    expect(world.storage.read(home, 'disk')).toBe('bytes');
    await world.pass(minute);
    expect(await world.violations()).toEqual([]);
  });
});

test('a clone that is given up stays so, though a Pod keeps its PVC for a while', async () => {
  await inVolumeWorld({ settings: { deadlineMs: 2 * minute, onDeadline: 'fail' } }, async (world) => {
    await world.makeSource('golden', 'bytes');
    world.driver.fail('CreateVolume', { code: 'InvalidArgument', times: 10_000, description: 'not across pools' });
    await world.makeVolume('disk', {});
    await world.inPhase('disk', 'SmartClonePVCInProgress', minute);
    await world.use('disk', 'vm');
    await world.inPhase('disk', 'Failed', 5 * minute);
    await world.pass(minute);
    expect((await world.claim('disk'))?.metadata.deletionTimestamp).toBeDefined();
    world.driver.heal();
    await world.endUse('vm');
    await world.pass(minute);
    expect(await world.claim('disk')).toBeNull();
    await world.pass(15 * minute);
    const volume = await world.volume('disk');
    expect([volume.status?.phase, conditionOf(volume, 'Ready')]).toEqual(['Failed', 'False DeadlineExceeded']);
    expect(await world.claim('disk')).toBeNull();
    expect(await world.violations()).toEqual([]);
  });
});

test('a PVC that a Pod uses is kept, though its expansion takes longer than the deadline', async () => {
  await inVolumeWorld({ settings: { deadlineMs: 2 * minute, onDeadline: 'fail' } }, async (world) => {
    await world.makeSource('golden', 'bytes');
    world.driver.fail('ControllerExpandVolume', { code: 'OutOfRange', times: 10_000, description: 'no space' });
    await world.makeVolume('disk', { size: '2Gi' });
    await world.inPhase('disk', 'ExpansionInProgress', minute);
    await world.use('disk', 'vm');
    await world.pass(15 * minute);
    const volume = await world.volume('disk');
    expect([volume.status?.phase, conditionOf(volume, 'Running')]).toEqual([
      'ExpansionInProgress',
      'False VolumeFailing',
    ]);
    expect((await world.claim('disk'))?.metadata.deletionTimestamp).toBeUndefined();
    expect(world.storage.read(home, 'disk')).toBe('bytes');
    world.driver.heal();
    await world.made('disk', 30 * minute);
    expect(await world.violations()).toEqual([]);
  });
});

test('a copy after the deadline, where what was made before goes slowly', async () => {
  const settings = { deadlineMs: 2 * minute, onDeadline: 'copy', copyImage: 'drover:test' };
  await inVolumeWorld({ settings }, async (world) => {
    await world.makeSource('golden', 'bytes');
    world.driver.fail('CreateVolume', { code: 'InvalidArgument', times: 10_000, description: 'not across pools' });
    world.driver.delay('DeleteSnapshot', 2 * minute);
    await world.makeVolume('disk', {});
    const isRemoved = async (): Promise<boolean> =>
      world.deployment.kubernetes
        .objects('volumesnapshots')
        .some(({ metadata }) => metadata.deletionTimestamp !== undefined);
    expect(await world.until(isRemoved, 5 * minute)).toBe(true);
    await world.pass(second);
    world.driver.heal();
    await world.made('disk', 5 * minute);
    expect(world.storage.jobs.copied).toBe(1);
    expect(world.storage.read(home, 'disk')).toBe('bytes');
    await world.pass(minute);
    expect(await world.violations()).toEqual([]);
  });
});

test('a driver that flattens is waited for, and is no problem', async () => {
  await inVolumeWorld({ driver: { flatten: { hardDepth: 0, ms: 3 * minute } } }, async (world) => {
    await world.makeSource('golden', 'bytes');
    await world.makeVolume('disk', {});
    await world.pass(minute);
    const { status } = await world.volume('disk');
    expect(conditionOf({ status }, 'Running')).not.toMatch(/Error/u);
    await world.made('disk', 5 * minute);
    expect(await world.violations()).toEqual([]);
  });
});

test('a quota that is used up, until it is raised', async () => {
  await inVolumeWorld({}, async (world) => {
    await world.makeSource('golden', 'bytes');
    const quota = (storage: string): object => ({
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { namespace: home, name: 'small' },
      spec: { hard: { 'requests.storage': storage } },
    });
    await applyObject(world.api, quota('1Gi'));
    await world.pass(second);
    await world.makeVolume('disk', {});
    await says(world, 'ErrExceededQuota', 'exceeded quota: small');
    await applyObject(world.api, quota('2Gi'));
    await world.made('disk', 2 * minute);
    expect(await world.violations()).toEqual([]);
  });
});

test('a class that is missing, until it comes', async () => {
  await inVolumeWorld({}, async (world) => {
    await world.makeSource('golden', 'bytes');
    await world.makeVolume('disk', { storageClass: 'later' });
    const isBlocked = async (): Promise<boolean> =>
      conditionOf(await world.volume('disk'), 'Ready').startsWith('False Err');
    expect(await world.until(isBlocked, settled)).toBe(true);
    await applyObject(world.api, {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: 'later' },
      provisioner: storageNames.driver,
      allowVolumeExpansion: true,
    });
    await world.made('disk', 2 * minute);
    expect(await world.violations()).toEqual([]);
  });
});

test('a claim of the name that is another’s', async () => {
  await inVolumeWorld({}, async (world) => {
    await world.makeSource('golden', 'bytes');
    await world.makeSource('disk', 'mine');
    await world.makeVolume('disk', {});
    await says(world, 'ErrResourceExists', 'Resource "disk" already exists and is not managed by DataVolume');
    await world.removeVolume('disk');
    await world.pass(minute);
    expect(world.storage.read(home, 'disk')).toBe('mine');
    expect(await world.violations()).toEqual([]);
  });
});

test('a source elsewhere of a DataVolume that nothing proves to be permitted', async () => {
  await inVolumeWorld({ hasPolicy: false }, async (world) => {
    await world.makeSource('golden', 'bytes', {}, elsewhere);
    await world.makeVolume('disk', { source: ofClaim('golden', elsewhere) });
    await says(world, 'CloneNotPermitted');
    await world.pass(minute);
    expect(world.driver.calls('CreateSnapshot')).toBe(0);
    expect(await world.claim('disk')).toBeNull();
    expect(await world.violations()).toEqual([]);
  });
});

test('a target that is smaller than its source', async () => {
  await inVolumeWorld({}, async (world) => {
    await world.makeSource('golden', 'bytes', {
      volumeMode: 'Block',
      resources: { requests: { storage: '2Gi' } },
    });
    const claim = {
      accessModes: ['ReadWriteOnce'],
      volumeMode: 'Block',
      storageClassName: 'dir',
      resources: { requests: { storage: '1Gi' } },
    };
    await world.makeVolume('disk', { spec: { storage: claim } });
    const isBlocked = async (): Promise<boolean> =>
      JSON.stringify(await world.volume('disk')).includes('smaller than the source');
    expect(await world.until(isBlocked, settled)).toBe(true);
    expect(await world.violations()).toEqual([]);
  });
});

/** Of a clone elsewhere, from the first to the last, each held up there. */
const moments: readonly (readonly [string, (world: VolumeWorld) => void])[] = [
  ['SnapshotForSmartCloneInProgress', ({ driver }) => driver.delay('CreateSnapshot', minute)],
  ['SmartClonePVCInProgress', ({ driver }) => driver.delay('CreateVolume', minute)],
  ['ExpansionInProgress', ({ driver }) => driver.delay('ControllerExpandVolume', minute)],
  ['NamespaceTransferInProgress', ({ storage }) => storage.pause('binder')],
];

test.each(moments.flatMap(([phase, hold]) => [home, elsewhere].map((from) => ({ phase, hold, from }))))(
  'one that is deleted in $phase, of a source in $from, leaves nothing',
  async ({ phase, hold, from }) => {
    if (phase === 'NamespaceTransferInProgress' && from === home) return;
    await inVolumeWorld({}, async (world) => {
      await world.makeSource('golden', 'bytes', {}, from);
      const size = '3Gi';
      if (phase !== 'NamespaceTransferInProgress') hold(world);
      await world.makeVolume('disk', { source: ofClaim('golden', from), size });
      if (phase === 'NamespaceTransferInProgress') {
        await world.until(
          async () => (await world.volume('disk')).status?.phase === 'NamespaceTransferInProgress',
          5 * minute,
        );
        hold(world);
        await world.pass(5 * second);
      } else await world.inPhase('disk', phase, 5 * minute);
      await world.removeVolume('disk');
      await world.pass(10 * second);
      world.storage.resume('binder');
      expect(await world.until(() => world.isGone('disk'), 10 * minute)).toBe(true);
      await world.pass(2 * minute);
      expect(world.driver.volumes.map(({ content }) => content)).toEqual(['bytes']);
      expect(world.driver.snapshots).toEqual([]);
      expect(await world.violations()).toEqual([]);
    });
  },
);

test('a claim of a clone that is deleted is made anew', async () => {
  await inVolumeWorld({}, async (world) => {
    await world.makeSource('golden', 'bytes');
    await world.makeVolume('disk', {});
    await world.made('disk');
    await removeClaim(world, 'disk');
    await world.pass(5 * second);
    await world.made('disk', 5 * minute);
    expect(world.storage.read(home, 'disk')).toBe('bytes');
    expect(await world.violations()).toEqual([]);
  });
});

test.each(moments.slice(0, 2))(
  'a clone that is begun anew, as its claim is gone, and deleted in %s leaves nothing',
  async (phase, hold) => {
    await inVolumeWorld({}, async (world) => {
      await world.makeSource('golden', 'bytes', {}, elsewhere);
      await world.makeVolume('disk', { source: ofClaim('golden', elsewhere) });
      await world.made('disk', 5 * minute);
      hold(world);
      await removeClaim(world, 'disk');
      await world.inPhase('disk', phase, 5 * minute);
      await world.removeVolume('disk');
      expect(await world.until(() => world.isGone('disk'), 10 * minute)).toBe(true);
      await world.pass(2 * minute);
      expect(world.driver.volumes.map(({ content }) => content)).toEqual(['bytes']);
      expect(world.driver.snapshots).toEqual([]);
      expect(await world.violations()).toEqual([]);
    });
  },
);

test('a source that goes while it is cut is cloned all the same', async () => {
  await inVolumeWorld({}, async (world) => {
    await world.makeSource('golden', 'bytes');
    world.driver.delay('CreateSnapshot', 30 * second);
    await world.makeVolume('disk', {});
    await world.inPhase('disk', 'SnapshotForSmartCloneInProgress');
    await world.pass(second);
    await removeClaim(world, 'golden');
    await world.made('disk', 2 * minute);
    expect(world.storage.read(home, 'disk')).toBe('bytes');
    await world.removeVolume('disk');
    expect(await world.until(() => world.isGone('disk'), minute)).toBe(true);
    await world.pass(minute);
    expect(await world.violations()).toEqual([]);
  });
});

test('a snapshot of a user of any name is no clone’s', async () => {
  await inVolumeWorld({}, async (world) => {
    await world.makeSource('golden', 'bytes');
    await applyObject(world.api, {
      apiVersion: 'snapshot.storage.k8s.io/v1',
      kind: 'VolumeSnapshot',
      metadata: { namespace: home, name: 'disk' },
      spec: {
        source: { persistentVolumeClaimName: 'golden' },
        volumeSnapshotClassName: storageNames.snapshotClass,
      },
    });
    await world.pass(5 * second);
    world.storage.write(home, 'golden', 'newer');
    await world.makeVolume('disk', {});
    await world.made('disk');
    expect(world.storage.read(home, 'disk')).toBe('newer');
    expect((await world.snapshots()).map(({ metadata }) => metadata.name)).toEqual(['disk']);
    await mergeObject(world.api, {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { namespace: home, name: 'golden', labels: { seen: 'yes' } },
    });
    expect(await world.violations()).toEqual([]);
  });
});

test.each(['binder', 'snapshot-controller', 'provisioner', 'snapshotter', 'resizer'] as const)(
  'one part of the storage is away for a while: %s',
  async (part) => {
    await inVolumeWorld({}, async (world) => {
      await world.makeSource('golden', 'bytes', {}, elsewhere);
      world.storage.pause(part);
      await world.makeVolume('disk', { source: ofClaim('golden', elsewhere), size: '3Gi' });
      await world.pass(3 * minute);
      expect((await world.volume('disk')).status?.phase).not.toBe('Succeeded');
      world.storage.resume(part);
      await world.made('disk', 5 * minute);
      expect(world.storage.read(home, 'disk')).toBe('bytes');
      expect(await world.violations()).toEqual([]);
    });
  },
);

test('twenty clones elsewhere that are deleted as they come leave nothing', async () => {
  await inVolumeWorld({}, async (world) => {
    await world.makeSource('golden', 'bytes', {}, elsewhere);
    const names = Array.from({ length: 20 }, (_, index) => `disk-${index}`);
    const options = { source: ofClaim('golden', elsewhere), size: '3Gi' };
    await Promise.all(
      names.map(async (name, index) => {
        await world.makeVolume(name, options);
        await world.pass(index * 400);
        await world.removeVolume(name);
      }),
    );
    for (const name of names) expect(await world.until(() => world.isGone(name), 10 * minute)).toBe(true);
    await world.pass(2 * minute);
    expect(world.driver.volumes.map(({ content }) => content)).toEqual(['bytes']);
    expect(world.driver.snapshots).toEqual([]);
    expect(await world.violations()).toEqual([]);
  });
}, 1_800_000);
