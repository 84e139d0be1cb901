import type { ErrorCode } from './errors.ts';

/**
 * What a hypervisor observed of an RBD pool that its libvirt was asked to list: the real operation beside what Ceph
 * says of itself. libvirt gives up after 30 s where the monitors or the OSDs do not answer.
 */
export type RbdPoolObservation = {
  /** Its name in Ceph. */
  pool: string;
  durationMs: number;
} & (
  | { outcome: 'listed'; images: number }
  /** Code and message of the failure, as the adapter threw it. */
  | { outcome: 'failed'; code: ErrorCode; message: string }
);
