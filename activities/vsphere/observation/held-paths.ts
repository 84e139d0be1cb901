/**
 * What says whether snapshots hold disks that are not the VM's own: its snapshots, its files, and which of them each
 * disk is made of.
 */
export const heldPaths = ['snapshot', 'layoutEx.file', 'layoutEx.disk'] as const;
