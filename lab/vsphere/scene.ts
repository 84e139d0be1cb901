import { kubectl } from '../kubectl.ts';
import type { KubernetesHandle } from '../parts/kubernetes-handle.ts';
import { labVcenter } from '../drover.ts';
import { govc, govcJson } from './govc.ts';
import type { VsphereHandle } from './handle.ts';
import { inventory } from './handle.ts';

/** What VirtualMachines of a namespace need, in the lab's vCenter and in Kubernetes. */
export const vmScene = {
  zone: 'zone-a',
  storageClass: 'fast',
  profileId: 'profile-1',
  /** Of one CPU and 1 GiB, and of two and 2 GiB. */
  classes: { small: 'small', large: 'large' },
  image: 'vmi-template',
  network: 'DC0_DVPG0',
} as const;

/** The section `vsphere` of drover's settings for the lab's vCenter. */
export const vcenterSettings = ({ url, username, passwordFile, caFile }: VsphereHandle): object => ({
  vcenters: {
    [labVcenter]: {
      url,
      username,
      passwordFile,
      caFile,
      zones: { [vmScene.zone]: { folder: `${inventory.vmFolder}/{namespace}`, resourcePool: `${inventory.resourcePool}/{namespace}` } },
      storagePolicies: { [vmScene.profileId]: { datastores: inventory.datastores } },
    },
  },
});

const vmoperator = 'vmoperator.vmware.com/v1alpha6';
const vmClass = (namespace: string, name: string, cpus: number, memory: string): object => ({ apiVersion: vmoperator, kind: 'VirtualMachineClass', metadata: { namespace, name }, spec: { hardware: { cpus, memory } } });

/** A namespace with a folder and a resource pool, where drover may read Secrets, two classes, a storage class, and a template as an image. May be asked for again. */
export async function setVmScene(kubernetes: KubernetesHandle, vsphere: VsphereHandle, namespace: string): Promise<void> {
  const folder = `${inventory.vmFolder}/${namespace}`;
  const isThere = (await govc(vsphere, 'find', inventory.vmFolder, '-type', 'f', '-name', namespace)).trim() !== '';
  if (!isThere) {
    await govc(vsphere, 'folder.create', folder);
    await govc(vsphere, 'pool.create', `${inventory.resourcePool}/${namespace}`);
  }
  const account = { kind: 'ServiceAccount', namespace: 'drover-system', name: 'drover-worker' };
  const bootstrap = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'drover-worker-bootstrap' };
  const objects = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: { name: vmScene.storageClass }, provisioner: 'csi.vsphere.vmware.com', parameters: { storagePolicyID: vmScene.profileId } },
    vmClass(namespace, vmScene.classes.small, 1, '1Gi'),
    vmClass(namespace, vmScene.classes.large, 2, '2Gi'),
    { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding', metadata: { namespace, name: 'drover-bootstrap' }, roleRef: bootstrap, subjects: [account] },
  ];
  for (const object of objects) await kubectl(kubernetes, ['apply', '-f', '-'], JSON.stringify(object));
  await makeImage(kubernetes, { namespace, name: vmScene.image, type: 'VM', providerItemID: await templateId(vsphere) });
}

/** An image that is ready, of a template or of an item of a content library. */
export async function makeImage(kubernetes: KubernetesHandle, { namespace, name, type, providerItemID }: { namespace: string; name: string; type: 'VM' | 'OVF' | 'ISO'; providerItemID: string }): Promise<void> {
  await kubectl(kubernetes, ['apply', '-f', '-'], JSON.stringify({ apiVersion: vmoperator, kind: 'VirtualMachineImage', metadata: { namespace, name }, spec: {} }));
  const ready = { type: 'Ready', status: 'True', reason: 'True', message: '', lastTransitionTime: new Date().toISOString() };
  const status = { providerItemID, type, conditions: [ready] };
  await kubectl(kubernetes, ['patch', 'virtualmachineimage', name, '-n', namespace, '--subresource=status', '--type=merge', '-p', JSON.stringify({ status })]);
}

async function templateId(vsphere: VsphereHandle): Promise<string> {
  const { virtualMachines } = await govcJson<{ virtualMachines: { self: { value: string } }[] }>(vsphere, 'vm.info', inventory.template);
  return virtualMachines[0]?.self.value ?? '';
}

/** A VirtualMachine that wants to be on. */
export const vmManifest = (namespace: string, name: string, spec: object = {}, annotations: Record<string, string> = {}): object => ({
  apiVersion: vmoperator,
  kind: 'VirtualMachine',
  metadata: { namespace, name, annotations },
  spec: {
    className: vmScene.classes.small,
    image: { kind: 'VirtualMachineImage', name: vmScene.image },
    storageClass: vmScene.storageClass,
    powerState: 'PoweredOn',
    powerOffMode: 'Hard',
    network: { interfaces: [{ name: 'eth0', network: { name: vmScene.network } }] },
    ...spec,
  },
});

/** A VM as vCenter has it, by govc: null where there is none. */
export interface WitnessedVm {
  powerState: string;
  cpus: number;
  memoryMiB: number;
  instanceUuid: string;
  marks: Record<string, string>;
}

export async function witness(vsphere: VsphereHandle, namespace: string, name: string): Promise<WitnessedVm | null> {
  interface Info {
    virtualMachines: null | { runtime: { powerState: string }; config: { instanceUuid: string; hardware: { numCPU: number; memoryMB: number }; extraConfig: { key: string; value: unknown }[] } }[];
  }
  const { virtualMachines } = await govcJson<Info>(vsphere, 'vm.info', '-e', `${inventory.vmFolder}/${namespace}/${name}`);
  const [vm] = virtualMachines ?? [];
  if (vm === undefined) return null;
  const { hardware, instanceUuid, extraConfig } = vm.config;
  const marks = Object.fromEntries(extraConfig.filter(({ key }) => /^(vmservice|drover)\./u.test(key)).map(({ key, value }) => [key, String(value)]));
  return { powerState: vm.runtime.powerState, cpus: hardware.numCPU, memoryMiB: hardware.memoryMB, instanceUuid, marks };
}
