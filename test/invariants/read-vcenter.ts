import type { VcenterWitness } from '../../lab/vsphere/witness.ts';
import type { OfVcenter } from './snapshot.ts';

/** VMs of one namespace, and what in the vCenter is not drover's. */
export interface ObservedVms {
  namespace: string;
  /** Ids of VMs that another client has copied with their marks: they are of no object. */
  copies?: readonly string[];
  strangers: readonly { what: string; before: string; read: () => Promise<string | null> }[];
}

export const noVcenter: OfVcenter = { vms: [], vmsMade: [], clusterModules: [], strangers: [] };

/** By another client and by the inventory's own journal, and not by drover's adapter. */
export async function readVcenter(
  witness: VcenterWitness,
  { namespace, copies = [], strangers }: ObservedVms,
  sinceMs: number,
): Promise<OfVcenter> {
  const vcenters = await Promise.all(
    strangers.map(async ({ what, before, read }) => ({ what, before, after: await read() })),
  );
  const [listed, journal] = await Promise.all([witness.listVms(), witness.readJournal()]);
  const modules = journal.filter(
    ({ kind, goneMs, fromMs, userAgent }) =>
      kind === 'ClusterModule' && goneMs === null && fromMs >= sinceMs && !userAgent.startsWith('govc'),
  );
  const owned = listed.map(({ id, name, powerState, cpus, memoryMiB, extraConfig }) => ({
    id,
    name,
    powerState,
    cpus,
    memoryMiB,
    namespacedName: extraConfig['vmservice.namespacedName'] ?? null,
    uid: extraConfig['drover.uid'] ?? null,
    extraConfig,
  }));
  return {
    // Other fixtures have other namespaces.
    vms: owned.filter(
      ({ id, namespacedName }) => namespacedName?.startsWith(`${namespace}/`) === true && !copies.includes(id),
    ),
    // A uid is of one object, wherever that is.
    vmsMade: journal
      .filter(({ id, kind }) => kind === 'VirtualMachine' && !copies.includes(id))
      .map(({ id, uid, fromMs, goneMs }) => ({ id, uid, madeAtMs: fromMs, goneAtMs: goneMs })),
    clusterModules: await Promise.all(
      modules.map(async ({ id }) => ({ id, members: (await witness.listModuleMembers(id)).length })),
    ),
    strangers: vcenters,
  };
}
