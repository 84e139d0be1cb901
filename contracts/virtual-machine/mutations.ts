import type { DiskProvisioning, ImageHardware } from './cached-files.ts';
import type { ConditionUpdate } from '../conditions.ts';
import type { VirtualMachineStatus } from '../crds/virtual-machine.ts';
import type { DesiredVirtualMachine } from './lifecycle.ts';
import type { ReconfigSpec } from './config.ts';
import type { PlacedAt } from './observation.ts';

/** Whose files shall be cached, and where. */
export interface WantedImageCache {
  name: string;
  /** `spec.providerID` and `spec.providerVersion`: which item of the content library, or which template. */
  providerId: string;
  providerVersion: string | null;
  location: { datacenterId: string; datastoreId: string; profileId: string };
}

/** vim25's names. `InvalidPowerState` of what it is already in is success. */
export type PowerOperation =
  | 'powerOn'
  | 'powerOff'
  | 'suspend'
  | 'reset'
  | 'shutdownGuest'
  | 'standbyGuest'
  | 'rebootGuest';

/** A change of the object, as a merge patch says it: null takes away. */
export interface VirtualMachinePatch {
  labels?: Record<string, string | null>;
  annotations?: Record<string, string | null>;
  spec?: Record<string, unknown>;
  addFinalizers?: string[];
  removeFinalizers?: string[];
}

/** Where the disks of a new VM come from. */
export type CreateSource =
  /** OVF or OVA of a content library. */
  | { kind: 'contentLibraryItem'; itemId: string }
  /** An empty VM with an ISO in its drive. */
  | { kind: 'nothing'; /** Default: thin, at a paravirtual controller. */ disk?: NewDisk }
  /** A clone of a template. */
  | { kind: 'template'; moId: string }
  /** Fast deploy: copies of, or disks linked to, cached files. */
  | {
      kind: 'cachedDisks';
      itemId: string;
      mode: 'direct' | 'linked';
      /** Paths of the cached disks, in their order. */ disks: string[];
      /** Path of its cached NVRAM. */ nvram: string | null;
      hardware: ImageHardware;
    };

/** How the disk of an empty VM is made. */
export interface NewDisk {
  controller: keyof typeof scsiControllers;
  /** All of it is allocated and overwritten; else it is thin. */
  eagerlyScrub: boolean;
}

/** By the names that vSphere’s tools give them, the types of vim25. */
export const scsiControllers = {
  pvscsi: 'ParaVirtualSCSIController',
  lsilogic: 'VirtualLsiLogicController',
  'lsilogic-sas': 'VirtualLsiLogicSASController',
  buslogic: 'VirtualBusLogicController',
} as const;

/** All that a create call says. Instance UUID and owner are in it: there is no VM without them. */
export interface CreateSpec {
  name: string;
  instanceUuid: string;
  /** BIOS UUID. */
  uuid: string;
  source: CreateSource;
  at: PlacedAt;
  /**
   * The vCenter in which there was none, `about.instanceUuid`: it is made in no other. Left out: it is made where it is
   * asked for.
   */
  managerId?: string;
  /** Of the disk that is made where nothing is copied; null: none is made. */
  bootDiskBytes: number | null;
  config: ReconfigSpec;
  /**
   * Of SPBM: the VM and its disks are tagged with it. Left out: the storage class names something that only drover's
   * settings know.
   */
  storageProfileId?: string;
  /** How its disks are allocated; left out: as they are in the image, or thin. */
  provisioning?: DiskProvisioning;
  /** The VM is made with this hardware version; left out: as the image is, or as vCenter makes it. */
  hardwareVersion?: number;
  /** Of the class: what drover does not model. */
  classConfigSpec: Record<string, unknown>;
}

/** What is written into the status: fields as a merge patch says them (null takes away), conditions by type. */
export interface VirtualMachineStatusPatch {
  fields: { [Field in keyof VirtualMachineStatus]?: VirtualMachineStatus[Field] | null };
  conditions: ConditionUpdate[];
  /** Types of conditions to take away. */
  removed: string[];
  /**
   * Names of rows of `volumes` to take away; rows that `fields.volumes` does not speak of, and that are no `Classic`
   * ones, stay.
   */
  goneVolumes?: string[];
}

/** What an object is to say. */
export interface PublishedVirtualMachine {
  /** Null: nothing that it does not say. */
  status: VirtualMachineStatusPatch | null;
  /** What went well or wrong, for an Event; null: nothing worth one. */
  event: { type: 'Normal' | 'Warning'; reason: string; message: string } | null;
  /** What drover writes down in the object for itself, along with the status. Lost, it is written again. */
  notes: VirtualMachinePatch[];
}

export type ObjectName = Pick<DesiredVirtualMachine, 'namespace' | 'name' | 'uid'>;
