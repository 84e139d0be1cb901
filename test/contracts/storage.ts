import { labClock } from '../../lab/clock.ts';
import { failureCode } from '../../runtime/failure.ts';
import type { Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import { conflicting, missing, refusal, refused, requestsOf, type AnyObject, type ObjectList } from './kubernetes.ts';

/** A cluster with a CSI driver and its sidecars that a contract runs on: the lab's, or the simulated one. */
export interface StorageCounterpart {
  /** As an administrator. */
  kubernetes: Kubernetes;
  /** Two of this test alone, which are there and empty. */
  namespaces: readonly [string, string];
  driver: string;
  /**
   * Of StorageClasses of the driver: one that binds at once and lets claims grow, one that does not, and one that waits
   * for a consumer.
   */
  classes: { plain: string; fixed: string; delayed: string };
  snapshotClass: string;
  /** The bytes on the volume of that name. */
  read: (volume: string) => Promise<string>;
  write: (volume: string, content: string) => Promise<void>;
  /** Whether the driver has anything of the volume or the snapshot with that handle. */
  has: (handle: string) => Promise<boolean>;
  /** The next call of the method is answered with a gRPC code, or takes so long. */
  fail: (method: string, code: string, times?: number) => Promise<void>;
  delay: (method: string, ms: number) => Promise<void>;
}

export type StorageTest = (name: string, body: (counterpart: StorageCounterpart) => Promise<void>) => void;

interface Whole extends AnyObject {
  spec: Record<string, unknown>;
  status: Record<string, unknown>;
}

const GiB = 1024 ** 3;
const snapshotApi = 'snapshot.storage.k8s.io/v1';
const bindCompleted = 'pv.kubernetes.io/bind-completed';

/** What a test does, in a word each. */
function toolsOf({ kubernetes, namespaces, classes, snapshotClass }: StorageCounterpart) {
  const { get, post, patch, remove } = requestsOf(kubernetes);
  const claims = (name?: string, namespace = namespaces[0]): string =>
    resourcePath('v1', 'persistentvolumeclaims', { namespace, ...(name !== undefined && { name }) });
  const volumes = (name: string): string => resourcePath('v1', 'persistentvolumes', { name });
  const snapshots = (name?: string, namespace = namespaces[0]): string =>
    resourcePath(snapshotApi, 'volumesnapshots', { namespace, ...(name !== undefined && { name }) });
  const contents = (name: string): string => resourcePath(snapshotApi, 'volumesnapshotcontents', { name });

  /** Asks until it is so. */
  async function until<Answer>(ask: () => Promise<Answer>, isSo: (answer: Answer) => boolean): Promise<Answer> {
    const endMs = labClock().now() + 60_000;
    for (;;) {
      const answer = await ask();
      if (isSo(answer)) return answer;
      if (labClock().now() > endMs) throw new Error(`it never was so: ${JSON.stringify(answer)}`);
      await labClock().sleep(100);
    }
  }
  const isThere = async (path: string): Promise<boolean> =>
    await get(path).then(
      () => true,
      () => false,
    );
  const gone = (path: string): Promise<boolean> =>
    until(
      () => isThere(path),
      (there) => !there,
    );
  const read = (path: string) => get<Whole>(path);

  return {
    post,
    patch,
    remove,
    claims,
    volumes,
    snapshots,
    contents,
    until,
    isThere,
    gone,
    read,
    makeClaim: (name: string, spec: object = {}, namespace: string = namespaces[0]) =>
      post(claims(undefined, namespace), {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { namespace, name },
        spec: {
          accessModes: ['ReadWriteOnce'],
          resources: { requests: { storage: '1Gi' } },
          storageClassName: classes.plain,
          ...spec,
        },
      }),
    /** @returns name of its volume */
    bound: async (name: string, namespace: string = namespaces[0]): Promise<string> => {
      const claim = await until(
        () => read(claims(name, namespace)),
        ({ status }) => status['phase'] === 'Bound',
      );
      return String(claim.spec['volumeName']);
    },
    makeSnapshot: (name: string, claim: string) =>
      post(snapshots(), {
        apiVersion: snapshotApi,
        kind: 'VolumeSnapshot',
        metadata: { namespace: namespaces[0], name },
        spec: { source: { persistentVolumeClaimName: claim }, volumeSnapshotClassName: snapshotClass },
      }),
    ready: (name: string): Promise<Whole> =>
      until(
        () => read(snapshots(name)),
        ({ status }) => (status as Whole['status'] | undefined)?.['readyToUse'] === true,
      ),
    /** Notes of Warning Events about an object, as events.k8s.io has them. */
    warnings: async (uid: string): Promise<string[]> => {
      const path = resourcePath('events.k8s.io/v1', 'events', { namespace: namespaces[0] });
      const { items } = await get<ObjectList>(path, { fieldSelector: `regarding.uid=${uid},type=Warning` });
      return items.map((event) => {
        const { reason, note } = event as unknown as { reason: string; note: string };
        return `${reason}: ${note}`;
      });
    },
  };
}

const ofSnapshot = (name: string) => ({ apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name });
const ofClaim = (name: string) => ({ kind: 'PersistentVolumeClaim', name });
const requests = (storage: string) => ({ resources: { requests: { storage } } });

export function describeStorage(test: StorageTest): void {
  test('a claim is bound to a volume that is made for it', async (counterpart) => {
    const { makeClaim, bound, read, claims, volumes } = toolsOf(counterpart);
    const { metadata } = await makeClaim('a');
    const volume = await read(volumes(await bound('a')));
    const claim = await read(claims('a'));
    expect(claim.metadata.annotations?.[bindCompleted]).toBe('yes');
    expect(claim.metadata.finalizers).toEqual(['kubernetes.io/pvc-protection']);
    expect(claim.spec).toMatchObject({ volumeMode: 'Filesystem' });
    expect(claim.status).toMatchObject({ capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'] });
    expect(volume.metadata.name).toBe(`pvc-${metadata.uid}`);
    expect(volume.metadata.annotations?.['pv.kubernetes.io/provisioned-by']).toBe(counterpart.driver);
    expect(volume.metadata.finalizers?.toSorted()).toEqual([
      'external-provisioner.volume.kubernetes.io/finalizer',
      'kubernetes.io/pv-protection',
    ]);
    expect(volume.spec).toMatchObject({
      capacity: { storage: '1Gi' },
      claimRef: { namespace: counterpart.namespaces[0], name: 'a', uid: metadata.uid },
      csi: { driver: counterpart.driver },
      persistentVolumeReclaimPolicy: 'Delete',
      storageClassName: counterpart.classes.plain,
      volumeMode: 'Filesystem',
    });
    expect(volume.status['phase']).toBe('Bound');
  });

  test('a volume that is made from a snapshot has the bytes of when it was cut', async (counterpart) => {
    const { makeClaim, bound, makeSnapshot, ready, read, contents } = toolsOf(counterpart);
    await makeClaim('a');
    const source = await bound('a');
    await counterpart.write(source, 'before');
    const beforeMs = labClock().now();
    const { metadata } = await makeSnapshot('s', 'a');
    const { status, metadata: later } = await ready('s');
    await counterpart.write(source, 'after');
    expect(status).toMatchObject({
      boundVolumeSnapshotContentName: `snapcontent-${metadata.uid}`,
      restoreSize: '1Gi',
    });
    // In seconds, rounded down.
    expect(Date.parse(String(status['creationTime']))).toBeGreaterThanOrEqual(Math.floor(beforeMs / 1_000) * 1_000);
    expect(later.finalizers?.toSorted()).toEqual([
      'snapshot.storage.kubernetes.io/volumesnapshot-as-source-protection',
      'snapshot.storage.kubernetes.io/volumesnapshot-bound-protection',
    ]);
    const content = await read(contents(`snapcontent-${metadata.uid}`));
    expect(content.spec).toMatchObject({
      deletionPolicy: 'Delete',
      driver: counterpart.driver,
      sourceVolumeMode: 'Filesystem',
      volumeSnapshotRef: { name: 's', uid: metadata.uid },
    });
    expect(content.status).toMatchObject({ readyToUse: true, restoreSize: GiB });
    await makeClaim('b', { dataSource: ofSnapshot('s') });
    expect(await counterpart.read(await bound('b'))).toBe('before');
    expect(await counterpart.read(source)).toBe('after');
  });

  test('a volume that is made from another has its bytes, and that stays while it is copied', async (counterpart) => {
    const { makeClaim, bound, read, claims, remove, gone } = toolsOf(counterpart);
    await makeClaim('a');
    await counterpart.write(await bound('a'), 'bytes');
    await counterpart.delay('CreateVolume', 2_000);
    const { spec } = await makeClaim('b', { dataSource: ofClaim('a') });
    const reference = { apiGroup: null, ...ofClaim('a') };
    expect(spec).toMatchObject({ dataSource: reference, dataSourceRef: reference });
    const { metadata } = await toolsOf(counterpart).until(
      () => read(claims('a')),
      (claim) => (claim.metadata.finalizers?.length ?? 0) > 1,
    );
    expect(metadata.finalizers).toContain('provisioner.storage.kubernetes.io/cloning-protection');
    await remove(claims('a'));
    expect(await counterpart.read(await bound('b'))).toBe('bytes');
    await gone(claims('a'));
  });

  test('a claim that is too small for its snapshot says why it is not bound', async (counterpart) => {
    const { makeClaim, bound, makeSnapshot, ready, until, warnings } = toolsOf(counterpart);
    await makeClaim('a', requests('2Gi'));
    await bound('a');
    await makeSnapshot('s', 'a');
    await ready('s');
    const { metadata } = await makeClaim('b', { dataSource: ofSnapshot('s') });
    const [first] = await until(
      () => warnings(metadata.uid),
      (said) => said.length > 0,
    );
    expect(first).toBe(
      `ProvisioningFailed: error getting handle for DataSource Type VolumeSnapshot by Name s: requested volume size ${GiB} is less than the size ${2 * GiB} for the source snapshot s`,
    );
    await makeClaim('c', { ...requests('3Gi'), dataSource: ofSnapshot('s') });
    await bound('c');
  });

  test('a claim waits for its snapshot, and the source of that stays', async (counterpart) => {
    const { makeClaim, bound, makeSnapshot, read, claims, remove, gone, until } = toolsOf(counterpart);
    await makeClaim('a');
    await counterpart.write(await bound('a'), 'bytes');
    await counterpart.delay('CreateSnapshot', 2_000);
    await makeClaim('b', { dataSource: ofSnapshot('s') });
    await makeSnapshot('s', 'a');
    await until(
      () => read(claims('a')),
      ({ metadata }) =>
        metadata.finalizers?.includes('snapshot.storage.kubernetes.io/pvc-as-source-protection') === true,
    );
    await remove(claims('a'));
    expect(await counterpart.read(await bound('b'))).toBe('bytes');
    await gone(claims('a'));
  });

  test('a snapshot that a claim waits for stays until the claim has gone', async (counterpart) => {
    const { makeClaim, bound, makeSnapshot, isThere, claims, remove, gone, until, snapshots, contents, warnings } =
      toolsOf(counterpart);
    await makeClaim('a');
    await bound('a');
    await counterpart.delay('CreateSnapshot', 2_000);
    const { metadata } = await makeSnapshot('s', 'a');
    await makeClaim('b', { dataSource: ofSnapshot('s') });
    await until(
      () => isThere(contents(`snapcontent-${metadata.uid}`)),
      (there) => there,
    );
    await remove(snapshots('s'));
    await until(
      () => warnings(metadata.uid),
      (said) => said.includes('SnapshotDeletePending: Snapshot is being used to restore a PVC'),
    );
    await labClock().sleep(3_000);
    expect([await isThere(snapshots('s')), await isThere(claims('b'))]).toEqual([true, true]);
    await remove(claims('b'));
    await gone(claims('b'));
    await gone(snapshots('s'));
    await gone(contents(`snapcontent-${metadata.uid}`));
  });

  test('what a snapshot was goes with it', async (counterpart) => {
    const { makeClaim, bound, makeSnapshot, ready, read, remove, gone, snapshots, contents } = toolsOf(counterpart);
    await makeClaim('a');
    await bound('a');
    const { metadata } = await makeSnapshot('s', 'a');
    await ready('s');
    const path = contents(`snapcontent-${metadata.uid}`);
    const handle = String((await read(path)).status['snapshotHandle']);
    expect(await counterpart.has(handle)).toBe(true);
    await remove(snapshots('s'));
    await gone(snapshots('s'));
    await gone(path);
    expect(await counterpart.has(handle)).toBe(false);
  });

  test('a snapshot says what the driver refused, until it is made', async (counterpart) => {
    const { makeClaim, bound, makeSnapshot, ready, read, until, snapshots } = toolsOf(counterpart);
    await makeClaim('a');
    await bound('a');
    await counterpart.fail('CreateSnapshot', 'Internal', 3);
    await makeSnapshot('s', 'a');
    const { status } = await until(
      () => read(snapshots('s')),
      (snapshot) => (snapshot.status as Whole['status'] | undefined)?.['error'] !== undefined,
    );
    expect(status).toMatchObject({ readyToUse: false });
    expect((status['error'] as { message: string }).message).toMatch(
      /^Failed to (?:create snapshot|check and update snapshot content): failed to take snapshot of the volume \S+: "rpc error: code = Internal desc = /u,
    );
    expect((await ready('s')).status['error']).toBeUndefined();
  });

  test('a snapshot of a class that is missing says so', async (counterpart) => {
    const { makeClaim, bound, until, read, snapshots } = toolsOf(counterpart);
    await makeClaim('a');
    await bound('a');
    await toolsOf({ ...counterpart, snapshotClass: 'missing' }).makeSnapshot('s', 'a');
    const { status } = await until(
      () => read(snapshots('s')),
      (snapshot) => (snapshot.status as Whole['status'] | undefined)?.['error'] !== undefined,
    );
    expect((status['error'] as { message: string }).message).toContain(
      'Failed to get snapshot class with error volumesnapshotclass.snapshot.storage.k8s.io "missing" not found',
    );
  });

  test('a claim says what the driver refused, and is bound once it does not', async (counterpart) => {
    const { makeClaim, bound, until, warnings } = toolsOf(counterpart);
    await counterpart.fail('CreateVolume', 'Aborted', 2);
    const { metadata } = await makeClaim('a');
    const [first] = await until(
      () => warnings(metadata.uid),
      (said) => said.length > 0,
    );
    expect(first).toMatch(/^ProvisioningFailed: rpc error: code = Aborted desc = /u);
    await bound('a');
  });

  test('a claim of a class that is missing says so', async (counterpart) => {
    const { makeClaim, until, warnings } = toolsOf(counterpart);
    const { metadata } = await makeClaim('a', { storageClassName: 'missing' });
    const said = await until(
      () => warnings(metadata.uid),
      (words) => words.length > 0,
    );
    expect(said).toEqual(['ProvisioningFailed: storageclass.storage.k8s.io "missing" not found']);
  });

  test('a claim of a class that waits is bound once its consumer has a node', async (counterpart) => {
    const { makeClaim, bound, read, claims, patch } = toolsOf(counterpart);
    await makeClaim('a', { storageClassName: counterpart.classes.delayed });
    await labClock().sleep(1_000);
    expect((await read(claims('a'))).status['phase']).toBe('Pending');
    await patch(claims('a'), { metadata: { annotations: { 'volume.kubernetes.io/selected-node': 'node-1' } } });
    await bound('a');
  });

  test('a claim grows where its class allows it', async (counterpart) => {
    const { makeClaim, bound, read, claims, volumes, patch, until } = toolsOf(counterpart);
    await makeClaim('a');
    const volume = await bound('a');
    await patch(claims('a'), { spec: requests('2Gi') });
    await until(
      () => read(claims('a')),
      ({ status }) => (status['capacity'] as { storage: string }).storage === '2Gi',
    );
    expect((await read(volumes(volume))).spec['capacity']).toEqual({ storage: '2Gi' });
    await expect(patch(claims('a'), { spec: requests('1Gi') })).rejects.toMatchObject(
      refused('field can not be less than status.capacity'),
    );
    await makeClaim('b', { storageClassName: counterpart.classes.fixed });
    await makeClaim('c', { storageClassName: counterpart.classes.delayed });
    await expect(patch(claims('c'), { spec: requests('2Gi') })).rejects.toMatchObject(refused('spec is immutable'));
    await bound('b');
    await expect(patch(claims('b'), { spec: requests('2Gi') })).rejects.toMatchObject(
      refusal('KubernetesForbidden', 403, 'Forbidden', 'the storageclass that provisions the pvc must support resize'),
    );
  });

  test('a claim that cannot grow says why', async (counterpart) => {
    const { makeClaim, bound, claims, patch, until, warnings, read } = toolsOf(counterpart);
    const { metadata } = await makeClaim('a');
    await bound('a');
    await counterpart.fail('ControllerExpandVolume', 'Internal', 2);
    await patch(claims('a'), { spec: requests('2Gi') });
    const [first] = await until(
      () => warnings(metadata.uid),
      (said) => said.length > 0,
    );
    expect(first).toMatch(
      /^VolumeResizeFailed: resize volume "\S+" by resizer "\S+" failed: rpc error: code = Internal desc = /u,
    );
    await until(
      () => read(claims('a')),
      ({ status }) => (status['capacity'] as { storage: string }).storage === '2Gi',
    );
  });

  test('a claim is what it was', async (counterpart) => {
    const { makeClaim, bound, claims, volumes, patch } = toolsOf(counterpart);
    await makeClaim('a');
    const volume = await bound('a');
    await expect(patch(claims('a'), { spec: { accessModes: ['ReadWriteMany'] } })).rejects.toMatchObject(
      refused('spec is immutable after creation except resources.requests'),
    );
    await expect(patch(claims('a'), { spec: { volumeName: 'other' } })).rejects.toMatchObject(
      refused('spec is immutable'),
    );
    await expect(patch(volumes(volume), { spec: { csi: { volumeHandle: 'other' } } })).rejects.toMatchObject(
      refused('spec.persistentvolumesource is immutable after creation'),
    );
  });

  test('a quota refuses a claim, until there is room', async (counterpart) => {
    const { makeClaim, post, patch, until, read } = toolsOf(counterpart);
    const [namespace] = counterpart.namespaces;
    const quotas = (name?: string): string =>
      resourcePath('v1', 'resourcequotas', { namespace, ...(name !== undefined && { name }) });
    const spec = (storage: string) => ({ hard: { 'requests.storage': storage } });
    const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { namespace, name: 'q' }, spec: spec('1Gi') };
    await post(quotas(), quota);
    // It is in force once kube-controller-manager has counted what is there.
    const inForce = (limit: string): Promise<Whole> =>
      until(
        () => read(quotas('q')),
        ({ status }) => (status as { hard?: Record<string, string> } | undefined)?.hard?.['requests.storage'] === limit,
      );
    await inForce('1Gi');
    await makeClaim('a');
    const exceeded =
      'persistentvolumeclaims "b" is forbidden: exceeded quota: q, requested: requests.storage=1Gi, used: requests.storage=1Gi, limited: requests.storage=1Gi';
    await expect(makeClaim('b')).rejects.toMatchObject(refusal('KubernetesForbidden', 403, 'Forbidden', exceeded));
    await patch(quotas('q'), { spec: spec('2Gi') });
    await inForce('2Gi');
    // The admission goes by a copy of its own, which follows.
    const isRefused = (error: unknown): boolean => {
      if (failureCode(error) !== 'KubernetesForbidden') throw error;
      return false;
    };
    await until(
      () => makeClaim('b').then(() => true, isRefused),
      (isMade) => isMade,
    );
  });

  test('what a claim was goes with it, and stays where it is retained', async (counterpart) => {
    const { makeClaim, bound, read, claims, volumes, patch, remove, gone, until } = toolsOf(counterpart);
    await makeClaim('a');
    await makeClaim('b');
    const [first, second] = [await bound('a'), await bound('b')];
    const handleOf = async (volume: string): Promise<string> =>
      ((await read(volumes(volume))).spec['csi'] as { volumeHandle: string }).volumeHandle;
    const handles = [await handleOf(first), await handleOf(second)] as const;
    await patch(volumes(second), { spec: { persistentVolumeReclaimPolicy: 'Retain' } });
    await remove(claims('a'));
    await remove(claims('b'));
    await gone(volumes(first));
    await until(
      () => read(volumes(second)),
      ({ status }) => status['phase'] === 'Released',
    );
    expect([await counterpart.has(handles[0]), await counterpart.has(handles[1])]).toEqual([false, true]);
    await patch(volumes(second), { spec: { persistentVolumeReclaimPolicy: 'Delete' } });
    await gone(volumes(second));
    expect(await counterpart.has(handles[1])).toBe(false);
  });

  test('a claim that a Pod uses stays until the Pod has gone, though it has ended', async (counterpart) => {
    const { makeClaim, bound, post, patch, isThere, claims, remove, gone } = toolsOf(counterpart);
    const [namespace] = counterpart.namespaces;
    await makeClaim('a');
    await bound('a');
    const pods = (name?: string): string =>
      resourcePath('v1', 'pods', { namespace, ...(name !== undefined && { name }) });
    await post(pods(), {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace, name: 'p' },
      spec: {
        nodeName: 'node-1',
        containers: [{ name: 'c', image: 'none' }],
        volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'a' } }],
      },
    });
    await remove(claims('a'));
    await labClock().sleep(1_000);
    expect(await isThere(claims('a'))).toBe(true);
    await patch(`${pods('p')}/status`, { status: { phase: 'Succeeded' } });
    await labClock().sleep(1_000);
    expect(await isThere(claims('a'))).toBe(true);
    // No kubelet has to end what has ended.
    await remove(pods('p'));
    await gone(claims('a'));
  });

  test('a volume that is retained is moved to a claim elsewhere, with its bytes', async (counterpart) => {
    const { makeClaim, bound, read, claims, volumes, patch, remove, gone, until } = toolsOf(counterpart);
    const [, elsewhere] = counterpart.namespaces;
    await makeClaim('a');
    const volume = await bound('a');
    await counterpart.write(volume, 'bytes');
    await patch(volumes(volume), { spec: { persistentVolumeReclaimPolicy: 'Retain' } });
    await remove(claims('a'));
    await gone(claims('a'));
    const { metadata } = await until(
      () => read(volumes(volume)),
      ({ status }) => status['phase'] === 'Released',
    );
    const { uid } = (await makeClaim('b', { volumeName: volume }, elsewhere)).metadata;
    await labClock().sleep(1_000);
    expect((await read(claims('b', elsewhere))).status['phase']).toBe('Pending');
    const claimRef = {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      namespace: elsewhere,
      name: 'b',
      uid,
      resourceVersion: null,
    };
    const stale = { metadata: { resourceVersion: '1' }, spec: { claimRef } };
    await expect(patch(volumes(volume), stale)).rejects.toMatchObject(conflicting());
    await patch(volumes(volume), { metadata: { resourceVersion: metadata.resourceVersion }, spec: { claimRef } });
    expect(await bound('b', elsewhere)).toBe(volume);
    expect(await counterpart.read(volume)).toBe('bytes');
    await patch(volumes(volume), { spec: { persistentVolumeReclaimPolicy: 'Delete' } });
    await until(
      () => read(volumes(volume)),
      (one) => one.metadata.finalizers?.includes('external-provisioner.volume.kubernetes.io/finalizer') === true,
    );
    await remove(claims('b', elsewhere));
    await gone(volumes(volume));
  });

  test('a claim whose volume is given to another is lost, and goes without it', async (counterpart) => {
    const { makeClaim, bound, read, claims, volumes, patch, remove, gone, until } = toolsOf(counterpart);
    const [, elsewhere] = counterpart.namespaces;
    await makeClaim('a');
    const volume = await bound('a');
    await counterpart.write(volume, 'bytes');
    // It is reserved by name: its uid is filled in when it is bound.
    const claimRef = { namespace: elsewhere, name: 'b', uid: null, resourceVersion: null };
    await patch(volumes(volume), { spec: { claimRef } });
    await makeClaim('b', { volumeName: volume }, elsewhere);
    expect(await bound('b', elsewhere)).toBe(volume);
    // A claim that was bound is looked at again when it changes.
    await patch(claims('a'), { metadata: { labels: { changed: 'yes' } } });
    await until(
      () => read(claims('a')),
      ({ status }) => status['phase'] === 'Lost',
    );
    await remove(claims('a'));
    await gone(claims('a'));
    expect(await counterpart.read(volume)).toBe('bytes');
    expect((await read(volumes(volume))).status['phase']).toBe('Bound');
  });

  test('a volume of a claim that is not there is deleted, if it is not retained', async (counterpart) => {
    const { makeClaim, bound, volumes, patch, gone, read } = toolsOf(counterpart);
    await makeClaim('a');
    const volume = await bound('a');
    const { volumeHandle } = (await read(volumes(volume))).spec['csi'] as { volumeHandle: string };
    const claimRef = {
      namespace: counterpart.namespaces[1],
      name: 'b',
      uid: '0c1f0000-0000-4000-8000-000000000000',
      resourceVersion: null,
    };
    await patch(volumes(volume), { spec: { claimRef } });
    await gone(volumes(volume));
    expect(await counterpart.has(volumeHandle)).toBe(false);
    await expect(read(volumes(volume))).rejects.toMatchObject(missing());
  });
}
