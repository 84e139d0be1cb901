import { agentPoolConditions as types } from '../../contracts/agent-pool/metadata.ts';
import { findCondition } from '../../contracts/conditions.ts';
import { neighbourDefinitions } from '../../contracts/crds/definitions.ts';
import type { Mode } from '../../contracts/kinds/kind.ts';
import { kindTable } from '../../contracts/kinds/table.ts';
import { isFailure } from '../../runtime/kubernetes/kubernetes-faults.ts';
import type { Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { openObjects } from '../../runtime/kubernetes/objects.ts';
import type { AgentPoolObject } from '../agent-pool/agent-pool-object.ts';
import { shownPools } from '../agent-pool/agent-pool-objects.ts';
import { fullName } from '../command/object-reference.ts';
import { adviseDefinition, isServed } from './kubernetes.ts';
import { fail, type Finding, ok, warn } from './finding.ts';

/** What agent pools need besides (docs/agent-pools.md). */

/** Whose the kinds are that a pool reads, by their groups. */
const owners: Readonly<Record<string, string>> = {
  'agent-install.openshift.io': 'assisted-service',
  'capi-provider.agent-install.openshift.io': 'the Agent provider of Cluster API',
  'cluster.x-k8s.io': 'Cluster API',
};

/**
 * Of the kinds of others that a pool reads, those that kube-apiserver does not serve: without them a pool
 * sees no demand.
 */
export async function checkNeighbours(kubernetes: Kubernetes, signal: AbortSignal): Promise<Finding[]> {
  return await Promise.all(
    neighbourDefinitions
      .filter(({ group }) => Object.hasOwn(owners, group))
      .map(async (definition) => {
        const { group, version, plural, kind } = definition;
        const check = `CRD ${plural}.${group}`;
        if (await isServed(kubernetes, definition, signal)) return ok(check, `served as ${version}`);
        return fail(
          check,
          `kube-apiserver does not serve ${kind} as ${group}/${version}`,
          `Install ${owners[group]}, as it has it, or switch modes.VsphereAgentPool off.`,
        );
      }),
  );
}

export async function checkPools(
  kubernetes: Kubernetes,
  { mode, namespaces, vcenters }: { mode: Mode; namespaces: readonly string[]; vcenters: readonly string[] },
  signal: AbortSignal,
): Promise<Finding[]> {
  const check = 'agent pools';
  try {
    const pools = await openObjects(kubernetes).listValid(shownPools, {}, signal);
    return judgePools(
      pools.filter(({ namespace }) => namespaces.length === 0 || namespaces.includes(namespace)),
      { mode, vcenters },
    );
  } catch (error) {
    if (isFailure(error, 'ObjectNotFound'))
      return [fail(check, 'there is no such kind', adviseDefinition(kindTable.VsphereAgentPool, 'installs'))];
    if (!isFailure(error, 'KubernetesForbidden')) throw error;
    return [warn(check, 'they may not be listed', 'Ask for a role that allows it: drover-view in deploy/rbac does.')];
  }
}

/**
 * By what their runs have said, as only the worker reads credentials. Pure.
 *
 * @param settings.vcenters names of those of drover's settings
 */
export function judgePools(
  pools: readonly AgentPoolObject[],
  { mode, vcenters }: { mode: Mode; vcenters: readonly string[] },
): Finding[] {
  const check = 'vCenters of agent pools';
  if (vcenters.length === 0)
    return [
      (mode === 'act' ? fail : warn)(
        check,
        'drover’s settings name no vCenter, and pools reach no other',
        'Add the vCenter of each pool to vsphere.vcenters.',
      ),
    ];
  const wrong = pools.flatMap((pool) => {
    const condition = findCondition(pool.conditions, types.vsphere);
    if (condition?.status !== 'False') return [];
    return [
      fail(
        `vCenter of pool ${fullName(pool)}`,
        `${condition.reason}: ${condition.message}`,
        `\`drover describe pool ${fullName(pool)}\` shows more; a server that is in no settings belongs into vsphere.vcenters.`,
      ),
    ];
  });
  return wrong.length > 0 ? wrong : [ok(check, `${pools.length} pools, of ${vcenters.join(', ')}`)];
}

/** Pure. @param hosts `agentPools.iso.hosts` */
export function judgeIsoHosts(hosts: readonly string[], mode: Mode): Finding {
  const check = 'hosts of discovery ISOs';
  if (hosts.length > 0) return ok(check, hosts.join(', '));
  return (mode === 'act' ? fail : warn)(
    check,
    'agentPools.iso.hosts is empty, so that no discovery ISO is downloaded and no VM of a pool is made',
    'Add the host of status.isoDownloadURL of the InfraEnvs.',
  );
}
