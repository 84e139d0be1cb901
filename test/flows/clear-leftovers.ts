import type { Client } from '@temporalio/client';
import type { Eviction } from '../../contracts/crds/eviction.ts';
import { listServers } from '../../lab/openstack/seed.ts';
import type { Session } from '../../lab/openstack/session.ts';
import { isFailure } from '../../runtime/kubernetes/kubernetes-faults.ts';
import type { Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import { stopConfigMap } from '../../runtime/stop.ts';

const evictions = (name?: string): string =>
  resourcePath('kvm.cloud.sap/v1', 'evictions', name === undefined ? {} : { name });
const patient = (): AbortSignal => AbortSignal.timeout(20_000);

/**
 * Removes what an earlier test left, whether or not it came to its end: open runs, Evictions, Migrations, Nodes,
 * Hypervisors with what drover has said of them, a `drover stop`. No drover may be at work; the Hypervisors that a test
 * needs are made anew after it.
 */
export async function clearLeftovers(client: Client, kubernetes: Kubernetes): Promise<void> {
  await endRuns(client);
  await removeObjects(kubernetes);
  for (const path of [resourcePath('v1', 'nodes'), resourcePath('kvm.cloud.sap/v1', 'hypervisors')])
    await kubernetes.request({ method: 'DELETE', path }, patient());
  await unlessAbsent(() =>
    kubernetes.request(
      { method: 'DELETE', path: resourcePath('v1', 'configmaps', { namespace: 'drover-system', name: stopConfigMap }) },
      patient(),
    ),
  );
}

/** Removes every Eviction and Migration. */
export async function removeObjects(kubernetes: Kubernetes): Promise<void> {
  await Promise.all((await listEvictions(kubernetes)).map(({ metadata }) => removeEviction(kubernetes, metadata.name)));
  await unlessAbsent(() =>
    kubernetes.request(
      { method: 'DELETE', path: resourcePath('kvm.cloud.sap/v1alpha1', 'migrations', { namespace: 'monsoon3' }) },
      patient(),
    ),
  );
}

/** Terminates the open runs that the query finds; all of them without one. */
export async function endRuns(client: Client, query = ''): Promise<void> {
  for await (const { workflowId, runId } of client.workflow.list({
    query: `ExecutionStatus="Running"${query === '' ? '' : ` AND ${query}`}`,
  })) {
    await client.workflow
      .getHandle(workflowId, runId)
      .terminate('end of the test')
      .catch(() => undefined);
  }
}

export async function listEvictions(kubernetes: Kubernetes): Promise<Eviction[]> {
  return ((await kubernetes.request({ method: 'GET', path: evictions() }, patient())) as { items: Eviction[] }).items;
}

/** Removes its finalizers by hand, because no worker serves it any more, and deletes it. */
export async function removeEviction(kubernetes: Kubernetes, name: string): Promise<void> {
  const path = evictions(name);
  await unlessAbsent(() =>
    kubernetes.request(
      { method: 'PATCH', patchType: 'merge', path, body: { metadata: { finalizers: null } } },
      patient(),
    ),
  );
  await unlessAbsent(() => kubernetes.request({ method: 'DELETE', path }, patient()));
}

/** Does it, unless there is nothing to do it to. */
export async function unlessAbsent(action: () => Promise<unknown>): Promise<void> {
  try {
    await action();
  } catch (error) {
    if (!isFailure(error, 'ObjectNotFound')) throw error;
  }
}

/**
 * Deletes allocations against the hosts (default: all) that no server holds. Nova leaves those of a migration behind
 * when its server is deleted on the way, and a host with one is not empty.
 */
export async function releaseAllocations(session: Session, host: string | null = null): Promise<void> {
  const servers = new Set((await listServers(session)).map(({ id }) => id));
  const { resource_providers: providers } = await session.placement<{
    resource_providers: { uuid: string; name: string }[];
  }>('GET', '/resource_providers');
  for (const { uuid, name } of providers) {
    if (host !== null && name !== host && !name.startsWith(`${host}.`)) continue;
    const { allocations } = await session.placement<{ allocations: Record<string, object> }>(
      'GET',
      `/resource_providers/${uuid}/allocations`,
    );
    for (const consumer of Object.keys(allocations))
      if (!servers.has(consumer)) await session.placement('DELETE', `/allocations/${consumer}`);
  }
}
