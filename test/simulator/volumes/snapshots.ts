import { quantityText } from '../../../contracts/quantity.ts';
import {
  annotationOf,
  hasFinalizer,
  isDeleting,
  keyOf,
  refOf,
  snapshotGroup,
  withAnnotations,
  withFinalizer,
  withoutAnnotations,
  withoutFinalizers,
  type Claim,
  type Cluster,
  type Content,
  type Snapshot,
  type SnapshotClass,
  type Volume,
} from './cluster.ts';
import { isFinal, type CsiDriver } from './csi-driver.ts';

/** snapshot-controller, and csi-snapshotter of one driver: external-snapshotter v8.6.0. */

const of = (name: string): string => `snapshot.storage.kubernetes.io/${name}`;
const asSource = of('volumesnapshot-as-source-protection');
const boundFinalizer = of('volumesnapshot-bound-protection');
const contentFinalizer = of('volumesnapshotcontent-bound-protection');
export const claimFinalizer = of('pvc-as-source-protection');
const beingDeleted = of('volumesnapshot-being-deleted');
export const beingCreated = of('volumesnapshot-being-created');
const isDefaultClass = of('is-default-class');

const by = 'snapshot-controller';

export interface SnapshotController {
  syncSnapshot: (key: string) => Promise<number | null>;
  syncContent: (name: string) => Promise<number | null>;
}

const contentNameOf = ({ metadata: { uid } }: Snapshot): string => `snapcontent-${uid}`;
const isReady = ({ status }: Snapshot | Content): boolean => status?.readyToUse === true;

