import type { AgentPoolRules, ObservedPool, PoolCounts, PoolProblem, StuckVms, UnpreparedAgent } from './agent-pool.ts';
import { judgeReplacement, nameSurges } from './judge-drift.ts';
import {
  findAgents,
  findLack,
  findSupply,
  findUnpinned,
  isOfCluster,
  nameWanted,
  type PoolAgents,
  type Supply,
} from './judge-demand.ts';
import { isDrifted, judgeReleases } from './judge-release.ts';
import { isPrepared, type JudgedVm, judgeVm } from './judge-vm.ts';
import { isBound, matchAgents } from './match-agents.ts';
import { agentPoolConditions, agentPoolLabels, isoNotReady } from './metadata.ts';
import type { AgentFact, AgentMachineFact, MachineFact, NodeFact, PoolFacts, VmFact } from './pool-facts.ts';

/** Everything that a pool is judged on. The order of the lists makes no difference. */
export interface Facts {
  pool: PoolFacts;
  /** An older pool of the same NodePool, whose AgentMachines they are; null: there is none. */
  rival: string | null;
  /** All of the namespace of the control plane. */
  agentMachines: readonly AgentMachineFact[];
  /** All of the namespace of the control plane. */
  machines: readonly MachineFact[];
  /** All of the namespace of the pool. */
  agents: readonly AgentFact[];
  /** VsphereAgents of all pools of the namespace. */
  vms: readonly VmFact[];
  nodes: readonly NodeFact[] | 'unasked' | null;
  rules: AgentPoolRules;
  nowMs: number;
}

export type JudgedPool = Pick<
  ObservedPool,
  | 'counts'
  | 'problems'
  | 'stuck'
  | 'wanted'
  | 'unprepared'
  | 'released'
  | 'held'
  | 'drifted'
  | 'remaining'
  | 'nextMs'
  | 'replacement'
> & {
  /** What the status lists, by name. */
  vms: JudgedVm[];
  unpinned: { agentMachine: string; vmName: string }[];
  /** The Nodes of the hosted cluster must be read, and all be judged again. */
  needsNodes: boolean;
};

/** The rules of docs/agent-pools.md. */
export function judgePool(facts: Facts): JudgedPool {
  const { pool, rival, vms, agents, rules, nodes, nowMs } = facts;
  const matched = matchAgents(vms, agents);
  const own = judgeVms(facts, matched);
  const live = own.filter(({ vm }) => !vm.deleting);
  const claimed = new Set([...matched.values()].map(({ name }) => name));
  const found = findAgents(pool, agents, own, claimed, vms);
  const wanting = facts.agentMachines.filter(({ deleting, nodePool }) => !deleting && nodePool === pool.nodePool);
  // The provider binds the Agent first and says so of the AgentMachine later, and the lists are not of one moment.
  const served = new Set(agents.flatMap((agent) => namedBy(agent, pool)));
  const waiting = wanting.filter(({ isWaiting, name }) => isWaiting && !served.has(name));
  const supply = findSupply(pool, own, found.others, waiting);
  const counts = count(wanting, waiting.length, found, supply, live.length);
  const lacking = pool.deleting || rival !== null ? [] : findLack(waiting, supply);
  const { nextMs, ...releases } = judgeReleases({ ...counts, pool, own, nodes, rules, nowMs });
  const ofPool = facts.agentMachines.filter(({ nodePool }) => nodePool === pool.nodePool);
  const rolling =
    rival === null
      ? judgeReplacement({ pool, own, agentMachines: ofPool, machines: facts.machines, counts, releases, rules })
      : null;
  const { stuck, nextMs: stuckMs } = judgeStuck(pool.deleting ? [] : live, rules, nowMs);
  return {
    counts,
    problems: rival === null ? [] : [taken(rival)],
    ...(stuck !== null && { stuck }),
    wanted: [...nameWanted(pool, lacking, vms), ...nameSurges(pool, rolling?.surge ?? 0, vms)],
    ...(rolling !== null && { replacement: rolling.replacement }),
    unprepared: pool.deleting ? [] : live.flatMap((judged) => findUnprepared(judged, pool)),
    ...releases,
    unpinned: pool.deleting || rival !== null ? [] : findUnpinned(wanting, own, rules.pinSelectors),
    drifted: live.filter((judged) => isDrifted(judged, pool)).map(({ vm, phase }) => ({ name: vm.name, phase })),
    remaining: pool.deleting ? own.length : own.length - live.length,
    nextMs: earliest([nextMs, stuckMs, ...live.map(({ untilMs }) => untilMs)]),
    vms: own,
  };
}

