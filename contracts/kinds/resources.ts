import type { Resource } from './object.ts';

/** The kinds of objects that drover reads or keeps and does not drive. */

const kvm = { group: 'kvm.cloud.sap', namespaced: false } as const;
const vmoperator = { group: 'vmoperator.vmware.com', version: 'v1alpha6', namespaced: true } as const;
const agentForge = { group: 'agent-forge.containeroo.ch', version: 'v1alpha1', namespaced: true } as const;
const assisted = { group: 'agent-install.openshift.io', version: 'v1beta1', namespaced: true } as const;
const cdi = { group: 'cdi.kubevirt.io', version: 'v1beta1', namespaced: true } as const;
const cns = { group: 'cns.vmware.com', version: 'v1alpha1', namespaced: true } as const;
const vspherePolicy = { group: 'vsphere.policy.vmware.com', version: 'v1alpha1', namespaced: true } as const;
const mcm = { group: 'machine.sapcloud.io', version: 'v1alpha1', namespaced: true } as const;

export const node = { group: '', version: 'v1', kind: 'Node', plural: 'nodes', namespaced: false } as const;
export const namespace = {
  group: '',
  version: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  namespaced: false,
} as const;
export const secret = { group: '', version: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true } as const;
export const migration = {
  ...kvm,
  version: 'v1alpha1',
  kind: 'Migration',
  plural: 'migrations',
  namespaced: true,
} as const;
export const virtualMachine = { ...vmoperator, kind: 'VirtualMachine', plural: 'virtualmachines' } as const;
export const virtualMachineClass = {
  ...vmoperator,
  kind: 'VirtualMachineClass',
  plural: 'virtualmachineclasses',
} as const;
export const virtualMachineImage = {
  ...vmoperator,
  kind: 'VirtualMachineImage',
  plural: 'virtualmachineimages',
} as const;
export const clusterVirtualMachineImage = {
  ...vmoperator,
  kind: 'ClusterVirtualMachineImage',
  plural: 'clustervirtualmachineimages',
  namespaced: false,
} as const;
export const virtualMachineImageCache = {
  ...vmoperator,
  kind: 'VirtualMachineImageCache',
  plural: 'virtualmachineimagecaches',
} as const;
export const virtualMachineGroup = {
  ...vmoperator,
  kind: 'VirtualMachineGroup',
  plural: 'virtualmachinegroups',
} as const satisfies Resource;
/** By which the vSphere CSI driver attaches one volume. */
export const cnsNodeVmAttachment = {
  ...cns,
  kind: 'CnsNodeVmAttachment',
  plural: 'cnsnodevmattachments',
} as const satisfies Resource;
/** By which it attaches all volumes of a VM. */
export const cnsNodeVmBatchAttachment = {
  ...cns,
  kind: 'CnsNodeVMBatchAttachment',
  plural: 'cnsnodevmbatchattachments',
} as const satisfies Resource;
/** By which the policies of a VM are evaluated. */
export const policyEvaluation = {
  ...vspherePolicy,
  kind: 'PolicyEvaluation',
  plural: 'policyevaluations',
} as const satisfies Resource;
export const machineClass = { ...mcm, kind: 'MachineClass', plural: 'machineclasses' } as const;
export const machineSet = { ...mcm, kind: 'MachineSet', plural: 'machinesets' } as const;
export const machineDeployment = { ...mcm, kind: 'MachineDeployment', plural: 'machinedeployments' } as const;

export const vsphereAgentPool = { ...agentForge, kind: 'VsphereAgentPool', plural: 'vsphereagentpools' } as const;
export const vsphereAgent = { ...agentForge, kind: 'VsphereAgent', plural: 'vsphereagents' } as const;
export const agentMachine = {
  group: 'capi-provider.agent-install.openshift.io',
  version: 'v1beta1',
  kind: 'AgentMachine',
  plural: 'agentmachines',
  namespaced: true,
} as const;
export const agent = { ...assisted, kind: 'Agent', plural: 'agents' } as const;
export const infraEnv = { ...assisted, kind: 'InfraEnv', plural: 'infraenvs' } as const;
/** Of Cluster API; the Machine that drover sweeps the VMs of is another kind. */
export const clusterMachine = {
  group: 'cluster.x-k8s.io',
  version: 'v1beta1',
  kind: 'Machine',
  plural: 'machines',
  namespaced: true,
} as const;

export const dataVolume = { ...cdi, kind: 'DataVolume', plural: 'datavolumes' } as const;
export const dataSource = { ...cdi, kind: 'DataSource', plural: 'datasources' } as const;
export const storageProfile = {
  ...cdi,
  kind: 'StorageProfile',
  plural: 'storageprofiles',
  namespaced: false,
} as const;
export const objectTransfer = {
  ...cdi,
  kind: 'ObjectTransfer',
  plural: 'objecttransfers',
  namespaced: false,
} as const;
/** The installation of CDI and its settings: where they are, drover heeds them. */
export const cdiInstallation = { ...cdi, kind: 'CDI', plural: 'cdis', namespaced: false } as const;
export const cdiConfig = { ...cdi, kind: 'CDIConfig', plural: 'cdiconfigs', namespaced: false } as const;
