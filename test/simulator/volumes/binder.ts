import {
  annotationOf,
  bytesOf,
  isDeleting,
  keyOf,
  refOf,
  requestedBytes,
  withAnnotations,
  withoutAnnotations,
  type Claim,
  type Cluster,
  type Volume,
} from './cluster.ts';

/**
 * The controller of kube-controller-manager that binds claims to volumes, as far as volumes of CSI drivers go. Its
 * rules, and the order of its writes, are those of `pkg/controller/volume/persistentvolume/pv_controller.go`.
 */

const by = 'persistentvolume-controller';
export const boundByController = 'pv.kubernetes.io/bound-by-controller';
export const bindCompleted = 'pv.kubernetes.io/bind-completed';
export const provisionedBy = 'pv.kubernetes.io/provisioned-by';
export const storageProvisioner = 'volume.kubernetes.io/storage-provisioner';
export const selectedNode = 'volume.kubernetes.io/selected-node';
/** It looks at everything again. */
const resyncMs = 15_000;

export interface Binder {
  syncClaim: (key: string) => Promise<number | null>;
  syncVolume: (name: string) => Promise<number | null>;
}

/** @param wakeClaim looks at a claim soon */
export function createBinder(cluster: Cluster, wakeClaim: (key: string) => void): Binder {
  const { clock, random } = cluster;
  /** Between two writes. */
  const pause = (): Promise<void> => clock.sleep(random() * 2);

  const setVolumePhase = async (volume: Volume, phase: Volume['status']['phase']): Promise<Volume> => {
    if (volume.status.phase === phase) return volume;
    await pause();
    return cluster.updateStatus('volumes', { ...volume, status: { ...volume.status, phase } });
  };

  const setClaimStatus = async (claim: Claim, status: Claim['status']): Promise<Claim> => {
    await pause();
    return cluster.updateStatus('claims', { ...claim, status });
  };

  const setLost = async (claim: Claim, reason: string, message: string): Promise<void> => {
    if (claim.status.phase === 'Lost') return;
    const { capacity: _, accessModes: __, ...status } = claim.status;
    await setClaimStatus(claim, { ...status, phase: 'Lost' });
    cluster.event(by, claim, 'Warning', reason, message);
  };

  /** Volume first, then claim, each with its status: whatever is written already stays. */
  async function bind(found: Volume, claim: Claim): Promise<void> {
    let volume = found;
    if (volume.spec.claimRef?.uid !== claim.metadata.uid) {
      const isReserved = isReservedFor(volume, claim);
      const bound = { ...volume, spec: { ...volume.spec, claimRef: refOf(claim) } };
      await pause();
      volume = cluster.update('volumes', isReserved ? bound : withAnnotations(bound, { [boundByController]: 'yes' }));
    }
    volume = await setVolumePhase(volume, 'Bound');
    let next = claim;
    if (claim.spec.volumeName !== volume.metadata.name || annotationOf(claim, bindCompleted) === undefined) {
      const isChosenHere = claim.spec.volumeName !== volume.metadata.name;
      await pause();
      next = cluster.update('claims', {
        ...withAnnotations(claim, { [bindCompleted]: 'yes', ...(isChosenHere && { [boundByController]: 'yes' }) }),
        spec: { ...claim.spec, volumeName: volume.metadata.name },
      });
    }
    if (next.status.phase === 'Bound') return;
    const { capacity, accessModes } = volume.spec;
    await setClaimStatus(next, { ...next.status, phase: 'Bound', accessModes, capacity });
  }

  /** One that is reserved for the claim, or else the smallest that is free and large enough. */
  const matching = (claim: Claim, isDelayed: boolean): Volume | null => {
    const fits = cluster
      .list('volumes')
      .filter((volume) => volume.spec.claimRef === undefined || isReservedFor(volume, claim))
      .filter(
        (volume) =>
          bytesOf(volume.spec.capacity.storage) >= requestedBytes(claim) &&
          (volume.spec.volumeMode ?? 'Filesystem') === (claim.spec.volumeMode ?? 'Filesystem') &&
          claim.spec.accessModes.every((mode) => volume.spec.accessModes.includes(mode)) &&
          !isDeleting(volume),
      );
    const reserved = fits.find((volume) => isReservedFor(volume, claim));
    if (reserved !== undefined || isDelayed) return reserved ?? null;
    const free = fits.filter(
      ({ spec, status }) =>
        status.phase === 'Available' && (spec.storageClassName ?? '') === (claim.spec.storageClassName ?? ''),
    );
    return free.toSorted((a, b) => bytesOf(a.spec.capacity.storage) - bytesOf(b.spec.capacity.storage))[0] ?? null;
  };

  async function provision(claim: Claim, className: string): Promise<number> {
    const found = cluster.get('classes', className);
    if (found === null) {
      cluster.event(by, claim, 'Warning', 'ProvisioningFailed', `storageclass.storage.k8s.io "${className}" not found`);
      return resyncMs;
    }
    const { provisioner } = found;
    if (annotationOf(claim, storageProvisioner) !== provisioner) {
      await pause();
      cluster.update(
        'claims',
        withAnnotations(claim, {
          [storageProvisioner]: provisioner,
          'volume.beta.kubernetes.io/storage-provisioner': provisioner,
        }),
      );
    }
    const message = `Waiting for a volume to be created either by the external provisioner '${provisioner}' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.`;
    cluster.event(by, claim, 'Normal', 'ExternalProvisioning', message);
    return resyncMs;
  }

  async function syncUnbound(claim: Claim): Promise<number | null> {
    const { volumeName = '', storageClassName = '' } = claim.spec;
    if (volumeName === '') {
      const isDelayed = cluster.get('classes', storageClassName)?.volumeBindingMode === 'WaitForFirstConsumer';
      const volume = matching(claim, isDelayed);
      if (volume !== null) {
        await bind(volume, claim);
        return null;
      }
      if (isDelayed && annotationOf(claim, selectedNode) === undefined) {
        const message = 'waiting for first consumer to be created before binding';
        cluster.event(by, claim, 'Normal', 'WaitForFirstConsumer', message);
        return resyncMs;
      }
      if (storageClassName !== '') return await provision(claim, storageClassName);
      const message = 'no persistent volumes available for this claim and no storage class is set';
      cluster.event(by, claim, 'Normal', 'FailedBinding', message);
      return resyncMs;
    }
    const volume = cluster.get('volumes', volumeName);
    if (volume === null) return resyncMs;
    if (volume.spec.claimRef === undefined) {
      const why = whyNot(volume, claim);
      if (why === null) {
        await bind(volume, claim);
        return null;
      }
      const message = `Cannot bind to requested volume "${volumeName}": ${why}`;
      cluster.event(by, claim, 'Warning', 'VolumeMismatch', message);
      return resyncMs;
    }
    if (isReservedFor(volume, claim)) {
      await bind(volume, claim);
      return null;
    }
    const message = `volume "${volumeName}" already bound to a different claim.`;
    cluster.event(by, claim, 'Warning', 'FailedBinding', message);
    return resyncMs;
  }

  async function syncBound(claim: Claim): Promise<void> {
    const { volumeName = '' } = claim.spec;
    const volume = volumeName === '' ? null : cluster.get('volumes', volumeName);
    if (volume === null) {
      const lost = volumeName === '' ? 'reference to PersistentVolume' : 'its PersistentVolume';
      await setLost(claim, 'ClaimLost', `Bound claim has lost ${lost}. Data on the volume is lost!`);
    } else if (volume.spec.claimRef === undefined || volume.spec.claimRef.uid === claim.metadata.uid) {
      await bind(volume, claim);
    } else {
      const message = 'Two claims are bound to the same volume, this one is bound incorrectly';
      await setLost(claim, 'ClaimMisbound', message);
    }
  }

  /** The claim that it was bound to is bound elsewhere: what was reserved by a user stays reserved. */
  async function unbind(volume: Volume): Promise<void> {
    const { claimRef, ...spec } = volume.spec;
    const wasFound = annotationOf(volume, boundByController) !== undefined;
    await pause();
    const next = cluster.update('volumes', {
      ...withoutAnnotations(volume, ...(wasFound ? [boundByController] : [])),
      spec: wasFound || claimRef === undefined ? spec : { ...spec, claimRef: { ...claimRef, uid: '' } },
    });
    await setVolumePhase(next, 'Available');
  }

  return {
    async syncClaim(key) {
      const [namespace, name = ''] = key.split('/');
      const claim = cluster.get('claims', name, namespace);
      if (claim === null) return null;
      if (annotationOf(claim, bindCompleted) === undefined) return await syncUnbound(claim);
      await syncBound(claim);
      return null;
    },

    async syncVolume(name) {
      const volume = cluster.get('volumes', name);
      if (volume === null) return null;
      const { claimRef } = volume.spec;
      if (claimRef === undefined || (claimRef.uid ?? '') === '') {
        await setVolumePhase(volume, 'Available');
        // One that is reserved, or free, is what a claim waits for.
        if (claimRef !== undefined) wakeClaim(`${claimRef.namespace}/${claimRef.name}`);
        return null;
      }
      const named = cluster.get('claims', claimRef.name, claimRef.namespace);
      const claim = named?.metadata.uid === claimRef.uid ? named : null;
      const { phase } = volume.status;
      const release = async (): Promise<void> => {
        if (phase !== 'Released' && phase !== 'Failed') await setVolumePhase(volume, 'Released');
      };
      if (claim === null) await release();
      else if ((claim.spec.volumeName ?? '') === '') wakeClaim(keyOf(claim));
      else if (claim.spec.volumeName === name) await setVolumePhase(volume, 'Bound');
      else if (
        annotationOf(volume, provisionedBy) !== undefined &&
        volume.spec.persistentVolumeReclaimPolicy === 'Delete'
      )
        await release();
      else await unbind(volume);
      return null;
    },
  };
}

const isReservedFor = ({ spec: { claimRef } }: Volume, { metadata }: Claim): boolean =>
  claimRef !== undefined &&
  claimRef.name === metadata.name &&
  claimRef.namespace === metadata.namespace &&
  ((claimRef.uid ?? '') === '' || claimRef.uid === metadata.uid);

function whyNot(volume: Volume, claim: Claim): string | null {
  if (isDeleting(volume)) return `the volume is marked for deletion "${volume.metadata.name}"`;
  if (bytesOf(volume.spec.capacity.storage) < requestedBytes(claim)) return 'requested PV is too small';
  if ((volume.spec.storageClassName ?? '') !== (claim.spec.storageClassName ?? ''))
    return 'storageClassName does not match';
  if ((volume.spec.volumeMode ?? 'Filesystem') !== (claim.spec.volumeMode ?? 'Filesystem'))
    return 'incompatible volumeMode';
  const modes = volume.spec.accessModes;
  return claim.spec.accessModes.every((mode) => modes.includes(mode)) ? null : 'incompatible accessMode';
}
