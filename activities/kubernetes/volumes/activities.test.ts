import { temporaryNames, volumeAnnotations } from '../../../contracts/data-volume/metadata.ts';
import { mergeObject } from '../../../lab/kubernetes-objects.ts';
import { failureOf } from '../../../test/contracts/vsphere-context.ts';
import {
  claimSpec,
  gibibyte,
  golden,
  openVolumes,
  policies,
  status,
  type VolumesOptions,
} from '../../../test/fixtures/activities/volumes.ts';
import { storageNames } from '../../../test/simulator/volumes/storage-classes.ts';
import { usersOf } from './snapshot-users.ts';

const patience = { patienceMs: 30_000, known: null } as const;

const podOf = (claimName: string): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'src', name: 'vm' },
  spec: { containers: [], volumes: [{ name: 'a', persistentVolumeClaim: { claimName } }] },
});

/** From the snapshot to what is left of it. */
async function cloneWhole(world: ReturnType<typeof openVolumes>, namespace: string, name: string) {
  const { activities, goldenSource, ofVolume, begin, volume } = world;
  const of = ofVolume(namespace, name);
  const { snapshot } = await activities.ensureSourceSnapshot({
    ...of,
    begin: begin(),
    source: goldenSource(),
    snapshotClass: storageNames.snapshotClass,
    createdMs: Date.parse(volume(namespace, name)?.metadata.creationTimestamp ?? ''),
    allowsUse: false,
    ...patience,
  });
  if (snapshot === null) throw new Error('no snapshot');
  const { claim } = await activities.ensureClaim({
    ...of,
    begin: null,
    temporaryIn: null,
    from: { kind: 'snapshot', name: snapshot.name },
    spec: claimSpec,
    cloneDepth: 1,
    ...patience,
  });
  return { snapshot, claim };
}

const complete = (world: ReturnType<typeof openVolumes>, namespace: string, name: string) =>
  world.activities.completeDataVolume({
    ...world.ofVolume(namespace, name),
    begin: null,
    status: status({ phase: 'Succeeded', progress: '100.0%', claimName: name }),
  });

type Volumes = ReturnType<typeof openVolumes>;

const openSame = async (options: VolumesOptions, body: (world: Volumes) => Promise<void>) => {
  const world = openVolumes(options);
  await world.run(() => body(world));
};

test('a volume is cloned from a snapshot, said to be complete, and nothing temporary is left', () =>
  openSame({}, async (world) => {
    const { storage, claim, volume, all, driver, isHeld, observe } = world;
    await world.makeVolume('src', 'copy', {}, { labels: { app: 'mine', team: 'a' }, annotations: { 'a.b/c': 'd' } });
    const cloned = await cloneWhole(world, 'src', 'copy');
    expect(cloned.claim).toMatchObject({ phase: 'Bound', owner: 'volume', cloneDepth: 1, problem: null });
    expect(isHeld('src', 'copy')).toBe(true);
    expect(await observe('src', 'copy')).toMatchObject({
      desired: { isHeld: true },
      observed: {
        chosen: { strategy: 'snapshot', fallbackReason: null },
        permission: 'notNeeded',
        problem: null,
        source: { kind: 'pvc', claim: { phase: 'Bound', capacityBytes: gibibyte }, usedBy: [] },
        class: { provisioner: storageNames.driver, expands: true, isCsi: true, snapshotClass: 'dir' },
        claimSpec: { storageClass: 'dir', requestBytes: gibibyte },
        target: { phase: 'Bound', isCloned: false },
        temporary: { snapshot: { isReady: true, restoreSizeBytes: gibibyte }, claim: null },
        recorded: { phase: 'CloneScheduled' },
      },
    });
    expect(await complete(world, 'src', 'copy')).toEqual({ left: [] });
    expect(storage.read('src', 'copy')).toBe('bytes');
    expect(claim('src', 'copy')?.metadata).toMatchObject({
      labels: { app: 'containerized-data-importer', team: 'a' },
      annotations: {
        'a.b/c': 'd',
        [volumeAnnotations.cloneOf]: 'true',
        [volumeAnnotations.cloneType]: 'snapshot',
        [volumeAnnotations.cloneRequest]: 'src/golden',
        [volumeAnnotations.populatedFor]: 'copy',
      },
      ownerReferences: [{ kind: 'DataVolume', name: 'copy', controller: true }],
    });
    expect(volume('src', 'copy')).toMatchObject({ status: { phase: 'Succeeded', claimName: 'copy' } });
    expect(isHeld('src', 'copy')).toBe(false);
    expect([all('volumesnapshots'), all('volumesnapshotcontents'), driver.snapshots]).toEqual([[], [], []]);
  }));

