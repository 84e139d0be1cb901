import { readFileSync } from 'node:fs';
import { writeProviderId } from '../contracts/machine-safety/provider-id.ts';
import { loadOpenStackSettings, type OpenStackSettings } from '../runtime/config/openstack-settings.ts';
import type { Kubernetes } from '../runtime/kubernetes/kubernetes.ts';
import { resourcePath } from '../runtime/kubernetes/resource-path.ts';
import { applyObject, mergeStatus } from './kubernetes-objects.ts';
import type { OpenStackHandle } from './openstack/handle.ts';
import { createInstance } from './openstack/seed.ts';
import type { Session } from './openstack/session.ts';
import { inventory, type VsphereHandle } from './vsphere/handle.ts';
import { openGovcWitness, type VcenterWitness } from './vsphere/witness.ts';

/**
 * Machines as machine-controller-manager leaves them, in the lab or in a simulation: classes, Secrets, Machines, and
 * their VMs and servers.
 */

export const machineFixture = {
  namespace: 'shoot',
  /** In vCenter. */
  folder: 'shoot',
  classes: { vsphere: 'worker-vsphere', openstack: 'worker-openstack' },
  region: { vsphere: 'eu-1', openstack: 'RegionOne' },
} as const;
export type Provider = keyof typeof machineFixture.classes;

const group = 'machine.sapcloud.io/v1alpha1';
const { namespace, folder, classes, region } = machineFixture;

/** Which cluster a VM says that it belongs to. */
export const vsphereMarks = (cluster = namespace as string): Record<string, string> => ({
  'mcm.gardener.cloud/cluster': cluster,
  'mcm.gardener.cloud/role': 'node',
});
export const openstackMarks = (cluster = namespace as string): Record<string, string> => ({
  [`kubernetes.io-cluster-${cluster}`]: '1',
  'kubernetes.io-role-node': '1',
});

const machineClass = (provider: Provider, spec: object, cluster: string = namespace): object => ({
  apiVersion: group,
  kind: 'MachineClass',
  metadata: { namespace: cluster, name: classes[provider] },
  provider: { vsphere: 'vSphere', openstack: 'OpenStack' }[provider],
  providerSpec: spec,
  secretRef: { namespace, name: classes[provider] },
});

const secret = (provider: Provider, values: Record<string, string>): object => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { namespace, name: classes[provider] },
  stringData: values,
});

/**
 * A class of VMs in the fixture's folder.
 * @param cluster whose marks they carry; its Machines are in the namespace of that name
 */
export const vsphereClass = (cluster?: string): object =>
  machineClass(
    'vsphere',
    { region: region.vsphere, datacenter: inventory.datacenter, folder, tags: vsphereMarks(cluster) },
    cluster,
  );

export interface VsphereAccess {
  witness: VcenterWitness;
  url: string;
  username: string;
  password: string;
  /** PEM; null: the system's. */
  ca: string | null;
}

/** The lab's vCenter. */
export const labVsphere = (vsphere: VsphereHandle): VsphereAccess => ({
  witness: openGovcWitness(vsphere),
  url: vsphere.url,
  username: vsphere.username,
  password: readFileSync(vsphere.passwordFile, 'utf8').trim(),
  ca: readFileSync(vsphere.caFile, 'utf8'),
});

/** The lab's OpenStack, by an application credential. */
export const labCloud = ({ cloudsFile }: Pick<OpenStackHandle, 'cloudsFile'>): OpenStackSettings =>
  loadOpenStackSettings({ OS_CLIENT_CONFIG_FILE: cloudsFile, OS_CLOUD: 'lab' });

