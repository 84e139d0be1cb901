import { isSameUuid } from './identity.ts';
import type { AgentFact, VmFact } from './pool-facts.ts';

/** Which Agent is which VM. */

/** Each pair of VM and Agent is compared by what is known of both; what is not known says nothing. */
function isSame(vm: VmFact, agent: AgentFact): boolean | null {
  const compared = [
    vm.biosUuid !== null && agent.uuid !== null ? isSameUuid(vm.biosUuid, agent.uuid) : null,
    vm.mac !== null && agent.macs.length > 0 ? agent.macs.includes(vm.mac) : null,
  ].filter((one) => one !== null);
  return compared.length === 0 ? null : compared.includes(true);
}

type Sign = (vm: VmFact, agent: AgentFact) => boolean;

/** Its run has found or made it. */
export const isThere = (vm: VmFact): boolean => vm.biosUuid !== null || vm.mac !== null || vm.readyMs !== null;

/** The best comes first. A name is believed only where no identity contradicts it, and of a VM that is there. */
const signs: readonly Sign[] = [
  (vm, agent) => vm.biosUuid !== null && agent.uuid !== null && isSameUuid(vm.biosUuid, agent.uuid),
  (vm, agent) => vm.mac !== null && agent.macs.includes(vm.mac),
  (vm, agent) => isThere(vm) && agent.hostname === vm.vmName && isSame(vm, agent) !== false,
  (vm, agent) =>
    vm.agentRef?.name === agent.name &&
    (vm.agentRef.uid === null || vm.agentRef.uid === agent.uid) &&
    isSame(vm, agent) !== false,
];

export const isBound = (agent: AgentFact): boolean => agent.agentMachine !== null || agent.clusterDeployment !== null;

/**
 * Where a host has registered anew, several Agents are of one VM: one that is taken counts against deleting the VM, so
 * it comes first; then the one that it was known by, then the newest.
 */
const preference = (vm: VmFact, agent: AgentFact): number[] => [
  isBound(agent) ? 0 : 1,
  agent.deleting ? 1 : 0,
  agent.isWell ? 0 : 1,
  vm.agentRef?.name === agent.name ? 0 : 1,
  -agent.createdMs,
];

function byPreference(vm: VmFact, one: AgentFact, other: AgentFact): number {
  const [a, b] = [preference(vm, one), preference(vm, other)];
  const difference = a.map((value, index) => value - (b[index] ?? 0)).find((value) => value !== 0);
  return difference ?? (one.name < other.name ? -1 : 1);
}

/**
 * An Agent to one VM at most, whichever pool that is of. The order of the lists makes no difference.
 * @returns by the name of the VsphereAgent
 */
export function matchAgents(vms: readonly VmFact[], agents: readonly AgentFact[]): Map<string, AgentFact> {
  const matched = new Map<string, AgentFact>();
  const taken = new Set<string>();
  const sorted = vms.toSorted((one, other) => one.createdMs - other.createdMs || (one.name < other.name ? -1 : 1));
  for (const sign of signs)
    for (const vm of sorted) {
      if (matched.has(vm.name)) continue;
      const [agent] = agents
        .filter((one) => !taken.has(one.name) && sign(vm, one))
        .toSorted((one, other) => byPreference(vm, one, other));
      if (agent === undefined) continue;
      matched.set(vm.name, agent);
      taken.add(agent.name);
    }
  return matched;
}

/** Whether an Agent is of a VM, though another Agent is taken for that one. */
export const isOfVm = (vms: readonly VmFact[], agent: AgentFact): boolean =>
  vms.some((vm) => isSame(vm, agent) === true || signs.at(-1)!(vm, agent));
