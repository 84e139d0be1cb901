import { volumeAnnotations } from '../../../contracts/data-volume/metadata.ts';
import { applyObject, mergeObject } from '../../../lab/kubernetes-objects.ts';
import {
  conditionOf,
  elsewhere,
  home,
  inVolumeWorld,
  minute,
  ofClaim,
  ofSnapshot,
  second,
  type VolumeWorld,
} from './volume-world.ts';
import { storageNames } from './storage-classes.ts';

/** DataVolumes that become what they ask for. */

const eventsOf = ({ deployment: { simulation } }: VolumeWorld, name: string): number =>
  simulation
    .histories()
    .filter(({ workflowId }) => workflowId.endsWith(`/${name}`))
    .reduce((sum, { history }) => sum + (history.events?.length ?? 0), 0);

const strategyOf = async (world: VolumeWorld, name: string): Promise<string | undefined> =>
  (await world.volume(name)).metadata.annotations?.[volumeAnnotations.cloneType];

test('a claim is cloned beside its source, by a snapshot', async () => {
  await inVolumeWorld({}, async (world) => {
    await world.makeSource('golden', 'bytes');
    await world.makeVolume('disk', { labels: { colour: 'blue' }, annotations: { note: 'mine' } });
    const volume = await world.made('disk', minute);
    expect(world.storage.read(home, 'disk')).toBe('bytes');
    expect(world.phases('disk')).toEqual([
      '',
      'SnapshotForSmartCloneInProgress',
      'SmartClonePVCInProgress',
      'Succeeded',
    ]);
    expect(volume.status).toMatchObject({ claimName: 'disk', progress: '100.0%' });
    expect(['Bound', 'Running', 'Ready'].map((type) => conditionOf(volume, type))).toEqual([
      'True Bound',
      'False Completed',
      'True ',
    ]);
    expect(world.events('disk')).toEqual(
      expect.arrayContaining([
        'SnapshotForSmartCloneInProgress: Creating snapshot for smart-clone is in progress (for pvc team/golden)',
        'CloneSucceeded: Successfully cloned from team/golden into team/disk',
      ]),
    );
    const claim = await world.claim('disk');
    expect(claim?.metadata.ownerReferences).toMatchObject([
      { kind: 'DataVolume', name: 'disk', uid: volume.metadata.uid, controller: true },
    ]);
    expect(claim?.metadata.annotations?.[volumeAnnotations.cloneOf]).toBe('true');
    expect(await strategyOf(world, 'disk')).toBe('snapshot');
    expect(eventsOf(world, 'disk')).toBeLessThanOrEqual(40);
    expect(await world.violations()).toEqual([]);
  });
});

test('twenty clones that are asked for together share a snapshot or two', async () => {
  await inVolumeWorld({}, async (world) => {
    await world.makeSource('golden', 'bytes');
    const names = Array.from({ length: 20 }, (_, index) => `disk-${index}`);
    await Promise.all(names.map((name) => world.makeVolume(name, {})));
    for (const name of names) await world.made(name, 5 * minute);
    expect(world.driver.calls('CreateSnapshot')).toBeLessThanOrEqual(2);
    expect(new Set(names.map((name) => world.storage.read(home, name)))).toEqual(new Set(['bytes']));
    expect(Math.max(...names.map((name) => eventsOf(world, name)))).toBeLessThanOrEqual(52);
    expect(await world.violations()).toEqual([]);
  });
}, 1_800_000);

test('a clone that is asked for after the source has changed has the change', async () => {
  await inVolumeWorld({ settings: { sourceIntervalMs: 0 } }, async (world) => {
    await world.makeSource('golden', 'first');
    await world.makeVolume('disk', {});
    await world.until(async () => (await world.snapshots()).some(({ status }) => status?.readyToUse === true), minute);
    world.storage.write(home, 'golden', 'second');
    await world.makeVolume('later', {});
    await world.made('disk');
    await world.made('later');
    expect([world.storage.read(home, 'disk'), world.storage.read(home, 'later')]).toEqual(['first', 'second']);
    expect(await world.violations()).toEqual([]);
  });
});

test('a clone is as large as it is asked for', async () => {
  await inVolumeWorld({}, async (world) => {
    await world.makeSource('golden', 'bytes', { volumeMode: 'Block' });
    await world.makeVolume('disk', {
      size: '3Gi',
      spec: {
        storage: {
          accessModes: ['ReadWriteOnce'],
          volumeMode: 'Block',
          storageClassName: 'dir',
          resources: { requests: { storage: '3Gi' } },
        },
      },
    });
    await world.made('disk');
    expect(await world.claim('disk')).toMatchObject({ status: { capacity: { storage: '3Gi' } } });
    expect(world.phases('disk')).toContain('ExpansionInProgress');
    expect(await world.violations()).toEqual([]);
  });
});