test('clones that were asked for before share one snapshot, which goes with the last', () =>
  openSame({}, async (world) => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    for (const name of names) await world.makeVolume('src', name);
    const cloned = await Promise.all(names.map((name) => cloneWhole(world, 'src', name)));
    expect(new Set(cloned.map(({ snapshot }) => snapshot.name)).size).toBe(1);
    expect(world.driver.calls('CreateSnapshot')).toBe(1);
    const [shared] = world.all('volumesnapshots');
    expect(usersOf(shared as never).size).toBe(names.length);
    await complete(world, 'src', 'a');
    expect(world.all('volumesnapshots')).toHaveLength(1);
    await Promise.all(names.slice(1).map((name) => complete(world, 'src', name)));
    expect([world.all('volumesnapshots'), world.driver.snapshots]).toEqual([[], []]);
  }));

/** Its finalizer is taken away by force: nothing that was made for it is removed. */
async function lose(world: Volumes, name: string): Promise<void> {
  const metadata = { namespace: 'src', name, finalizers: null };
  await world.remove('datavolumes', 'cdi.kubevirt.io/v1beta1', 'src', name);
  await mergeObject(world.kubernetes.admin, { apiVersion: 'cdi.kubevirt.io/v1beta1', kind: 'DataVolume', metadata });
}

test('… also where many of them were lost', () =>
  openSame({}, async (world) => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'];
    for (const name of names) await world.makeVolume('src', name);
    await Promise.all(names.map((name) => cloneWhole(world, 'src', name)));
    for (const name of names) if (name !== 'd' && name !== 'i') await lose(world, name);
    await complete(world, 'src', 'd');
    expect(world.all('volumesnapshots')).toHaveLength(1);
    await complete(world, 'src', 'i');
    expect([world.all('volumesnapshots'), world.driver.snapshots]).toEqual([[], []]);
  }));

test('a source that has no room for a snapshot is freed of those whose clones were lost', () =>
  openSame({ rules: { snapshotsPerSource: 1, sourceIntervalMs: 0 } }, async (world) => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    for (const name of names) await world.makeVolume('src', name);
    await Promise.all(names.map((name) => cloneWhole(world, 'src', name)));
    for (const name of names) await lose(world, name);
    await world.clock.sleep(2_000);
    await world.makeVolume('src', 'late');
    // It says that there is no room, and looks again.
    await cloneWhole(world, 'src', 'late').catch(() => undefined);
    await world.clock.sleep(10_000);
    await cloneWhole(world, 'src', 'late');
    expect([world.driver.calls('CreateSnapshot'), world.driver.snapshots.length]).toEqual([2, 1]);
  }));