/** The namespace of the Machines, where drover's worker may read Secrets. */
export async function setUpMachineNamespace(api: Kubernetes): Promise<void> {
  await applyObject(api, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  const name = 'drover-worker-machine-credentials';
  await applyObject(api, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { namespace, name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: [{ kind: 'ServiceAccount', namespace: 'drover-system', name: 'drover-worker' }],
  });
}

/** A class of VMs in a folder of its own. */
export async function setUpVsphereClass(api: Kubernetes, access: VsphereAccess): Promise<void> {
  const path = `${inventory.vmFolder}/${folder}`;
  if (!(await access.witness.find('folder', inventory.vmFolder)).includes(path))
    await access.witness.createFolder(path);
  await applyObject(
    api,
    secret('vsphere', {
      vsphereHost: access.url.replace(/^https:\/\//u, ''),
      vsphereUsername: access.username,
      vspherePassword: access.password,
      ...(access.ca !== null && { vsphereCACert: access.ca }),
    }),
  );
  await applyObject(api, vsphereClass());
}

/**
 * A class of servers in the credential's project.
 * @param settings with a password or an application credential by its id
 */
export async function setUpOpenStackClass(
  api: Kubernetes,
  { authUrl, credential, region: of }: OpenStackSettings,
): Promise<void> {
  if (credential.method !== 'application_credential' || !('id' in credential))
    throw new Error('the fixture of machines takes an application credential by its id');
  await applyObject(
    api,
    secret('openstack', {
      authURL: authUrl,
      applicationCredentialID: credential.id,
      applicationCredentialSecret: credential.secret,
    }),
  );
  await applyObject(api, machineClass('openstack', { spec: { region: of, tags: openstackMarks() } }));
}

export const vmPath = (name: string): string => `${inventory.vmFolder}/${folder}/${name}`;

/** A VM as the class makes it. Returns its provider id. @param marks none: it is another user's */
export async function makeMachineVm(witness: VcenterWitness, name: string, marks = vsphereMarks()): Promise<string> {
  await witness.cloneVm({ from: inventory.template, to: vmPath(name) });
  await witness.setAttributes(vmPath(name), marks);
  const vm = await witness.describeVm(vmPath(name));
  return writeProviderId({ provider: 'vsphere', region: region.vsphere, id: vm?.config.uuid ?? '' });
}

/** A server as the class makes it. Returns its provider id. */
export async function makeMachineServer(session: Session, name: string, metadata = openstackMarks()): Promise<string> {
  const { id } = await createInstance(session, { name, metadata });
  return writeProviderId({ provider: 'openstack', region: region.openstack, id });
}

export interface MachineState {
  name: string;
  /** Default: that of the fixture. */
  cluster?: string;
  provider?: Provider;
  /** Empty: none yet. */
  providerId?: string;
  phase?: string;
  /** Name of its Node. */
  node?: string;
}

/** As machine-controller-manager has written it. */
export async function putMachine(
  api: Kubernetes,
  { name, cluster = namespace, provider = 'vsphere', providerId = '', phase = 'Running', node }: MachineState,
): Promise<void> {
  const object = { apiVersion: group, kind: 'Machine', metadata: { namespace: cluster, name } };
  await applyObject(api, {
    ...object,
    metadata: { ...object.metadata, ...(node !== undefined && { labels: { node } }) },
    spec: {
      class: { kind: 'MachineClass', name: classes[provider] },
      ...(providerId !== '' && { providerID: providerId }),
    },
  });
  if (phase === '') return;
  const lastUpdateTime = new Date(0).toISOString();
  await mergeStatus(api, { ...object, status: { currentStatus: { phase, lastUpdateTime } } });
}

export const removeMachine = (api: Kubernetes, name: string): Promise<void> => remove(api, 'machines', name);

export const removeClass = (api: Kubernetes, provider: Provider): Promise<void> =>
  remove(api, 'machineclasses', classes[provider]);

async function remove(api: Kubernetes, plural: string, name: string): Promise<void> {
  const path = resourcePath(group, plural, { namespace, name });
  await api.request({ method: 'DELETE', path }, AbortSignal.timeout(20_000));
}
