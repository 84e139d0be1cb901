import { createHash } from 'node:crypto';

import type { Eviction } from '../../../contracts/crds/eviction.ts';
import type { ObjectKey } from '../../../contracts/hypervisor/activities.ts';
import type { NewEviction } from '../../../contracts/hypervisor/hypervisor.ts';
import { annotations } from '../../../contracts/ids.ts';
import { readEviction } from '../../../contracts/hypervisor/read-hypervisor.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import type { Owned } from './client.ts';
import type { HypervisorTools } from './dependencies.ts';
import { mutate } from '../../lib/mutate.ts';
import { retryConflicts } from '../../../runtime/kubernetes/retry-conflicts.ts';

/**
 * Makes the Eviction of a Hypervisor, which becomes its controller: it goes when the Hypervisor goes. A repeat finds it by its name. Where
 * another party has an Eviction of the same host under that name, nothing is made: the next observation shows theirs.
 *
 * @throws ObjectConflict when its names are taken by Evictions of other hosts
 */
export async function createHypervisorEviction(tools: HypervisorTools, wanted: NewEviction): Promise<void> {
  const { client, scope } = tools;
  const owner = await client.getHypervisor(wanted.hypervisor, scope.signal);
  // Kubernetes would delete what belongs to an object that is gone.
  if (
    owner === null ||
    owner.object.metadata.uid !== wanted.ownerUid ||
    owner.object.metadata.deletionTimestamp !== undefined
  )
    return;
  for (const name of [
    wanted.name,
    `${wanted.name.slice(0, 240)}-${createHash('sha256').update(wanted.ownerUid).digest('hex').slice(0, 8)}`,
  ]) {
    const eviction = evictionBody(wanted, name, owner.object.apiVersion);
    const entry = {
      action: 'createEviction',
      cause: wanted.reason,
      object: `eviction/${name}`,
      before: null,
      after: eviction,
    };
    if (await mutate(tools, entry, () => client.createEviction(eviction, scope.signal))) return;
    const taken = await client.getEviction(name, scope.signal);
    if (taken?.object.spec.hypervisor === wanted.hypervisor) return;
  }
  throw droverFailure('ObjectConflict', `No name for an Eviction of ${wanted.hypervisor} is free`);
}

/** What is written. Pure. */
export const evictionBody = (
  { hypervisor, ownerUid, reason, cause, deadline, reEnable, labels }: NewEviction,
  name: string,
  apiVersion: string,
) => ({
  name,
  labels,
  annotations: {
    [annotations.cause]: cause,
    [annotations.reEnable]: String(reEnable),
    ...(deadline !== null && { [annotations.deadline]: deadline }),
  },
  ownerReferences: [{ apiVersion, kind: 'Hypervisor', name: hypervisor, uid: ownerUid, controller: true }],
  spec: { hypervisor, reason },
});

/** Sets the deadline of an Eviction. An earlier one stays. */
export const setEvictionDeadline = (
  tools: HypervisorTools,
  { deadline, ...key }: ObjectKey & { deadline: string },
): Promise<void> =>
  retryConflicts(async () => {
    const found = await getSame(tools, key);
    if (found === null) return;
    const { metadata } = found.object;
    const before = metadata.annotations?.[annotations.deadline] ?? null;
    if (before !== null && Date.parse(before) <= Date.parse(deadline)) return;
    const entry = {
      action: 'setEvictionDeadline',
      cause: 'the end of its Node',
      object: `eviction/${key.name}`,
      before: { deadline: before },
      after: { deadline },
    };
    await mutate(tools, entry, () =>
      tools.client.annotateEviction(metadata, { [annotations.deadline]: deadline }, tools.scope.signal),
    );
  });

/**
 * Deletes an Eviction that a Hypervisor controls; its run ends what it does and lets it go.
 *
 * @throws InvalidInput for one that another party made
 */
export const deleteHypervisorEviction = (tools: HypervisorTools, key: ObjectKey): Promise<void> =>
  retryConflicts(async () => {
    const found = await getSame(tools, key);
    if (found === null) return;
    const { ownerUid, state } = readEviction(found.object, found.owners);
    if (ownerUid === null)
      throw droverFailure('InvalidInput', `Eviction ${key.name} is not drover’s to delete: no Hypervisor controls it`);
    const entry = {
      action: 'deleteEviction',
      cause: 'the lifecycle of its Hypervisor',
      object: `eviction/${key.name}`,
      before: { ...found.object.spec, state },
      after: null,
    };
    await mutate(tools, entry, () => tools.client.deleteEviction(key, tools.scope.signal));
  });

/** Null: it is gone, or going, or another one of that name. */
async function getSame({ client, scope }: HypervisorTools, { name, uid }: ObjectKey): Promise<Owned<Eviction> | null> {
  const found = await client.getEviction(name, scope.signal);
  return found?.object.metadata.uid === uid && found.object.metadata.deletionTimestamp === undefined ? found : null;
}
