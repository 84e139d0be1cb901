import { z } from 'zod';

import type { VirtualMachineStatus } from '../../../contracts/crds/virtual-machine.ts';
import { vim } from '../wire/kinds.ts';
import type { VirtualMachineSnapshotTree } from '../wire/vim/types.ts';

export const snapshotPaths = ['rootSnapshot', 'snapshot'] as const;

const info = vim('VirtualMachineSnapshotInfo').optional().catch(undefined);

/** The VM's snapshots as the status shows them, by the names that they have in vCenter: nobody's object stands for them. Pure. */
export function shownSnapshots(
  properties: Readonly<Record<string, unknown>>,
): Pick<VirtualMachineStatus, 'currentSnapshot' | 'rootSnapshots'> {
  const { currentSnapshot, rootSnapshotList: roots = [] } = z.parse(info, properties['snapshot']) ?? {};
  if (roots.length === 0) return {};
  const current = currentSnapshot === undefined ? undefined : nameIn(roots, currentSnapshot.value);
  return {
    ...(current !== undefined && { currentSnapshot: unmanaged(current) }),
    rootSnapshots: roots.map(({ name }) => unmanaged(name)),
  };
}

const unmanaged = (name: string) => ({ name, type: 'Unmanaged' as const });

function nameIn(trees: readonly VirtualMachineSnapshotTree[], id: string): string | undefined {
  for (const { snapshot, name, childSnapshotList = [] } of trees) {
    const found = snapshot.value === id ? name : nameIn(childSnapshotList, id);
    if (found !== undefined) return found;
  }
  return undefined;
}
