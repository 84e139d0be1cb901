import {
  takenOverHash,
  virtualMachineAnnotations,
  virtualMachineFinalizers,
  virtualMachineLabels,
} from '../../../contracts/virtual-machine/metadata.ts';
import type { VirtualMachinePatch } from '../../../contracts/virtual-machine/mutations.ts';
import type { Outcome } from './context.ts';
import { judgeImageCache } from './cached-files.ts';
import { fastDeployOf, planCreate } from './create.ts';
import { isAuto, waitsForCacheUntilMs } from './fast-deploy.ts';
import { upgradeAnnotations, planUpdate } from './update.ts';
import {
  patch,
  stop,
  wait,
  execute,
  failureOf,
  retry,
  type Context,
  type VirtualMachineAction,
  type VmContext,
} from './context.ts';
import { findOwn, mayBeHalfMade } from './find-own.ts';
import { isConnected } from './config.ts';
import { locationMismatch, type LocationMismatch } from './location.ts';
import { madeNotes } from './power.ts';

/** An object that is not being deleted. */
export function planNormal(
  context: Context,
  createOrUpdate: (context: Context) => Outcome = planCreateOrUpdate,
): Outcome {
  const { desired, observed } = context;
  if (desired.paused)
    return stop(
      'Paused',
      `The annotation ${virtualMachineAnnotations.paused} pauses it: nothing is observed, and nothing is changed`,
    );
  const elsewhere = judgeVcenter(context);
  if (elsewhere !== null) return elsewhere;
  const missing = fillIn(context);
  if (missing !== null) return takeCharge(context, missing, createOrUpdate);

  // The switch of the whole feature, and whether it is on for this VM.
  if (fastDeployOf(context) !== null) {
    const cache = judgeImageCache(desired, observed.imageCache);
    const dropped: VirtualMachinePatch = {
      ...(cache.drop.includes('label') && { labels: { [virtualMachineLabels.imageCache]: null } }),
      ...(cache.drop.includes('location') && { annotations: { [virtualMachineAnnotations.imageCacheLocation]: null } }),
    };
    if (cache.drop.length > 0)
      return patch(
        'create',
        cache.kind === 'ready' ? 'The cached image is there' : 'Ask for the cached image anew',
        dropped,
      );
    if (cache.kind === 'notReady') return waitForCache(context, cache.message);
  }
  return createOrUpdate(context);
}

function waitForCache(context: Context, message: string): Outcome {
  const says = `the cached image: ${message}`;
  if (!isAuto(context)) return wait('WaitingForImageCache', says);
  const untilMs = waitsForCacheUntilMs(context);
  // The operator before drover has asked, and may be gone.
  if (untilMs === null)
    return patch('create', 'Note since when its cached image is waited for', {
      annotations: { [virtualMachineAnnotations.imageCacheAsked]: new Date(context.nowMs).toISOString() },
    });
  return wait(
    'WaitingForImageCache',
    `${says}; from ${new Date(untilMs).toISOString()} on it is made without it`,
    untilMs,
  );
}

/**
 * Where its VM can be made next, that is noted along with the rest: in one call, and the finalizer comes first. One
 * that waits for a slot before is not held: nothing of it is in vCenter.
 */
function takeCharge(
  context: Context,
  { summary, patch: filled }: { summary: string; patch: VirtualMachinePatch },
  createOrUpdate: (context: Context) => Outcome,
): Outcome {
  const alone = patch('create', summary, filled);
  const { desired, observed } = context;
  if (filled.annotations === undefined || fastDeployOf(context) !== null) return alone;
  const next = createOrUpdate({ ...context, desired: { ...desired, managerId: observed.managerId } });
  const [create] = next.kind === 'execute' ? next.steps : [];
  if (create?.kind !== 'createVirtualMachine') return alone;
  return { kind: 'execute', steps: [{ ...create, notes: [filled, ...create.notes] }] };
}

/**
 * Whether its VM is in this vCenter, as far as the object says. MoIDs are of one vCenter: in another one, the VM may
 * seem to be gone and be made a second time, and a stranger may have its id. Null: it is, or the object does not say.
 */