test('what a node has to expand is not waited for', async () => {
  await inVolumeWorld({ driver: { expandsOnNode: true } }, async (world) => {
    await world.makeSource('golden', 'bytes');
    await world.makeVolume('disk', { size: '3Gi' });
    await world.made('disk');
    const { status } = (await world.claim('disk')) ?? {};
    expect(status?.capacity).toEqual({ storage: '1Gi' });
    expect(status?.conditions?.map(({ type }) => type)).toContain('FileSystemResizePending');
    world.storage.expandFileSystem(home, 'disk');
    await world.pass(minute);
    expect(await world.violations()).toEqual([]);
  });
});

test('a volume moves to another namespace, and is reclaimed there as it was to be', async () => {
  await inVolumeWorld({}, async (world) => {
    await world.makeSource('golden', 'bytes', {}, elsewhere);
    await world.makeVolume('disk', { source: ofClaim('golden', elsewhere), size: '2Gi' });
    await world.made('disk', 5 * minute);
    expect(world.storage.read(home, 'disk')).toBe('bytes');
    expect(world.phases('disk')).toContain('NamespaceTransferInProgress');
    expect(world.deployment.kubernetes.objects('objecttransfers')).toEqual([]);
    expect(eventsOf(world, 'disk')).toBeLessThanOrEqual(52);
    expect(await world.violations()).toEqual([]);
    await world.removeVolume('disk');
    await world.until(() => world.isGone('disk'), minute);
    await world.pass(10 * second);
    expect(world.driver.volumes.map(({ content }) => content)).toEqual(['bytes']);
    expect(await world.violations()).toEqual([]);
  });
});

test('a volume is cloned by its driver where the profile says so', async () => {
  const profile = {
    apiVersion: 'cdi.kubevirt.io/v1beta1',
    kind: 'StorageProfile',
    metadata: { name: storageNames.classes.plain },
    spec: { cloneStrategy: 'csi-clone' },
  };
  await inVolumeWorld({ settings: { strategyOverride: 'csi-clone' } }, async (world) => {
    await applyObject(world.api, profile);
    await world.makeSource('golden', 'bytes');
    await world.makeVolume('disk', {});
    await world.made('disk');
    expect(await strategyOf(world, 'disk')).toBe('csi-clone');
    expect(world.phases('disk')).toContain('CSICloneInProgress');
    expect(world.driver.calls('CreateSnapshot')).toBe(0);
    expect(world.storage.read(home, 'disk')).toBe('bytes');
    await mergeObject(world.api, {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { namespace: home, name: 'disk', annotations: { seen: 'yes' } },
    });
    expect(await world.violations()).toEqual([]);
  });
});

test.each([
  ['beside its source', home],
  ['elsewhere', elsewhere],
])('what the storage cannot clone is copied by a Job, %s', async (_, namespace) => {
  const settings = { strategyOverride: 'copy', copyImage: 'drover:test' };
  await inVolumeWorld({ settings }, async (world) => {
    await world.makeSource('golden', 'bytes', {}, namespace);
    await world.makeVolume('disk', { source: ofClaim('golden', namespace) });
    await world.made('disk', 5 * minute);
    expect(world.storage.read(home, 'disk')).toBe('bytes');
    expect(world.storage.jobs.copied).toBe(1);
    expect(await strategyOf(world, 'disk')).toBe('copy');
    expect(world.deployment.kubernetes.objects('jobs')).toEqual([]);
    expect(await world.violations()).toEqual([]);
  });
});

test('a snapshot of a user is cloned, and stays', async () => {
  await inVolumeWorld({}, async (world) => {
    await world.makeSource('golden', 'bytes');
    await applyObject(world.api, {
      apiVersion: 'snapshot.storage.k8s.io/v1',
      kind: 'VolumeSnapshot',
      metadata: { namespace: home, name: 'cut' },
      spec: {
        source: { persistentVolumeClaimName: 'golden' },
        volumeSnapshotClassName: storageNames.snapshotClass,
      },
    });
    await world.makeVolume('disk', { source: ofSnapshot('cut') });
    await world.made('disk');
    world.storage.write(home, 'golden', 'other');
    await world.makeVolume('again', { source: ofSnapshot('cut'), size: '2Gi' });
    await world.made('again');
    expect([world.storage.read(home, 'disk'), world.storage.read(home, 'again')]).toEqual(['bytes', 'bytes']);
    expect((await world.snapshots()).map(({ metadata }) => metadata.name)).toEqual(['cut']);
    expect(await world.violations()).toEqual([]);
  });
});

