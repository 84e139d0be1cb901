import { isCancellation } from '@temporalio/workflow';
import {
  observationRequestOf,
  type Along,
  type MutationRequest,
  type ObserveAfter,
  type ObservationRequest,
  type ObservedAfter,
  type SubmittedTask,
  type VirtualMachineVsphereActivities,
  type VmSubject,
  type WrittenAlong,
  type WrittenVirtualMachine,
} from '../../contracts/virtual-machine/activities.ts';
import type { DesiredVirtualMachine } from '../../contracts/virtual-machine/lifecycle.ts';
import type { PublishedVirtualMachine } from '../../contracts/virtual-machine/mutations.ts';
import { explain, lastDetail } from '../lib/failures.ts';
import type { Amend, Executed, Executor, Reconciler, StepContext } from '../lib/lifecycle.ts';
import { virtualMachineObjects, vsphere, vsphereTask } from '../lib/virtual-machine-activities.ts';
import { applyFailure, applyResult, failedBy } from './memory.ts';
import {
  fullName,
  type VirtualMachineLifecycle,
  type VirtualMachineSituation,
  type VirtualMachineStep,
} from './plan/context.ts';
import { ofVcenter, releaseOf } from '../limits/slots.ts';
import { diffStatus } from './status-diff.ts';

type Context = StepContext<VirtualMachineLifecycle>;
type Result = Executed<VirtualMachineLifecycle>;
type Execute = Reconciler<VirtualMachineLifecycle>['execute'];
type StepOf<Kind extends VirtualMachineStep['kind']> = Extract<VirtualMachineStep, { kind: Kind }>;

/**
 * What a call of vCenter came to: a task to be awaited, or all of it and what vCenter shows then. Null: it is done, and
 * no more is known.
 */
type Submitted = SubmittedTask | ObservedAfter | { vmId: string } | null | void;

/**
 * A step that submits a mutation to vCenter, awaits its task where that takes long, and knows what vCenter shows then.
 */
const mutation =
  <Kind extends VirtualMachineStep['kind']>(
    submit: (calls: VirtualMachineVsphereActivities, about: About, step: StepOf<Kind>) => Promise<Submitted>,
  ): Executor<VirtualMachineLifecycle, StepOf<Kind>> =>
  async (context, step) => {
    const about = aboutOf(context);
    return await afterSubmit(context, step, await submit(vsphere(context.settings.vcenter, step.summary), about, step));
  };