export function judgeVcenter({
  desired: { managerId },
  observed,
  settings: { vcenter },
}: Pick<Context, 'desired' | 'observed' | 'settings'>): (Outcome & { kind: 'failed' }) | null {
  if (managerId === null || observed.managerId === '' || managerId === observed.managerId) return null;
  return stop(
    'VcenterChanged',
    `Its VM is in the vCenter ${managerId}, and vsphere.vcenters.${vcenter} is ${observed.managerId}: nothing is done. Correct the settings; or, where this vCenter has its VM now, or the VM is gone for good, annotate it with ${virtualMachineAnnotations.managerId}=${observed.managerId}`,
  );
}

/** The finalizer, and what upstream's webhooks would have filled in. Null: all of it is there. */
function fillIn({
  desired,
  observed,
  settings,
  nowMs,
}: Context): { summary: string; patch: VirtualMachinePatch } | null {
  const { current, deprecated } = virtualMachineFinalizers;
  const addsFinalizer = !desired.finalizers.includes(current);
  const dropsDeprecated = desired.finalizers.includes(deprecated);
  const spec = {
    // The object's uid is a UUID of its own: the same in every create, and upstream searches by it for VMs of
    // its first releases.
    ...(addsFinalizer && desired.instanceUuid === null && { instanceUUID: desired.uid }),
    ...(addsFinalizer && desired.biosUuid === null && { biosUUID: desired.uid }),
    ...(addsFinalizer &&
      desired.bootstrap.kind === 'CloudInit' &&
      desired.bootstrap.instanceId === null && {
        bootstrap: { cloudInit: { instanceID: desired.biosUuid ?? desired.uid } },
      }),
    ...(desired.nextRestartTime?.toLowerCase() === 'now' && { nextRestartTime: new Date(nowMs).toISOString() }),
  };
  const finalizers = {
    ...(addsFinalizer && { addFinalizers: [current] }),
    ...(dropsDeprecated && { removeFinalizers: [deprecated] }),
  };
  // One that is new needs no upgrade.
  const annotations =
    addsFinalizer && observed.candidates.length === 0
      ? { ...upgradeAnnotations(settings), [virtualMachineAnnotations.managerId]: observed.managerId }
      : null;
  const whole: VirtualMachinePatch = {
    ...finalizers,
    ...(annotations !== null && { annotations }),
    ...(Object.keys(spec).length > 0 && { spec }),
  };
  if (Object.keys(whole).length === 0) return null;
  return {
    summary: addsFinalizer ? 'Take charge of it: add the finalizer' : 'Fill in what the spec leaves open',
    patch: whole,
  };
}

/**
 * Makes the VM if there is none, and brings it up to date if there is one. The workflow id is the lock; what another
 * run has begun shows as a create in flight.
 */
export function planCreateOrUpdate(context: Context): Outcome {
  const { desired, observed, settings } = context;
  if (desired.managerId === null) {
    return patch('create', 'Note which vCenter it is in', {
      annotations: { [virtualMachineAnnotations.managerId]: observed.managerId },
    });
  }
  const found = findOwn(desired, observed.candidates);
  const unfinished = mayBeHalfMade(found) ? waitForOwner(context) : null;
  if (unfinished !== null) return unfinished;
  switch (found.kind) {
    case 'foreign':
      return stop('NotOwned', found.message);
    case 'ambiguous':
      return stop('Ambiguous', found.message);
    case 'unreadable':
      return stop('NotConnected', found.message);
    case 'own':
      if (observed.vm === null || observed.vm.moId !== found.moId)
        return wait('Updating', 'another observation of its VM', context.nowMs + settings.pollMs);
      return found.owner === 'drover'
        ? planOwn({ ...context, vm: observed.vm })
        : planAdoption({ ...context, vm: observed.vm });
    case 'none': {
      const making = awaitCreate(context);
      if (making !== null) return making;
      const failure = failureOf(context, 'create');
      const outcome = planCreate(context);
      return failure !== undefined && outcome.kind === 'execute' ? retry(failure) : outcome;
    }
  }
}

