import { adviceName, annotations } from '../../../contracts/ids.ts';
import type { EvictionAdvice } from '../../../contracts/node-failure/activities.ts';
import type { Eviction } from '../../../contracts/crds/eviction.ts';
import type { HypervisorTools } from '../hypervisor/dependencies.ts';
import { mutate } from '../../lib/mutate.ts';

type AdviceTools = Pick<HypervisorTools, 'client' | 'stopGate' | 'audit' | 'scope'>;

/**
 * Makes an Eviction that only plans (`drover.dev/mode: observe`): what emptying the host would take, before a user decides it. One of an
 * earlier incident gives way; one that says the same is left. It belongs to the Hypervisor and goes when that goes.
 */
export async function adviseEviction(
  tools: AdviceTools,
  { name: host, uid, incident, reason }: EvictionAdvice,
): Promise<void> {
  const { client, scope } = tools;
  const owner = await client.getHypervisor(host, scope.signal);
  if (owner === null || owner.object.metadata.uid !== uid || owner.object.metadata.deletionTimestamp !== undefined)
    return;
  const name = adviceName(host);
  const before = await client.getEviction(name, scope.signal);
  if (before !== null) {
    if (!isAdvice(before.object) || before.object.metadata.annotations?.[annotations.incident] === incident) return;
    await withdraw(tools, before.object.metadata, 'advice of an earlier failure');
  }
  const eviction = {
    name,
    labels: {},
    annotations: {
      [annotations.cause]: 'node-failure',
      [annotations.mode]: 'observe',
      [annotations.incident]: incident,
    },
    ownerReferences: [{ apiVersion: owner.object.apiVersion, kind: 'Hypervisor', name: host, uid, controller: false }],
    spec: { hypervisor: host, reason },
  };
  await mutate(
    tools,
    {
      action: 'createEviction',
      cause: `incident ${incident}, advice only`,
      object: `eviction/${name}`,
      before: null,
      after: eviction,
    },
    () => client.createEviction(eviction, scope.signal),
  );
}

/** Neither another's of that name, nor one that a user has made into more than advice. */
const isAdvice = ({ metadata: { annotations: given = {} } }: Eviction): boolean =>
  given[annotations.incident] !== undefined && given[annotations.mode] === 'observe';

const withdraw = (tools: AdviceTools, { name, uid }: { name: string; uid: string }, cause: string): Promise<void> =>
  mutate(tools, { action: 'deleteEviction', cause, object: `eviction/${name}`, before: { uid }, after: null }, () =>
    tools.client.deleteEviction({ name, uid }, tools.scope.signal),
  );

/** Takes advice back that has become of no use. One that is not advice any more stays. */
export async function withdrawAdvice(tools: AdviceTools, { name: host }: Pick<EvictionAdvice, 'name'>): Promise<void> {
  const found = await tools.client.getEviction(adviceName(host), tools.scope.signal);
  if (found === null || found.object.spec.hypervisor !== host || !isAdvice(found.object)) return;
  await withdraw(tools, found.object.metadata, 'the failure is over');
}
