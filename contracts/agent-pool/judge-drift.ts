import type { AgentPoolRules, PoolCounts, PoolReplacement, ReplacedMachine, WantedAgent } from './agent-pool.ts';
import { isDrifted, isNeverTaken, isReplacing, type Releases } from './judge-release.ts';
import type { JudgedVm } from './judge-vm.ts';
import { nameSurge, nameVm } from './name-agents.ts';
import type { AgentMachineFact, MachineFact, PoolFacts, VmFact } from './pool-facts.ts';

/** Which Machines are deleted as their VMs are of another template, and which VMs must stand ready before. */

export interface ReplacementFacts {
  pool: PoolFacts;
  /** VMs of the pool, those that are being deleted too. */
  own: readonly JudgedVm[];
  /** Of the pool, those that are being deleted too. */
  agentMachines: readonly AgentMachineFact[];
  /** All of the namespace of the control plane. */
  machines: readonly MachineFact[];
  counts: Pick<PoolCounts, 'waiting' | 'provisioning'>;
  releases: Pick<Releases, 'released' | 'held'>;
  rules: Pick<AgentPoolRules, 'driftedAtOnce'>;
}

/** Null: nothing is to be replaced. */
export function judgeReplacement(facts: ReplacementFacts): { replacement: PoolReplacement; surge: number } | null {
  const { pool, own, counts, rules } = facts;
  if (!isReplacing(pool, own)) return null;
  const bound = own.filter(({ vm, phase }) => !vm.deleting && phase === 'Bound');
  const progress = { total: bound.length, replaced: bound.filter((one) => !isDrifted(one, pool)).length };
  const unrest = findUnrest(facts);
  if (unrest !== null)
    return { replacement: { ...progress, machines: [], isQuiet: false, waitsFor: unrest }, surge: 0 };
  const candidates = findCandidates(facts);
  const needed = Math.min(rules.driftedAtOnce, candidates.length);
  const ready = own.filter((one) => one.phase === 'Available' && isNeverTaken(one) && isOfTemplate(one, pool)).length;
  const coming = own.filter((one) => one.phase === 'Provisioning' && isOfTemplate(one, pool)).length;
  const missing = Math.max(0, needed - ready);
  const machines = counts.provisioning > 0 ? [] : candidates.slice(0, Math.min(needed, ready));
  const isShort = missing > 0 || counts.provisioning > 0;
  return {
    replacement: { ...progress, machines, isQuiet: true, waitsFor: isShort ? surgeComes(missing) : null },
    surge: Math.max(0, missing - coming),
  };
}

const surgeComes = (missing: number): PoolReplacement['waitsFor'] => ({
  reason: 'SurgeMissing',
  message:
    missing === 0
      ? 'no VM to be under way'
      : `${missing === 1 ? 'one VM' : `${missing} VMs`} of the new template to be available first`,
});

/** It is known what it was made of. */
const isOfTemplate = ({ vm }: JudgedVm, { digest }: PoolFacts): boolean => !vm.deleting && vm.digest === digest;

/** Oldest first. */
const byAge = ({ vm: one }: JudgedVm, { vm: other }: JudgedVm): number =>
  one.createdMs - other.createdMs || (one.name < other.name ? -1 : 1);

/** Machines that drover has made the VM for, in use by an AgentMachine of the pool. */
function findCandidates({ pool, own, agentMachines }: ReplacementFacts): ReplacedMachine[] {
  return own
    .filter((one) => one.phase === 'Bound' && one.machineState === 'present' && isDrifted(one, pool))
    .toSorted(byAge)
    .flatMap(({ vm, machine }) => {
      const uid = machine?.uid ?? null;
      if (machine === null || uid === null) return [];
      const isOwn = agentMachines.some(({ machine: owner }) => owner?.name === machine.name && owner.uid === uid);
      return isOwn ? [{ name: machine.name, uid, vm: vm.name }] : [];
    });
}

/** Why this is no time to take a Node away; null: all is well, and nothing but spare VMs comes. */
function findUnrest(facts: ReplacementFacts): PoolReplacement['waitsFor'] {
  const { pool, own, agentMachines, machines, counts, releases } = facts;
  const wait = (reason: string, message: string) => ({ reason, message });
  if (!pool.deletes) return wait('Retained', 'cleanupPolicy Delete, as VMs that are retained cannot be replaced');
  if (counts.waiting > 0) return wait('AgentMachinesWaiting', 'no AgentMachine to wait for an Agent');
  const isGoing = ({ deleting, machine }: AgentMachineFact): boolean =>
    deleting || machines.some(({ name, isDeleting }) => name === machine?.name && isDeleting);
  const going = agentMachines.find(isGoing);
  if (going !== undefined) return wait('MachineDeleting', `AgentMachine ${going.name} and its Machine to be gone`);
  const unready = agentMachines.find(({ isReady }) => !isReady);
  if (unready !== undefined) return wait('AgentMachinesNotReady', `AgentMachine ${unready.name} to be Ready`);
  const [held] = releases.held;
  if (held !== undefined) return wait('VMHeld', `VM ${held.name} to go: ${held.message}`);
  const leaving = own.find(isLeaving)?.vm.name ?? releases.released[0]?.name;
  return leaving === undefined ? null : wait('VMLeaving', `VM ${leaving} to be gone, or well again`);
}

const isLeaving = ({ vm, phase, reason, machineState }: JudgedVm): boolean =>
  vm.deleting ||
  phase === 'Released' ||
  phase === 'Orphaned' ||
  (phase === 'Bound' && reason !== 'AgentBound') ||
  (machineState !== 'none' && machineState !== 'present');

/** Those that stand ready are named by the pool. @param allVms VsphereAgents of every pool of the namespace */
export function nameSurges(
  { namespace, name: pool, namePrefix }: PoolFacts,
  count: number,
  allVms: readonly VmFact[],
): WantedAgent[] {
  const names = new Set(allVms.map(({ name }) => name));
  const vmNames = new Set(allVms.map(({ vmName }) => vmName));
  return Array.from({ length: count }, () => {
    const name = nameSurge(namespace, pool, (one) => names.has(one));
    const vmName = nameVm(name, namePrefix, (one) => vmNames.has(one));
    names.add(name);
    vmNames.add(vmName);
    return { name, vmName, agentMachine: null };
  });
}
