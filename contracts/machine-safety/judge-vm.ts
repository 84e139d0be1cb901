import type { ListedVm } from './driver.ts';
import { isSameProviderId, providerIdKey } from './provider-id.ts';

/** What of a Machine the verdict needs. */
export interface JudgedMachine {
  readonly name: string;
  /** Empty: none yet. */
  readonly providerId: string;
  /** Of `status.currentStatus`; empty: it is being created. */
  readonly phase: string;
}

/** All Machines of the namespace, as one list of kube-apiserver has them. */
export interface MachineIndex {
  readonly count: number;
  named(name: string): JudgedMachine | undefined;
  /** The Machine that has this VM, whatever its name. */
  withProviderId(providerId: string): JudgedMachine | undefined;
}

export function indexMachines(machines: readonly JudgedMachine[]): MachineIndex {
  const byName = new Map(machines.map((machine) => [machine.name, machine]));
  const byId = new Map(
    machines.flatMap((machine) =>
      machine.providerId === '' ? [] : [[providerIdKey(machine.providerId), machine] as const],
    ),
  );
  return {
    count: machines.length,
    named: (name) => byName.get(name),
    withProviderId: (providerId) => byId.get(providerIdKey(providerId)),
  };
}

export const keepReasons = ['ProviderIdMatches', 'BeingCreated', 'OtherMachineHasIt'] as const;
export type KeepReason = (typeof keepReasons)[number];
export type OrphanReason = 'MachineMissing' | 'ProviderIdDiffers';

export type VmVerdict =
  | { readonly verdict: 'keep'; readonly why: KeepReason }
  | { readonly verdict: 'orphan'; readonly why: OrphanReason };

/** Phases in which the replaced manager may make a VM that its Machine does not name yet. */
const creating: readonly string[] = ['', 'CrashLoopBackOff'];
const isBeingCreated = (machine: JudgedMachine | undefined): boolean =>
  machine !== undefined && creating.includes(machine.phase);

/**
 * The chart of the replaced manager's orphan sweep, and more: a VM that any Machine names by its id is kept, whatever
 * the VM is called, and so is one that a Machine of another namespace has, or is being created with. Pure; each line is
 * a row of the table test (docs/charts/orphan-sweep.md).
 *
 * @param renamedAreKept whether the additions hold; without them the chart is the replaced manager's
 * @param elsewhere the Machines of other namespaces, whose classes may list the same VMs
 */
export function judgeVm(
  { providerId, machineName }: Pick<ListedVm, 'providerId' | 'machineName'>,
  machines: MachineIndex,
  { renamedAreKept }: { renamedAreKept: boolean },
  elsewhere: readonly MachineIndex[] = [],
): VmVerdict {
  const machine = machines.named(machineName);
  if (machine !== undefined && isSameProviderId(machine.providerId, providerId))
    return { verdict: 'keep', why: 'ProviderIdMatches' };
  if (isBeingCreated(machine)) return { verdict: 'keep', why: 'BeingCreated' };
  if (renamedAreKept && [machines, ...elsewhere].some((index) => index.withProviderId(providerId) !== undefined))
    return { verdict: 'keep', why: 'OtherMachineHasIt' };
  if (renamedAreKept && elsewhere.some((index) => isBeingCreated(index.named(machineName))))
    return { verdict: 'keep', why: 'BeingCreated' };
  return { verdict: 'orphan', why: machine === undefined ? 'MachineMissing' : 'ProviderIdDiffers' };
}
