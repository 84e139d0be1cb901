import { type FallbackReason, fallbacks } from './choose-strategy.ts';
import type { VolumeStatus } from './data-volume.ts';

/** What a DataVolume says in its Events: reasons and sentences are CDI's, where CDI has one. Pure. */

export type VolumeEvent = NonNullable<VolumeStatus['event']>;

interface Named {
  namespace: string;
  name: string;
}

/** Of a clone. */
export interface Clone {
  source: Named & { kind: 'pvc' | 'snapshot' };
  volume: Named;
}

const nameOf = ({ namespace, name }: Named): string => `${namespace}/${name}`;

export const sentences = {
  cloneWithoutSource: (kind: 'pvc' | 'snapshot', name: string): string => `The source ${kind} ${name} doesn't exist`,
  cloneValidationFailed: (why: string): string => `The clone doesn't meet the validation requirements: ${why}`,
  sourceInUse: (pod: string, claim: string): string => `pod ${pod} using PersistentVolumeClaim ${claim}`,
  resourceExists: (name: string): string => `Resource "${name}" already exists and is not managed by DataVolume`,
  markedForDeletion: (name: string): string => `Resource "${name}" marked for deletion`,
  claimLost: (name: string): string => `PVC ${name} lost`,
} as const;

const normal = (reason: string, message: string): VolumeEvent => ({ type: 'Normal', reason, message });
const warning = (reason: string, message: string): VolumeEvent => ({ type: 'Warning', reason, message });

const between = ({ source, volume }: Clone): string => `from ${nameOf(source)} into ${nameOf(volume)}`;

/** Of a phase: what begins with it. */
export const phaseEvents = {
  CloneScheduled: (clone: Clone) => normal('CloneScheduled', `Cloning ${between(clone)} scheduled`),
  SnapshotForSmartCloneInProgress: ({ source }: Clone) =>
    normal(
      'SnapshotForSmartCloneInProgress',
      `Creating snapshot for smart-clone is in progress (for pvc ${nameOf(source)})`,
    ),
  SmartClonePVCInProgress: ({ source }: Clone) =>
    normal('SmartClonePVCInProgress', `Creating PVC for smart-clone is in progress (for pvc ${nameOf(source)})`),
  CloneFromSnapshotSourceInProgress: ({ source }: Clone) =>
    normal(
      'CloneFromSnapshotSourceInProgress',
      `Creating PVC from snapshot source is in progress (for ${source.kind} ${nameOf(source)})`,
    ),
  CSICloneInProgress: ({ source }: Clone) =>
    normal('CSICloneInProgress', `CSI Volume clone in progress (for pvc ${nameOf(source)})`),
  CloneInProgress: (clone: Clone) => normal('CloneInProgress', `Cloning ${between(clone)} in progress`),
  ExpansionInProgress: ({ volume }: Clone) =>
    normal('ExpansionInProgress', `Expanding PersistentVolumeClaim for DataVolume ${nameOf(volume)}`),
  NamespaceTransferInProgress: ({ volume }: Clone) =>
    normal('NamespaceTransferInProgress', `Transferring PersistentVolumeClaim for DataVolume ${nameOf(volume)}`),
  Succeeded: (clone: Clone) => normal('CloneSucceeded', `Successfully cloned ${between(clone)}`),
  Failed: (clone: Clone, why: string) =>
    warning('CloneFailed', `Cloning ${between(clone)} failed${why === '' ? '' : `: ${why}`}`),
} as const;

/** What keeps it from being made: a problem, or what is waited for. */
export const problemEvent = ({ reason, message }: { reason: string; message: string }): VolumeEvent =>
  warning(reason, message);

/** Why it is copied; null: not for a reason of {@link fallbacks}. */
export function fallbackEvent(fallbackReason: string): VolumeEvent | null {
  const reason = (Object.keys(fallbacks) as FallbackReason[]).find((one) => fallbacks[one] === fallbackReason);
  return reason === undefined ? null : warning(reason, fallbackReason);
}

/** Of another kind of sources than drover's. */
export const leftToCdi = (source: string): VolumeEvent =>
  normal('LeftToCDI', `The source ${source} is imported or uploaded by CDI: drover leaves it alone`);