/** How each step is executed: one activity, and a second where a task of vCenter has to be awaited. */
export const executors: Execute = {
  async patchVirtualMachine(context, step) {
    const { object, desired } = aboutOf(context);
    const { generation } = desired;
    const { patches } = step;
    const written = await virtualMachineObjects(step.summary).patchVirtualMachine({ ...object, generation, patches });
    if (written?.isCurrent !== true) return { ...ended(step), isOutdated: true };
    return { ...ended(step), observation: asWritten(written) };
  },
  async ensureImageCache(context, step) {
    const { name, providerId, providerVersion, location } = step;
    await virtualMachineObjects(step.summary).ensureImageCache({ name, providerId, providerVersion, location });
    return ended(step);
  },
  async changeVolumes(context, step) {
    const { object } = aboutOf(context);
    const { isCurrent } = await virtualMachineObjects(step.summary).changeVolumes({ ...object, changes: step.changes });
    return isCurrent ? ended(step) : { ...ended(step), isOutdated: true };
  },
  async evaluatePolicies(context, step) {
    const { object } = aboutOf(context);
    const { spec, before } = step;
    const { isCurrent } = await virtualMachineObjects(step.summary).ensurePolicyEvaluation({ ...object, spec, before });
    return isCurrent ? ended(step) : { ...ended(step), isOutdated: true };
  },
  async createVirtualMachine(context, step) {
    const { settings } = context;
    const { request, object, desired } = aboutOf(context);
    const { create, blocking, notes } = step;
    const report = reportOf(context);
    const submitted = await vsphere(settings.vcenter, step.summary).submitNewVm({
      ...request,
      create,
      ...(notes.length > 0 && { notes: { ...object, generation: desired.generation, patches: notes } }),
      ...(report && { report }),
      ...slotIn(context),
    });
    if ('isOutdated' in submitted) return { isOutdated: true };
    const noted: Amend<VirtualMachineLifecycle> = submitted.written ? asWritten(submitted.written) : (latest) => latest;
    if (!('taskId' in submitted)) return shown(step, submitted, noted);
    // While it is made there is nothing to observe.
    if (!blocking)
      return { ...ended(step, submitted.taskId), observation: (latest) => asRecorded(submitted.said)(noted(latest)) };
    return await awaited(context, step, submitted, settings.taskMs, noted);
  },
  async file(context, step) {
    const { settings } = context;
    const { request } = aboutOf(context);
    const { place, operation } = step;
    const task = await vsphere(settings.vcenter, step.summary).submitFileOperation({ ...request, place, operation });
    const end = task === null ? {} : await awaitTask(context, step, task);
    // There is no VM yet to observe.
    return end === null ? { isOutdated: true } : { ...shown(step, end), observation: asRecorded(end.said) };
  },
  awaitTask: (context, step) =>
    afterSubmit(context, step, { taskId: step.task, purpose: purposeOf(context, step.task) }, step.deadlineMs),
  async cancelCreate(context, step) {
    const { request, folder, desired } = aboutOf(context);
    const { task, awaited, summary } = step;
    const stopped = { ...request, task, ...(awaited && { awaited }), folder, name: desired.name };
    try {
      await vsphere(context.settings.vcenter, summary).stopCreate(stopped);
      return ended(step);
    } catch (error) {
      const running = lastDetail(error);
      if (!isTasks(running)) throw error;
      // Those that have begun since are not it: without this, a vCenter that is always busy would be waited for forever.
      const failed = failedBy(explain(error));
      const nowMs = Date.now();
      return {
        applyResult: (memory) => ({
          ...applyFailure(memory, step, failed, nowMs),
          create: { task: null, sinceMs: memory.create?.sinceMs ?? nowMs, awaited: running },
        }),
        isOutdated: true,
      };
    }
  },
  adopt: mutation<'adopt'>((calls, { subject }, { moId, changeVersion }) =>
    calls.submitAdoption({ ...subject(moId), changeVersion }),
  ),
  reconfigure: mutation<'reconfigure'>((calls, { subject }, { moId, changeVersion, spec }) =>
    calls.submitReconfigure({ ...subject(moId), changeVersion, spec }),
  ),
  upgradeHardware: mutation<'upgradeHardware'>((calls, { subject }, { moId, version }) =>
    calls.submitHardwareUpgrade({ ...subject(moId), version }),
  ),
  bootstrap: mutation<'bootstrap'>((calls, { subject, object, desired }, { moId, part, hash, cards }) =>
    calls.submitBootstrap({ ...subject(moId), object, kind: desired.bootstrap.kind, part, hash, cards }),
  ),
  attachClusterModule: mutation<'attachClusterModule'>((calls, { subject }, { moId, module }) =>
    calls.attachClusterModule({ ...subject(moId), module }),
  ),
  async promoteDisks(context, step) {
    const { settings } = context;
    const { subject } = aboutOf(context);
    const { moId, keys, task, summary } = step;
    // What it leads to is not observed with it: it may take an hour, and other things are done meanwhile.
    const { observeAfter: _, ...request } = subject(moId);
    const submitted: Submitted =
      task === null
        ? await vsphere(settings.vcenter, summary).submitPromotion({ ...request, keys })
        : { taskId: task, purpose: { kind: 'change', vmId: moId, isPromotion: true } };
    if (!submitted || !('taskId' in submitted)) return ended(step);
    const end = await awaitTask(context, step, submitted);
    return end === null ? { isOutdated: true } : ended(step);
  },
  async power(context, step) {
    const { object, desired, subject } = aboutOf(context);
    const { moId, operation, notes = [] } = step;
    const submitted = await vsphere(context.settings.vcenter, step.summary).submitPower({
      ...subject(moId),
      operation,
      ...(notes.length > 0 && { notes: { ...object, generation: desired.generation, patches: notes } }),
    });
    if (submitted !== null && 'isOutdated' in submitted) return { isOutdated: true };
    if (submitted === null || 'taskId' in submitted) return await afterSubmit(context, step, submitted);
    return shown(step, submitted, 'written' in submitted ? asWritten(submitted.written) : undefined);
  },
  writeBackup: mutation<'writeBackup'>((calls, { subject, object }, { moId, version }) =>
    calls.submitBackup({ ...subject(moId), object, version }),
  ),
  detachDisks: mutation<'detachDisks'>((calls, { subject }, { moId, keys }) =>
    calls.submitDetachDisks({ ...subject(moId), keys }),
  ),
  destroy: mutation<'destroy'>((calls, { subject }, { moId }) => calls.submitDestroy(subject(moId))),
  releaseVm: mutation<'releaseVm'>((calls, { subject }, { moId }) => calls.submitRelease(subject(moId))),
  cancelTask: mutation<'cancelTask'>((calls, { subject, vmId }, { task }) =>
    calls.cancelVsphereTask({ ...subject(vmId), task }),
  ),
};

