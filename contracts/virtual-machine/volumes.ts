import type { cnsDiskModes, cnsSharingModes } from '../crds/cns-attachments.ts';
import type { VirtualMachineStatus } from '../crds/virtual-machine.ts';

/**
 * Volumes of PersistentVolumeClaims. drover asks for their attachment in Kubernetes, and the vSphere CSI driver
 * attaches them: by one CnsNodeVmBatchAttachment for each VM, or, where its version has none, by one
 * CnsNodeVmAttachment for each volume.
 */

export type VolumeStatus = NonNullable<VirtualMachineStatus['volumes']>[number];
export type ControllerType = NonNullable<VolumeStatus['controllerType']>;

/** A volume that the spec asks for. Null: it says nothing. */
export interface WantedVolume {
  name: string;
  claim: string;
  controllerType: ControllerType | null;
  controllerBusNumber: number | null;
  unitNumber: number | null;
  diskMode: NonNullable<VolumeStatus['diskMode']> | null;
  sharingMode: NonNullable<VolumeStatus['sharingMode']> | null;
  applicationType: 'OracleRAC' | 'MicrosoftWSFC' | null;
  readOnly: boolean;
  /** `instanceVolumeClaim`: drover makes its claim on the storage of the VM's host. Left out: the claim is a user's. */
  instance?: InstanceClaim;
}

/** Size as Kubernetes writes quantities. */
export interface InstanceClaim {
  storageClass: string;
  size: string | number;
}

/** What is known of them in Kubernetes. */
export interface ObservedVolumes {
  /** Which of the two kinds kube-apiserver serves. */
  served: { single: boolean; batch: boolean };
  /** Why they could not be read; null: they could. */
  problem: string | null;
  /** By the name of the claim. */
  claims: Record<
    string,
    | { kind: 'found'; value: ObservedClaim }
    /** `isMissing`: there is none. Left out: it could not be read. */
    | { kind: 'unread'; message: string; isMissing?: true }
  >;
  attachments: SingleAttachment[];
  batch: BatchAttachment | null;
}

export interface ObservedClaim {
  phase: string;
  /** `volume.kubernetes.io/selected-node`, which its first consumer sets; null: none has. */
  selectedNode: string | null;
  waitsForConsumer: boolean;
  requested: string | number | null;
  limit: string | number | null;
  /** Of instance storage. Left out: of a user's claim. */
  instance?: ObservedInstanceClaim;
}

export interface ObservedInstanceClaim {
  uid: string;
  /** It is this VirtualMachine's, by its controller reference. */
  own: boolean;
  deleting: boolean;
  createdMs: number;
  /** Why the vSphere CSI driver found no place for it on its host; null: it has said no such thing. */
  failure: string | null;
}

/** The VM's own claim, which stays, and for which no place was found on that host; null: it is none such. Pure. */
export function claimWithoutPlace(
  found: ObservedVolumes['claims'][string] | undefined,
  node: string,
): { failure: string; createdMs: number } | null {
  if (found?.kind !== 'found' || found.value.selectedNode !== node) return null;
  const { instance } = found.value;
  if (instance === undefined || !instance.own || instance.deleting || instance.failure === null) return null;
  return { failure: instance.failure, createdMs: instance.createdMs };
}

interface AttachmentObject {
  name: string;
  uid: string;
  /** It is this VirtualMachine's, by its controller reference. */
  own: boolean;
  /** Of a VirtualMachine of this name that is gone: Kubernetes deletes it soon. Left out: it is none such. */
  ofPredecessor?: true;
  deletingSinceMs: number | null;
}

export interface SingleAttachment extends AttachmentObject {
  /** Of the volume, as the VirtualMachine names it. */
  volume: string;
  claim: string;
  biosUuid: string;
  attached: boolean;
  diskUuid: string | null;
  error: string | null;
}

