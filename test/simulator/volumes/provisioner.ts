import { quantityText } from '../../../contracts/quantity.ts';
import { failureCode } from '../../../runtime/failure.ts';
import { provisionedBy, selectedNode, storageProvisioner } from './binder.ts';
import {
  annotationOf,
  bytesOf,
  hasFinalizer,
  isDeleting,
  keyOf,
  refOf,
  requestedBytes,
  withFinalizer,
  withoutFinalizers,
  type Claim,
  type Cluster,
  type NewObject,
  type StorageClass,
  type Volume,
} from './cluster.ts';
import { CsiError, isFinal, type CsiDriver, type CsiVolume, type VolumeSource } from './csi-driver.ts';

/**
 * csi-provisioner: makes volumes for claims, from snapshots and from other claims, and deletes those that are released.
 */

export const cloneFinalizer = 'provisioner.storage.kubernetes.io/cloning-protection';
const snapshotFinalizer = 'provisioner.storage.kubernetes.io/volumesnapshot-as-source-protection';
const volumeFinalizer = 'external-provisioner.volume.kubernetes.io/finalizer';
/** What cannot work is tried again after so long. */
const infeasibleMs = 300_000;
/** Between two looks for snapshots that are protected for no claim. */
const sweepMs = 300_000;

export interface Provisioner {
  /** @param uid of the claim: one that is gone is gone on with where a volume may be made for it */
  syncClaim: (uid: string) => Promise<number | null>;
  syncVolume: (name: string) => Promise<number | null>;
  syncSnapshot: (key: string) => Promise<number | null>;
}

