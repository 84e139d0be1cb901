import type { WantedAgent } from './agent-pool.ts';
import { isTakable, type JudgedVm } from './judge-vm.ts';
import { isBound, isOfVm } from './match-agents.ts';
import { agentPoolLabels, neighbours } from './metadata.ts';
import { labelValue, nameAgent, nameVm } from './name-agents.ts';
import type { AgentFact, AgentMachineFact, LabelSelector, PoolFacts, VmFact } from './pool-facts.ts';

/** What a pool lacks. */

/** As kube-apiserver has it. */
export function selects({ matchLabels, matchExpressions }: LabelSelector, labels: AgentFact['labels']): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values }) => {
      const value = labels[key];
      if (operator === 'Exists') return value !== undefined;
      if (operator === 'DoesNotExist') return value === undefined;
      if (operator === 'NotIn') return value === undefined || !values.includes(value);
      return operator === 'In' && value !== undefined && values.includes(value);
    })
  );
}

/** Role and NodePool tell Agents of one label apart, and are put on them when they are prepared. */
const lateLabels: readonly string[] = [neighbours.nodePoolRole, agentPoolLabels.nodePool];

export interface PoolAgents {
  /** Bound or not, of VMs of the pool or of others that no pool claims. */
  matching: AgentFact[];
  /** Those that are no VM of any pool. */
  others: AgentFact[];
}

/**
 * The Agents of a pool, of VMs or not.
 *
 * @param claimed names of Agents that are matched with a VM, of whatever pool
 * @param allVms VsphereAgents of every pool of the namespace
 */
export function findAgents(
  pool: PoolFacts,
  agents: readonly AgentFact[],
  own: readonly JudgedVm[],
  claimed: ReadonlySet<string>,
  allVms: readonly VmFact[],
): PoolAgents {
  const matched = new Set(own.flatMap(({ agent }) => agent?.name ?? []));
  const early = Object.entries(pool.labels).filter(([key]) => !lateLabels.includes(key));
  const others = agents.filter(
    (agent) =>
      !claimed.has(agent.name) &&
      isOfCluster(agent, pool) &&
      early.every(([key, value]) => agent.labels[key] === value) &&
      agent.labels[agentPoolLabels.nodePool] === pool.labels[agentPoolLabels.nodePool] &&
      !isOfVm(allVms, agent),
  );
  const ofVms = agents.filter((agent) => matched.has(agent.name));
  return { matching: [...ofVms, ...others], others };
}

/** Whether it may be the pool's, whatever its labels. */
export const isOfCluster = (agent: AgentFact, { infraEnv, hostedCluster }: PoolFacts): boolean =>
  agent.infraEnvs.includes(infraEnv) && (agent.clusterDeployment === null || agent.clusterDeployment === hostedCluster);

export interface Supply {
  /**
   * Agents that the provider takes now, and the VMs that become some; by the name that an AgentMachine may insist on.
   */
  available: { hostname: string | null; agentMachine: string | null }[];
  provisioning: { hostname: string | null; agentMachine: string | null }[];
}

/**
 * Agents of others count where an AgentMachine that waits would take one; VMs that are to go do not count, as nothing
 * may rely on them.
 *
 * @param waiting AgentMachines
 */
export function findSupply(
  pool: PoolFacts,
  own: readonly JudgedVm[],
  others: readonly AgentFact[],
  waiting: readonly AgentMachineFact[],
): Supply {
  const ofPhase = (phase: JudgedVm['phase']): Supply['available'] =>
    own
      .filter((judged) => !judged.vm.deleting && judged.phase === phase)
      .map(({ vm: { vmName, agentMachine } }) => ({ hostname: vmName, agentMachine }));
  const taken = others.filter(
    (agent) =>
      isTakable(agent, { labels: {} }) &&
      (waiting.length === 0 || waiting.some(({ selector }) => selects(selector, agent.labels))),
  );
  return {
    available: [
      ...ofPhase('Available'),
      ...taken.map(({ labels }) => ({
        hostname: labels[agentPoolLabels.agentMachine] ?? null,
        agentMachine: null,
      })),
    ],
    provisioning: ofPhase('Provisioning'),
  };
}