/** The AgentMachine of the pool that has taken it. */
const namedBy = ({ agentMachine, deleting }: AgentFact, { controlPlaneNamespace }: PoolFacts): string[] =>
  agentMachine === null || deleting || (agentMachine.namespace ?? controlPlaneNamespace) !== controlPlaneNamespace
    ? []
    : [agentMachine.name];

function judgeVms(
  { pool, vms, agentMachines, machines, rules, nowMs }: Facts,
  matched: ReadonlyMap<string, AgentFact>,
): JudgedVm[] {
  const around = {
    pool,
    agentMachines: new Map(agentMachines.map((one) => [one.name, one])),
    byAgent: new Map(agentMachines.flatMap((one) => (one.agent === null ? [] : [[one.agent, one] as const]))),
    machines: new Map(machines.map((one) => [one.name, one])),
    discoveryMs: rules.discoveryMs,
    nowMs,
  };
  return vms
    .filter((vm) => vm.pool === pool.name)
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .map((vm) => judgeVm(vm, matched.get(vm.name) ?? null, around));
}

const count = (
  wanting: readonly AgentMachineFact[],
  waiting: number,
  { matching }: PoolAgents,
  { available, provisioning }: Supply,
  owned: number,
): PoolCounts => ({
  agentMachines: wanting.length,
  waiting,
  unready: wanting.filter(({ isReady }) => !isReady).length,
  withoutAgent: wanting.filter(({ isReady, hasAgent }) => !isReady && !hasAgent).length,
  matching: matching.length,
  bound: matching.filter(isBound).length,
  available: available.length,
  provisioning: provisioning.length,
  owned,
});

/** Agents of other InfraEnvs and NodePools are left alone, whichever VM they are. */
function findUnprepared({ vm, agent, phase }: JudgedVm, pool: PoolFacts): UnpreparedAgent[] {
  if (agent === null || agent.deleting || isBound(agent) || phase === 'Released' || phase === 'Bound') return [];
  const nodePool = agent.labels[agentPoolLabels.nodePool];
  const isOthers = nodePool !== undefined && nodePool !== pool.labels[agentPoolLabels.nodePool];
  if (isOthers || !isOfCluster(agent, pool) || isPrepared(agent, vm.vmName, pool)) return [];
  return [{ agent: agent.name, uid: agent.uid, vmName: vm.vmName }];
}

/**
 * VMs that are not made, or were never powered on, for longer than an Agent may take. Nothing goes for that: what
 * refuses them would refuse others too. That there is no ISO, the pool says for all of them.
 */
function judgeStuck(
  live: readonly JudgedVm[],
  { discoveryMs }: AgentPoolRules,
  nowMs: number,
): { stuck: StuckVms | null; nextMs: number | null } {
  const unready = live.flatMap(({ vm, agent, phase }) =>
    phase !== 'Provisioning' || agent !== null || vm.unready === null || vm.unready.reason === isoNotReady
      ? []
      : [{ ...vm.unready, name: vm.name, atMs: vm.unready.sinceMs + discoveryMs }],
  );
  const stuck = unready.filter(({ atMs }) => atMs <= nowMs);
  const nextMs = earliest(unready.flatMap(({ atMs }) => (atMs > nowMs ? [atMs] : [])));
  const [first] = stuck;
  if (first === undefined) return { stuck: null, nextMs };
  const { length: count } = stuck;
  const which = count === 1 ? `The VM of VsphereAgent ${first.name} is` : `${count} VMs are`;
  const why = count === 1 ? first.message : `VsphereAgent ${first.name} says: ${first.message}`;
  return {
    stuck: { count, reason: first.reason, message: `${which} not made, or not powered on, in time. ${why}` },
    nextMs,
  };
}

const taken = (rival: string): PoolProblem => ({
  condition: agentPoolConditions.demand,
  reason: 'NodePoolTaken',
  message: `VsphereAgentPool ${rival} is of the same NodePool and older, and makes its VMs: name another NodePool, or delete one of the pools`,
});

const earliest = (times: readonly (number | null)[]): number | null =>
  times.reduce((first, time) => (first === null || (time !== null && time < first) ? time : first), null);
