import type { RunProgress, Unobserved } from '../../contracts/runs.ts';
import type { VirtualMachineInput } from '../../contracts/virtual-machine/lifecycle.ts';
import type { VirtualMachineProgress } from '../../contracts/virtual-machine/observation.ts';
import type { PublishedVirtualMachine } from '../../contracts/virtual-machine/mutations.ts';
import { conditionsTable } from '../lib/conditions-table.ts';
import { explain, type Problem } from '../lib/failures.ts';
import type { Amend, Observation } from '../lib/lifecycle.ts';
import { describePlan } from '../lib/plan.ts';
import { defineReconciler } from '../lib/reconciler.ts';
import { virtualMachineObjects, virtualMachineObserver } from '../lib/virtual-machine-activities.ts';
import { asRecorded, withoutKnown, executors } from './execute.ts';
import { applyFailure, failedBy, noMemory, prune, resetFailures } from './memory.ts';
import {
  isBeingMade,
  type VirtualMachineLifecycle,
  type VirtualMachinePlan,
  type VirtualMachineSituation,
} from './plan/context.ts';
import { cancelOf } from './plan/delete.ts';
import { planVirtualMachine } from './plan/plan.ts';
import { ofVcenter, slotHooks } from '../limits/slots.ts';
import { isSaid, statusOf } from './status.ts';

/**
 * Drives a virtual machine to where its VirtualMachine wants it. Started by the bridge, by `drover`, or by hand with
 * plain JSON; the id `virtualmachine/<namespace>/<name>` is the lock. A cancel stops a VM that is being made and
 * a promotion of its disks, and lets every other task that is under way end.
 */
export const reconcileVirtualMachine = defineReconciler<VirtualMachineLifecycle>(
  { kind: 'VirtualMachine', input: ['namespace', 'name'] },
  {
    ...slotHooks<VirtualMachineLifecycle>(ofVcenter, (situation, status) => {
      const request = publishRequest(situation, status);
      return request && { publish: 'publishVirtualMachine', request };
    }),
    memory: { ...noMemory, slot: null },
    observe,
    plan: planVirtualMachine,
    execute: executors,
    applyFailure: (memory, step, problem, nowMs) => applyFailure(memory, step, failedBy(problem), nowMs),
    prune,
    resetFailures,
    status: statusOf,
    isSaid,
    publish,
    attributes: ({ input: { namespace, name } }) => ({ object: `${namespace}/${name}` }),
    progress: describeProgress,
    details,
    isEcho: ({ vcenter }, stateDigest) => vcenter?.stateDigest === stateDigest,
    // A slot is this run's own: while the VM is being made it is not released.
    isQuiescent: (memory) => !isBeingMade(memory),
    cancel: ({ input: { namespace, name }, memory: { create } }) => ({
      // What it has made all the same is found by its owner, when a run continues.
      steps:
        create === null
          ? []
          : [
              {
                ...cancelOf(create),
                summary: `Stop making VM ${name}`,
                stage: 'create',
                phase: 'Creating',
              },
            ],
      message: `The run was cancelled. \`drover retry vm ${namespace}/${name}\` goes on, and so does a changed spec`,
    }),
  },
);

/**
 * All that decisions need: the object with what it names, and its VM. Where vCenter does not answer, the
 * object says so.
 */
async function observe(input: VirtualMachineInput): Promise<Observation<VirtualMachineLifecycle> | Unobserved> {
  const { namespace, name } = input;
  let problem: Problem;
  try {
    const summary = `Observe ${namespace}/${name}: the object, what it names, and its VM`;
    const observation = await virtualMachineObserver(summary).observeVirtualMachine(input);
    if (observation.kind !== 'observed') return observation;
    return { ...observation, observed: { ...observation.observed, problem: null, isAfterStep: false } };
  } catch (error) {
    problem = explain(error);
    if (problem.code === 'InvalidInput') throw error;
  }
  const summary = `Read VirtualMachine ${namespace}/${name}, as one of the two does not answer`;
  const read = await virtualMachineObjects(summary).readVirtualMachine(input);
  if (read.kind !== 'observed') return read;
  return {
    ...read,
    observed: { ...read.observed, vcenter: null, problem: failedBy(problem), isAfterStep: false },
  };
}

/**
 * A field that kube-apiserver refuses is no reason to say it again and again: the conditions are written without it.
 */
async function publish(
  situation: VirtualMachineSituation,
  said: PublishedVirtualMachine,
): Promise<Amend<VirtualMachineLifecycle> | void> {
  const request = publishRequest(situation, said);
  if (request === null) return;
  const summary = `Write the status of VirtualMachine ${request.namespace}/${request.name}`;
  try {
    const written = await virtualMachineObjects(summary).publishVirtualMachine(request);
    if (written !== null) return asRecorded(written);
  } catch (error) {
    if (explain(error).code !== 'ObjectRefused') throw error;
  }
}

function publishRequest(situation: VirtualMachineSituation, said: PublishedVirtualMachine) {
  if (situation.desired === null) return null;
  const { namespace, name, uid, generation } = situation.desired;
  return { namespace, name, uid, generation, ...withoutKnown(situation, said) };
}

function describeProgress(situation: VirtualMachineSituation | null): Omit<VirtualMachineProgress, keyof RunProgress> {
  const vm = situation?.observed.vcenter?.vm;
  return {
    vmId: vm?.moId ?? null,
    powerState: vm?.powerState ?? null,
    host: vm?.hostName ?? null,
    failed: (situation?.memory.failures ?? []).map(({ stage, message, attempts, requeue, retryAtMs }) => ({
      stage,
      message,
      attempts,
      retryAtMs: requeue ? retryAtMs : null,
    })),
  };
}

/** The run as the Web UI shows it: a sentence, where the VM is, and the conditions as a table. */
function details(situation: VirtualMachineSituation, plan: VirtualMachinePlan): string {
  const { namespace, name } = situation.input;
  const { vmId, powerState, host } = describeProgress(situation);
  const where =
    vmId === null
      ? 'no VM in vCenter'
      : `${vmId}, ${powerState ?? 'power state not known'}${host === null ? '' : `, on ${host}`}`;
  const conditions = statusOf(situation, plan)?.status?.conditions ?? [];
  return [
    `**${namespace}/${name}** ${describePlan(plan).message}`,
    '',
    where,
    ...(conditions.length === 0 ? [] : ['', ...conditionsTable(conditions)]),
  ].join('\n');
}