test('a snapshot that snapshot-controller does not protect yet is deleted once it does, and leaves nothing at the driver', () =>
  openSame({}, async (world) => {
    await world.makeVolume('src', 'copy');
    await cloneWhole(world, 'src', 'copy');
    const content = {
      path: `/apis/snapshot.storage.k8s.io/v1/volumesnapshotcontents/${world.all('volumesnapshotcontents')[0]?.metadata.name}`,
    };
    const strip = (): unknown =>
      world.kubernetes.answer({
        method: 'PATCH',
        patchType: 'merge',
        ...content,
        body: { metadata: { finalizers: null } },
      });
    // It is slow.
    const untilMs = world.clock.now() + 1_000;
    world.kubernetes.subscribe(({ resource, object: { metadata } }) => {
      const isProtected = resource.kind === 'VolumeSnapshotContent' && (metadata.finalizers ?? []).length > 0;
      if (isProtected && metadata.deletionTimestamp === undefined && world.clock.now() < untilMs) queueMicrotask(strip);
    });
    strip();
    expect(await complete(world, 'src', 'copy')).toEqual({ left: [] });
    expect([world.all('volumesnapshotcontents'), world.driver.snapshots]).toEqual([[], []]);
  }));

test('one that is asked for after the cut takes another snapshot, when the interval of the source has passed', () =>
  openSame({ rules: { sourceIntervalMs: 20_000 } }, async (world) => {
    const { clock, storage } = world;
    await world.makeVolume('src', 'a');
    const first = await cloneWhole(world, 'src', 'a');
    await clock.sleep(2_000);
    storage.write('src', 'golden', 'newer');
    await world.makeVolume('src', 'b');
    const beganMs = clock.now();
    const second = await cloneWhole(world, 'src', 'b');
    expect(second.snapshot.name).toBe(temporaryNames.sharedSnapshot(world.goldenSource().uid, 2));
    expect(clock.now() - beganMs).toBeGreaterThan(15_000);
    expect([storage.read('src', 'a'), storage.read('src', 'b')]).toEqual(['bytes', 'newer']);
    expect(first.snapshot.uid).not.toBe(second.snapshot.uid);
  }));

test('a clone that is not asked for before the cut within the same second does not share it', () =>
  openSame({ rules: { sourceIntervalMs: 0 } }, async (world) => {
    await world.makeVolume('src', 'a');
    await cloneWhole(world, 'src', 'a');
    world.storage.write('src', 'golden', 'newer');
    await world.makeVolume('src', 'b');
    await cloneWhole(world, 'src', 'b');
    expect(world.storage.read('src', 'b')).toBe('newer');
  }));

test('without sharing each clone has a snapshot of its own', () =>
  openSame({ rules: { shareSnapshots: false } }, async (world) => {
    await world.makeVolume('src', 'a');
    await world.makeVolume('src', 'b');
    const [a, b] = await Promise.all([cloneWhole(world, 'src', 'a'), cloneWhole(world, 'src', 'b')]);
    expect([a.snapshot.name, b.snapshot.name]).toEqual(
      ['a', 'b'].map((name) => temporaryNames.snapshot(world.ofVolume('src', name).uid)),
    );
    await complete(world, 'src', 'a');
    await complete(world, 'src', 'b');
    expect(world.driver.snapshots).toEqual([]);
  }));

test('a snapshot that the driver refuses is a fact within seconds; one that it is busy with is waited for', () =>
  openSame({}, async (world) => {
    const { driver, activities, ofVolume, goldenSource, clock } = world;
    await world.makeVolume('src', 'copy');
    const ensure = (known: string | null = null) =>
      activities.ensureSourceSnapshot({
        ...ofVolume('src', 'copy'),
        begin: world.begin(),
        source: goldenSource(),
        snapshotClass: storageNames.snapshotClass,
        createdMs: clock.now() - 10_000,
        allowsUse: false,
        ...patience,
        known,
      });
    driver.fail('CreateSnapshot', { code: 'InvalidArgument', times: 1_000, description: 'no' });
    const beganMs = clock.now();
    expect((await ensure()).snapshot).toMatchObject({ isReady: false, error: expect.stringContaining('desc = no') });
    expect(clock.now() - beganMs).toBeLessThan(5_000);
    driver.heal();
    await activities.removeTemporary({ ...ofVolume('src', 'copy'), begin: null, withTarget: true });
    driver.fail('CreateSnapshot', { code: 'ResourceExhausted', times: 3, description: 'flattening' });
    const { error } = (await ensure()).snapshot ?? {};
    expect(error).toContain('flattening');
    // It goes on by itself, and was said.
    expect((await ensure(error)).snapshot).toMatchObject({ isReady: true, error: null });
  }));