const isTasks = (detail: unknown): detail is string[] =>
  Array.isArray(detail) && detail.every((one) => typeof one === 'string');

const ended = (step: VirtualMachineStep, task: string | null = null) => {
  const nowMs = Date.now();
  return {
    applyResult: (memory: VirtualMachineLifecycle['memory']) => applyResult(memory, step, nowMs, task),
  } satisfies Result;
};

const afterSubmit = async (
  context: Context,
  step: VirtualMachineStep,
  submitted: Submitted,
  deadlineMs: number = context.settings.taskMs,
): Promise<Result> =>
  submitted && 'taskId' in submitted
    ? await awaited(context, step, submitted, deadlineMs)
    : shown(step, submitted && 'observation' in submitted ? submitted : {});

async function awaited(
  context: Context,
  step: VirtualMachineStep,
  task: SubmittedTask,
  deadlineMs: number,
  noted?: Amend<VirtualMachineLifecycle>,
): Promise<Result> {
  const end = await awaitTask(context, step, { ...task, observeAfter: aboutOf(context).observeAfter }, deadlineMs);
  return end === null ? { isOutdated: true } : shown(step, end, noted);
}

type End = Partial<ObservedAfter> & WrittenAlong;

/** What a call has returned is known, and so need not be observed. */
function shown(step: VirtualMachineStep, end: End, noted?: Amend<VirtualMachineLifecycle>): Result {
  const { observation, said, isSlotReleased = false } = end;
  const apply = ended(step).applyResult;
  const amend: Amend<VirtualMachineLifecycle> = (before) => {
    const latest = asRecorded(said)(noted === undefined ? before : noted(before));
    return { ...latest, observed: { ...latest.observed, vcenter: observation ?? null, isAfterStep: true } };
  };
  return {
    applyResult: (memory) => (isSlotReleased ? { ...apply(memory), slot: null } : apply(memory)),
    isSlotReleased,
    isSaid: said !== undefined,
    ...(observation !== undefined && said !== null && { observation: amend }),
  };
}

/**
 * Awaits a task of vCenter, in an activity that says meanwhile what is executed. The wait is given up where the run is
 * cancelled, or a VM that is being made is not wanted any more. What may take an hour ends then: a create, copies for
 * it, a promotion. All other tasks end by themselves, and soon. Null: it was given up, and what became of the task, the
 * next observation shows.
 */
async function awaitTask(
  context: Context,
  step: VirtualMachineStep,
  task: SubmittedTask & ObserveAfter,
  deadlineMs: number = context.settings.taskMs,
): Promise<End | null> {
  const { settings } = context;
  const isCreate = step.stage === 'create';
  const report = reportOf(context);
  const isLast = isCreate && step.kind !== 'file';
  const request = { ...task, ...(report && { report }), ...(isLast && slotIn(context)) };
  try {
    const work = () => vsphereTask(settings.vcenter, deadlineMs, step.summary).awaitTask(request);
    return await context.whileWanted(work, isCreate ? () => isUnwanted(context) : undefined);
  } catch (error) {
    if (isCancellation(error)) return null;
    throw error;
  }
}

