import type {
  Looking,
  PatchedVirtualMachine,
  SubmittedTask,
  VirtualMachineLook,
  VmSubject,
  VsphereFacts,
} from '../../contracts/virtual-machine/activities.ts';
import type { DesiredVirtualMachine } from '../../contracts/virtual-machine/lifecycle.ts';
import type { VirtualMachineStep } from '../../contracts/virtual-machine/plan.ts';
import { lookFor } from '../../contracts/virtual-machine/look.ts';
import { virtualMachineObjects, vsphere } from '../lib/virtual-machine-activities.ts';
import type { VirtualMachineRun } from './run.ts';
import { fullName } from './step.ts';

/** Waits for a task to its end, or throws what it failed with. */
export type AwaitTask = (task: SubmittedTask & Looking, words: string, deadlineMs: number) => Promise<Done>;

/** What is known after a step, and so need not be asked for. Undefined: that has to be looked at. */
export interface Done {
  facts?: VsphereFacts;
  /** The object was written, and all that was decided on it still holds. */
  isCurrent?: boolean;
  /** Of a create that is not waited for. */
  task?: string;
}

/** Takes one step: the calls of one deed, with its words beside them in the Web UI. Fails as they do. */
export async function carryOut(run: VirtualMachineRun, step: VirtualMachineStep, awaitTask: AwaitTask): Promise<Done> {
  const begun = await begin(run, step);
  if (!('taskId' in begun)) return begun;
  if (step.do === 'createVirtualMachine' && !step.blocking) return { task: begun.taskId };
  // There is no VM yet to look at.
  if (step.do === 'file')
    return await awaitTask(begun, step.words, settingsOf(run).taskMs).then(() => ({ isCurrent: true }));
  return await awaitTask(
    { ...begun, look: lookOf(run) },
    step.words,
    step.do === 'awaitTask' ? step.deadlineMs : settingsOf(run).taskMs,
  );
}

async function begin(run: VirtualMachineRun, step: VirtualMachineStep): Promise<SubmittedTask | Done> {
  return (await submit(run, step)) ?? {};
}

/** Null: it is done, and nothing more is known. */
async function submit(run: VirtualMachineRun, step: VirtualMachineStep): Promise<SubmittedTask | Done | null> {
  const desired = desiredOf(run);
  const { namespace, name, uid, generation } = desired;
  const object = { namespace, name, uid };
  const objects = virtualMachineObjects(step.words);
  const calls = vsphere(settingsOf(run).vcenter, step.words);
  const owner = { mark: markOf(desired), cause: causeOf(desired), look: lookOf(run) };
  const subject = (vmId: string): VmSubject => ({ ...owner, vmId });
  switch (step.do) {
    case 'patchVirtualMachine':
      return takeUp(run, await objects.patchVirtualMachine({ ...object, generation, patches: step.patches }));
    case 'ensureImageCache':
      return await objects
        .ensureImageCache({
          name: step.name,
          providerId: step.providerId,
          providerVersion: step.providerVersion,
          location: step.location,
        })
        .then(() => null);
    case 'createVirtualMachine': {
      const made = await calls.submitNewVm({ ...owner, create: step.create });
      return 'vmId' in made ? null : made;
    }
    case 'file': {
      const { place, words: _, phase: __, do: ___, ...deed } = step;
      return (await calls.submitFileDeed({ ...owner, place, deed })) ?? { isCurrent: true };
    }
    case 'awaitTask':
      return { taskId: step.task, purpose: purposeOf(run, step) };
    case 'cancelCreate':
      return await calls.stopCreate({ ...owner, task: step.task, folder: folderOf(run), name }).then(() => null);
    case 'adopt':
      return await calls.submitAdoption({ ...subject(step.moId), changeVersion: step.changeVersion });
    case 'reconfigure':
      return await calls.submitReconfigure({
        ...subject(step.moId),
        changeVersion: step.changeVersion,
        spec: step.spec,
      });
    case 'upgradeHardware':
      return await calls.submitHardwareUpgrade({ ...subject(step.moId), version: step.version });
    case 'bootstrap':
      return await calls.submitBootstrap({
        ...subject(step.moId),
        object,
        kind: desired.bootstrap.kind,
        part: step.part,
        hash: step.hash,
      });
    case 'attachClusterModule':
      return await calls.attachClusterModule({ ...subject(step.moId), module: step.module }).then(() => null);
    case 'power':
      return await calls.submitPower({ ...subject(step.moId), operation: step.operation });
    case 'writeBackup':
      return await calls.submitBackup({ ...subject(step.moId), object, version: step.version });
    case 'detachDisks':
      return await calls.submitDetachDisks({ ...subject(step.moId), keys: step.keys });
    case 'destroy':
      return await calls.submitDestroy(subject(step.moId));
    case 'releaseMarks':
      return await calls.submitRelease(subject(step.moId));
    case 'cancelTask':
      return await calls.cancelVsphereTask({ ...subject(run.facts.vm?.moId ?? ''), task: step.task }).then(() => null);
  }
}

/** What was written is known from now on. */
export function takeUp(run: VirtualMachineRun, written: PatchedVirtualMachine | null): Done {
  if (run.seen === null || written === null) return { isCurrent: false };
  run.seen = { ...run.seen, desired: written.desired, recorded: written.recorded };
  return { isCurrent: written.isCurrent };
}

/** What else is named stays as it was read: nothing of it has been told to have changed. */
function lookOf({ seen }: VirtualMachineRun): VirtualMachineLook {
  if (seen === null || seen.desired === null) throw new Error('planned before the first look');
  return lookFor(seen.desired, seen.recorded, seen.objects);
}

/** A task that is waited for anew: that of the create, or one that somebody began on the VM. Nobody knows what that one was given: it may be bootstrap data. */
function purposeOf(run: VirtualMachineRun, { task }: { task: string }): SubmittedTask['purpose'] {
  const desired = desiredOf(run);
  if (task !== run.state.memory.create?.task) return { kind: 'change', vmId: run.facts.vm?.moId ?? '', isSecret: true };
  return {
    kind: 'create',
    mark: markOf(desired),
    folder: folderOf(run),
    name: desired.name,
    instanceUuid: desired.instanceUuid ?? desired.uid,
  };
}

const folderOf = ({ facts: { placement } }: VirtualMachineRun): string | null =>
  placement.kind === 'placed' ? placement.at.folder : null;

const markOf = (desired: DesiredVirtualMachine): VmSubject['mark'] => ({
  namespacedName: fullName(desired),
  uid: desired.uid,
});

/** On whose word: that of the spec. */
const causeOf = ({ generation, deleting }: DesiredVirtualMachine): string =>
  deleting ? 'the object is deleted' : `generation ${generation} of the object`;

function desiredOf({ seen }: VirtualMachineRun): DesiredVirtualMachine {
  if (seen === null || seen.desired === null) throw new Error('planned before the first look');
  return seen.desired;
}

function settingsOf({ seen }: VirtualMachineRun) {
  if (seen === null) throw new Error('planned before the first look');
  return seen.settings;
}
