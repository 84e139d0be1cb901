import { createHash } from 'node:crypto';

import type { Eviction } from '../../../contracts/crds/eviction.ts';
import type { ObjectKey } from '../../../contracts/hypervisor/activities.ts';
import type { NewEviction } from '../../../contracts/hypervisor/hypervisor.ts';
import { readEviction } from '../../../contracts/hypervisor/read-hypervisor.ts';
import { annotations } from '../../../contracts/ids.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import { resources } from '../../../runtime/kubernetes/resources.ts';
import { retryConflicts } from '../../../runtime/kubernetes/retry-conflicts.ts';
import { mutate } from '../../lib/mutate.ts';
import type { HypervisorTools } from './dependencies.ts';

/**
 * Makes the Eviction of a Hypervisor, which becomes its controller: it goes when the Hypervisor goes. A repeat finds it
 * by its name. Where another party has an Eviction of the same host under that name, nothing is made: the next
 * observation shows theirs.
 *
 * @throws ObjectConflict when its names are taken by Evictions of other hosts
 */
export async function createHypervisorEviction(tools: HypervisorTools, wanted: NewEviction): Promise<void> {
  const { client, scope } = tools;
  const owner = await client.get(resources.Hypervisor, { name: wanted.hypervisor }, scope.signal);
  // Kubernetes would delete what belongs to an object that is gone.
  if (owner === null || owner.metadata.uid !== wanted.ownerUid || owner.metadata.deletionTimestamp !== undefined)
    return;
  for (const name of [
    wanted.name,
    `${wanted.name.slice(0, 240)}-${createHash('sha256').update(wanted.ownerUid).digest('hex').slice(0, 8)}`,
  ]) {
    const eviction = evictionBody(wanted, name, owner.apiVersion);
    const entry = {
      action: 'createEviction',
      cause: wanted.reason,
      object: `eviction/${name}`,
      before: null,
      after: eviction,
    };
    const { spec, ...metadata } = eviction;
    const made = await mutate(tools, entry, () => client.create(resources.Eviction, { metadata, spec }, scope.signal));
    if (made !== null) return;
    const taken = await client.get(resources.Eviction, { name }, scope.signal);
    if (taken?.spec.hypervisor === wanted.hypervisor) return;
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
    const { metadata } = found;
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
      tools.client.patch(
        resources.Eviction,
        metadata,
        { metadata: { annotations: { [annotations.deadline]: deadline } } },
        tools.scope.signal,
      ),
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
    const { ownerUid, state } = readEviction(found, found.metadata.ownerReferences ?? []);
    if (ownerUid === null)
      throw droverFailure('InvalidInput', `Eviction ${key.name} is not drover’s to delete: no Hypervisor controls it`);
    const entry = {
      action: 'deleteEviction',
      cause: 'the lifecycle of its Hypervisor',
      object: `eviction/${key.name}`,
      before: { ...found.spec, state },
      after: null,
    };
    await mutate(tools, entry, () => tools.client.delete(resources.Eviction, key, tools.scope.signal));
  });

/** Null: it is gone, or going, or another one of that name. */
async function getSame({ client, scope }: HypervisorTools, { name, uid }: ObjectKey): Promise<Eviction | null> {
  const found = await client.get(resources.Eviction, { name }, scope.signal);
  return found?.metadata.uid === uid && found.metadata.deletionTimestamp === undefined ? found : null;
}
