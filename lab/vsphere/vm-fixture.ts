import type { Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { labClock } from '../clock.ts';
import { labVcenter } from '../drover.ts';
import { applyObject, mergeStatus } from '../kubernetes-objects.ts';
import type { VsphereHandle } from './handle.ts';
import { inventory } from './handle.ts';
import type { VcenterWitness } from './witness.ts';

/** What VirtualMachines of a namespace need, in the lab's vCenter and in Kubernetes. */
export const vmFixture = {
  zone: 'zone-a',
  storageClass: 'fast',
  profileId: 'profile-1',
  classes: { small: 'small', large: 'large' },
  /** Of each class. */
  sizes: { small: { cpus: 1, memory: '1Gi' }, large: { cpus: 2, memory: '2Gi' } },
  image: 'vmi-template',
  network: 'DC0_DVPG0',
  /** Two volumes for each VM of the class, on its host. */
  instanceStorage: { class: 'storing', storageClass: 'local', profileId: 'profile-local', sizes: ['1Gi', '2Gi'] },
} as const;

/**
 * The section `vsphere` of drover's settings for the lab's vCenter, or another one with the same inventory.
 * @param name as settings call it
 */
export const vcenterSettings = (
  {
    url,
    username,
    passwordFile,
    caFile,
  }: Pick<VsphereHandle, 'url' | 'username' | 'passwordFile'> & { caFile: string | null },
  name: string = labVcenter,
): object => ({
  vcenters: {
    [name]: {
      url,
      username,
      passwordFile,
      caFile,
      zones: {
        [vmFixture.zone]: {
          folder: `${inventory.vmFolder}/{namespace}`,
          resourcePool: `${inventory.resourcePool}/{namespace}`,
        },
      },
      storagePolicies: {
        [vmFixture.profileId]: { datastores: inventory.datastores },
        [vmFixture.instanceStorage.profileId]: { datastores: inventory.datastores },
      },
      networks: { default: `/${inventory.datacenter}/network/${vmFixture.network}` },
    },
  },
});

const vmoperator = 'vmoperator.vmware.com/v1alpha6';
export const vmClass = (namespace: string, name: string, cpus: number, memory: string): object => ({
  apiVersion: vmoperator,
  kind: 'VirtualMachineClass',
  metadata: { namespace, name },
  spec: { hardware: { cpus, memory } },
});

/**
 * A namespace with a folder and a resource pool, where drover may read Secrets, two classes, a storage class, and a
 * template as an image. May be asked for again.
 */
export async function setUpVmNamespace(
  kubernetes: Kubernetes,
  witness: VcenterWitness,
  namespace: string,
): Promise<void> {
  const folder = `${inventory.vmFolder}/${namespace}`;
  if (!(await witness.find('folder', inventory.vmFolder)).includes(folder)) {
    await witness.createFolder(folder);
    await witness.createPool(`${inventory.resourcePool}/${namespace}`);
  }
  const account = { kind: 'ServiceAccount', namespace: 'drover-system', name: 'drover-worker' };
  const bootstrap = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'drover-worker-bootstrap' };
  const objects = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: vmFixture.storageClass },
      provisioner: 'csi.vsphere.vmware.com',
      parameters: { storagePolicyID: vmFixture.profileId },
    },
    ...Object.values(vmFixture.classes).map((name) =>
      vmClass(namespace, name, vmFixture.sizes[name].cpus, vmFixture.sizes[name].memory),
    ),
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { namespace, name: 'drover-bootstrap' },
      roleRef: bootstrap,
      subjects: [account],
    },
  ];
  for (const object of objects) await applyObject(kubernetes, object);
  await makeImage(kubernetes, {
    namespace,
    name: vmFixture.image,
    type: 'VM',
    providerItemID: await witness.idOf(inventory.template),
  });
}

/** A class with instance storage, in a namespace that is set up. May be asked for again. */
export async function makeStoringClass(kubernetes: Kubernetes, namespace: string): Promise<void> {
  const { class: name, storageClass, profileId, sizes } = vmFixture.instanceStorage;
  const volumes = sizes.map((size) => ({ size }));
  const objects = [
    {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: storageClass },
      provisioner: 'csi.vsphere.vmware.com',
      parameters: { storagePolicyID: profileId },
      volumeBindingMode: 'WaitForFirstConsumer',
    },
    {
      apiVersion: vmoperator,
      kind: 'VirtualMachineClass',
      metadata: { namespace, name },
      spec: { hardware: { cpus: 1, memory: '1Gi', instanceStorage: { storageClass, volumes } } },
    },
  ];
  for (const object of objects) await applyObject(kubernetes, object);
}

/** An image that is ready, of a template or of an item of a content library. */
export async function makeImage(
  kubernetes: Kubernetes,
  {
    namespace,
    name,
    type,
    providerItemID,
  }: { namespace: string; name: string; type: 'VM' | 'OVF' | 'ISO'; providerItemID: string },
): Promise<void> {
  const image = { apiVersion: vmoperator, kind: 'VirtualMachineImage', metadata: { namespace, name } };
  await applyObject(kubernetes, { ...image, spec: {} });
  const lastTransitionTime = new Date(labClock().now()).toISOString();
  const ready = { type: 'Ready', status: 'True', reason: 'True', message: '', lastTransitionTime };
  await mergeStatus(kubernetes, { ...image, status: { providerItemID, type, conditions: [ready] } });
}

/** A VirtualMachine that wants to be on. */
export const vmManifest = (
  namespace: string,
  name: string,
  spec: object = {},
  annotations: Record<string, string> = {},
): object => ({
  apiVersion: vmoperator,
  kind: 'VirtualMachine',
  metadata: { namespace, name, annotations },
  spec: {
    className: vmFixture.classes.small,
    image: { kind: 'VirtualMachineImage', name: vmFixture.image },
    storageClass: vmFixture.storageClass,
    powerState: 'PoweredOn',
    powerOffMode: 'Hard',
    network: { interfaces: [{ name: 'eth0', network: { name: vmFixture.network } }] },
    ...spec,
  },
});

/** What tests of a VirtualMachine read of its VM. */
export interface WitnessedVm {
  powerState: string;
  cpus: number;
  memoryMiB: number;
  instanceUuid: string;
  /** drover's own keys of ExtraConfig, and those of vm-operator. */
  metadata: Record<string, string>;
}

/** Null: there is none of that name in the folder of the namespace. */
export async function witnessVm(witness: VcenterWitness, namespace: string, name: string): Promise<WitnessedVm | null> {
  const vm = (await witness.listVms(namespace)).find((one) => one.name === name);
  if (vm === undefined) return null;
  const { powerState, cpus, memoryMiB, instanceUuid, extraConfig } = vm;
  const metadata = Object.fromEntries(
    Object.entries(extraConfig).filter(([key]) => /^(vmservice|drover)\./u.test(key)),
  );
  return { powerState, cpus, memoryMiB, instanceUuid, metadata };
}
