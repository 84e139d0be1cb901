import type { VirtualMachine, virtualMachineSchema } from '../../../contracts/crds/virtual-machine.ts';
import type {
  PatchedVirtualMachine,
  VirtualMachineObjectActivities,
} from '../../../contracts/virtual-machine/activities.ts';
import type { VirtualMachinePatch } from '../../../contracts/virtual-machine/mutations.ts';
import { readVirtualMachine as readDesired } from '../../../contracts/virtual-machine/read-virtual-machine.ts';
import { isFailure } from '../../../runtime/kubernetes/kubernetes-faults.ts';
import type { ObjectChange } from '../../../runtime/kubernetes/objects.ts';
import { resources } from '../../../runtime/kubernetes/resources.ts';
import { retryConflicts } from '../../../runtime/kubernetes/retry-conflicts.ts';
import { mutate } from '../../lib/mutate.ts';
import { combinePatches, patchHolds } from '../lib/merge-patch.ts';
import type { VirtualMachineTools } from './dependencies.ts';

type PatchRequest = Parameters<VirtualMachineObjectActivities['patchVirtualMachine']>[0];

/**
 * Writes one patch after the other, each on the version that was read. A repeat goes on where an attempt before has
 * ended. Nothing is written into another object of that name, nor where the decision is not about what is there any
 * more: its spec has changed, or it is being deleted.
 *
 * @param request.generation of the object that the decision was made on
 * @throws ObjectConflict when others write all the time; ObjectRefused; Stopped
 */
export const patchVirtualMachine = (
  tools: VirtualMachineTools,
  { namespace, name, uid, generation, patches }: PatchRequest,
): Promise<PatchedVirtualMachine | null> =>
  retryConflicts(async () => {
    const { client, scope } = tools;
    let current = await client.get(resources.VirtualMachine, { namespace, name }, scope.signal);
    if (current?.metadata.uid !== uid) return null;
    for (const patch of patchesLeft(current, generation, patches)) {
      const before: VirtualMachine = current;
      if (holds(before, patch)) continue;
      const entry = {
        action: 'patchVirtualMachine',
        cause: 'the lifecycle of the virtual machine',
        object: `virtualmachine/${namespace}/${name}`,
        before: excerpt(before, patch),
        after: patch,
      };
      try {
        await mutate(tools, entry, async () => {
          current = await client.patch(
            resources.VirtualMachine,
            before.metadata,
            changeOf(before, patch),
            scope.signal,
          );
        });
      } catch (error) {
        // The last finalizer was taken off, by this one or by another writer.
        if (isFailure(error, 'ObjectNotFound')) return null;
        throw error;
      }
    }
    return {
      isCurrent: isCurrent(current, generation, patches),
      desired: readDesired(current),
      recorded: current.status ?? {},
    };
  });

/**
 * Which of the patches are still to be written: none where what they come to holds, and none where what they were made
 * for is no more. Pure.
 */
export function patchesLeft(
  current: VirtualMachine,
  generation: number,
  patches: readonly VirtualMachinePatch[],
): readonly VirtualMachinePatch[] {
  const taken = patches.findLastIndex((_, index) => holds(current, combine(patches.slice(0, index + 1)))) + 1;
  const left = patches.slice(taken);
  // A deletion increments the generation too. kube-apiserver would refuse the finalizer.
  if (
    current.metadata.deletionTimestamp !== undefined &&
    left.some(({ addFinalizers = [] }) => addFinalizers.length > 0)
  )
    return [];
  if (left.every(({ spec }) => spec === undefined)) return left;
  // Each patch of the spec that an earlier attempt has written makes the generation one higher.
  const written = ofSpec(patches.slice(0, taken));
  return current.metadata.generation <= generation + written ? left : [];
}

const ofSpec = (patches: readonly VirtualMachinePatch[]): number =>
  patches.filter(({ spec }) => spec !== undefined).length;

/** Whether what was decided on that generation, and is written, still holds. Pure. */
export function isCurrent(
  written: VirtualMachine,
  generation: number,
  patches: readonly VirtualMachinePatch[],
): boolean {
  const { deletionTimestamp, generation: now } = written.metadata;
  // A deletion increments the generation, and so does each patch of the spec.
  return (
    holds(written, combine(patches)) && now <= generation + (deletionTimestamp === undefined ? ofSpec(patches) : 0)
  );
}

function holds({ metadata, spec }: VirtualMachine, patch: VirtualMachinePatch): boolean {
  const finalizers = metadata.finalizers ?? [];
  return (
    patchHolds(metadata.labels, patch.labels ?? {}) &&
    patchHolds(metadata.annotations, patch.annotations ?? {}) &&
    patchHolds(spec, patch.spec ?? {}) &&
    (patch.addFinalizers ?? []).every((finalizer) => finalizers.includes(finalizer)) &&
    !(patch.removeFinalizers ?? []).some((finalizer) => finalizers.includes(finalizer))
  );
}

/** What the patches come to, one after the other. */
function combine(patches: readonly VirtualMachinePatch[]): VirtualMachinePatch {
  return patches.reduce<VirtualMachinePatch>(
    (earlier, { addFinalizers: added = [], removeFinalizers: removed = [], ...later }) => ({
      ...(combinePatches({ labels: {}, annotations: {}, spec: {}, ...earlier }, later) as VirtualMachinePatch),
      addFinalizers: [...(earlier.addFinalizers ?? []).filter((finalizer) => !removed.includes(finalizer)), ...added],
      removeFinalizers: [
        ...(earlier.removeFinalizers ?? []).filter((finalizer) => !added.includes(finalizer)),
        ...removed,
      ],
    }),
    {},
  );
}

function changeOf(
  { metadata }: VirtualMachine,
  { labels, annotations, spec, addFinalizers = [], removeFinalizers = [] }: VirtualMachinePatch,
): ObjectChange<typeof virtualMachineSchema> {
  const finalizers = [...new Set([...(metadata.finalizers ?? []), ...addFinalizers])].filter(
    (finalizer) => !removeFinalizers.includes(finalizer),
  );
  const isHeldAnew = addFinalizers.length + removeFinalizers.length > 0;
  return {
    metadata: { ...(labels && { labels }), ...(annotations && { annotations }), ...(isHeldAnew && { finalizers }) },
    ...(spec && { spec }),
  };
}

/** What the patch changes, as it was. */
function excerpt(
  { metadata, spec: current }: VirtualMachine,
  { labels = {}, annotations = {}, spec = {}, addFinalizers, removeFinalizers }: VirtualMachinePatch,
): object {
  const was = (there: Readonly<Record<string, unknown>> | undefined, changed: object) =>
    Object.fromEntries(Object.keys(changed).map((key) => [key, there?.[key] ?? null]));
  return {
    labels: was(metadata.labels, labels),
    annotations: was(metadata.annotations, annotations),
    spec: was(current, spec),
    ...((addFinalizers ?? removeFinalizers) !== undefined && { finalizers: metadata.finalizers ?? [] }),
  };
}
