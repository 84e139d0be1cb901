import type { CsiPool } from './pool.ts';

/** A CSI driver of the lab. */
export interface CsiDriverHandle {
  /** As a StorageClass names it. */
  readonly name: string;
  /** The service in the part's directory that is the driver; its sidecars are named after it. */
  readonly service: string;
  /** Its UNIX socket, within the part's directory: a longer path cannot be connected to. */
  readonly socket: string;
  readonly controlUrl: string;
}

/** What `lab up csi` hands to those who use it. */
export interface CsiHandle {
  /** The part's directory. */
  readonly dir: string;
  /** 0600. */
  readonly controlTokenFile: string;
  /** The driver whose volumes are directories. */
  readonly directories: CsiDriverHandle & {
    /** `volumes/<handle>/data` below it is the file system of a volume, and `volumes/<handle>/disk` its device. */
    readonly root: string;
  };
  /** The driver whose volumes are images of the lab's Ceph; null where that was not up. */
  readonly rbd: (CsiDriverHandle & CsiPool) | null;
  /** The program csi-sanity. */
  readonly sanity: string;
}

/** The classes of the lab, by what they do. Volumes of `default` are what a claim without a class gets. */
export const csiClasses = {
  default: 'dir',
  fixed: 'dir-fixed',
  waiting: 'dir-wffc',
  rbd: 'rbd',
} as const;

/** VolumeSnapshotClasses. */
export const csiSnapshotClasses = { directories: 'dir', rbd: 'rbd' } as const;
