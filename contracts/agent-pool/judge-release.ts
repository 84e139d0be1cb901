import type { AgentPoolRules, HeldAgent, ReleaseCause, ReleasedAgent } from './agent-pool.ts';
import { approvalOf } from './approvals.ts';
import { isSameUuid } from './identity.ts';
import type { JudgedVm } from './judge-vm.ts';
import { isBound } from './match-agents.ts';
import { agentPoolAnnotations } from './metadata.ts';
import type { NodeFact, PoolFacts } from './pool-facts.ts';

/** Which VMs of a pool go, and what others wait for. */

export interface Releases {
  released: ReleasedAgent[];
  held: HeldAgent[];
  /** The Nodes of the hosted cluster were not read, and say whether VMs go. */
  needsNodes: boolean;
  /** When time alone lets one go; null: never. */
  nextMs: number | null;
}

export interface ReleaseFacts {
  pool: PoolFacts;
  /** VMs of the pool, those that are being deleted too. */
  own: readonly JudgedVm[];
  /** AgentMachines that wait, and those that are not ready and have no Agent. */
  waiting: number;
  withoutAgent: number;
  /** `unasked`: not read yet. Null: they cannot be read. */
  nodes: readonly NodeFact[] | 'unasked' | null;
  rules: AgentPoolRules;
  nowMs: number;
}

/** What is wrong with one VM, before others are looked at. */
type Verdict = { cause: ReleaseCause; waitsFor?: undefined } | { cause: ReleaseCause; waitsFor: Wait };
type Wait = 'AgentBound' | 'MachinePresent' | 'NodePresent' | 'NodeUnknown' | 'ApprovalRequired';

const isTaken = ({ agent }: JudgedVm): boolean => agent !== null && isBound(agent);
export const isNeverTaken = (judged: JudgedVm): boolean => judged.machineState === 'none' && !isTaken(judged);

function isNodeOf({ vm, agent }: JudgedVm, { name, systemUuid, providerId }: NodeFact): boolean {
  return (
    name === vm.vmName ||
    name.startsWith(`${vm.vmName}.`) ||
    (agent !== null && name === agent.hostname) ||
    (vm.biosUuid !== null && systemUuid !== null && isSameUuid(vm.biosUuid, systemUuid)) ||
    (providerId !== null && [agent?.name, vm.agentRef?.name].some((one) => providerId === `agent://${one}`))
  );
}

/** The deletion of its Machine was not observed: absence alone is no proof. */
function judgeAbsent(judged: JudgedVm, nodes: ReleaseFacts['nodes']): Verdict {
  const cause = 'MachineAbsent';
  if (isTaken(judged)) return { cause, waitsFor: 'AgentBound' };
  if (nodes === null || nodes === 'unasked') return { cause, waitsFor: 'NodeUnknown' };
  return nodes.some((node) => isNodeOf(judged, node)) ? { cause, waitsFor: 'NodePresent' } : { cause };
}

function judgeOne(judged: JudgedVm, { pool, nodes }: ReleaseFacts): Verdict | null {
  const { machineState, phase, reason, vm } = judged;
  if (pool.deleting && (pool.force || vm.force)) return { cause: 'PoolDeleted' };
  // Its AgentMachine is there, and only its Machine is not known.
  const isKept = machineState === 'absent' && phase === 'Bound' && reason === 'AgentBound';
  if (machineState === 'deleted')
    return isTaken(judged) ? { cause: 'MachineDeleted', waitsFor: 'AgentBound' } : { cause: 'MachineDeleted' };
  if (machineState === 'absent' && !isKept) return judgeAbsent(judged, nodes);
  if (phase === 'Orphaned') return { cause: reason === 'AgentMissing' ? 'AgentMissing' : 'AgentDiscoveryExpired' };
  if (!pool.deleting) return null;
  return isNeverTaken(judged) ? { cause: 'PoolDeleted' } : { cause: 'PoolDeleted', waitsFor: 'MachinePresent' };
}

const sayings: Record<Wait, (judged: JudgedVm, pool: PoolFacts) => string> = {
  AgentBound: ({ agent }) =>
    `Its Machine is gone, and Agent ${agent?.name ?? ''} is still bound: unbind it, or wait for the Agent provider to do so`,
  MachinePresent: ({ machine, vm }) =>
    `Machine ${machine?.name ?? 'of its Agent'} is still there: scale the NodePool down, or annotate VsphereAgent ${vm.name} with ${agentPoolAnnotations.forceDelete}=true`,
  NodePresent: ({ vm }) =>
    `Its Machine is gone, and its deletion was not observed; its Node is still in the hosted cluster: drain and delete Node ${vm.vmName}`,
  NodeUnknown: () =>
    'Its Machine is gone, and its deletion was not observed; the Nodes of the hosted cluster cannot be read: mend the access to it (its admin kubeconfig in the namespace of the control plane)',
  ApprovalRequired: ({ vm }, { namespace, name }) =>
    `Several VMs would go of Machines whose deletion was not observed: if that is right, \`drover pools approve ${namespace}/${name} ${vm.name}\``,
};

