import type { VsphereAgentPool } from '../../contracts/crds/vsphere-agent-pool.ts';
import { inventory } from '../../lab/vsphere/handle.ts';
import type { VcenterWitness } from '../../lab/vsphere/witness.ts';
import type { Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import { notLaterThan, readAgents, type ReadAgentObject } from '../invariants/read-agents.ts';
import type { OfAgents } from '../invariants/snapshot.ts';
import { followObjects } from './object-log.ts';

const forge = 'agent-forge.containeroo.ch/v1alpha1';
const pools = resourcePath(forge, 'vsphereagentpools');
const paths = [pools, resourcePath(forge, 'vsphereagents'), resourcePath('cluster.x-k8s.io/v1beta1', 'machines')];

/** What VsphereAgents, their pools and Machines went through since the log was opened. */
export interface AgentLog {
  /** For the invariants, with the pools and the VMs as they are now. */
  read(): Promise<OfAgents>;
  close(): Promise<void>;
}

/**
 * Follows them from now on, in a cluster that has the kinds of the neighbours of pools.
 *
 * @param letGo as of the neighbours that are played
 */
export async function openAgentLog(
  api: Kubernetes,
  witness: VcenterWitness,
  letGo: () => ReadonlyMap<string, number>,
): Promise<AgentLog> {
  const followed = await followObjects<ReadAgentObject>(api, paths);
  return {
    async read() {
      const { items } = (await api.request({ method: 'GET', path: pools }, AbortSignal.timeout(20_000))) as {
        items: VsphereAgentPool[];
      };
      return await readAgents({
        changes: notLaterThan(letGo(), followed.events),
        pools: items,
        witness,
        below: inventory.vmFolder,
      });
    },
    close: () => followed.close(),
  };
}
