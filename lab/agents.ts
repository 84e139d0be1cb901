import { readFileSync } from 'node:fs';
import type { VsphereAgentPool } from '../contracts/crds/vsphere-agent-pool.ts';
import { agentPoolAnnotations } from '../contracts/agent-pool/metadata.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Kubernetes } from '../runtime/kubernetes/kubernetes.ts';
import { openObjects } from '../runtime/kubernetes/objects.ts';
import { resources } from '../runtime/kubernetes/resources.ts';
import { type BootedVm, type NeighbourOptions, type Neighbours, playNeighbours } from './agent-neighbours.ts';
import { applyObject, mergeStatus } from './kubernetes-objects.ts';
import { inventory, type VsphereHandle } from './vsphere/handle.ts';
import type { VcenterWitness } from './vsphere/witness.ts';

/**
 * A pool of agents and its neighbours, in the lab or in a simulation: namespaces, an InfraEnv, the credential of the
 * vCenter, the pool itself.
 */

export const agentFixture = {
  namespace: 'agents',
  controlPlaneNamespace: 'agents-hosted',
  pool: 'workers',
  infraEnv: 'hosted',
  hostedCluster: 'hosted',
  nodePool: 'workers',
  secret: 'vcenter',
  /** In vCenter. */
  folder: 'agents',
  isoDatastore: 'LocalDS_0',
  labels: { 'agents.example.com/size': 'large' },
} as const;

const { namespace, controlPlaneNamespace, hostedCluster, infraEnv, labels } = agentFixture;
const forge = 'agent-forge.containeroo.ch/v1alpha1';
const roles = 'rbac.authorization.k8s.io';
const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

export interface PoolAccess {
  url: string;
  username: string;
  password: string;
}

/** The lab's vCenter, as the Secret of a pool names it. */
export const labPoolAccess = (vsphere: VsphereHandle): PoolAccess => ({
  url: vsphere.url,
  username: vsphere.username,
  password: readFileSync(vsphere.passwordFile, 'utf8').trim(),
});

/** Namespaces, the roles of drover in them, the Secret and the InfraEnv. */
export async function setUpAgents(api: Kubernetes, { url, username, password }: PoolAccess): Promise<void> {
  const role = 'drover-worker-agent-credentials';
  for (const name of [namespace, controlPlaneNamespace]) {
    await applyObject(api, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    await applyObject(api, {
      apiVersion: `${roles}/v1`,
      kind: 'RoleBinding',
      metadata: { namespace: name, name: role },
      roleRef: { apiGroup: roles, kind: 'ClusterRole', name: role },
      subjects: [{ kind: 'ServiceAccount', namespace: 'drover-system', name: 'drover-worker' }],
    });
  }
  await applyObject(api, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace, name: agentFixture.secret },
    stringData: { server: url, username, password },
  });
  await applyObject(api, {
    apiVersion: 'agent-install.openshift.io/v1beta1',
    kind: 'InfraEnv',
    metadata: { namespace, name: infraEnv },
    spec: {},
  });
}

/** What assisted-service writes when it has made an ISO. Null: it has none. */
export const setIsoUrl = (api: Kubernetes, isoDownloadURL: string | null): Promise<void> =>
  mergeStatus(api, {
    apiVersion: 'agent-install.openshift.io/v1beta1',
    kind: 'InfraEnv',
    metadata: { namespace, name: infraEnv },
    status: { isoDownloadURL },
  });

interface PoolChange {
  name?: string;
  nodePool?: string;
  annotations?: Record<string, string>;
  cleanupPolicy?: 'Delete' | 'Retain';
  vsphere?: object;
  template?: object;
  iso?: object;
}

export const poolObject = ({
  name = agentFixture.pool,
  nodePool = agentFixture.nodePool,
  annotations = {},
  cleanupPolicy = 'Delete',
  vsphere = {},
  template = {},
  iso = {},
}: PoolChange = {}): object => ({
  apiVersion: forge,
  kind: 'VsphereAgentPool',
  metadata: { namespace, name, annotations },
  spec: {
    agent: { labels, approve: true, role: 'worker' },
    cleanupPolicy,
    controlPlaneNamespace,
    hostedClusterRef: { name: hostedCluster },
    infraEnvRef: { name: infraEnv },
    iso: { checkInterval: '10m', ...iso },
    nodePoolRef: { name: nodePool },
    template: { diskGiB: 20, memoryMiB: 1_024, numCPUs: 2, ...template },
    vsphere: {
      credentialsSecretRef: { name: agentFixture.secret },
      datacenter: inventory.datacenter,
      datastoreCluster: nameOf(inventory.storagePod),
      folder: agentFixture.folder,
      isoDatastore: agentFixture.isoDatastore,
      network: 'DC0_DVPG0',
      resourcePool: 'DC0_C0/Resources',
      ...vsphere,
    },
  },
});

export const applyPool = (api: Kubernetes, change: PoolChange = {}): Promise<void> =>
  applyObject(api, poolObject(change));

export const readPool = (
  api: Kubernetes,
  signal: AbortSignal,
  name: string = agentFixture.pool,
): Promise<VsphereAgentPool | null> => openObjects(api).get(resources.VsphereAgentPool, { namespace, name }, signal);

export const deletePool = (api: Kubernetes, name: string = agentFixture.pool): Promise<void> =>
  openObjects(api).delete(resources.VsphereAgentPool, { namespace, name }, AbortSignal.timeout(20_000));

/** Has the ISO downloaded and compared. */
export const forceIso = (api: Kubernetes, token: string): Promise<void> =>
  applyPool(api, { annotations: { [agentPoolAnnotations.forceIsoRefresh]: token } });

export const vmFolder = `${inventory.vmFolder}/${agentFixture.folder}`;

/** VMs of the pool, as their guests would see themselves. None before the folder is there. */
export async function listBootedVms(witness: VcenterWitness): Promise<BootedVm[]> {
  if (!(await witness.find('folder', inventory.vmFolder)).includes(vmFolder)) return [];
  return (await witness.listVms(agentFixture.folder)).map(({ name, biosUuid, macAddresses, powerState, isos }) => ({
    name,
    biosUuid,
    macAddresses,
    isOn: powerState === 'poweredOn',
    hasIso: isos.length > 0,
  }));
}

type Played = Pick<NeighbourOptions, 'listVms'> & Partial<NeighbourOptions> & { clock: Pick<Clock, 'now'> };

/** The neighbours of the pool of the fixture. */
export const neighboursOf = (api: Kubernetes, played: Played): Neighbours =>
  playNeighbours({
    client: openObjects(api),
    namespace,
    infraEnv,
    controlPlaneNamespace,
    hostedCluster,
    nodePool: agentFixture.nodePool,
    labels,
    conditions: 'v1beta2',
    discoveryMs: 0,
    installMs: 0,
    ...played,
  });
