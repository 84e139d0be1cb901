import { isBound, isThere } from './match-agents.ts';
import { agentPoolLabels, neighbours, type VmPhase, type VmReason } from './metadata.ts';
import type { AgentFact, AgentMachineFact, MachineFact, Named, PoolFacts, VmFact } from './pool-facts.ts';

/** The phase of one VM of a pool. */

export interface JudgedVm {
  vm: VmFact;
  agent: AgentFact | null;
  /** That it is, or was last. */
  machine: Named | null;
  phase: VmPhase;
  reason: VmReason;
  /** When the phase began. */
  sinceMs: number;
  /**
   * Of its Machine. `none`: it never had one. `deleted`: gone, and it was seen being deleted. `absent`: gone, and its
   * deletion was not observed, or it is not known which one it was.
   */
  machineState: 'none' | 'present' | 'deleting' | 'deleted' | 'absent';
  /** When its phase changes though nothing else does; null: never. */
  untilMs: number | null;
}

export interface Surroundings {
  pool: PoolFacts;
  agentMachines: ReadonlyMap<string, AgentMachineFact>;
  /** By the Agent that they name. */
  byAgent: ReadonlyMap<string, AgentMachineFact>;
  machines: ReadonlyMap<string, MachineFact>;
  discoveryMs: number;
  nowMs: number;
}

const hasLabels = (agent: AgentFact, labels: Readonly<Record<string, string>>): boolean =>
  Object.entries(labels).every(([key, value]) => agent.labels[key] === value);

/** Whether the Agent provider would take it now. */
export const isTakable = (agent: AgentFact, { labels }: Pick<PoolFacts, 'labels'>): boolean =>
  !agent.deleting && !isBound(agent) && agent.isApproved && agent.isWell && hasLabels(agent, labels);

/** Labels, role and hostname are those of the pool; and it is approved, where the pool does that. */
export const isPrepared = (agent: AgentFact, vmName: string, { labels, role, approves }: PoolFacts): boolean =>
  hasLabels(agent, { ...labels, [neighbours.nodePoolRole]: role, [agentPoolLabels.agentMachine]: vmName }) &&
  agent.role === role &&
  agent.setHostname === vmName &&
  (agent.isApproved || !approves);

/** The AgentMachine that has taken an Agent; undefined: it is gone, or none is known. */
function findAgentMachine(
  agent: AgentFact,
  { agentMachines, byAgent }: Pick<Surroundings, 'agentMachines' | 'byAgent'>,
): AgentMachineFact | undefined {
  return agent.agentMachine === null ? byAgent.get(agent.name) : agentMachines.get(agent.agentMachine.name);
}

/** The Machine that has the VM: its own now, or the one that it had last. */
function findMachine(
  vm: VmFact,
  agent: AgentFact | null,
  around: Surroundings,
): { machine: Named | null; agentMachine: AgentMachineFact | null } {
  if (agent === null || !isBound(agent)) return { machine: vm.machineRef, agentMachine: null };
  const { namespace = null, name = null } = agent.agentMachine ?? {};
  if (namespace !== null && namespace !== around.pool.controlPlaneNamespace)
    return { machine: null, agentMachine: null };
  const agentMachine = findAgentMachine(agent, around);
  if (agentMachine !== undefined)
    return { machine: agentMachine.machine ?? { name: agentMachine.name, uid: null }, agentMachine };
  return { machine: vm.machineRef ?? (name === null ? null : { name, uid: null }), agentMachine: null };
}

/** Before, this very Machine was seen being deleted. */
const wasDeleting = ({ reason, machineRef }: VmFact, { name, uid }: Named): boolean =>
  (reason === 'MachineDeleting' || reason === 'MachineDeleted') &&
  machineRef?.name === name &&
  (uid === null || machineRef.uid === null || machineRef.uid === uid);

/** What the VM is, as far as others use it. */
type Verdict = Pick<JudgedVm, 'phase' | 'reason' | 'machineState'> & { machine?: Named; untilMs?: number };