test('that a source has as many snapshots as it may have is said within seconds; known, it is waited for', () =>
  openSame({ rules: { snapshotsPerSource: 1, sourceIntervalMs: 0 } }, async (world) => {
    const { activities, clock } = world;
    await world.makeVolume('src', 'first');
    await cloneWhole(world, 'src', 'first');
    await world.makeVolume('src', 'second');
    const createdMs = clock.now();
    const ensure = (known: string | null) =>
      activities.ensureSourceSnapshot({
        ...world.ofVolume('src', 'second'),
        begin: world.begin(),
        source: world.goldenSource(),
        snapshotClass: storageNames.snapshotClass,
        createdMs,
        allowsUse: true,
        ...patience,
        known,
      });
    const { snapshot, waitsFor = '' } = await ensure(null);
    expect([snapshot, waitsFor]).toEqual([null, expect.stringContaining('src/golden has 1 VolumeSnapshots')]);
    expect(clock.now() - createdMs).toBeLessThan(5_000);
    const asked = ensure(waitsFor);
    await clock.sleep(2_000);
    expect(world.driver.snapshots).toHaveLength(1);
    await complete(world, 'src', 'first');
    // Its waiting is over: the next call waits for the snapshot.
    expect(await asked).toMatchObject({ snapshot: { error: null } });
    expect(await ensure(null)).toMatchObject({ snapshot: { isReady: true } });
  }));

test('a claim that the provisioner refuses is a fact, until another is seen', () =>
  openSame({}, async (world) => {
    const { driver, activities, ofVolume, clock } = world;
    await world.makeVolume('src', 'copy');
    const ensure = (known: string | null, patienceMs = 8_000) =>
      activities.ensureClaim({
        ...ofVolume('src', 'copy'),
        begin: null,
        temporaryIn: null,
        from: { kind: 'pvc', ...world.goldenSource() },
        spec: claimSpec,
        cloneDepth: 1,
        patienceMs,
        known,
      });
    driver.fail('CreateVolume', { code: 'Internal', times: 1_000, description: 'too deep' });
    const { claim } = await ensure(null);
    expect(claim).toMatchObject({ phase: 'Pending', problem: expect.stringContaining('too deep') });
    const beganMs = clock.now();
    if (claim === null) throw new Error('no claim');
    expect((await ensure(claim.problem)).claim?.problem).toBe(claim.problem);
    expect(clock.now() - beganMs).toBeGreaterThan(7_000);
    driver.heal();
    expect((await ensure(claim.problem)).claim).toMatchObject({ phase: 'Bound', problem: null });
  }));

/** There may be no more claims. */
async function setQuota(world: ReturnType<typeof openVolumes>, namespace: string): Promise<void> {
  await world.set({
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { namespace, name: 'few' },
    spec: { hard: { 'count/persistentvolumeclaims': '0' } },
  });
  // kube-apiserver goes by what its controller has written.
  const quota = () => world.kubernetes.object('resourcequotas', { namespace, name: 'few' });
  await world.until(() => (quota()?.['status'] as { hard?: object } | undefined)?.hard !== undefined);
}

test('a quota that is used up is a failure that passes', () =>
  openSame({}, async (world) => {
    await setQuota(world, 'dst');
    await world.makeVolume('dst', 'copy');
    const request = {
      ...world.ofVolume('dst', 'copy'),
      begin: null,
      temporaryIn: null,
      from: null,
      spec: claimSpec,
      cloneDepth: 0,
      ...patience,
    };
    expect(await failureOf(world.activities.ensureClaim(request))).toMatchObject({ type: 'QuotaExceeded' });
  }));

