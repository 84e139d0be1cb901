/** Names of agent-forge-operator, which stay as they are, and drover's own (docs/agent-pools.md#names). */

const group = 'agent-forge.containeroo.ch';

export const agentPoolFinalizer = `${group}/vsphere-agent-pool`;
export const vsphereAgentFinalizer = `${group}/vsphere-agent`;

export const agentPoolLabels = {
  /** On a VsphereAgent: its pool. */
  pool: `${group}/vsphere-agent-pool`,
  /** On a VsphereAgent: `agent-machine`, or `surge` ({@link surge}). */
  createdFor: `${group}/created-for`,
  /** On a VsphereAgent: the AgentMachine that it was created for. On an Agent: its hostname. */
  agentMachine: `${group}/agent-machine`,
  /** On an Agent: the NodePool that it is kept for. */
  nodePool: `${group}/nodepool`,
} as const;

export const agentPoolAnnotations = {
  /** On a VsphereAgent: the name of its VM, which is its hostname too. */
  vmName: `${group}/vm-name`,
  /** On a pool: each new value has the ISO downloaded and compared at once. */
  forceIsoRefresh: `${group}/force-iso-refresh`,
  /** On a VsphereAgent: digest of the template that its VM was made of. */
  templateDigest: 'drover.dev/template-digest',
  /** On a VsphereAgent: id of the vCenter at which its VM was made. */
  vcenterId: 'drover.dev/vcenter-id',
  /** On a VsphereAgent, `true`: its Agent is installed on its disk, and the ISO is taken out of its drive. */
  installed: 'drover.dev/installed',
  /** On a pool or a VsphereAgent, `true`: its VMs go though their Machines are there. */
  forceDelete: 'drover.dev/force-delete',
  /**
   * On a pool, joined by commas, each `<name>/<uid>`: VsphereAgents that may go though the deletion of their Machines
   * was not observed, and VMs that are on and have no VsphereAgent, with the uid in their mark.
   */
  approvedDeletions: 'drover.dev/approved-deletions',
  /** On a pool, a number: the most VMs that it may have, and may have under way. Left out: as in drover's settings. */
  maxAgents: 'drover.dev/max-agents',
  maxConcurrent: 'drover.dev/max-concurrent',
  /**
   * On a pool: VMs of another template than the pool's are replaced. `available`, or `true`: those that no Machine has.
   * `all`: the others too.
   */
  replaceDrifted: 'drover.dev/replace-drifted',
} as const;

/** What a VsphereAgent is created for that stands ready before a Machine is deleted. */
export const surge = 'surge';

/** Of HyperShift, Cluster API, its Agent provider and assisted-service. */
export const neighbours = {
  /** On AgentMachines and Machines: `<namespace>/<name>` of the NodePool. */
  nodePool: 'hypershift.openshift.io/nodePool',
  nodePoolRole: 'hypershift.openshift.io/nodepool-role',
  /** On an Agent that is taken: the AgentMachine. */
  agentMachineRef: 'agentMachineRef',
  /** On an Agent that is taken: the namespace of the AgentMachine. */
  agentMachineRefNamespace: 'agentMachineRefNamespace',
  infraEnv: 'infraenvs.agent-install.openshift.io',
} as const;

export const vmPhases = ['Provisioning', 'Available', 'Bound', 'Released', 'Orphaned'] as const;
export type VmPhase = (typeof vmPhases)[number];

export const vmReasons = [
  'VMCreatePending',
  'CreateRequested',
  'VMAdopted',
  'AgentNotDiscovered',
  'AgentDiscoveryExpired',
  'AgentMissing',
  'AgentAvailable',
  'AgentPrepared',
  'AgentBound',
  'AgentReleased',
  'MachineDeleting',
  'MachineDeleted',
] as const;
export type VmReason = (typeof vmReasons)[number];

/** Why a VsphereAgent has no VM yet: its pool says so for all of them. */
export const isoNotReady = 'ISONotReady';

export const agentPoolConditions = {
  ready: 'Ready',
  demand: 'AgentMachineDemandFound',
  infraEnv: 'InfraEnvAvailable',
  capacity: 'CapacitySatisfied',
  vsphere: 'VsphereReady',
  iso: 'ISOReady',
  /** drover's own: VMs of another template than the pool's. */
  drifted: 'TemplateDrifted',
  /** drover's own: what it would do, where it only observes; then it is the only one written. */
  observed: 'Observed',
} as const;

/** Keys of the ExtraConfig of a VM, all in the call that makes it. The first two are its owner. */
export const agentVmKeys = {
  /** `namespace/name` of the VsphereAgent. */
  agent: 'drover.vsphereAgent',
  agentUid: 'drover.vsphereAgentUid',
  /** `namespace/name` of the VsphereAgentPool. */
  pool: 'drover.agentPool',
  /** Its uid: another cluster may have a pool of that name. */
  poolUid: 'drover.agentPoolUid',
  /** As drover's settings call the cluster; left out where they do not. */
  cluster: 'drover.cluster',
} as const;
