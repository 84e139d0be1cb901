import { z } from 'zod';

import type { VirtualMachine } from '../types.ts';
import { vim } from '../wire/kinds.ts';
import { foreignDisksOf, isInFolderOf, type MadeDisks } from './devices.ts';
import { diskFiles } from './shown-storage.ts';

const snapshotInfo = vim('VirtualMachineSnapshotInfo').optional();
const properties = z.object({
  'layoutEx.file': z.array(vim('VirtualMachineFileLayoutExFileInfo')),
  'layoutEx.disk': z.array(vim('VirtualMachineFileLayoutExDiskLayout')).default([]),
});

/**
 * The disks that were not made with the VM and that its snapshots hold, attached or not, by their files: a destroy
 * deletes all that snapshots hold. None where there are no snapshots. Pure.
 *
 * @param read by `heldPaths`, which every VM is read by
 */
export function heldBySnapshots(
  read: VirtualMachine['properties'],
  config: NonNullable<VirtualMachine['config']>,
  made?: MadeDisks,
): string[] {
  const tree = snapshotInfo.safeParse(read['snapshot']);
  if (tree.success && (tree.data?.rootSnapshotList ?? []).length === 0) return [];
  const parsed = properties.safeParse(read);
  // What is not known counts as held.
  if (!parsed.success) return ['disks that vCenter does not list'];
  const { 'layoutEx.file': files, 'layoutEx.disk': disks } = parsed.data;
  const attached = foreignDisksOf(config, made).map(({ fileName, label }) => fileName ?? label);
  // Those that attached disks are made of are judged with them.
  const known = new Set(disks.flatMap(({ chain = [] }) => chain.flatMap(({ fileKey = [] }) => fileKey)));
  const detached = files.filter(
    ({ key, name, type }) => diskFiles.has(type) && !known.has(key) && !isInFolderOf(config.vmxPath, name),
  );
  return [...new Set([...attached, ...detached.map(({ name }) => name)])];
}