test('a volume grows', () =>
  openSame({}, async (world) => {
    await world.makeVolume('src', 'copy');
    await cloneWhole(world, 'src', 'copy');
    const request = {
      ...world.ofVolume('src', 'copy'),
      begin: null,
      claim: { namespace: 'src', name: 'copy' },
      requestBytes: 2 * gibibyte,
      ...patience,
    };
    expect((await world.activities.expandClaim(request)).claim).toMatchObject({ capacityBytes: 2 * gibibyte });
    expect(await world.activities.expandClaim({ ...request, claim: golden })).toMatchObject({
      claim: { owner: 'none', requestBytes: gibibyte },
    });
  }));

test('a claim of another is neither taken nor deleted', () =>
  openSame({}, async (world) => {
    await world.makeClaim('dst', 'copy', 'of a user');
    await world.makeVolume('dst', 'copy');
    const of = world.ofVolume('dst', 'copy');
    const made = await world.activities.ensureClaim({
      ...of,
      begin: null,
      temporaryIn: null,
      from: null,
      spec: claimSpec,
      cloneDepth: 0,
      ...patience,
    });
    expect(made.claim).toMatchObject({ owner: 'none' });
    await world.activities.removeTemporary({ ...of, begin: null, withTarget: true });
    expect(world.storage.read('dst', 'copy')).toBe('of a user');
    expect((await world.activities.adoptClaim({ ...of, begin: null })).claim).toMatchObject({
      owner: 'volume',
      populatedFor: 'copy',
    });
    // What is adopted was not made for it.
    await world.activities.removeTemporary({ ...of, begin: null, withTarget: true });
    expect(world.storage.read('dst', 'copy')).toBe('of a user');
  }));

test('a source in use is waited for', () =>
  openSame({}, async (world) => {
    await world.makeVolume('src', 'copy');
    await world.set(podOf('golden'));
    const request = { ...world.ofVolume('src', 'copy'), begin: world.begin(), source: golden };
    expect(await world.activities.awaitFreeSource({ ...request, patienceMs: 1_000, known: null })).toEqual({
      usedBy: ['vm'],
    });
    expect(world.volume('src', 'copy')).toMatchObject({ status: { phase: 'CloneScheduled' } });
  }));

test('nothing is made for a DataVolume that is being deleted', () =>
  openSame({}, async (world) => {
    await world.makeVolume('src', 'copy', {}, { finalizers: ['a.b/c'] });
    await world.remove('datavolumes', 'cdi.kubevirt.io/v1beta1', 'src', 'copy');
    await expect(cloneWhole(world, 'src', 'copy')).rejects.toMatchObject({ type: 'ObjectNotFound' });
    expect(world.all('volumesnapshots')).toEqual([]);
  }));

test.each([
  ['there is none', [], 'unknown'],
  ['it has been there for long enough', policies(), 'granted'],
  ['it is another one', policies({ validations: [] }), 'unknown'],
  ['it is wider', policies({ matchConditions: [{ name: 'a', expression: 'false' }] }), 'unknown'],
])('a source elsewhere: the policy: %s', (_, objects, permission) =>
  openSame({}, async (world) => {
    await world.set(...objects);
    await world.clock.sleep(11_000);
    await world.makeVolume('dst', 'copy');
    expect(await world.observe('dst', 'copy')).toMatchObject({
      observed: {
        permission,
        source: { namespace: 'src', claim: permission === 'granted' ? { phase: 'Bound' } : null },
      },
    });
  }),
);

test('a DataVolume that was created before the policy was in force is not known to be permitted', () =>
  openSame({}, async (world) => {
    await world.set(...policies());
    await world.clock.sleep(5_000);
    await world.makeVolume('dst', 'copy');
    expect((await world.observe('dst', 'copy')).observed.permission).toBe('unknown');
  }));

