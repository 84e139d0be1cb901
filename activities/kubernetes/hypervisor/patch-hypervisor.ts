import { isDeepStrictEqual } from 'node:util';

import type { Hypervisor, hypervisorSchema } from '../../../contracts/crds/hypervisor.ts';
import type { ObjectKey } from '../../../contracts/hypervisor/activities.ts';
import type { HypervisorPatch, HypervisorSpec } from '../../../contracts/hypervisor/hypervisor.ts';
import type { ObjectChange } from '../../../runtime/kubernetes/objects.ts';
import { resources } from '../../../runtime/kubernetes/resources.ts';
import { retryConflicts } from '../../../runtime/kubernetes/retry-conflicts.ts';
import { mutate } from '../../lib/mutate.ts';
import type { HypervisorTools } from './dependencies.ts';

/**
 * Writes one patch after the other, each on the version that was read. A repeat goes on after the last patch that
 * holds. Nothing is written into another object of that name, nor over a spec that a user has changed
 * since the decision.
 *
 * @param request.generation of the Hypervisor that the decision was made on
 * @returns false: it is another object, or its spec is not the one that was decided on, so that nothing was written
 * @throws ObjectConflict when others write all the time; ObjectRefused; Stopped
 */
export const patchHypervisor = (
  tools: HypervisorTools,
  request: ObjectKey & { generation: number; patches: readonly HypervisorPatch[] },
): Promise<boolean> =>
  retryConflicts(async () => {
    const { client, scope } = tools;
    let current = await client.get(resources.Hypervisor, { name: request.name }, scope.signal);
    if (current === null || current.metadata.uid !== request.uid) return false;
    const left = patchesLeft(current, request.generation, request.patches);
    const last = request.patches.at(-1);
    if (left.length === 0) return last === undefined || holds(current, last);
    for (const patch of left) {
      const before = current;
      const entry = {
        action: 'patchHypervisor',
        cause: 'the lifecycle of the hypervisor',
        object: `hypervisor/${request.name}`,
        before: excerpt(before, patch),
        after: patch,
      };
      await mutate(tools, entry, async () => {
        current = await client.patch(resources.Hypervisor, before.metadata, changeOf(before, patch), scope.signal);
      });
    }
    return true;
  });

/**
 * Which of the patches are still to be written: none where all hold, and none where the spec is not the one that they
 * were made for. Pure.
 */
export function patchesLeft(
  current: Hypervisor,
  generation: number,
  patches: readonly HypervisorPatch[],
): readonly HypervisorPatch[] {
  const taken = patches.findLastIndex((patch) => holds(current, patch)) + 1;
  const left = patches.slice(taken);
  if (left.every(({ spec }) => spec === undefined)) return left;
  // Each patch of the spec that an earlier attempt has written makes the generation one higher.
  const written = patches.slice(0, taken).filter(({ spec }) => spec !== undefined).length;
  return current.metadata.generation <= generation + written ? left : [];
}

function holds(
  { metadata, spec: there }: Hypervisor,
  { labels = {}, annotations = {}, spec = {}, dropNodeOwner }: HypervisorPatch,
): boolean {
  return (
    Object.entries(labels).every(([key, value]) => (metadata.labels?.[key] ?? null) === value) &&
    Object.entries(annotations).every(([key, value]) => (metadata.annotations?.[key] ?? null) === value) &&
    Object.entries(spec).every(([field, value]) => isDeepStrictEqual(there?.[field as keyof HypervisorSpec], value)) &&
    !(dropNodeOwner === true && metadata.ownerReferences?.some(isNode) === true)
  );
}

const isNode = ({ kind }: { kind: string }): boolean => kind === 'Node';

function changeOf(
  { metadata: { ownerReferences: owners = [] } }: Hypervisor,
  { labels, annotations, spec, dropNodeOwner }: HypervisorPatch,
): ObjectChange<typeof hypervisorSchema> {
  const others = owners.filter((owner) => !isNode(owner));
  return {
    metadata: {
      ...(labels && { labels }),
      ...(annotations && { annotations }),
      ...(dropNodeOwner && { ownerReferences: others.length === 0 ? null : others }),
    },
    ...(spec && { spec }),
  };
}

/** What the patch changes, as it was. */
function excerpt(
  { metadata, spec: current }: Hypervisor,
  { labels = {}, annotations = {}, spec = {}, dropNodeOwner }: HypervisorPatch,
): object {
  const was = (there: Readonly<Record<string, unknown>> | undefined, changed: object) =>
    Object.fromEntries(Object.keys(changed).map((key) => [key, there?.[key] ?? null]));
  return {
    labels: was(metadata.labels, labels),
    annotations: was(metadata.annotations, annotations),
    spec: was(current, spec),
    ...(dropNodeOwner && { nodeOwners: (metadata.ownerReferences ?? []).filter(isNode).map(({ uid }) => uid) }),
  };
}