/** The only host that an AgentMachine takes; null: any that its pool has. */
export const pinOf = ({ selector }: AgentMachineFact): string | null =>
  selector.matchLabels[agentPoolLabels.agentMachine] ?? null;

const byAge = (one: AgentMachineFact, other: AgentMachineFact): number =>
  one.createdMs - other.createdMs || (one.name < other.name ? -1 : 1);

/**
 * The AgentMachines for which VMs are to be made: as many as wait, less what is available or on its way. One that
 * insists on a host is served by that one alone, or by the VM that was made for it.
 */
export function findLack(waiting: readonly AgentMachineFact[], supply: Supply): AgentMachineFact[] {
  const free = [...supply.available, ...supply.provisioning];
  const madeFor = new Set(free.flatMap(({ agentMachine }) => agentMachine ?? []));
  const isServed = ({ name }: AgentMachineFact): boolean => madeFor.has(labelValue(name));
  const lacking: AgentMachineFact[] = [];
  for (const agentMachine of waiting.filter((one) => pinOf(one) !== null).toSorted(byAge)) {
    const index = [
      free.findIndex(({ hostname }) => hostname === pinOf(agentMachine)),
      free.findIndex((one) => one.agentMachine === labelValue(agentMachine.name)),
    ].find((found) => found >= 0);
    if (index === undefined) lacking.push(agentMachine);
    else free.splice(index, 1);
  }
  const others = waiting
    .filter((one) => pinOf(one) === null)
    .toSorted((one, other) => Number(isServed(one)) - Number(isServed(other)) || byAge(one, other));
  return [...lacking, ...others.slice(0, Math.max(0, others.length - free.length))];
}

/** Of one observation; the rest comes with the next. */
const mostWanted = 200;

/**
 * @param allVms VsphereAgents of every pool of the namespace, those that are being deleted too: their names are taken
 */
export function nameWanted(
  pool: PoolFacts,
  lacking: readonly AgentMachineFact[],
  allVms: readonly VmFact[],
): WantedAgent[] {
  const names = new Set(allVms.map(({ name }) => name));
  const vmNames = new Set(allVms.map(({ vmName }) => vmName));
  return lacking.slice(0, mostWanted).map((agentMachine) => {
    const name = nameAgent(
      {
        namespace: pool.namespace,
        pool: pool.name,
        agentMachineNamespace: pool.controlPlaneNamespace,
        agentMachine: agentMachine.name,
      },
      (one) => names.has(one),
    );
    const vmName = nameVm(name, pool.namePrefix, (one) => vmNames.has(one));
    names.add(name);
    vmNames.add(vmName);
    return { name, vmName, agentMachine: agentMachine.name };
  });
}

/** AgentMachines that insist on a host other than the VM that was made for them, or on none though they shall. */
export function findUnpinned(
  agentMachines: readonly AgentMachineFact[],
  own: readonly JudgedVm[],
  pins: boolean,
): { agentMachine: string; vmName: string }[] {
  const vmNames = new Map(
    own
      .filter(({ vm, agent, phase }) => !vm.deleting && phase !== 'Orphaned' && (agent === null || !isBound(agent)))
      .toSorted((one, other) => one.vm.createdMs - other.vm.createdMs || (one.vm.name < other.vm.name ? -1 : 1))
      .flatMap(({ vm }) => (vm.agentMachine === null ? [] : [[vm.agentMachine, vm.vmName] as const])),
  );
  return agentMachines
    .filter((one) => one.isWaiting && (pins || pinOf(one) !== null))
    .toSorted(byAge)
    .flatMap((one) => {
      const vmName = vmNames.get(labelValue(one.name));
      return vmName === undefined || vmName === pinOf(one) ? [] : [{ agentMachine: one.name, vmName }];
    });
}