test.each([
  ['of its own namespace', { pvc: golden }, 'src', { source: { kind: 'pvc', namespace: 'src', name: 'golden' } }],
  ['elsewhere', { pvc: golden }, 'dst', { problem: { reason: 'CrossNamespaceReference' } }],
  [
    'of another DataSource',
    { dataSource: { namespace: 'src', name: 'other' } },
    'src',
    { problem: { reason: 'MaxReferenceDepthReached' } },
  ],
])('a DataSource that names a source %s', (_, source, namespace, observed) =>
  openSame({}, async (world) => {
    await world.set({
      apiVersion: 'cdi.kubevirt.io/v1beta1',
      kind: 'DataSource',
      metadata: { namespace, name: 'os' },
      spec: { source },
    });
    await world.makeVolume(namespace, 'copy', {
      source: undefined,
      sourceRef: { kind: 'DataSource', name: 'os' },
    });
    expect(await world.observe(namespace, 'copy')).toMatchObject({ observed });
  }),
);

test('a source that the spec does not name counts for nothing, though an annotation says so', () =>
  openSame({}, async (world) => {
    const forged = JSON.stringify({ kind: 'pvc', namespace: 'src', name: 'golden', uid: world.goldenSource().uid });
    await world.makeVolume(
      'dst',
      'copy',
      { source: { pvc: { namespace: 'dst', name: 'mine' } } },
      { annotations: { [volumeAnnotations.cloneSource]: forged, [volumeAnnotations.cloneType]: 'snapshot' } },
    );
    expect(await world.observe('dst', 'copy')).toMatchObject({
      observed: { chosen: null, source: { namespace: 'dst', name: 'mine', claim: null } },
    });
  }));

test('the status is written where it differs, with its Event, and times say what changed', () =>
  openSame({}, async (world) => {
    const of = await world.makeVolume('src', 'copy');
    const said = status({ event: { type: 'Normal', reason: 'CloneScheduled', message: 'soon' } });
    const publish = () => world.activities.publishDataVolume({ ...of, status: said, retryHandled: 'x' });
    await publish();
    const first = world.volume('src', 'copy');
    await world.clock.sleep(5_000);
    await publish();
    expect(world.volume('src', 'copy')?.metadata.resourceVersion).toBe(first?.metadata.resourceVersion);
    expect(world.all('events.events.k8s.io').filter(({ reason }) => reason === 'CloneScheduled')).toHaveLength(1);
    expect(first).toMatchObject({ metadata: { annotations: { 'drover.dev/retry-handled': 'x' } } });
  }));

const copyRequest = (world: Volumes, of: Awaited<ReturnType<Volumes['makeVolume']>>) =>
  ({
    ...of,
    begin: world.begin('copy'),
    inNamespace: 'src',
    from: 'golden',
    to: { name: 'copy', uid: 'u-copy' },
    volumeMode: 'Block',
    image: 'drover:1',
  }) as const;

test('a copy is a Job that mounts both volumes, and goes with its Pods', () =>
  openSame({}, async (world) => {
    const of = await world.makeVolume('src', 'copy');
    const request = copyRequest(world, of);
    expect(await world.activities.ensureCopyJob(request)).toEqual({
      job: { state: 'active', claimUid: 'u-copy', hasBegun: false, message: '' },
    });
    expect(await world.activities.ensureCopyJob(request)).toEqual({
      job: { state: 'active', claimUid: 'u-copy', hasBegun: false, message: '' },
    });
    expect(world.all('jobs')).toHaveLength(1);
    expect(await world.activities.removeTemporary({ ...of, begin: null, withTarget: true })).toEqual({ left: [] });
    expect(world.all('jobs')).toEqual([]);
  }));

