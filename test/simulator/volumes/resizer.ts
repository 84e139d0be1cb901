import { quantityText } from '../../../contracts/quantity.ts';
import { bytesOf, requestedBytes, withAnnotations, type Claim, type Cluster, type Volume } from './cluster.ts';
import { CsiError, isFinal, type CsiDriver } from './csi-driver.ts';

/** csi-resizer: external-resizer v2.2.0, which recovers from failures. */

const nodeNotNeeded = 'volume.kubernetes.io/node-expansion-not-required';
/** What cannot work is tried again after so long. */
const infeasibleMs = 300_000;
const resizeTypes = ['Resizing', 'FileSystemResizePending', 'ControllerResizeError', 'NodeResizeError'];

type Condition = NonNullable<Claim['status']['conditions']>[number];

export interface Resizer {
  syncClaim: (key: string) => Promise<number | null>;
  /** What the kubelet does when the volume is mounted. */
  expandFileSystem(key: string): void;
}

export function createResizer(cluster: Cluster, driver: CsiDriver): Resizer {
  const { name: driverName } = driver.options;
  const by = `external-resizer ${driverName}`;
  const slowUntilMs = new Map<string, number>();

  const condition = (type: string, message?: string): Condition => ({
    type,
    status: 'True',
    lastTransitionTime: cluster.now(),
    ...(message !== undefined && { message }),
  });
  const withCondition = ({ conditions = [] }: Claim['status'], added: Condition | null): Condition[] => [
    ...conditions.filter(({ type }) => !resizeTypes.includes(type) || (added !== null && type !== added.type)),
    ...(added === null ? [] : [added]),
  ];

  const finished = (claim: Claim, bytes: number): Claim => {
    const { allocatedResourceStatuses: _, ...status } = claim.status;
    const conditions = withCondition(status, null);
    return cluster.updateStatus('claims', {
      ...claim,
      status: { ...status, capacity: { storage: quantityText(bytes) }, conditions },
    });
  };

  async function expand(found: Claim, volume: Volume): Promise<void> {
    const bytes = requestedBytes(found);
    const storage = found.spec.resources.requests.storage;
    let claim = cluster.updateStatus('claims', {
      ...found,
      status: {
        ...found.status,
        conditions: withCondition(found.status, condition('Resizing')),
        allocatedResources: { storage },
        allocatedResourceStatuses: { storage: 'ControllerResizeInProgress' },
      },
    });
    cluster.event(by, claim, 'Normal', 'Resizing', `External resizer is resizing volume ${volume.metadata.name}`);
    try {
      await driver.expandVolume(volume.spec.csi?.volumeHandle ?? '', bytes);
    } catch (error) {
      const why = (error as Error).message;
      if (isFinal(error)) {
        const isInfeasible =
          error instanceof CsiError && ['InvalidArgument', 'OutOfRange', 'NotFound'].includes(error.code);
        if (isInfeasible) slowUntilMs.set(claim.metadata.uid, cluster.clock.nowMs + infeasibleMs);
        const live = cluster.get('claims', claim.metadata.name, claim.metadata.namespace) ?? claim;
        const failed = condition('ControllerResizeError', `failed to expand pvc with ${why}`);
        claim = cluster.updateStatus('claims', {
          ...live,
          status: {
            ...live.status,
            conditions: withCondition(live.status, failed),
            ...(isInfeasible && { allocatedResourceStatuses: { storage: 'ControllerResizeInfeasible' } }),
          },
        });
      }
      const message = `resize volume "${volume.metadata.name}" by resizer "${driverName}" failed: ${why}`;
      cluster.event(by, claim, 'Warning', 'VolumeResizeFailed', message);
      throw error;
    }
    const live = cluster.get('volumes', volume.metadata.name);
    if (live === null) return;
    const capacity = { storage: quantityText(bytes) };
    if (bytesOf(live.spec.capacity.storage) < bytes)
      cluster.update('volumes', { ...live, spec: { ...live.spec, capacity } });
    await cluster.clock.sleep(cluster.random() * 2);
    claim = cluster.get('claims', claim.metadata.name, claim.metadata.namespace) ?? claim;
    if (driver.options.expandsOnNode && claim.spec.volumeMode !== 'Block') {
      const message = 'Waiting for user to (re-)start a pod to finish file system resize of volume on node.';
      const status = {
        ...claim.status,
        conditions: withCondition(claim.status, condition('FileSystemResizePending', message)),
        allocatedResourceStatuses: { storage: 'NodeResizePending' },
      };
      claim = cluster.updateStatus('claims', { ...claim, status });
      const words = 'Require file system resize of volume on node';
      cluster.event(by, claim, 'Normal', 'FileSystemResizeRequired', words);
      return;
    }
    claim = cluster.update('claims', withAnnotations(claim, { [nodeNotNeeded]: 'true' }));
    const done = finished(claim, bytes);
    cluster.event(by, done, 'Normal', 'VolumeResizeSuccessful', 'Resize volume succeeded');
  }

  return {
    async syncClaim(key) {
      const [namespace, name = ''] = key.split('/');
      const claim = cluster.get('claims', name, namespace);
      if (claim?.status.phase !== 'Bound') return null;
      const volume = cluster.get('volumes', claim.spec.volumeName ?? '');
      if (volume?.spec.csi?.driver !== driverName || volume.spec.claimRef?.uid !== claim.metadata.uid) return null;
      if (requestedBytes(claim) <= bytesOf(claim.status.capacity?.storage)) return null;
      if (claim.status.allocatedResourceStatuses?.storage === 'NodeResizePending') return null;
      const slowMs = (slowUntilMs.get(claim.metadata.uid) ?? 0) - cluster.clock.nowMs;
      if (slowMs > 0) return slowMs;
      await expand(claim, volume);
      return null;
    },

    expandFileSystem(key) {
      const [namespace, name = ''] = key.split('/');
      const claim = cluster.get('claims', name, namespace);
      if (claim === null) throw new Error(`there is no claim ${key}`);
      finished(claim, requestedBytes(claim));
    },
  };
}
