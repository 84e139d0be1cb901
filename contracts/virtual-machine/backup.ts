import type { ObjectName } from './mutations.ts';

/**
 * What is stored with a VM, for a restore. Secrets are not: every user who may see the VM in vCenter reads its
 * ExtraConfig (docs/security.md).
 */
export interface StoredObject {
  generation: number;
  /** The object, without what only its API server needs. */
  yaml: string;
  /** Disks of PersistentVolumeClaims that are attached. */
  claims: DiskClaim[];
}

export interface DiskClaim {
  /** Of the disk's backing. */
  diskUuid: string;
  name: string;
  accessModes: string[];
}

/** The object as it is in Kubernetes now, read in the process that writes the VM. */
export type ReadBackup = (object: ObjectName, signal: AbortSignal) => Promise<StoredObject>;
