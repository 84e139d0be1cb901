import type { ObservedVm } from '../../../contracts/virtual-machine/observation.ts';

export type LocationMismatch = 'ResourcePoolMismatch' | 'FolderMismatch' | 'ResourcePoolAndFolderMismatch';

/**
 * Whether a VM is in the pool and the folder of its namespace, or one level below, and what it is not in; null: it is,
 * or that is not known.
 */
export function locationMismatch({ location }: Pick<ObservedVm, 'location'>): LocationMismatch | null {
  if (location === null || (location.resourcePool && location.folder)) return null;
  if (location.folder) return 'ResourcePoolMismatch';
  return location.resourcePool ? 'FolderMismatch' : 'ResourcePoolAndFolderMismatch';
}
