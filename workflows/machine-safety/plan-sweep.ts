import { providerIdKey } from '../../contracts/machine-safety/provider-id.ts';
import type {
  AskedLeftover,
  Candidate,
  DesiredSweep,
  JudgedCandidate,
  ObservedSweep,
  SweepInput,
  SweepNotice,
  SweepReport,
  SweepRunSettings,
  SweptClass,
} from '../../contracts/machine-safety/sweep.ts';
import type { Situation } from '../lib/lifecycle.ts';
import { done, execute, type Plan, type Step, wait } from '../lib/plan.ts';
import { awaitsApproval, isReady, judgeCandidates } from './judge-candidates.ts';
import type { SweepRunMemory } from './sweep-memory.ts';

/** What a sweep does: it deletes the orphans that no gate holds. Pure. */

export type DeleteVmStep = Step &
  Pick<Candidate, 'providerId' | 'machineName' | 'machineClass' | 'why'> & {
    kind: 'deleteVm';
    /** Null: it needed no approval. */
    approvedBy: string | null;
    /** For the audit line. */
    reason: string;
  };

export type DeleteLeftoverStep = Step & { kind: 'deleteLeftover'; asked: AskedLeftover };

export type SweepStep = DeleteVmStep | DeleteLeftoverStep | (Step & { kind: 'annotateNodes' });

/** What the MachineClasses are to say. */
export interface SweepStatus {
  notices: SweepNotice[];
}

export interface SweepLifecycle {
  input: SweepInput;
  desired: DesiredSweep;
  observed: ObservedSweep;
  settings: SweepRunSettings;
  memory: SweepRunMemory;
  step: SweepStep;
  status: SweepStatus;
}

export type SweepSituation = Situation<SweepLifecycle>;

const failedOf = (classes: readonly SweptClass[]) =>
  classes.flatMap(({ name, failure }) => (failure === null ? [] : [{ name, failure }]));

export function planSweep(situation: SweepSituation): Plan<SweepStep> {
  const { observed, settings, memory, nowMs } = situation;
  const { isDry, mode, sweep } = settings;
  // A user waits for it.
  if (mayAct(settings) && memory.askedLeftovers.length > 0) return execute(memory.askedLeftovers.map(leftoverStep));
  const judged = judgeCandidates(situation);
  const ready = judged.filter(isReady);
  if (ready.length > 0) return execute(ready.map((candidate) => deletionOf(candidate, memory)));
  // Before any wait, which may take a day.
  if (areNodesDue(situation)) return execute([annotation]);
  const only = isDry || mode !== 'act';
  const waiting = judged.filter(awaitsApproval);
  const approvalUntilMs = (memory.approvalAskedMs ?? nowMs) + sweep.approvalMs;
  if (waiting.length > 0 && nowMs < approvalUntilMs)
    return wait(
      'Approving',
      'ApprovalNeeded',
      `an approval to delete ${count(waiting.length)} (${names(waiting)}), as ${waiting[0]?.gates[0]?.message ?? ''}: \`drover sweep approve\`, or \`drover sweep keep ID\` for each that shall stay`,
      approvalUntilMs,
    );
  const failed = failedOf(observed.classes);
  const retry = only ? null : retryOf(observed);
  if (retry !== null && nowMs < (memory.retryAtMs ?? Infinity))
    return wait('Retrying', retry.reason, retry.message, memory.retryAtMs ?? nowMs + sweep.longRetryMs);
  const found = describeFindings(observed, judged, memory);
  const problem = failed.length === 0 ? '' : ` ${describeFailures(failed)}`;
  if (only) return done('blocked', 'ObserveOnly', `drover only observes. It would delete ${would(judged)}.${problem}`);
  if (failed.length > 0) return done('blocked', 'ClassNotSwept', `${found}${problem}`);
  if (waiting.length > 0)
    return done('blocked', 'NotApproved', `${found} It was not approved in time; the next sweep asks again.`);
  const [hold] = judged.flatMap(({ gates }) => gates.slice(0, 1));
  if (hold === undefined) return done('reconciled', 'NoOrphans', found);
  const needsUser = judged.some(({ gates: [first] }) => first?.gate === 'Frozen' || first?.gate === 'Refused');
  return done(needsUser ? 'blocked' : 'reconciled', needsUser ? 'OrphansRefused' : 'OrphansHeld', found);
}

const annotation: SweepStep = {
  kind: 'annotateNodes',
  phase: 'MarkingNodes',
  summary: 'Mark the Nodes that no Machine has',
};

const mayAct = ({ mode, isDry, isRemembered }: SweepRunSettings): boolean => isRemembered && !isDry && mode === 'act';

const leftoverStep = (asked: AskedLeftover): DeleteLeftoverStep => ({
  kind: 'deleteLeftover',
  phase: 'Deleting',
  summary: `Delete ${asked.kind} ${asked.id} of class ${asked.machineClass}, as ${asked.by} asks`,
  asked,
});

/**
 * Once in a run that acts. What a list of Machines lacks says nothing while it is not known whether the API servers are
 * well, whatever the gate.
 */
const areNodesDue = ({ observed: { hasTarget, freeze }, settings, memory }: SweepSituation): boolean =>
  hasTarget && freeze.state === 'thawed' && memory.nodes === null && mayAct(settings);

