import { isSameUuid, uuidOf } from '../../contracts/agent-pool/identity.ts';
import { agentPoolConditions, isoNotReady } from '../../contracts/agent-pool/metadata.ts';
import { vmIdentityOf } from '../../contracts/agent-pool/vm-identity.ts';
import type {
  AgentProblem,
  AgentVm,
  DesiredAgent,
  ObservedAgent,
  VsphereAgentInput,
  VsphereAgentSettings,
  VsphereAgentStatus,
} from '../../contracts/agent-pool/vsphere-agent.ts';
import { type ConditionUpdate, findCondition } from '../../contracts/conditions.ts';
import { errors } from '../../contracts/errors.ts';
import type { Situation } from '../lib/lifecycle.ts';
import { describePlan, done, execute, type Plan, type SlotRequest, type Step, wait } from '../lib/plan.ts';
import type { SlotClaim } from '../limits/slots.ts';
import { sayObserved } from './say-observed.ts';

/** What the VM of a VsphereAgent is to become, and what the object is to say. All of it is pure. */

export type AgentStep = Step & {
  kind: 'addFinalizer' | 'removeFinalizer' | 'create' | 'attachTags' | 'powerOn' | 'ejectIso' | 'destroy';
};

export interface AgentMemory {
  slot: SlotClaim | null;
  /** When its vCenter first gave no answer, and has given none since. Unix ms. Left out: it has, or is not waited for. */
  noAnswerSinceMs?: number;
}

export interface AgentLifecycle {
  input: VsphereAgentInput;
  desired: DesiredAgent;
  observed: ObservedAgent;
  settings: VsphereAgentSettings;
  memory: AgentMemory;
  step: AgentStep;
  status: VsphereAgentStatus;
}

export type AgentSituation = Situation<AgentLifecycle>;
type AgentPlan = Plan<AgentStep>;

const creates: SlotRequest = { limit: 'creates' };
const destroys: SlotRequest = { limit: 'destroys' };

export function planAgent(situation: AgentSituation): AgentPlan {
  const { desired, observed, settings } = situation;
  if (desired === null) return done('gone', 'NotFound', 'There is no such VsphereAgent');
  if (desired.deleting) return planDeletion(situation, desired);
  const { pool, problem, vm, phase, isInstalled } = observed;
  if (pool === null)
    return done('blocked', 'PoolNotFound', 'Its pool is not there: create the pool again, or delete this VsphereAgent');
  const hold: AgentStep[] =
    desired.isHeld || settings.mode === 'observe'
      ? []
      : [{ kind: 'addFinalizer', phase: 'Creating', summary: 'Add the finalizer' }];
  if (problem !== null) return waitForMending('Creating', problem);
  if (vm === null) {
    if (pool.deleting) return done('blocked', 'PoolDeleting', 'Its pool is being deleted: no VM is made');
    const other = findOtherHost(desired, observed);
    if (other !== null)
      return done(
        'blocked',
        errors.VirtualMachineNotFound.reason,
        `Its host is the VM with the BIOS UUID ${other}, which drover did not make for it and does not find, and no second one is made: have the pool name the vCenter and the folder where that VM is, or delete this VsphereAgent, which leaves that VM as it is`,
      );
    if (phase === 'Bound' || phase === 'Released')
      return done(
        'blocked',
        errors.VirtualMachineNotFound.reason,
        `Its VM, which has been a Node, is not where its pool leads to, and none is made in its place, as that would be empty: have the pool name the vCenter and the folder where that VM is; or delete its Machine, and this VsphereAgent goes with it`,
      );
    if (pool.isoPath === null) return wait('Creating', isoNotReady, 'the discovery ISO of its pool');
    return execute(
      [...hold, { kind: 'create', phase: 'Creating', summary: `Create and power on VM ${desired.vmName}` }],
      creates,
    );
  }
  const steps = [...hold, ...missingOf(vm, phase, isInstalled)];
  if (steps.length > 0) return execute(steps);
  if (!vm.isOn)
    return done('reconciled', 'VMCreated', `VM ${vm.name} is off, and it is not drover that has powered it off`);
  return done('reconciled', 'VMCreated', `VM ${vm.name} is on`);
}

/**
 * The BIOS UUID that is recorded, where it is not that of the VM that drover makes for the object: agent-forge-operator
 * wrote it. That VM may run a Node still, and a second one would be written over all that is known of it.
 */
function findOtherHost({ uid }: DesiredAgent, { recorded }: ObservedAgent): string | null {
  const { biosUUID } = recorded;
  if (biosUUID === null || biosUUID === '') return null;
  return isSameUuid(uuidOf(biosUUID) ?? '', vmIdentityOf(uid).biosUuid) ? null : biosUUID;
}

/** What is put right at the vCenter sends no signal: the run looks again by itself. */
const waitForMending = (during: string, { reason, message }: AgentProblem, untilMs: number | null = null): AgentPlan =>
  wait(during, reason, `another try: ${message}`, untilMs);

