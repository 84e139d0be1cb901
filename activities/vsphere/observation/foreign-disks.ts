import type { AttachedDisk } from '../types.ts';

/**
 * The disks that were not made with the VM: first-class disks, such as persistent volumes, and those whose file lies in another folder.
 * Destroying a VM destroys every disk that is attached. Pure.
 */
export const foreignDisks = ({ vmxPath, disks }: { vmxPath: string; disks: readonly AttachedDisk[] }): AttachedDisk[] =>
  disks.filter(
    ({ firstClassDiskId, fileName }) =>
      firstClassDiskId !== null || fileName === null || !isInFolderOf(vmxPath, fileName),
  );

/** `[datastore] folder/a.vmx` and `[another datastore] folder/b.vmdk`: a VM's disks may be spread, its folder has one name. */
function isInFolderOf(vmxPath: string, fileName: string): boolean {
  const folder = folderOf(vmxPath);
  return folder !== '' && folderOf(fileName) === folder;
}

const folderOf = (path: string): string => /^\[[^\]]*\] (?<folder>.+)\/[^/]+$/u.exec(path)?.groups?.['folder'] ?? '';
