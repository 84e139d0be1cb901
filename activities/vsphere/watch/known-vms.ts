import { listedOwner } from '../observation/read-vm.ts';
import type { ObservedOwner } from '../types.ts';
import { judgeChange, digestOf, toWatched, type WatchedVm } from './watched.ts';
import { openSums } from './sums.ts';
import type { VmUpdate } from './updates.ts';

/** The object that owns a VM. */
export interface Owner {
  namespace: string;
  name: string;
  uid: string;
}

/** A change of a VM, for the run of its object. */
export interface VmChange {
  owner: Owner;
  vmId: string;
  /** In words. */
  causes: string[];
}

interface KnownVm {
  properties: Readonly<Record<string, unknown>>;
  state: WatchedVm;
  digest: string;
  owner: Owner | null;
}

/** The VMs of one vCenter as the property collector reports them, their owners, and what has been signalled to runs. */
export interface KnownVms {
  /**
   * Applies updates, and returns the VMs whose owner has to be read: only the first update of a VM has it for certain.
   */
  take(updates: readonly VmUpdate[]): string[];
  setOwner(vmId: string, ownerKeys: Readonly<Record<string, unknown>>): void;
  /** The changes since the last call. */
  changes(): VmChange[];
  /** A complete inventory begins: VMs that it does not list are gone. */
  beginInventory(): void;
  endInventory(): void;
  /** Records the state that the run of a VM knows. */
  signalled(vmId: string, digest: string | null): void;
  /** The digest of its present state; null: it is not there, or no object owns it. */
  digestOf(vmId: string): string | null;
  /** Those of objects. */
  owned(): { vmId: string; owner: Owner }[];
  count(): number;
  /** Sums of what has been signalled to runs, or of what is observed. */
  sums(of: 'signalled' | 'observed'): string;
}

export function openKnownVms(): KnownVms {
  const known = new Map<string, KnownVm>();
  /** Their states before the changes that are not collected yet; null: not there. */
  const before = new Map<string, KnownVm | null>();
  const sums = { signalled: openSums(), observed: openSums() };
  let missing: Set<string> | null = null;

  const put = (vmId: string, vm: KnownVm | null): void => {
    if (!before.has(vmId)) before.set(vmId, known.get(vmId) ?? null);
    if (vm === null) known.delete(vmId);
    else known.set(vmId, vm);
    sums.observed.set(vmId, ownDigest(vm));
  };
  const change = (vmId: string, properties: KnownVm['properties']): void => {
    const state = toWatched(properties);
    put(vmId, { properties, state, digest: digestOf(state), owner: ownerOf(listedOwner(properties)) });
  };
  return {
    take: (updates) => {
      const unsure = new Set<string>();
      for (const { kind, vmId, changed } of updates) {
        const last = known.get(vmId);
        missing?.delete(vmId);
        if (kind === 'leave') {
          unsure.delete(vmId);
          put(vmId, null);
          continue;
        }
        // The first update of a VM may be a change: what is missing comes with the next inventory.
        change(vmId, kind === 'enter' ? changed : { ...last?.properties, ...changed });
        if (kind === 'modify' && (last === undefined || last.owner === null || 'config.changeVersion' in changed))
          unsure.add(vmId);
      }
      return [...unsure];
    },
    setOwner: (vmId, ownerKeys) => {
      const vm = known.get(vmId);
      if (vm !== undefined) change(vmId, { ...vm.properties, ...ownerKeys });
    },
    changes: () => {
      const all = [...before].flatMap(([vmId, last]) => changesOf(vmId, last, known.get(vmId) ?? null));
      before.clear();
      return all;
    },
    beginInventory: () => (missing = new Set(known.keys())),
    endInventory: () => {
      for (const vmId of missing ?? []) put(vmId, null);
      missing = null;
    },
    signalled: (vmId, digest) => sums.signalled.set(vmId, digest),
    digestOf: (vmId) => ownDigest(known.get(vmId) ?? null),
    owned: () => [...known].flatMap(([vmId, { owner }]) => (owner === null ? [] : [{ vmId, owner }])),
    count: () => known.size,
    sums: (of) => sums[of].toText(),
  };
}

const ownDigest = (vm: KnownVm | null): string | null => (vm === null || vm.owner === null ? null : vm.digest);

/** A VM that goes from one object to another concerns both. Pure. */
function changesOf(vmId: string, before: KnownVm | null, after: KnownVm | null): VmChange[] {
  const [was, is] = [before?.owner ?? null, after?.owner ?? null];
  const causes = judgeChange(before?.state ?? null, after?.state ?? null);
  const isSame = was !== null && is !== null && nameOf(was) === nameOf(is);
  if (isSame) return causes.length === 0 ? [] : [{ owner: is, vmId, causes }];
  return [
    ...(was === null ? [] : [{ owner: was, vmId, causes: after === null ? causes : ['owner removed'] }]),
    ...(is === null ? [] : [{ owner: is, vmId, causes: before === null ? causes : ['owner set'] }]),
  ];
}

export const nameOf = ({ namespace, name, uid }: Owner): string => `${namespace}/${name} ${uid}`;

/** Names as Kubernetes allows them: users who may configure VMs can write anything into ExtraConfig. */
const namespacedName =
  /^(?<namespace>[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)\/(?<name>[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?)$/u;
const uidForm = /^[-0-9a-zA-Z]{1,64}$/u;

/** Null: no object of drover's, or only one of the replaced operator. Pure. */
export function ownerOf(owner: ObservedOwner | null): Owner | null {
  const { namespace, name } = namespacedName.exec(owner?.namespacedName ?? '')?.groups ?? {};
  const uid = owner?.uid ?? null;
  return namespace === undefined || name === undefined || uid === null || !uidForm.test(uid)
    ? null
    : { namespace, name, uid };
}
