import type { AllowanceObservation, SlotLimit } from '../../../contracts/allowance.ts';
import { volumeAnnotations, volumeLabels } from '../../../contracts/data-volume/metadata.ts';
import type { SlotActivities } from '../../../contracts/eviction/activities.ts';
import type { KubernetesObjects } from '../../../runtime/kubernetes/objects.ts';
import { storageResources } from '../../../runtime/kubernetes/storage-resources.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { type ActivityScope, currentScope } from '../../lib/context.ts';

type CloneLimit = Extract<SlotLimit, { kind: 'clones' }>;

interface CloneDependencies extends Pick<AllowanceObservation, 'limit' | 'checkMs' | 'silentMs'> {
  client: KubernetesObjects;
  /** The running activity. Default: Temporal's. */
  scope?: (clock: Clock) => Pick<ActivityScope, 'signal'>;
  clock: Clock;
}

/**
 * What the run that allocates the clones of a CSI driver observes, queue `volumes`: claims of drover's that the driver
 * has not made yet.
 */
export const createCloneSlotActivities = ({
  client,
  scope = currentScope,
  clock,
  ...limits
}: CloneDependencies): SlotActivities<CloneLimit> => ({
  async observeSlots({ driver }) {
    const { signal } = scope(clock);
    const [classes, claims] = await Promise.all([
      client.list(storageResources.StorageClass, {}, signal),
      client.list(
        storageResources.PersistentVolumeClaim,
        { labelSelector: `${volumeLabels.app}=${volumeLabels.appName}` },
        signal,
      ),
    ]);
    const own = new Map(
      classes.filter(({ provisioner }) => provisioner === driver).map((one) => [one.metadata.name, one]),
    );
    const tasks = claims
      .filter(({ metadata: { annotations = {} }, spec, status }) => {
        const storageClass = own.get(spec.storageClassName ?? '');
        if (storageClass === undefined || status?.phase !== 'Pending' || (spec.dataSource ?? null) === null)
          return false;
        const waits = storageClass.volumeBindingMode === 'WaitForFirstConsumer';
        const isPlaced = annotations[volumeAnnotations.selectedNode] !== undefined;
        return annotations[volumeAnnotations.createdForDataVolume] !== undefined && (!waits || isPlaced);
      })
      .map(({ metadata }) => metadata.uid);
    return { ...limits, inProgress: tasks.length === 0 ? {} : { [driver]: tasks.length }, tasks };
  },
});