export interface BatchVolume {
  name: string;
  claim: string;
  controllerKey: number;
  unitNumber: number;
  diskMode: (typeof cnsDiskModes)[number];
  sharingMode: (typeof cnsSharingModes)[number];
}

export interface BatchAttachment extends AttachmentObject {
  instanceUuid: string;
  volumes: BatchVolume[];
  status: { name: string; claim: string; attached: boolean; diskUuid: string | null; error: string | null }[];
}

/** What of all that is changed. */
export type VolumeChange =
  | { kind: 'attach'; name: string; biosUuid: string; claim: string }
  | { kind: 'detach'; name: string; uid: string }
  /** `before`: what it was decided on; null: there is none yet. */
  | { kind: 'batch'; instanceUuid: string; volumes: BatchVolume[]; before: BatchSpec | null }
  | { kind: 'detachAll'; uid: string }
  /** Has a claim that waits for its first consumer provisioned in the VM’s zone. */
  | { kind: 'selectZone'; claim: string; zone: string }
  /** Writes the instance storage of the class into the spec, unless it has some already. */
  | { kind: 'addInstanceVolumes'; volumes: (InstanceClaim & { name: string })[] }
  /** `node`: the host that it is to be on, as Kubernetes calls it. */
  | ({ kind: 'makeClaim'; claim: string; node: string } & InstanceClaim)
  | { kind: 'deleteClaim'; claim: string; uid: string };

/** What a user of the kind writes: its driver's status may change all the time. */
export type BatchSpec = Pick<BatchAttachment, 'uid' | 'instanceUuid' | 'volumes'>;

/** The lowest that the vSphere CSI driver attaches volumes to, as VM Operator has it. */
export const hardwareVersionForVolumes = 15;

export const attachmentName = (vm: string, volume: string): string => `${vm}-${volume}`;

/**
 * At the end of a row’s name while the volume is being detached, as the vSphere CSI driver and VM Operator write it.
 */
export const detachingSuffix = ':detaching';
export const volumeOf = (row: string): string =>
  row.endsWith(detachingSuffix) ? row.slice(0, -detachingSuffix.length) : row;

/** Of claims. */
export const claimAnnotations = {
  /** Where a claim on the storage of a host is placed, or why it is not, as the vSphere CSI driver writes it. */
  storagePool: 'failure-domain.beta.vmware.com/storagepool',
  selectedNode: 'volume.kubernetes.io/selected-node',
  /** To the CSI driver: what stands there is a zone. */
  isZone: 'cns.vmware.com/selected-node-is-zone',
} as const;

/** Begins the annotation {@link claimAnnotations.storagePool} of a claim that has no place. */
export const placementFailed = 'FAILED_';

/** On the claims of instance storage, as VM Operator writes it. */
export const instanceStorageLabels = { 'vmoperator.vmware.com/instance-storage-resource': 'true' } as const;

/** The names of a VM's instance storage: of a volume, and of its claim. The same whenever they are made. */
export const instanceVolumeName = (uid: string, index: number): string => `instance-pvc-${uid}-${index}`;

/** vSphere and its CSI driver write the UUID of a disk each in its own way. */
export const diskKeyOf = (uuid: string): string => uuid.toLowerCase().replaceAll(/[^0-9a-f]/gu, '');

/**
 * The rows of `status.volumes` as they come to be: `rows` in the place of those of their name and type, and of all
 * `Classic` ones; without those that are `gone`. What others have written besides stays as it is now, and not as it was
 * when the rows were made. Pure.
 */
export function mergeVolumes(
  current: readonly VolumeStatus[] | undefined,
  rows: readonly VolumeStatus[],
  gone: readonly string[],
): VolumeStatus[] {
  const isSpokenOf = ({ name, type }: VolumeStatus): boolean =>
    type === 'Classic' || gone.includes(name) || rows.some((row) => row.name === name && row.type === type);
  return [...rows, ...(current ?? []).filter((row) => !isSpokenOf(row))];
}