/** Without a pool no run drives them: they go with it, and their VMs and Agents stay. */
const forgotten = ({ deleting }: PoolFacts, live: readonly JudgedVm[]): ReleasedAgent[] =>
  deleting ? live.map(({ vm: { name, uid } }) => ({ name, uid, cause: 'PoolDeleted', agent: null })) : [];

const byName = (one: JudgedVm, other: JudgedVm): number => (one.vm.name < other.vm.name ? -1 : 1);

export function judgeReleases(facts: ReleaseFacts): Releases {
  const { pool, own, nodes } = facts;
  const live = own.filter(({ vm }) => !vm.deleting).toSorted(byName);
  if (!pool.deletes) return { released: forgotten(pool, live), held: [], needsNodes: false, nextMs: null };
  const judged = live.map((one) => ({ one, verdict: judgeOne(one, facts) }));
  const { verdicts, nextMs } = judgeSpare(facts, judged);
  const needsApproval = findUnapproved(facts, live.length, verdicts);
  const released: ReleasedAgent[] = [];
  const held: HeldAgent[] = [];
  for (const { one, verdict } of verdicts) {
    if (verdict === null) continue;
    const waitsFor = needsApproval.has(one.vm.name) ? 'ApprovalRequired' : verdict.waitsFor;
    const { name, uid } = one.vm;
    const agent = one.agent === null || isTaken(one) ? null : { name: one.agent.name, uid: one.agent.uid };
    if (waitsFor === undefined) released.push({ name, uid, cause: verdict.cause, agent });
    else held.push({ name, cause: verdict.cause, waitsFor, message: sayings[waitsFor](one, pool) });
  }
  const needsNodes = nodes === 'unasked' && held.some(({ waitsFor }) => waitsFor === 'NodeUnknown');
  return { released, held, needsNodes, nextMs };
}

interface Row {
  one: JudgedVm;
  verdict: Verdict | null;
}

/** VMs that are well, and that are not needed: those that were never taken or made, and those of another template. */
function judgeSpare(
  { pool, own, waiting, withoutAgent, rules, nowMs }: ReleaseFacts,
  rows: readonly Row[],
): { verdicts: Row[]; nextMs: number | null } {
  const isIdle = waiting === 0 && withoutAgent === 0 && !pool.deleting;
  const isRolling = isReplacing(pool, own);
  let nextMs: number | null = null;
  let budget = rules.driftedAtOnce - own.filter((one) => one.vm.deleting && isDrifted(one, pool)).length;
  const verdicts = rows.map((row): Row => {
    const { one, verdict } = row;
    const isUnmade = one.reason === 'VMCreatePending';
    if (verdict !== null || !(isUnmade || one.phase === 'Available') || !isNeverTaken(one)) return row;
    // Those of the template stand ready until the last one is replaced.
    const isSpare = isIdle && (!isRolling || isDrifted(one, pool));
    if (!isUnmade && one.vm.isSurge && isSpare && !isDrifted(one, pool)) return { one, verdict: { cause: 'Surplus' } };
    // A create may be under way, and what it makes serve who comes next: it is waited for as long as for a VM
    // that is there.
    if ((rules.deleteSurplus || isUnmade) && isSpare) {
      const atMs = one.sinceMs + rules.surplusMs;
      if (atMs <= nowMs) return { one, verdict: { cause: 'Surplus' } };
      nextMs = Math.min(nextMs ?? atMs, atMs);
    }
    if (isUnmade || pool.replaces === 'none' || pool.deleting || waiting > 0 || budget <= 0 || !isDrifted(one, pool))
      return row;
    budget -= 1;
    return { one, verdict: { cause: 'TemplateDrifted' } };
  });
  return { verdicts, nextMs };
}

export const isDrifted = ({ vm }: JudgedVm, { digest }: PoolFacts): boolean =>
  vm.digest !== null && vm.digest !== digest;

/** VMs that Machines have are being replaced, or would be; the last of them until it is gone. */
export const isReplacing = (pool: PoolFacts, own: readonly JudgedVm[]): boolean =>
  pool.replaces === 'all' && !pool.deleting && own.some((one) => isDrifted(one, pool));

/**
 * Of those whose deletion was not observed, more than a few at once are no accident. Those that are
 * going already count.
 */
function findUnapproved({ pool, own, rules }: ReleaseFacts, live: number, rows: readonly Row[]): Set<string> {
  const absent = rows.flatMap(({ one, verdict }) =>
    verdict?.cause === 'MachineAbsent' && verdict.waitsFor === undefined ? [one.vm] : [],
  );
  const going = own.filter(({ vm, machineState }) => vm.deleting && machineState === 'absent').length;
  const most = Math.max(rules.approveAbove, Math.floor(((live + going) * rules.approveAbovePercent) / 100));
  if (absent.length + going <= most) return new Set();
  return new Set(absent.filter((vm) => !pool.approved.includes(approvalOf(vm))).map(({ name }) => name));
}