/** Null: no task of a create is known that is under way. */
function awaitCreate({ desired, memory, settings }: Context): Outcome | null {
  const task = memory.create?.task ?? null;
  return task === null
    ? null
    : execute('create', [
        `Wait until VM ${desired.name} is made`,
        { kind: 'awaitTask', task, deadlineMs: settings.taskMs },
      ]);
}

/**
 * A VM that has no owner yet is not judged while a create may be making it: it would be taken for a stranger's, or be
 * adopted as if its guest were set up. Null: no create is under way, or it has had its time.
 */
function waitForOwner(context: Context): Outcome | null {
  const { desired, memory, settings, nowMs } = context;
  const making = awaitCreate(context);
  if (making !== null) return making;
  const hasEnded = memory.failures.some(({ stage, requeue }) => stage === 'create' && !requeue);
  const noted = hasEnded ? null : desired.creatingSince;
  // A note that is no time says nothing.
  const endMs = (memory.create?.sinceMs ?? Date.parse(noted ?? '')) + settings.taskMs;
  return nowMs < endMs
    ? wait(
        'Creating',
        `the owner of VM ${desired.name}, which may be being made: vCenter lists a VM before its owner is written`,
        Math.min(nowMs + settings.pollMs, endMs),
      )
    : null;
}

/** Of a VM that was moved out of its namespace nothing is changed, as whose it is now is not known. */
function planOwn(context: VmContext): Outcome {
  const { desired, vm } = context;
  const mismatch = locationMismatch(vm);
  if (mismatch !== null)
    return stop(
      mismatch,
      `${vm.name} was moved out of its namespace in vCenter, and is left as it is. Move it back into ${misplacedIn(mismatch)}`,
    );
  const outcome = planUpdate(context);
  const isNoted = desired.creatingSince === null && !desired.copiesAt && desired.madeDisks !== null;
  if (outcome.kind === 'execute' || isNoted || vm.config === null) return outcome;
  return patch('status', `Note that ${desired.name} is made, and of which disks`, { annotations: madeNotes(vm) });
}

const misplacedIn = (mismatch: LocationMismatch): string =>
  ({
    FolderMismatch: 'its folder, or one of those in it',
    ResourcePoolMismatch: 'its resource pool, or one of those in it',
    ResourcePoolAndFolderMismatch: 'its folder and its resource pool',
  })[mismatch];

/** Takes a VM over: without the owner nothing is done to it. */
export function planAdoption(context: VmContext): Outcome {
  const { desired, vm } = context;
  if (vm.config === null || !isConnected(context))
    return stop('NotConnected', `${vm.name} cannot be taken over while it is ${vm.connectionState}`);
  const stage = desired.deleting ? 'delete' : 'config';
  const failure = failureOf(context, stage);
  return failure === undefined
    ? execute(
        stage,
        // Before: with its owner in it, its guest would be set up anew at the next start.
        ...(stage === 'delete' ? [] : noteSetup(context)),
        [
          `Take VM ${vm.name} over: write its owner`,
          { kind: 'adopt', moId: vm.moId, changeVersion: vm.config.changeVersion },
        ],
      )
    : retry(failure);
}

/** What its guest was set up with is what counts as applied: a host name, an instance id and keys are given once. */
function noteSetup({ desired, observed }: Context): (readonly [summary: string, action: VirtualMachineAction])[] {
  const { config, custom } = desired.bootstrapHashes;
  const { bootstrap } = observed.prerequisites;
  // What a spec without a bootstrap comes to is for VMs that drover makes.
  const hasNone = bootstrap === null || (bootstrap.kind === 'found' && bootstrap.value.isDefault);
  if (hasNone || (config === takenOverHash && custom === takenOverHash)) return [];
  const annotations = {
    [virtualMachineAnnotations.bootstrapConfigHash]: takenOverHash,
    [virtualMachineAnnotations.bootstrapCustomHash]: takenOverHash,
  };
  return [
    [`Note that the guest of ${desired.name} is set up`, { kind: 'patchVirtualMachine', patches: [{ annotations }] }],
  ];
}