test('no copy is begun of a source that a Pod uses meanwhile; one that is begun goes on', () =>
  openSame({}, async (world) => {
    const of = await world.makeVolume('src', 'copy');
    const request = copyRequest(world, of);
    await world.set(podOf('golden'));
    expect(await world.activities.ensureCopyJob(request)).toEqual({ job: null, usedBy: ['vm'] });
    expect(world.all('jobs')).toEqual([]);
    await world.kubernetes.admin.request(
      { method: 'DELETE', path: '/api/v1/namespaces/src/pods/vm' },
      new AbortController().signal,
    );
    expect(await world.activities.ensureCopyJob(request)).toMatchObject({ job: { state: 'active' } });
    await world.set(podOf('golden'));
    expect(await world.activities.ensureCopyJob(request)).toMatchObject({ job: { state: 'active' } });
  }));

test.each([
  ['is not cut', false, 0, { snapshot: null, usedBy: ['vm'] }],
  ['is cut where that is allowed', true, 1, { snapshot: { isReady: true } }],
] as const)('a source that a Pod uses while its snapshot waits for its time %s', (_what, allowsUse, cuts, answer) =>
  openSame({ rules: { sourceIntervalMs: 20_000 } }, async (world) => {
    await world.makeVolume('src', 'a');
    await cloneWhole(world, 'src', 'a');
    await world.clock.sleep(2_000);
    await world.makeVolume('src', 'b');
    const asked = world.activities.ensureSourceSnapshot({
      ...world.ofVolume('src', 'b'),
      begin: world.begin(),
      source: world.goldenSource(),
      snapshotClass: storageNames.snapshotClass,
      createdMs: world.clock.now(),
      allowsUse,
      ...patience,
    });
    await world.clock.sleep(1_000);
    await world.set(podOf('golden'));
    expect(await asked).toMatchObject(answer);
    expect(world.driver.calls('CreateSnapshot')).toBe(1 + cuts);
  }),
);

test.each([
  ['an attempt that follows a dead worker', { waitedMs: 1_000 }],
  ['an attempt that no worker took for a while', { scheduledMs: Date.UTC(2026, 0, 31, 11) }],
])('a source that a Pod uses since it was observed is not cut by %s', (_what, scope) =>
  openSame({}, async (world) => {
    await world.makeVolume('src', 'copy');
    await world.set(podOf('golden'));
    const asked = world.worker(undefined, scope).ensureSourceSnapshot({
      ...world.ofVolume('src', 'copy'),
      begin: world.begin(),
      source: world.goldenSource(),
      snapshotClass: storageNames.snapshotClass,
      createdMs: world.clock.now(),
      allowsUse: false,
      ...patience,
    });
    expect(await asked).toEqual({ snapshot: null, usedBy: ['vm'] });
    expect(world.driver.calls('CreateSnapshot')).toBe(0);
  }),
);

test.each([
  ['one that follows a dead worker: none', { waitedMs: 1_000 }, false, { claim: null, usedBy: ['vm'] }],
  ['one where that is allowed: a clone', { waitedMs: 1_000 }, true, { claim: { phase: 'Bound' } }],
  ['one that follows the observation at once: a clone', {}, false, { claim: { phase: 'Bound' } }],
] as const)(
  'the driver clones a source that a Pod uses since it was observed, in %s',
  (_what, scope, allowsUse, answer) =>
    openSame({}, async (world) => {
      await world.makeVolume('src', 'copy');
      await world.set(podOf('golden'));
      const asked = world.worker(undefined, scope).ensureClaim({
        ...world.ofVolume('src', 'copy'),
        begin: world.begin(),
        temporaryIn: null,
        from: { kind: 'pvc', ...world.goldenSource() },
        allowsUse,
        spec: claimSpec,
        cloneDepth: 1,
        ...patience,
      });
      expect(await asked).toMatchObject(answer);
    }),
);