/** @param wakeSnapshot looks at a snapshot soon */
export function createSnapshotController(cluster: Cluster, wakeSnapshot: (key: string) => void): SnapshotController {
  const pause = (): Promise<void> => cluster.clock.sleep(cluster.random() * 2);

  const setError = (snapshot: Snapshot, isReadyNow: boolean | null, reason: string, message: string): void => {
    if (snapshot.status?.error?.message === message) return;
    const error = { time: cluster.now(), message };
    const ready = isReadyNow === null ? {} : { readyToUse: isReadyNow };
    const next = cluster.updateStatus('snapshots', { ...snapshot, status: { ...snapshot.status, ...ready, error } });
    cluster.event(by, next, 'Warning', reason, message);
  };

  const sourceOf = ({ metadata, spec }: Snapshot): Claim | null =>
    cluster.get('claims', spec.source.persistentVolumeClaimName ?? '', metadata.namespace);

  /** The source is held while a snapshot of it is not ready. */
  const releaseSource = (snapshot: Snapshot): void => {
    const claim = sourceOf(snapshot);
    if (claim === null || !hasFinalizer(claim, claimFinalizer)) return;
    const isUsed = cluster
      .list('snapshots', snapshot.metadata.namespace)
      .some((one) => one.spec.source.persistentVolumeClaimName === claim.metadata.name && !isReady(one));
    if (!isUsed) cluster.update('claims', withoutFinalizers(claim, claimFinalizer));
  };

  const boundContentOf = (snapshot: Snapshot): Content | null => {
    const content = cluster.get('contents', snapshot.status?.boundVolumeSnapshotContentName ?? contentNameOf(snapshot));
    return content?.spec.volumeSnapshotRef.uid === snapshot.metadata.uid ? content : null;
  };

  const isRestored = ({ metadata: { namespace, name } }: Snapshot): boolean =>
    cluster
      .list('claims', namespace)
      .some(
        ({ spec: { dataSource }, status }) =>
          dataSource?.kind === 'VolumeSnapshot' && dataSource.name === name && status.phase === 'Pending',
      );

  async function remove(snapshot: Snapshot): Promise<void> {
    if (!hasFinalizer(snapshot, asSource) && !hasFinalizer(snapshot, boundFinalizer)) return;
    const content = boundContentOf(snapshot);
    if (content !== null && isRestored(snapshot)) {
      cluster.event(by, snapshot, 'Warning', 'SnapshotDeletePending', 'Snapshot is being used to restore a PVC');
      throw new Error('snapshot is in use');
    }
    const goes = content?.spec.deletionPolicy === 'Delete';
    if (content !== null) {
      if (annotationOf(content, beingDeleted) === undefined)
        cluster.update('contents', withAnnotations(content, { [beingDeleted]: 'yes' }));
      await pause();
      if (goes) cluster.remove('contents', content.metadata.name);
    }
    await pause();
    const gone = content !== null && goes ? [asSource] : [asSource, boundFinalizer];
    if (gone.some((one) => hasFinalizer(snapshot, one)))
      cluster.update('snapshots', withoutFinalizers(snapshot, ...gone));
  }

  /** @throws Error, with the sentence of snapshot-controller */
  function inputOf(snapshot: Snapshot): { class: SnapshotClass; volume: Volume; claim: Claim } {
    const from = snapshot.spec.source.persistentVolumeClaimName ?? '';
    const claim = sourceOf(snapshot);
    if (claim === null)
      throw new Error(
        `snapshot controller failed to update ${snapshot.metadata.name} on API server: cannot get claim from snapshot`,
      );
    if (isDeleting(claim) && !hasFinalizer(claim, claimFinalizer))
      throw new Error(
        `snapshot controller failed to update ${from} on API server: cannot add finalizer on claim because it is being deleted`,
      );
    const wrap = (why: string): Error =>
      new Error(`failed to get input parameters to create snapshot ${snapshot.metadata.name}: ${JSON.stringify(why)}`);
    const found = cluster.get('snapshotClasses', snapshot.spec.volumeSnapshotClassName ?? '');
    if (found === null) throw wrap('there is no such class');
    if (claim.status.phase !== 'Bound')
      throw wrap(`the PVC ${from} is not yet bound to a PV, will not attempt to take a snapshot`);
    const volume = cluster.get('volumes', claim.spec.volumeName ?? '');
    if (volume === null) throw wrap(`failed to retrieve PV ${claim.spec.volumeName ?? ''} from the API server`);
    if (volume.spec.claimRef?.uid !== claim.metadata.uid) throw wrap('claim in dataSource not bound or invalid');
    return { class: found, volume, claim };
  }

  async function createContent(snapshot: Snapshot): Promise<void> {
    try {
      const { class: found, volume, claim } = inputOf(snapshot);
      if (!hasFinalizer(claim, claimFinalizer)) {
        cluster.update('claims', withFinalizer(claim, claimFinalizer));
        await pause();
      }
      cluster.create('contents', {
        metadata: { name: contentNameOf(snapshot) },
        spec: {
          deletionPolicy: found.deletionPolicy,
          driver: found.driver,
          source: { volumeHandle: volume.spec.csi?.volumeHandle ?? '' },
          sourceVolumeMode: volume.spec.volumeMode ?? 'Filesystem',
          volumeSnapshotClassName: found.metadata.name,
          volumeSnapshotRef: refOf(snapshot),
        },
      });
    } catch (error) {
      const why = (error as Error).message;
      setError(snapshot, false, 'SnapshotContentCreationFailed', `Failed to create snapshot content with error ${why}`);
      throw error;
    }
    const message = `Waiting for a snapshot ${keyOf(snapshot)} to be created by the CSI driver.`;
    cluster.event(by, snapshot, 'Normal', 'CreatingSnapshot', message);
  }

  const setStatus = (snapshot: Snapshot, content: Content): void => {
    const { status = {} } = snapshot;
    const { creationTime, readyToUse = false, restoreSize, error } = content.status ?? {};
    const cut = creationTime === undefined ? undefined : `${new Date(creationTime / 1e6).toISOString().slice(0, 19)}Z`;
    const { error: _, ...rest } = status;
    const next = {
      ...rest,
      boundVolumeSnapshotContentName: status.boundVolumeSnapshotContentName ?? content.metadata.name,
      readyToUse,
      ...(cut !== undefined && { creationTime: status.creationTime ?? cut }),
      ...(restoreSize !== undefined && { restoreSize: status.restoreSize ?? quantityText(restoreSize) }),
      ...(error !== undefined && { error }),
    };
    const written = cluster.updateStatus('snapshots', { ...snapshot, status: next });
    const key = keyOf(snapshot);
    if (status.creationTime === undefined && cut !== undefined) {
      const message = `Snapshot ${key} was successfully created by the CSI driver.`;
      cluster.event(by, written, 'Normal', 'SnapshotCreated', message);
    }
    if (status.readyToUse !== true && readyToUse)
      cluster.event(by, written, 'Normal', 'SnapshotReady', `Snapshot ${key} is ready to use.`);
  };

  /**
   * The class that it names, or the default of its driver.
   * @throws Error where there is none, which the snapshot says
   */
  function withClass(snapshot: Snapshot): Snapshot {
    const named = snapshot.spec.volumeSnapshotClassName;
    if (named !== undefined) {
      if (cluster.get('snapshotClasses', named) !== null) return snapshot;
      const why = `volumesnapshotclass.${snapshotGroup} "${named}" not found`;
      setError(snapshot, null, 'GetSnapshotClassFailed', `Failed to get snapshot class with error ${why}`);
      throw new Error(why);
    }
    const volume = cluster.get('volumes', sourceOf(snapshot)?.spec.volumeName ?? '');
    const fits = cluster
      .list('snapshotClasses')
      .filter((one) => one.driver === volume?.spec.csi?.driver && annotationOf(one, isDefaultClass) === 'true');
    const [chosen] = fits;
    if (chosen === undefined || fits.length > 1) {
      const why = 'cannot find default snapshot class';
      setError(
        snapshot,
        null,
        'SetDefaultSnapshotClassFailed',
        `Failed to set default snapshot class with error ${why}`,
      );
      throw new Error(why);
    }
    const spec = { ...snapshot.spec, volumeSnapshotClassName: chosen.metadata.name };
    return cluster.update('snapshots', { ...snapshot, spec });
  }

  return {
    async syncSnapshot(key) {
      const [namespace, name = ''] = key.split('/');
      const found = cluster.get('snapshots', name, namespace);
      if (found === null) return null;
      if (isDeleting(found)) {
        releaseSource(found);
        await remove(found);
        return null;
      }
      let snapshot = withClass(found);
      releaseSource(snapshot);
      const content = boundContentOf(snapshot);
      const wanted = [asSource, ...(content?.spec.deletionPolicy === 'Delete' ? [boundFinalizer] : [])];
      const missing = wanted.filter((one) => !hasFinalizer(snapshot, one));
      if (missing.length > 0) {
        snapshot = cluster.update(
          'snapshots',
          missing.reduce((next, one) => withFinalizer(next, one), snapshot),
        );
        await pause();
      }
      if (content === null) {
        if (isReady(snapshot)) setError(snapshot, false, 'SnapshotContentMissing', 'VolumeSnapshotContent is missing');
        else await createContent(snapshot);
        return null;
      }
      if (!isReady(snapshot) || snapshot.status?.boundVolumeSnapshotContentName === undefined)
        setStatus(snapshot, content);
      return null;
    },

    async syncContent(name) {
      const content = cluster.get('contents', name);
      if (content === null) return null;
      const { namespace, name: of, uid } = content.spec.volumeSnapshotRef;
      if (!hasFinalizer(content, contentFinalizer) && !isDeleting(content)) {
        cluster.update('contents', withFinalizer(content, contentFinalizer));
        return null;
      }
      const snapshot = cluster.get('snapshots', of, namespace);
      if (snapshot === null || snapshot.metadata.uid !== uid) return null;
      if (content.status !== undefined) wakeSnapshot(`${namespace}/${of}`);
      const goes = isDeleting(snapshot) && annotationOf(content, beingDeleted) === undefined;
      if (goes) cluster.update('contents', withAnnotations(content, { [beingDeleted]: 'yes' }));
      return null;
    },
  };
}