function deletionOf(
  { providerId, machineName, machineClass, why, firstMs, sightings }: JudgedCandidate,
  { sweep }: SweepRunMemory,
): DeleteVmStep {
  const since = `an orphan since ${new Date(firstMs).toISOString()}, found in ${sightings} sweeps`;
  const verdict =
    why === 'MachineMissing' ? `there is no Machine ${machineName}` : `Machine ${machineName} has another VM`;
  return {
    kind: 'deleteVm',
    phase: 'Deleting',
    summary: `Delete VM ${machineName} of class ${machineClass}: ${verdict}`,
    providerId,
    machineName,
    machineClass,
    why,
    approvedBy: sweep?.approved[providerIdKey(providerId)]?.by ?? null,
    reason: `${why}: ${verdict}; ${since}`,
  };
}

/**
 * Why the run sweeps once more before it ends, as the replaced manager does after its long retry; null: it
 * has no reason.
 */
function retryOf({ classes, listed }: ObservedSweep): { reason: string; message: string } | null {
  const failed = failedOf(classes);
  if (failed.length > 0) return { reason: 'ClassNotSwept', message: `another attempt. ${describeFailures(failed)}` };
  if (classes.length === 0 || listed > 0) return null;
  return { reason: 'NothingListed', message: `another attempt, as none of ${classes.length} classes has a VM` };
}

const mostNamed = 5;

const names = (some: readonly Pick<Candidate, 'machineName'>[]): string => {
  const first = some.slice(0, mostNamed).map(({ machineName }) => machineName);
  return some.length > mostNamed ? `${first.join(', ')} and ${some.length - mostNamed} more` : first.join(', ');
};

const count = (some: number): string => (some === 1 ? '1 VM' : `${some} VMs`);

/** Those that nothing but the dry run holds. */
function would(judged: readonly JudgedCandidate[]): string {
  const some = judged.filter(({ gates }) => gates.length === 1 && gates[0]?.gate === 'DryRun');
  const held = judged.length - some.length;
  const others = held === 0 ? '' : `; ${held === 1 ? '1 orphan is' : `${held} orphans are`} held by other gates`;
  return some.length === 0 ? `nothing${others}` : `${count(some.length)}: ${names(some)}${others}`;
}

function describeFailures(failed: ReturnType<typeof failedOf>): string {
  const [first] = failed;
  const others = failed.length === 1 ? '' : ` (and ${failed.length - 1} other classes)`;
  return `MachineClass ${first?.name ?? ''} was not swept: ${first?.failure.message ?? ''}${others}`;
}

function describeFindings(
  { listed, orphans, classes }: ObservedSweep,
  judged: readonly JudgedCandidate[],
  { deletedCount, nodes }: SweepRunMemory,
): string {
  const swept = `${count(listed)} of ${classes.length === 1 ? '1 class' : `${classes.length} classes`}`;
  const deleted = deletedCount === 0 ? '' : ` ${count(deletedCount)} deleted.`;
  const unseen = nodes?.failure ?? null;
  const rest = `${deleted}${unseen === null ? '' : ` Nodes were not marked, or not all: ${unseen}`}`;
  if (orphans === 0) return `${swept}, and no orphan.${rest}`;
  const byGate = new Map<string, number>();
  for (const { gates } of judged) byGate.set(gates[0]?.gate ?? '', (byGate.get(gates[0]?.gate ?? '') ?? 0) + 1);
  const held = [...byGate].map(([gate, many]) => `${many} by ${gate}`).join(', ');
  return `${swept}, ${orphans === 1 ? '1 orphan' : `${orphans} orphans`}, held back: ${held}.${rest}`;
}

/** Null: the classes have nothing to say. What is deleted, the activity says that deletes it. */
export function sweepStatus(situation: SweepSituation, plan: Plan<SweepStep>): SweepStatus | null {
  if (plan.kind === 'execute') return null;
  const { observed, memory } = situation;
  const failures = failedOf(observed.classes).map(({ name, failure }): SweepNotice => ({
    machineClass: name,
    type: 'Warning',
    reason: 'ClassNotSwept',
    message: failure.message,
  }));
  const judged = judgeCandidates(situation);
  const waiting = Map.groupBy(judged.filter(awaitsApproval), ({ machineClass }) => machineClass);
  const approvals = [...waiting].map(([machineClass, some]): SweepNotice => ({
    machineClass,
    type: 'Warning',
    reason: 'ApprovalNeeded',
    message: `${names(some)}: ${some[0]?.gates[0]?.message ?? ''}. \`drover sweep approve\` deletes them`,
  }));
  const refused = judged
    .filter(({ providerId }) => Object.hasOwn(memory.refused, providerIdKey(providerId)))
    .slice(0, mostNamed)
    .map(({ machineClass, machineName, providerId }): SweepNotice => ({
      machineClass,
      type: 'Warning',
      reason: 'OrphanKept',
      message: `VM ${machineName} (${providerId}) is an orphan, and stays: ${memory.refused[providerIdKey(providerId)]?.message ?? ''}`,
    }));
  const notices = [...failures, ...approvals, ...refused];
  return notices.length === 0 ? null : { notices };
}

/** What the run answers, and ends with. */
export function sweepReport(situation: SweepSituation): SweepReport {
  const { observed, settings, memory } = situation;
  return {
    dryRun: settings.isDry,
    classes: observed.classes,
    listed: observed.listed,
    machines: observed.machines,
    orphans: observed.orphans,
    candidates: judgeCandidates(situation),
    deleted: [...memory.deleted],
    deletedCount: memory.deletedCount,
    nodes: memory.nodes,
    leftovers: observed.leftovers,
    leftoverCount: observed.leftoverCount,
    answeredLeftovers: [...memory.answeredLeftovers],
  };
}
