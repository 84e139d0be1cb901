import type { AgentPoolActivities } from '../../../contracts/agent-pool/agent-pool.ts';
import { recordedIsoOf } from '../../../contracts/agent-pool/read-iso.ts';
import { failureCode, isNonRetryable } from '../../../runtime/failure.ts';
import { resources } from '../../../runtime/kubernetes/resources.ts';
import { unlessAborted } from '../../../runtime/unless-aborted.ts';
import { whileBeating } from '../../lib/wait.ts';
import { openIsoStore } from './iso-store.ts';
import type { IsoTools } from './iso-tools.ts';
import { removeUnused, sayElsewhere, sayStaying } from './prune-isos.ts';

/**
 * Removes the ISOs of a pool that is being deleted: once it is gone, nothing knows of them. What no other attempt
 * would remove stays, and is said in the pool.
 *
 * @throws what another attempt may mend, and Stopped
 */
export async function removeIsos(
  tools: IsoTools,
  { namespace, name, uid }: Parameters<AgentPoolActivities['removeIsos']>[0],
): Promise<void> {
  const { client, scope, clock } = tools;
  const pool = await client.get(resources.VsphereAgentPool, { namespace, name }, scope.signal);
  if (pool?.metadata.uid !== uid || pool.metadata.deletionTimestamp === undefined) return;
  if (pool.spec.cleanupPolicy !== 'Delete') return;
  const { current, history } = recordedIsoOf(pool);
  const versions = new Map([...(current === null ? [] : [current]), ...history].map((one) => [one.path, one]));
  const { datacenter, isoDatastore: datastore } = pool.spec.vsphere;
  const work = (): Promise<void> =>
    tools.vcenters.use(pool, scope.signal, async (vcenter) => {
      const http = tools.openDatastoreHttp(vcenter.settings, vcenter.vim);
      try {
        const place = { datacenter, datastore };
        const store = await openIsoStore({ gateway: vcenter.gateway, http, clock, signal: scope.signal }, place);
        const of = { pool, vcenter, store, cause: 'its pool is being deleted' };
        if (await sayElsewhere(tools, of)) return;
        const turn = tools.turnOf(`${vcenter.settings.name} ${store.nameOf('')}`);
        const { failures } = await unlessAborted(
          turn(() => removeUnused(tools, of, null, [...versions.values()])),
          scope.signal,
        );
        tools.scannedMs.delete(uid);
        for (const failure of failures) if (!isLasting(failure)) throw failure;
      } finally {
        await http.close();
      }
    });
  try {
    await whileBeating({ scope, clock }, () => undefined, work);
  } catch (error) {
    scope.signal.throwIfAborted();
    if (!isLasting(error)) throw error;
    await sayStaying(tools, { pool }, `${datastore} cannot be reached`, error);
  }
}

/** A stop is lifted some time. */
const isLasting = (error: unknown): boolean => isNonRetryable(error) && failureCode(error) !== 'Stopped';