test('a snapshot that was cut of a source in use is shared by those alone that allow that', () =>
  openSame({}, async (world) => {
    const names = ['a', 'b', 'c'];
    for (const name of names) await world.makeVolume('src', name);
    const ensure = async (name: string, allowsUse: boolean) => {
      const { snapshot } = await world.activities.ensureSourceSnapshot({
        ...world.ofVolume('src', name),
        begin: world.begin(),
        source: world.goldenSource(),
        snapshotClass: storageNames.snapshotClass,
        createdMs: world.clock.now(),
        allowsUse,
        ...patience,
      });
      return snapshot?.name;
    };
    const first = await ensure('a', true);
    expect(await ensure('b', true)).toBe(first);
    const second = await ensure('c', false);
    expect(second).toBe(temporaryNames.sharedSnapshot(world.goldenSource().uid, 2));
    // It does not allow that any more.
    expect(await ensure('b', false)).toBe(second);
    expect(world.all('volumesnapshots').map((one) => [one.metadata.name, usersOf(one as never).size])).toEqual([
      [first, 1],
      [second, 2],
    ]);
  }));

test('a source that CDI is to import is left to it, and says so once', () =>
  openSame({}, async (world) => {
    const of = await world.makeVolume('src', 'copy', { source: { http: { url: 'https://a.test' } } });
    await world.activities.leaveDataVolume({ ...of, source: 'http' });
    await world.activities.leaveDataVolume({ ...of, source: 'http' });
    expect(world.volume('src', 'copy')).toMatchObject({
      metadata: { annotations: { [volumeAnnotations.leftTo]: 'cdi' } },
    });
    expect(world.volume('src', 'copy')).not.toHaveProperty('status');
    expect((await world.observe('src', 'copy')).desired).toMatchObject({ foreignSource: 'http', isLeft: true });
  }));

describe('the PVC is made with its snapshot', () => {
  const slot = {
    limit: { kind: 'clones', driver: storageNames.driver },
    request: { consumer: 'c', runId: 'r', want: 1, using: 0, deadline: null, host: storageNames.driver },
  } as const;
  const { requestBytes: _, ...spec } = claimSpec;
  const restore = { temporaryIn: null, spec, cloneDepth: 1, wantedBytes: gibibyte } as const;
  const snapshotAndRestore = async (world: ReturnType<typeof openVolumes>) =>
    world.activities.ensureSourceSnapshot({
      ...(await world.makeVolume('src', 'copy')),
      begin: world.begin(),
      source: world.goldenSource(),
      snapshotClass: storageNames.snapshotClass,
      createdMs: world.clock.now(),
      allowsUse: false,
      acquire: slot,
      restore,
      ...patience,
    });

  test('where the slot is granted', () =>
    openSame({}, async (world) => {
      expect(await snapshotAndRestore(world)).toMatchObject({ snapshot: { isReady: true }, slot: { allowance: 1 } });
      await world.until(() => world.isBound('src', 'copy'));
      expect(world.storage.read('src', 'copy')).toBe('bytes');
      expect(world.claim('src', 'copy')?.metadata.ownerReferences).toMatchObject([
        { kind: 'DataVolume', name: 'copy' },
      ]);
    }));

  test.each([
    ['is queued', async () => ({ sequence: 1, allowance: 0, limit: 1, inUse: 1 })],
    ['does not know', () => Promise.reject(new Error('no answer'))],
  ] as const)('and is not where the run %s', (_why, acquireSlot) =>
    openSame({ change: { acquireSlot } }, async (world) => {
      expect(await snapshotAndRestore(world)).toMatchObject({ snapshot: { isReady: true } });
      expect(world.claim('src', 'copy')).toBeNull();
    }),
  );

  test('one that cannot be made is no problem of the snapshot', () =>
    openSame({}, async (world) => {
      await setQuota(world, 'src');
      expect(await snapshotAndRestore(world)).toMatchObject({ snapshot: { isReady: true }, slot: { allowance: 1 } });
      expect(world.claim('src', 'copy')).toBeNull();
    }));
});