export function createProvisioner(cluster: Cluster, driver: CsiDriver): Provisioner {
  const { name: driverName } = driver.options;
  const by = `${driverName}_simulated`;
  /** Claims that a volume may be under way for. */
  const inProgress = new Map<string, Claim>();
  const slowUntilMs = new Map<string, number>();
  const orphanedMs = new Map<string, number>();

  const claimOf = (uid: string): Claim | null =>
    cluster.list('claims').find(({ metadata }) => metadata.uid === uid) ?? null;

  const isWanted = (claim: Claim): boolean => {
    if ((claim.spec.volumeName ?? '') !== '' || annotationOf(claim, storageProvisioner) !== driverName) return false;
    const found = cluster.get('classes', claim.spec.storageClassName ?? '');
    if (found === null) throw new Error('there is no such class');
    return found.volumeBindingMode === 'Immediate' || annotationOf(claim, selectedNode) !== undefined;
  };

  /** @throws Error, with the sentence of csi-provisioner */
  function sourceOfClaim(claim: Claim, from: string, storageClass: StorageClass): VolumeSource {
    const source = cluster.get('claims', from, claim.metadata.namespace);
    if (source === null)
      throw new Error(`error getting PVC ${from} (namespace "${claim.metadata.namespace}") from api server: not found`);
    if (source.status.phase !== 'Bound')
      throw new Error(`the PVC DataSource ${from} must have a status of Bound.  Got ${source.status.phase}`);
    if (isDeleting(source)) throw new Error(`the PVC DataSource ${from} is currently being deleted`);
    const [wanted, there] = [requestedBytes(claim), requestedBytes(source)];
    if (wanted < there)
      throw new Error(
        `error, new PVC request must be greater than or equal in size to the specified PVC data source, requested ${wanted} but source is ${there}`,
      );
    const volume = cluster.get('volumes', source.spec.volumeName ?? '');
    const isGood =
      volume?.spec.csi?.driver === storageClass.provisioner &&
      volume.spec.claimRef?.uid === source.metadata.uid &&
      volume.status.phase === 'Bound';
    if (!isGood) throw new Error('claim in dataSource not bound or invalid');
    const [mode, sourceMode] = [claim.spec.volumeMode, volume.spec.volumeMode ?? 'Filesystem'];
    if (mode !== sourceMode)
      throw new Error(
        `the source PVC and destination PVCs must have the same volume mode for cloning.  Source is ${sourceMode}, but new PVC requested ${mode ?? ''}`,
      );
    return { kind: 'volume', id: volume.spec.csi?.volumeHandle ?? '' };
  }

  /** @throws Error, with the sentence of csi-provisioner */
  function sourceOfSnapshot(claim: Claim, from: string, storageClass: StorageClass): VolumeSource {
    const snapshot = cluster.get('snapshots', from, claim.metadata.namespace);
    if (snapshot === null) throw new Error(`error getting snapshot ${from} from api server: not found`);
    if (isDeleting(snapshot) && !hasFinalizer(snapshot, snapshotFinalizer))
      throw new Error(`snapshot ${from} is being deleted`);
    const { boundVolumeSnapshotContentName: bound, readyToUse, restoreSize } = snapshot.status ?? {};
    if (bound === undefined) throw new Error(`snapshot ${from} not bound`);
    const content = cluster.get('contents', bound);
    if (content === null) throw new Error(`error getting snapshotcontent ${bound} for snapshot ${from}: not found`);
    if (content.spec.volumeSnapshotRef.uid !== snapshot.metadata.uid)
      throw new Error(`snapshotcontent ${bound} for snapshot ${from} is bound to a different snapshot`);
    if (content.spec.driver !== storageClass.provisioner)
      throw new Error(
        `snapshotcontent ${bound} for snapshot ${from} is handled by a different CSI driver than requested by StorageClass ${storageClass.metadata.name}`,
      );
    if (readyToUse !== true) throw new Error(`snapshot ${from} is not Ready`);
    const wanted = requestedBytes(claim);
    if (restoreSize !== undefined && wanted < bytesOf(restoreSize))
      throw new Error(
        `requested volume size ${wanted} is less than the size ${bytesOf(restoreSize)} for the source snapshot ${from}`,
      );
    const mode = content.spec.sourceVolumeMode;
    if (mode !== undefined && mode !== claim.spec.volumeMode)
      throw new Error(
        `requested volume ${keyOf(claim)} modifies the mode of the source volume but does not have permission to do so. snapshot.storage.kubernetes.io/allow-volume-mode-change annotation is not present on snapshotcontent ${bound}`,
      );
    return { kind: 'snapshot', id: content.status?.snapshotHandle ?? '' };
  }

  function sourceOf(claim: Claim, storageClass: StorageClass): VolumeSource | null {
    const { dataSource } = claim.spec;
    if (dataSource === undefined) return null;
    try {
      return dataSource.kind === 'VolumeSnapshot'
        ? sourceOfSnapshot(claim, dataSource.name, storageClass)
        : sourceOfClaim(claim, dataSource.name, storageClass);
    } catch (error) {
      const why = (error as Error).message;
      throw new Error(
        `error getting handle for DataSource Type ${dataSource.kind} by Name ${dataSource.name}: ${why}`,
        {
          cause: error,
        },
      );
    }
  }

  /** The source stays as long as it is copied. */
  function protect({ metadata: { namespace }, spec: { dataSource } }: Claim): void {
    if (dataSource === undefined) return;
    if (dataSource.kind === 'VolumeSnapshot') {
      const snapshot = cluster.get('snapshots', dataSource.name, namespace);
      if (snapshot !== null && !hasFinalizer(snapshot, snapshotFinalizer))
        cluster.update('snapshots', withFinalizer(snapshot, snapshotFinalizer));
      return;
    }
    const source = cluster.get('claims', dataSource.name, namespace);
    if (source !== null && !hasFinalizer(source, cloneFinalizer))
      cluster.update('claims', withFinalizer(source, cloneFinalizer));
  }

  function release({ metadata: { namespace }, spec: { dataSource } }: Claim): void {
    if (dataSource?.kind !== 'VolumeSnapshot') return;
    const snapshot = cluster.get('snapshots', dataSource.name, namespace);
    if (snapshot !== null && hasFinalizer(snapshot, snapshotFinalizer))
      cluster.update('snapshots', withoutFinalizers(snapshot, snapshotFinalizer));
  }

  const volumeFor = (claim: Claim, storageClass: StorageClass, made: CsiVolume): NewObject => ({
    metadata: {
      name: made.name,
      annotations: {
        [provisionedBy]: driverName,
        'volume.kubernetes.io/provisioner-deletion-secret-name': '',
        'volume.kubernetes.io/provisioner-deletion-secret-namespace': '',
      },
      ...(storageClass.reclaimPolicy === 'Delete' && { finalizers: [volumeFinalizer] }),
    },
    spec: {
      accessModes: claim.spec.accessModes,
      capacity: { storage: quantityText(made.capacityBytes) },
      claimRef: refOf(claim),
      csi: { driver: driverName, volumeHandle: made.id },
      persistentVolumeReclaimPolicy: storageClass.reclaimPolicy,
      storageClassName: storageClass.metadata.name,
      volumeMode: claim.spec.volumeMode,
    },
  });

  async function provision(claim: Claim): Promise<void> {
    const { uid } = claim.metadata;
    const name = `pvc-${uid}`;
    if (cluster.get('volumes', name) !== null) return;
    const storageClass = cluster.get('classes', claim.spec.storageClassName ?? '');
    if (storageClass === null) throw new Error('there is no such class');
    const message = `External provisioner is provisioning volume for claim "${keyOf(claim)}"`;
    cluster.event(by, claim, 'Normal', 'Provisioning', message);
    try {
      const source = sourceOf(claim, storageClass);
      protect(claim);
      const isBlock = claim.spec.volumeMode === 'Block';
      const made = await driver.createVolume({ name, requiredBytes: requestedBytes(claim), isBlock, source });
      cluster.create('volumes', volumeFor(claim, storageClass, made));
      const done = `Successfully provisioned volume ${name}`;
      cluster.event(by, claim, 'Normal', 'ProvisioningSucceeded', done);
    } catch (error) {
      // A conflict is tried again silently.
      if (failureCode(error) !== null) throw error;
      const { message: words } = error as Error;
      const isInfeasible = error instanceof CsiError && error.code === 'InvalidArgument';
      const said = isInfeasible
        ? `Volume provisioning failed with infeasible error. Retries will be delayed. ${words}`
        : words;
      if (isInfeasible) slowUntilMs.set(uid, cluster.clock.nowMs + infeasibleMs);
      if (error instanceof CsiError) {
        if (isFinal(error)) inProgress.delete(uid);
        else inProgress.set(uid, claim);
      }
      cluster.event(by, claim, 'Warning', 'ProvisioningFailed', said);
      throw error;
    }
    inProgress.delete(uid);
    release(claim);
  }

  const cloneIsUnderWay = ({ metadata: { namespace, name } }: Claim): boolean =>
    cluster
      .list('claims', namespace)
      .some(
        ({ spec: { dataSource }, status }) =>
          dataSource?.kind === 'PersistentVolumeClaim' && dataSource.name === name && status.phase === 'Pending',
      );

  const isAwaited = (from: string, namespace = ''): boolean =>
    cluster
      .list('claims', namespace)
      .some(
        ({ spec: { dataSource }, status }) =>
          dataSource?.kind === 'VolumeSnapshot' && dataSource.name === from && status.phase === 'Pending',
      );

  return {
    // Of a claim that went while its volume was made, where that failed then.
    async syncSnapshot(key) {
      const [namespace, name = ''] = key.split('/');
      const snapshot = cluster.get('snapshots', name, namespace);
      if (snapshot === null || !hasFinalizer(snapshot, snapshotFinalizer)) {
        orphanedMs.delete(key);
        return null;
      }
      if (isAwaited(name, namespace)) return sweepMs;
      const sinceMs = orphanedMs.get(key) ?? cluster.clock.nowMs;
      orphanedMs.set(key, sinceMs);
      const leftMs = sinceMs + sweepMs - cluster.clock.nowMs;
      if (leftMs > 0) return leftMs;
      cluster.update('snapshots', withoutFinalizers(snapshot, snapshotFinalizer));
      return null;
    },

    async syncClaim(uid) {
      const there = claimOf(uid);
      if (there !== null && isDeleting(there) && hasFinalizer(there, cloneFinalizer)) {
        if (cloneIsUnderWay(there)) throw new Error('cloning is in progress');
        cluster.update('claims', withoutFinalizers(there, cloneFinalizer));
      }
      const slowMs = (slowUntilMs.get(uid) ?? 0) - cluster.clock.nowMs;
      if (slowMs > 0) return slowMs;
      const claim = there ?? inProgress.get(uid) ?? null;
      if (claim !== null && isWanted(claim)) await provision(claim);
      return null;
    },

    async syncVolume(name) {
      let volume: Volume | null = cluster.get('volumes', name);
      if (volume?.spec.csi?.driver !== driverName) return null;
      const { persistentVolumeReclaimPolicy: policy } = volume.spec;
      const has = hasFinalizer(volume, volumeFinalizer);
      if (policy === 'Delete' && !has && !isDeleting(volume) && volume.status.phase === 'Bound')
        volume = cluster.update('volumes', withFinalizer(volume, volumeFinalizer));
      if (policy === 'Retain' && has) volume = cluster.update('volumes', withoutFinalizers(volume, volumeFinalizer));
      if (policy !== 'Delete' || volume.status.phase !== 'Released') return null;
      if (isDeleting(volume) && !hasFinalizer(volume, volumeFinalizer)) return null;
      try {
        await driver.deleteVolume(volume.spec.csi?.volumeHandle ?? '');
      } catch (error) {
        cluster.event(by, volume, 'Warning', 'VolumeFailedDelete', (error as Error).message);
        throw error;
      }
      cluster.remove('volumes', name);
      const left = cluster.get('volumes', name);
      if (left !== null && hasFinalizer(left, volumeFinalizer))
        cluster.update('volumes', withoutFinalizers(left, volumeFinalizer));
      return null;
    },
  };
}