/** Of a VM that is there. One that has been an Agent is a user's to power off. */
function missingOf(vm: AgentVm, phase: ObservedAgent['phase'], isInstalled: boolean): AgentStep[] {
  const isNew = phase === null || phase === 'Provisioning';
  const { length: tags } = vm.missingTags;
  return [
    ...(tags > 0
      ? [{ kind: 'attachTags', phase: 'Creating', summary: `Attach ${tags === 1 ? 'a tag' : `${tags} tags`}` } as const]
      : []),
    ...(!vm.isOn && isNew ? [{ kind: 'powerOn', phase: 'PoweringOn', summary: `Power on ${vm.name}` } as const] : []),
    ...(isInstalled && vm.iso !== null
      ? [{ kind: 'ejectIso', phase: 'Installed', summary: `Take ${vm.iso} out of its drive` } as const]
      : []),
  ];
}

const phase = 'Deleting';
const removeFinalizer = (summary: string): AgentStep => ({ kind: 'removeFinalizer', phase, summary });

/** What sends no signal is asked for again. */
const againMs = 60_000;

/** What cannot be known keeps the VM, and the object with it. */
function planDeletion(situation: AgentSituation, { isHeld, vmName, force }: DesiredAgent): AgentPlan {
  const { pool, problem, vm, machine, agent } = situation.observed;
  if (!isHeld) return done('gone', 'Released', 'It is being deleted, and drover holds nothing of it');
  if (pool === null)
    return execute([removeFinalizer('Keep the VM, as its pool is not there, and remove the finalizer')]);
  if (!pool.deletes)
    return execute([removeFinalizer('Keep the VM, as the pool retains what it has made, and remove the finalizer')]);
  if (problem !== null && pool.deleting && pool.force) return planUnseen(situation, problem);
  if (problem !== null) return waitForMending(phase, problem);
  if (vm === null) {
    const destroy: AgentStep[] =
      agent?.isBound === false
        ? [{ kind: 'destroy', phase, summary: `Delete Agent ${agent.name}, its VM is gone` }]
        : [];
    return execute([...destroy, removeFinalizer('Remove the finalizer')]);
  }
  if (machine !== null && !force && !pool.force)
    return wait(
      phase,
      'MachinePresent',
      `Machine ${machine} to be gone, as its Node runs on ${vm.name}; the annotation drover.dev/force-delete=true has the VM destroyed all the same`,
    );
  // Its Machine is gone already, so that its pool has nothing more to say of it.
  if (agent?.isBound === true && !force && !pool.force)
    return wait(
      phase,
      'AgentBound',
      `Agent ${agent.name} to be unbound, as it runs on ${vm.name}; the annotation drover.dev/force-delete=true has the VM destroyed all the same`,
      situation.nowMs + againMs,
    );
  return execute(
    [{ kind: 'destroy', phase, summary: `Destroy VM ${vmName}` }, removeFinalizer('Remove the finalizer')],
    destroys,
  );
}

/** A vCenter that does not answer is waited for so long, though the pool goes by force: nothing looks for the VM later. */
const giveUpAfterMs = 10 * 60_000;

/** Of one whose pool goes by force. */
function planUnseen({ memory, nowMs }: AgentSituation, problem: AgentProblem): AgentPlan {
  const { noAnswerSinceMs = nowMs } = memory;
  const isGivenUp =
    problem.vcenter === 'notAsked' || (problem.vcenter === 'noAnswer' && nowMs - noAnswerSinceMs >= giveUpAfterMs);
  return isGivenUp
    ? execute([removeFinalizer('Keep the VM, as its vCenter cannot be asked, and its pool goes by force')])
    : waitForMending(phase, problem, nowMs + againMs);
}

export const pruneAgent = (
  { noAnswerSinceMs, ...memory }: AgentMemory,
  { observed, nowMs }: Pick<AgentSituation, 'observed' | 'nowMs'>,
): AgentMemory =>
  observed.problem?.vcenter === 'noAnswer' ? { ...memory, noAnswerSinceMs: noAnswerSinceMs ?? nowMs } : memory;

/** What the object is to say of a plan; null: nothing. */
export function agentStatus(
  { desired, observed, settings }: AgentSituation,
  plan: AgentPlan,
): VsphereAgentStatus | null {
  if (desired === null || plan.kind === 'execute' || (plan.kind === 'done' && plan.outcome === 'gone')) return null;
  if (settings.mode === 'observe') return { observed: sayObserved(plan, desired.generation) };
  const isReady = plan.kind === 'done' && plan.outcome === 'reconciled';
  const { reason, message } = describePlan(plan);
  const { vm } = observed;
  return {
    ...(vm !== null && { vm: { name: vm.name, biosUUID: vm.biosUUID, macAddress: vm.macAddress } }),
    ready: { status: isReady ? 'True' : 'False', reason, message, observedGeneration: desired.generation },
  };
}

/** Whether the object says so. */
export function isAgentSaid({ recorded }: ObservedAgent, status: VsphereAgentStatus): boolean {
  const isSaid = (type: string, update: Omit<ConditionUpdate, 'type'>): boolean => {
    const said = findCondition(recorded.conditions as never, type);
    return (
      said?.status === update.status &&
      said.reason === update.reason &&
      said.message === update.message &&
      said.observedGeneration === update.observedGeneration
    );
  };
  if ('observed' in status) return isSaid(agentPoolConditions.observed, status.observed);
  const { vm, ready } = status;
  const isVmSaid =
    vm === undefined ||
    (vm.name === recorded.name && vm.biosUUID === recorded.biosUUID && vm.macAddress === recorded.macAddress);
  return isVmSaid && isSaid(agentPoolConditions.ready, ready);
}