/** What the activity says of the step, where that is due. */
function reportOf(context: Context): Along['report'] | null {
  const { object, desired } = aboutOf(context);
  const said = context.unsaid();
  return said && { ...object, generation: desired.generation, ...withoutKnown(context, said) };
}

/** Only what the status does not contain yet, where that is known. */
export const withoutKnown = (
  { observed, isOvertaken }: VirtualMachineSituation,
  { status, ...said }: PublishedVirtualMachine,
): PublishedVirtualMachine => ({
  ...said,
  status: status && (isOvertaken === true ? status : diffStatus(observed.recorded, status)),
});

const slotIn = (context: Context): Pick<Along, 'slot'> => {
  const slot = releaseOf<VirtualMachineLifecycle>(context, ofVcenter);
  return slot === undefined ? {} : { slot };
};

async function isUnwanted({ input: { namespace, name } }: Context): Promise<boolean> {
  try {
    const read = await virtualMachineObjects(`Observe whether ${namespace}/${name} is still wanted`).readVirtualMachine(
      { namespace, name },
    );
    return read.kind === 'observed' && (read.desired === null || read.desired.deleting);
  } catch (error) {
    void explain(error);
    return false;
  }
}

/** What a step has written is known from now on. */
const asWritten =
  ({ desired, recorded }: WrittenVirtualMachine): Amend<VirtualMachineLifecycle> =>
  (latest) => ({ ...latest, desired, retry: desired.retry, observed: { ...latest.observed, recorded } });

/** The same of the status. The spec stays the one that was planned for, until it is observed. */
export const asRecorded =
  (said: WrittenVirtualMachine | null | undefined): Amend<VirtualMachineLifecycle> =>
  (latest) => {
    if (!said) return latest;
    const { desired, recorded } = said;
    return desired.generation === latest.desired?.generation
      ? asWritten(said)(latest)
      : { ...latest, observed: { ...latest.observed, recorded } };
  };

interface About {
  desired: DesiredVirtualMachine;
  object: Pick<DesiredVirtualMachine, 'namespace' | 'name' | 'uid'>;
  request: MutationRequest;
  subject: (vmId: string) => VmSubject;
  /** What else is named stays as it was read: no change of it was signalled. */
  observeAfter: ObservationRequest;
  /** Where its VM goes; null: not known. */
  folder: string | null;
  /** Empty: there is none. */
  vmId: string;
}

/** The arguments that all calls have in common. */
function aboutOf({ desired, observed: { recorded, objects, vcenter } }: Context): About {
  if (desired === null) throw new Error('executed without an object');
  const { namespace, name, uid, generation, deleting } = desired;
  const observeAfter = observationRequestOf(desired, recorded, objects);
  const owner = { namespacedName: fullName(desired), uid };
  // The cause, for the audit log.
  const cause = deleting ? 'the object is deleted' : `generation ${generation} of the object`;
  const request = { owner, cause, observeAfter };
  return {
    desired,
    object: { namespace, name, uid },
    request,
    subject: (vmId) => ({ ...request, vmId }),
    observeAfter,
    folder: vcenter?.placement.kind === 'placed' ? vcenter.placement.at.folder : null,
    vmId: vcenter?.vm?.moId ?? '',
  };
}

/**
 * A task that is awaited anew: that of the create, or one that another began on the VM. The input of that one is not
 * known: it may be bootstrap data.
 */
function purposeOf(context: Context, task: string): SubmittedTask['purpose'] {
  const { desired, request, folder, vmId } = aboutOf(context);
  if (task !== context.memory.create?.task) return { kind: 'change', vmId, isSecret: true };
  const { name, instanceUuid, uid } = desired;
  return { kind: 'create', owner: request.owner, folder, name, instanceUuid: instanceUuid ?? uid };
}
