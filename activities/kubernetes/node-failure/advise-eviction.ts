import type { Eviction } from '../../../contracts/crds/eviction.ts';
import { adviceName, annotations } from '../../../contracts/ids.ts';
import type { EvictionAdvice } from '../../../contracts/node-failure/activities.ts';
import { resources } from '../../../runtime/kubernetes/resources.ts';
import { mutate } from '../../lib/mutate.ts';
import type { HypervisorTools } from '../hypervisor/dependencies.ts';

type AdviceTools = Pick<HypervisorTools, 'client' | 'stopGate' | 'audit' | 'scope'>;

/**
 * Makes an Eviction that only plans (`drover.dev/mode: observe`): what emptying the host would take, before a user
 * decides it. One of an earlier incident gives way; one that says the same is left. It belongs to the Hypervisor and
 * goes when that goes.
 */
export async function adviseEviction(
  tools: AdviceTools,
  { name: host, uid, incident, reason }: EvictionAdvice,
): Promise<void> {
  const { client, scope } = tools;
  const owner = await client.get(resources.Hypervisor, { name: host }, scope.signal);
  if (owner === null || owner.metadata.uid !== uid || owner.metadata.deletionTimestamp !== undefined) return;
  const name = adviceName(host);
  const before = await client.get(resources.Eviction, { name }, scope.signal);
  if (before !== null) {
    if (!isAdvice(before) || before.metadata.annotations?.[annotations.incident] === incident) return;
    await withdraw(tools, before.metadata, 'advice of an earlier failure');
  }
  const eviction = {
    name,
    labels: {},
    annotations: {
      // What its maintenance would make: `node-failure` is refused, as it says that the host is dead.
      [annotations.cause]: 'termination',
      [annotations.mode]: 'observe',
      [annotations.incident]: incident,
    },
    ownerReferences: [{ apiVersion: owner.apiVersion, kind: 'Hypervisor', name: host, uid, controller: false }],
    spec: { hypervisor: host, reason },
  };
  const { spec, ...metadata } = eviction;
  await mutate(
    tools,
    {
      action: 'createEviction',
      cause: `incident ${incident}, advice only`,
      object: `eviction/${name}`,
      before: null,
      after: eviction,
    },
    () => client.create(resources.Eviction, { metadata, spec }, scope.signal),
  );
}

/** Neither another's of that name, nor one that a user has made into more than advice. */
const isAdvice = ({ metadata: { annotations: given = {} } }: Eviction): boolean =>
  given[annotations.incident] !== undefined && given[annotations.mode] === 'observe';

const withdraw = (tools: AdviceTools, { name, uid }: { name: string; uid: string }, cause: string): Promise<void> =>
  mutate(tools, { action: 'deleteEviction', cause, object: `eviction/${name}`, before: { uid }, after: null }, () =>
    tools.client.delete(resources.Eviction, { name, uid }, tools.scope.signal),
  );

/** Takes advice back that has become of no use. One that is not advice any more stays. */
export async function withdrawAdvice(tools: AdviceTools, { name: host }: Pick<EvictionAdvice, 'name'>): Promise<void> {
  const found = await tools.client.get(resources.Eviction, { name: adviceName(host) }, tools.scope.signal);
  if (found === null || found.spec.hypervisor !== host || !isAdvice(found)) return;
  await withdraw(tools, found.metadata, 'the failure is over');
}
