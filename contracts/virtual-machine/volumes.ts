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
}

/** What is known of them in Kubernetes. */
export interface ObservedVolumes {
  /** Which of the two kinds kube-apiserver serves. */
  served: { single: boolean; batch: boolean };
  /** Why they could not be read; null: they could. */
  problem: string | null;
  /** By the name of the claim. */
  claims: Record<string, { kind: 'found'; value: ObservedClaim } | { kind: 'unread'; message: string }>;
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
}

interface AttachmentObject {
  name: string;
  uid: string;
  /** It is this VirtualMachine's, by its controller reference. */
  own: boolean;
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
  | { kind: 'selectZone'; claim: string; zone: string };

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
  selectedNode: 'volume.kubernetes.io/selected-node',
  /** To the CSI driver: what stands there is a zone. */
  isZone: 'cns.vmware.com/selected-node-is-zone',
} as const;

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
