import { z } from 'zod';

import { uuidOf } from '../../../contracts/agent-pool/identity.ts';
import type { NodeFact } from '../../../contracts/agent-pool/pool-facts.ts';
import type { VsphereAgentPool } from '../../../contracts/crds/vsphere-agent-pool.ts';
import { node, secret } from '../../../contracts/kinds/resources.ts';
import { failureCode } from '../../../runtime/failure.ts';
import { foreignKubeConfig } from '../../../runtime/kubernetes/foreign-kube-config.ts';
import { openObjects } from '../../../runtime/kubernetes/objects.ts';
import { typed } from '../../../runtime/kubernetes/resources.ts';
import type { AgentPoolTools } from './dependencies.ts';

const secrets = typed(secret, z.object({ data: z.record(z.string(), z.string()).nullish() }));
const nodes = typed(
  node,
  z.object({
    metadata: z.object({ name: z.string() }),
    spec: z.object({ providerID: z.string().optional() }).optional(),
    status: z.object({ nodeInfo: z.object({ systemUUID: z.string().optional() }).optional() }).optional(),
  }),
);

/**
 * The Nodes of the hosted cluster, by its own kubeconfig.
 *
 * @returns null: they cannot be read, which says nothing of any Node
 */
export async function readNodes(
  tools: Pick<AgentPoolTools, 'client' | 'openForeignCluster' | 'scope'>,
  pool: VsphereAgentPool,
): Promise<NodeFact[] | null> {
  const { scope, openForeignCluster } = tools;
  try {
    const kubeconfig = await readKubeConfig(tools, pool);
    if (kubeconfig === null) return null;
    const cluster = openForeignCluster(kubeconfig);
    try {
      const found = await openObjects(cluster).list(nodes, {}, scope.signal);
      return found.map(({ metadata, spec, status }) => ({
        name: metadata.name,
        systemUuid: uuidOf(status?.nodeInfo?.systemUUID),
        providerId: spec?.providerID ?? null,
      }));
    } finally {
      await cluster.close();
    }
  } catch (error) {
    scope.signal.throwIfAborted();
    const { namespace = '', name } = pool.metadata;
    scope.warn(`The Nodes of pool ${namespace}/${name} cannot be read: ${failureCode(error) ?? 'no answer'}`);
    return null;
  }
}

/** As HyperShift leaves it for its own parts, else as Cluster API does. */
async function readKubeConfig(
  { client, scope }: Pick<AgentPoolTools, 'client' | 'scope'>,
  { spec }: VsphereAgentPool,
): Promise<string | null> {
  const { controlPlaneNamespace: namespace, hostedClusterRef } = spec;
  const places = [
    { name: 'admin-kubeconfig', key: 'kubeconfig' },
    { name: `${hostedClusterRef.name}-kubeconfig`, key: 'value' },
  ];
  for (const { name, key } of places) {
    const found = await client.get(secrets, { namespace, name }, scope.signal);
    const content = found?.data?.[key];
    if (content !== undefined)
      return foreignKubeConfig(Buffer.from(content, 'base64').toString('utf8'), `Secret ${namespace}/${name}`);
  }
  return null;
}
