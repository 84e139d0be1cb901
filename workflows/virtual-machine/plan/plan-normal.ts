import {
  virtualMachineAnnotations,
  virtualMachineFinalizers,
  virtualMachineLabels,
} from '../../../contracts/virtual-machine/marks.ts';
import type { VirtualMachinePatch, Outcome } from '../../../contracts/virtual-machine/plan.ts';
import { judgeImageCache } from './judge-image-cache.ts';
import { fastDeployOf } from './plan-create.ts';
import { planCreateOrUpdate } from './plan-create-or-update.ts';
import { upgradeMarks } from './plan-schema-upgrade.ts';
import type { Context } from '../step.ts';
import { patch, stop, wait } from '../step.ts';

/** An object that is not being deleted. Sources: seed 000 "ReconcileNormal"; vm-and-machine.md A.4 N1–N9. */
export function planNormal(
  context: Context,
  createOrUpdate: (context: Context) => Outcome = planCreateOrUpdate,
): Outcome {
  const { desired, observed } = context;
  if (desired.paused)
    return stop(
      'Paused',
      `The annotation ${virtualMachineAnnotations.paused} pauses it: nothing is looked at, and nothing is changed`,
    );
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
    if (cache.kind === 'notReady') return wait('WaitingForImageCache', `the cached image: ${cache.message}`);
  }
  return createOrUpdate(context);
}

/**
 * Where its VM can be made at once, that is noted along with the rest: in one call, and the finalizer comes first. So its turn is asked for
 * before; one that has to wait for it is taken charge of meanwhile.
 */
function takeCharge(
  context: Context,
  { words, patch: filled }: { words: string; patch: VirtualMachinePatch },
  createOrUpdate: (context: Context) => Outcome,
): Outcome {
  const alone = patch('create', words, filled);
  const { desired, observed } = context;
  if (filled.annotations === undefined || fastDeployOf(context) !== null) return alone;
  const next = createOrUpdate({ ...context, desired: { ...desired, managerId: observed.managerId } });
  if (next.kind === 'wait' && next.turn !== undefined && observed.turn.taken === null) return next;
  const [notes, create, ...others] = next.kind === 'act' ? next.steps : [];
  if (notes?.do !== 'patchVirtualMachine' || create?.do !== 'createVirtualMachine' || others.length > 0) return alone;
  return { kind: 'act', steps: [{ ...notes, words, patches: [filled, ...notes.patches] }, create] };
}

/** The finalizer, and what upstream's webhooks would have filled in. Null: all of it is there. */
function fillIn({ desired, observed, settings, nowMs }: Context): { words: string; patch: VirtualMachinePatch } | null {
  const { current, deprecated } = virtualMachineFinalizers;
  const addsFinalizer = !desired.finalizers.includes(current);
  const dropsDeprecated = desired.finalizers.includes(deprecated);
  const spec = {
    // The object's uid is a UUID of its own: the same however often it is given out, and how upstream looks for VMs of its first releases.
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
      ? { ...upgradeMarks(settings), [virtualMachineAnnotations.managerId]: observed.managerId }
      : null;
  const whole: VirtualMachinePatch = {
    ...finalizers,
    ...(annotations !== null && { annotations }),
    ...(Object.keys(spec).length > 0 && { spec }),
  };
  if (Object.keys(whole).length === 0) return null;
  return {
    words: addsFinalizer ? 'Take charge of it: add the finalizer' : 'Fill in what the spec leaves open',
    patch: whole,
  };
}