test('a DataSource says what is cloned, and another one changes no clone that has begun', async () => {
  await inVolumeWorld({}, async (world) => {
    const dataSource = (name: string) => ({
      apiVersion: 'cdi.kubevirt.io/v1beta1',
      kind: 'DataSource',
      metadata: { namespace: home, name: 'latest' },
      spec: { source: ofClaim(name) },
    });
    await world.makeSource('golden', 'bytes');
    await world.makeSource('newer', 'newer bytes');
    await applyObject(world.api, dataSource('golden'));
    world.driver.delay('CreateSnapshot', 10 * second);
    await world.makeVolume('disk', { source: null, spec: { sourceRef: { kind: 'DataSource', name: 'latest' } } });
    await world.inPhase('disk', 'SnapshotForSmartCloneInProgress');
    await applyObject(world.api, dataSource('newer'));
    await world.made('disk');
    expect(world.storage.read(home, 'disk')).toBe('bytes');
    expect(await world.violations()).toEqual([]);
  });
});

test('a clone of a class that waits for a consumer waits for it, or not where it is to be bound at once', async () => {
  await inVolumeWorld({}, async (world) => {
    await world.makeSource('golden', 'bytes');
    const storageClass = storageNames.classes.delayed;
    await world.makeVolume('disk', { storageClass });
    await world.inPhase('disk', 'WaitForFirstConsumer', minute);
    await world.pass(30 * minute);
    expect((await world.volume('disk')).status?.phase).toBe('WaitForFirstConsumer');
    await mergeObject(world.api, {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: {
        namespace: home,
        name: 'disk',
        annotations: { [volumeAnnotations.selectedNode]: 'node-1' },
      },
    });
    await world.made('disk');
    expect(world.storage.read(home, 'disk')).toBe('bytes');
    expect(await world.violations()).toEqual([]);
  });
});

test('an empty volume is made, and one that holds its data already is left as it is', async () => {
  await inVolumeWorld({}, async (world) => {
    await world.makeVolume('empty', { source: { blank: {} }, size: '1Gi' });
    await world.made('empty');
    expect(world.storage.read(home, 'empty')).toBe('');
    await world.makeSource('restored', 'of a backup');
    await mergeObject(world.api, {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: {
        namespace: home,
        name: 'restored',
        annotations: { [volumeAnnotations.populatedFor]: 'restored' },
      },
    });
    await world.makeVolume('restored', {
      annotations: { [volumeAnnotations.prePopulated]: 'restored' },
      source: ofClaim('none'),
    });
    await world.made('restored');
    expect(world.storage.read(home, 'restored')).toBe('of a backup');
    expect(await world.violations()).toEqual([]);
  });
});

test('an empty volume of a class that waits for a consumer, which is bound to one that was there', async () => {
  await inVolumeWorld({}, async (world) => {
    const storageClassName = storageNames.classes.delayed;
    await world.makeVolume('empty', { source: { blank: {} }, size: '1Gi', storageClass: storageClassName });
    await world.inPhase('empty', 'WaitForFirstConsumer', minute);
    await world.pass(minute);
    // The scheduler reserves it for the claim, and says nothing of a node in that.
    await applyObject(world.api, {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: 'disk-of-node-1' },
      spec: {
        storageClassName,
        volumeMode: 'Filesystem',
        accessModes: ['ReadWriteOnce'],
        capacity: { storage: '2Gi' },
        persistentVolumeReclaimPolicy: 'Retain',
        local: { path: '/disks/1' },
        claimRef: { namespace: home, name: 'empty' },
      },
    });
    await world.made('empty', 30 * second);
    expect(await world.violations()).toEqual([]);
  });
});

test('what is imported is left to CDI', async () => {
  await inVolumeWorld({}, async (world) => {
    await world.makeVolume('disk', { source: { http: { url: 'https://images.test/disk' } }, size: '1Gi' });
    const isLeft = async (): Promise<boolean> =>
      (await world.volume('disk')).metadata.annotations?.[volumeAnnotations.leftTo] === 'cdi';
    expect(await world.until(isLeft, minute)).toBe(true);
    await world.pass(minute);
    expect((await world.volume('disk')).status).toBeUndefined();
    expect(await world.claim('disk')).toBeNull();
    expect(await world.violations()).toEqual([]);
  });
});
