import type { SlotAnswer, SlotMessage } from '../../../contracts/allowance.ts';
import type { DataVolumeInput, VolumeSettings } from '../../../contracts/data-volume/data-volume.ts';
import type { Along } from '../../../contracts/virtual-machine/activities.ts';
import type { KubernetesObjects } from '../../../runtime/kubernetes/objects.ts';
import type { CoreEvent } from '../../../runtime/kubernetes/storage-resources.ts';
import type { ActivityContext, ForActivities } from '../../lib/context.ts';
import type { SharedByKey } from '../../lib/share.ts';

/** What the composition root gives to the activities on DataVolumes. */
export interface DataVolumeDependencies extends ForActivities<ActivityContext> {
  client: KubernetesObjects;
  /** Null: the kind is switched off. */
  settings: VolumeSettings | null;
  /** `dataVolumes.namespaces`: where there may be DataVolumes; empty: everywhere. */
  namespaces: readonly string[];
  /** Shares of a volume that its file system takes, where CDI does not say: by StorageClass, else the default. */
  filesystemOverhead: { default: number; classes: Readonly<Record<string, number>> };
  /** So long the policy must have been there before it counts as in force. */
  policyDelayMs: number;
  /** Specs of the ValidatingAdmissionPolicy on sources and of its binding, as drover generates them. */
  clonePolicy: { policy: unknown; binding: unknown };
  /** Asks the run that allocates the slots, which is started where none is open. */
  acquireSlot: (slot: SlotMessage, signal: AbortSignal) => Promise<SlotAnswer>;
  /** Signals the run that allocates the slots. */
  releaseSlot: (slot: NonNullable<Along['slot']>) => Promise<void>;
  /** Signals the run of the DataVolume, starting it if need be. */
  signalWithStart: (input: DataVolumeInput) => Promise<void>;
}

export interface VolumeTools extends Omit<DataVolumeDependencies, 'scope'>, ActivityContext {
  /** Of a namespace. */
  claimWarnings: SharedByKey<readonly CoreEvent[]>;
}

/** The DataVolume that an activity works for. One of that name with another uid is another one. */
export interface OfVolume extends DataVolumeInput {
  uid: string;
}
