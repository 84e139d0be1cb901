/** Fast deploy: an image's cached files, and the operations on them. */

/** A file of an image, as its VirtualMachineImageCache says where it is. */
export interface CachedFile {
  /** `[datastore] folder/name.vmdk`; of a managed disk, the id of the first-class disk. */
  path: string;
  kind: 'disk' | 'managedDisk' | 'other';
}

/** What an image says of the machine that it was made for. Null: nothing. */
export interface ImageHardware {
  /** vSphere's name: `ubuntu64Guest`. */
  guestId: string | null;
  /** `bios`, `efi`. */
  firmware: string | null;
  /** 21 for `vmx-21`. */
  version: number | null;
  /** In the order of the files. Empty: it does not say. */
  disks: ImageDisk[];
}

export interface ImageDisk {
  controller: 'IDE' | 'NVME' | 'SCSI' | 'SATA';
  busNumber: number;
  /** Null: the first that is free. */
  unitNumber: number | null;
  capacityBytes: number | null;
}

/** How the space of a disk is allocated: as it is written, all of it, or all of it and overwritten. */
export type DiskProvisioning = 'thin' | 'thick' | 'eagerZeroedThick';

/** Where the files of a VM that is being made come together: a folder of the object's uid. */
export interface FilePlace {
  /** MoIDs. */
  datacenter: string;
  datastore: string;
  folder: string;
}

/**
 * One operation on files. `to` is a name in the folder. A disk is copied under another name, and gets its final name
 * when the copy is complete: a partial copy is never used as a disk.
 */
export type FileOperation =
  | { kind: 'copyDisk'; from: string; to: string; /** Default: thin. */ provisioning?: DiskProvisioning }
  | { kind: 'keepDisk'; to: string }
  /** What is there is overwritten. */
  | { kind: 'copyOther'; from: string; to: string }
  /** With all that is in it. */
  | { kind: 'removeFolder' };

/** What the files are called in the folder of the VM. */
export const diskName = (index: number): string => `disk-${index}.vmdk`;
export const nvramName = (vmName: string): string => `${vmName}.nvram`;