export interface Snapshotter {
  syncContent: (name: string) => Promise<number | null>;
}

export function createSnapshotter(cluster: Cluster, driver: CsiDriver): Snapshotter {
  const by = `csi-snapshotter ${driver.options.name}`;
  const again = (name: string): Content => {
    const content = cluster.get('contents', name);
    if (content === null) throw new Error('there is no such content');
    return content;
  };

  const setError = (content: Content, reason: string, message: string): void => {
    if (content.status?.error?.message === message) return;
    const error = { time: cluster.now(), message };
    const status = { ...content.status, readyToUse: false, error };
    cluster.event(by, cluster.updateStatus('contents', { ...content, status }), 'Warning', reason, message);
  };

  /** @returns whether it is ready */
  async function create(content: Content): Promise<boolean> {
    const { name } = content.metadata;
    const isFirst = content.status === undefined;
    const volumeId = content.spec.source.volumeHandle ?? '';
    if (annotationOf(content, beingCreated) === undefined)
      cluster.update('contents', withAnnotations(content, { [beingCreated]: 'yes' }));
    try {
      const snapshotName = `snapshot-${content.spec.volumeSnapshotRef.uid ?? ''}`;
      const made = await driver.createSnapshot({ name: snapshotName, volumeId });
      const live = again(name);
      const readyToUse = cluster.clock.nowMs >= made.readyMs;
      const { error, ...rest } = live.status ?? {};
      cluster.updateStatus('contents', {
        ...live,
        status: {
          ...rest,
          snapshotHandle: made.id,
          creationTime: Math.floor(made.cutMs) * 1e6,
          readyToUse,
          ...(driver.options.saysRestoreSize && { restoreSize: made.sizeBytes }),
          ...(error !== undefined && !readyToUse && { error }),
        },
      });
      cluster.update('contents', withoutAnnotations(again(name), beingCreated));
      return readyToUse;
    } catch (error) {
      const live = cluster.get('contents', name);
      if (live !== null) {
        const next = isFinal(error) ? cluster.update('contents', withoutAnnotations(live, beingCreated)) : live;
        const why = `failed to take snapshot of the volume ${volumeId}: ${JSON.stringify((error as Error).message)}`;
        if (isFirst) setError(next, 'SnapshotCreationFailed', `Failed to create snapshot: ${why}`);
        else
          setError(next, 'SnapshotContentCheckandUpdateFailed', `Failed to check and update snapshot content: ${why}`);
      }
      throw error;
    }
  }

  async function remove(content: Content): Promise<void> {
    const { name } = content.metadata;
    const handle = content.status?.snapshotHandle;
    if (content.spec.deletionPolicy === 'Delete' && handle !== undefined) {
      try {
        await driver.deleteSnapshot(handle);
      } catch (error) {
        cluster.event(by, content, 'Warning', 'SnapshotDeleteError', 'Failed to delete snapshot');
        throw error;
      }
      const live = again(name);
      const { snapshotHandle: _, readyToUse: __, creationTime: ___, restoreSize: ____, ...status } = live.status ?? {};
      cluster.updateStatus('contents', { ...live, status });
    }
    cluster.update('contents', withoutFinalizers(again(name), contentFinalizer));
  }

  return {
    async syncContent(name) {
      const content = cluster.get('contents', name);
      if (content?.spec.driver !== driver.options.name) return null;
      const isWanted = annotationOf(content, beingDeleted) !== undefined;
      if (isDeleting(content) && isWanted && annotationOf(content, beingCreated) === undefined) {
        if (hasFinalizer(content, contentFinalizer)) await remove(content);
        return null;
      }
      if (isReady(content)) {
        if (annotationOf(content, beingCreated) !== undefined)
          cluster.update('contents', withoutAnnotations(content, beingCreated));
        return null;
      }
      // One that is not ready is asked for again, which tells of the same snapshot.
      if (!(await create(content))) throw new Error('the snapshot is not ready');
      return null;
    },
  };
}