function judgeMachine(vm: VmFact, agent: AgentFact | null, around: Surroundings): Verdict | null {
  const { pool, machines } = around;
  const { machine, agentMachine } = findMachine(vm, agent, around);
  const isTaken = agent !== null && isBound(agent);
  if (machine === null) {
    if (isTaken) return { phase: 'Bound', reason: 'AgentBound', machineState: 'none' };
    const wasTaken = vm.phase === 'Bound' || vm.phase === 'Released';
    if (!wasTaken || (agent !== null && isTakable(agent, pool))) return null;
    return { phase: 'Released', reason: 'AgentReleased', machineState: 'absent' };
  }
  const found = machines.get(machine.name);
  if (found !== undefined && (machine.uid === null || machine.uid === found.uid)) {
    const present = { machine: { name: found.name, uid: found.uid } };
    if (found.isDeleting) return { ...present, phase: 'Released', reason: 'MachineDeleting', machineState: 'deleting' };
    const there = { ...present, machineState: 'present' } as const;
    if (isTaken) return { ...there, phase: 'Bound', reason: 'AgentBound' };
    if (agent === null) return { ...there, phase: 'Bound', reason: 'AgentMissing' };
    return isTakable(agent, pool)
      ? { ...there, phase: 'Available', reason: 'AgentAvailable' }
      : { ...there, phase: 'Released', reason: 'AgentReleased' };
  }
  if (wasDeleting(vm, machine))
    return { machine, phase: 'Released', reason: 'MachineDeleted', machineState: 'deleted' };
  // No Machine of that name: where the AgentMachine has no owner, its name was a guess.
  const isKept = isTaken && agentMachine?.deleting === false;
  return isKept
    ? { machine, phase: 'Bound', reason: 'AgentBound', machineState: 'absent' }
    : { machine, phase: 'Released', reason: 'AgentReleased', machineState: 'absent' };
}

/** A VM that no Machine has. */
function judgeDiscovery(
  vm: VmFact,
  agent: AgentFact | null,
  { pool, discoveryMs, nowMs }: Surroundings,
): Pick<Verdict, 'phase' | 'reason' | 'untilMs'> {
  if (agent !== null && isTakable(agent, pool)) return { phase: 'Available', reason: 'AgentAvailable' };
  if (agent === null && vm.agentRef !== null) return { phase: 'Orphaned', reason: 'AgentMissing' };
  if (agent === null && !isThere(vm)) {
    // Another one gets another name.
    const untilMs = vm.displacedMs === null ? null : vm.displacedMs + discoveryMs;
    if (untilMs !== null && untilMs <= nowMs) return { phase: 'Orphaned', reason: 'AgentDiscoveryExpired' };
    return { phase: 'Provisioning', reason: 'VMCreatePending', ...(untilMs !== null && { untilMs }) };
  }
  const isReady = agent !== null && isPrepared(agent, vm.vmName, pool);
  const reason = isReady ? 'AgentPrepared' : 'AgentNotDiscovered';
  // It waits for a user's approval, who may take his time.
  if (isReady && agent.isWell && !agent.isApproved) return { phase: 'Provisioning', reason };
  if (vm.phase === 'Orphaned' && vm.reason === 'AgentDiscoveryExpired')
    return { phase: 'Orphaned', reason: 'AgentDiscoveryExpired' };
  // Its run has not got it going yet, or not again.
  if (vm.readyMs === null) return { phase: 'Provisioning', reason };
  const isNew = vm.phase === 'Provisioning' || vm.phase === null;
  const untilMs = (isNew ? Math.max(vm.sinceMs, vm.readyMs) : nowMs) + discoveryMs;
  return untilMs <= nowMs
    ? { phase: 'Orphaned', reason: 'AgentDiscoveryExpired' }
    : { phase: 'Provisioning', reason, untilMs };
}

/** @param agent the one that it was matched with; null: none */
export function judgeVm(vm: VmFact, agent: AgentFact | null, around: Surroundings): JudgedVm {
  const verdict: Verdict = judgeMachine(vm, agent, around) ?? {
    ...judgeDiscovery(vm, agent, around),
    machineState: 'none',
  };
  const { phase, reason, machineState, machine = null, untilMs = null } = verdict;
  const sinceMs = vm.phase === phase ? vm.sinceMs : around.nowMs;
  return { vm, agent, machine: machine ?? vm.machineRef, phase, reason, machineState, sinceMs, untilMs };
}
