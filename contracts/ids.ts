import type { SharedLimit } from './allowance.ts';

/**
 * Every name that two processes must agree on is made here: workflow ids, task queues, annotations,
 * labels, field managers.
 */

/**
 * Where several clusters share a Temporal namespace, ids and task queues start with the cluster's name. It is empty by
 * default, so that people type `eviction/node-1` and `--taskqueue drover`.
 */
const inCluster = (cluster: string, name: string): string => (cluster === '' ? name : `${cluster}/${name}`);

const workflows = 'drover';

/**
 * The task queue of all workflows, and of the activities that talk to Temporal itself. People type it:
 * `tctl workflow start --taskqueue drover`.
 */
export const workflowQueue = (cluster: string): string => inCluster(cluster, workflows);

/**
 * The cluster whose {@link workflowQueue} this is: a run's own queue says which cluster it belongs to, whichever client
 * started it.
 */
export const clusterOfQueue = (queue: string): string =>
  queue.endsWith(`/${workflows}`) ? queue.slice(0, -`/${workflows}`.length) : '';

/** The task queue of everything that talks to kube-apiserver. */
export const kubernetesQueue = (cluster: string): string => inCluster(cluster, 'kubernetes');

/** The task queue of what concerns one host and asks several systems about it: observations, power, the guest watch. */
export const hostsQueue = (cluster: string): string => inCluster(cluster, 'hosts');

/**
 * The task queue of the checks of libvirt, Open vSwitch, Ceph and Nova on a host. They take minutes, and a host that
 * fails must not wait for them.
 */
export const hostChecksQueue = (cluster: string): string => inCluster(cluster, 'host-checks');

/** The task queue of observations of virtual machines, which ask Kubernetes and vCenter. */
export const virtualMachinesQueue = (cluster: string): string => inCluster(cluster, 'virtual-machines');

/** One task queue per vCenter, by its name in drover's settings. */
export const vsphereQueue = (vcenter: string, cluster: string): string => inCluster(cluster, `vsphere:${vcenter}`);

/** The task queue of the safety jobs of Machines: what speaks to their providers, and probes API servers. */
export const machinesQueue = (cluster: string): string => inCluster(cluster, 'machines');

/**
 * The task queue of agent pools and their VMs: what asks Kubernetes, a vCenter, and the server of the discovery ISO.
 */
export const agentsQueue = (cluster: string): string => inCluster(cluster, 'agents');

/** One task queue per Nova region, so that a slow region cannot hold up another. */
export const novaQueue = (region: string, cluster: string): string => inCluster(cluster, `nova:${region}`);

/** The task queue of volumes: what clones them, in Kubernetes. */
export const volumesQueue = (cluster: string): string => inCluster(cluster, 'volumes');

/** The run that empties `host`. The id is the lock: one eviction per host at a time. */
export const evictionId = (host: string, cluster = ''): string => inCluster(cluster, `eviction/${host}`);

/** The run that drives the lifecycle of a hypervisor. */
export const hypervisorId = (name: string, cluster = ''): string => inCluster(cluster, `hypervisor/${name}`);

/** The run that drives a virtual machine. The id is the lock: two runs never make one VM. */
export const virtualMachineId = (namespace: string, name: string, cluster = ''): string =>
  inCluster(cluster, `virtualmachine/${namespace}/${name}`);

/** The run that makes what a VirtualMachineSetResourcePolicy names. */
export const resourcePolicyId = (namespace: string, name: string, cluster = ''): string =>
  inCluster(cluster, `resource-policy/${namespace}/${name}`);

/**
 * The run that deals with the failure of a host. The id is the lock: whatever starts it, one run judges, fences and
 * evacuates it.
 */
export const nodeFailureId = (host: string, cluster = ''): string => inCluster(cluster, `node-failure/${host}`);

/** Too long a name of a host leaves no room for what follows it. */
const longestAdvised = 230;

/** The Eviction in `observe` that says what emptying a failing host would take. */
export const adviceName = (host: string): string => `${host.slice(0, longestAdvised)}-node-failure`;

/** The run that listens to the guests of one shard of the hypervisors. */
export const guestWatchId = (shard: number, cluster = ''): string => inCluster(cluster, `guest-watch/${shard}`);

/** The run that watches the VMs of a vCenter, by its name in drover's settings. */
export const vcenterWatchId = (vcenter: string, cluster = ''): string => inCluster(cluster, `vcenter/${vcenter}`);

/** The run that moves one server. The id is the lock: one migration per server at a time. */
export const migrationId = (serverId: string, cluster = ''): string => inCluster(cluster, `migration/${serverId}`);

/** The run that allocates the migrations that a region may have at once. */
export const migrationAllowanceId = (region: string, cluster = ''): string =>
  inCluster(cluster, `limits/migrations/${region}`);

/** The run that allocates the slots of a vCenter to create VMs. */
export const createAllowanceId = (vcenter: string, cluster = ''): string =>
  inCluster(cluster, `limits/creates/${vcenter}`);

/** The run that allocates the slots of a vCenter to destroy VMs. */
export const destroyAllowanceId = (vcenter: string, cluster = ''): string =>
  inCluster(cluster, `limits/destroys/${vcenter}`);

/** The run that allocates the volumes that a CSI driver may clone at once. */
export const cloneAllowanceId = (driver: string, cluster = ''): string => inCluster(cluster, `limits/clones/${driver}`);

/** What the ids of all runs that allocate a limit begin with. */
export const allowancePrefix = (cluster = ''): string => inCluster(cluster, 'limits/');

/** The run that allocates a limit. The id is the lock: two runs would grant it twice. */
export function allowanceId(shared: SharedLimit, cluster = ''): string {
  switch (shared.kind) {
    case 'migrations':
      return migrationAllowanceId(shared.region, cluster);
    case 'creates':
      return createAllowanceId(shared.vcenter, cluster);
    case 'destroys':
      return destroyAllowanceId(shared.vcenter, cluster);
    case 'clones':
      return cloneAllowanceId(shared.driver, cluster);
  }
}

/** The run that keeps a pool of agents. The id is the lock: two runs never create two VMs for one demand. */
export const agentPoolId = (namespace: string, name: string, cluster = ''): string =>
  inCluster(cluster, `agent-pool/${namespace}/${name}`);

/** The run that makes and destroys the VM of a VsphereAgent. */
export const vsphereAgentId = (namespace: string, name: string, cluster = ''): string =>
  inCluster(cluster, `agent/${namespace}/${name}`);

/** The run that makes the volume of a DataVolume. The id is the lock: two runs never make one PVC. */
export const dataVolumeId = (namespace: string, name: string, cluster = ''): string =>
  inCluster(cluster, `datavolume/${namespace}/${name}`);

/** The run that says what a StorageClass can do. */
export const storageProfileId = (name: string, cluster = ''): string => inCluster(cluster, `storage-profile/${name}`);

/** The run that sweeps orphan VMs of the Machines of a namespace. The id is the lock: nothing else deletes them. */
export const orphanSweepId = (namespace: string, cluster = ''): string =>
  inCluster(cluster, `orphan-sweep/${namespace}`);

/** The run that says what a sweep would delete. */
export const orphanSweepDryId = (namespace: string, cluster = ''): string =>
  inCluster(cluster, `orphan-sweep-dry/${namespace}`);

/** The Schedule that requests sweeps; its runs have this id and a time. */
export const sweepScheduleId = (namespace: string, cluster = ''): string =>
  inCluster(cluster, `orphan-sweep-request/${namespace}`);

/** The run that freezes Machines while an API server does not answer. */
export const apiServerSafetyId = (namespace: string, cluster = ''): string =>
  inCluster(cluster, `api-server-safety/${namespace}`);

/** The run that freezes MachineSets that have too many Machines. */
export const overshootSafetyId = (namespace: string, cluster = ''): string =>
  inCluster(cluster, `overshoot-safety/${namespace}`);

/** The Schedule that compares a region's hosts with what their Hypervisors say; its runs have this id and a time. */
export const driftScheduleId = (region: string, cluster = ''): string =>
  inCluster(cluster, `hypervisor-drift/${region}`);

/** What of a cluster's name is claimed: whose it is, and which region of OpenStack its hosts are in. */
export type Claimed = 'cluster' | 'region';

/** The Schedule, paused for ever, that says who has the name of a cluster in a Temporal namespace. */
export const claimScheduleId = (claimed: Claimed, cluster = ''): string => inCluster(cluster, `claim/${claimed}`);

/** Workflow types are wire names: never renamed. */
export const workflowTypes = {
  evictHypervisor: 'evictHypervisor',
  reconcileHypervisor: 'reconcileHypervisor',
  reconcileVirtualMachine: 'reconcileVirtualMachine',
  syncContentLibrary: 'syncContentLibrary',
  reconcileSetResourcePolicy: 'reconcileSetResourcePolicy',
  handleNodeFailure: 'handleNodeFailure',
  watchGuests: 'watchGuests',
  watchVcenter: 'watchVcenter',
  migrateInstance: 'migrateInstance',
  allocateAllowance: 'allocateAllowance',
  findDrift: 'findDrift',
  requestSweep: 'requestSweep',
  sweepOrphans: 'sweepOrphans',
  watchApiServers: 'watchApiServers',
  watchOvershoot: 'watchOvershoot',
  reconcileAgentPool: 'reconcileAgentPool',
  reconcileAgent: 'reconcileAgent',
  cloneDataVolume: 'cloneDataVolume',
  reconcileStorageProfile: 'reconcileStorageProfile',
} as const;

/**
 * The field manager of drover's server-side applies. It must not start with `kubectl`, or the operators'
 * taint check trips.
 */
export const fieldManager = 'drover';

/** Keeps an Eviction until its run has ended and said so. */
export const evictionFinalizer = 'drover.dev/eviction';

export const annotations = {
  /** `admin` (default), `decommission`, `rolling-update`, `termination` or `node-failure`. */
  cause: 'drover.dev/eviction-cause',
  /** RFC 3339 time by which the host must be empty. Orders the moves and is shown; nothing is killed when it passes. */
  deadline: 'drover.dev/deadline',
  /** `true` or `false`: overrides what the cause says about enabling the host again. */
  reEnable: 'drover.dev/re-enable',
  /** How many instances of the host may move at once. */
  parallelism: 'drover.dev/parallelism',
  /** Comma list of obstacle ids that a person has accepted. */
  acceptObstacles: 'drover.dev/accept-obstacles',
  /** Comma list of `cold-migrate`, `force-complete`: what a person has consented to (docs/rules.md#consent). */
  consent: 'drover.dev/consent',
  /** Who gave the consent or accepted the obstacles, and when: `name 2026-01-31T12:00:00Z`. */
  consentBy: 'drover.dev/consent-by',
  /** `observe`: plan and publish, change nothing. */
  mode: 'drover.dev/mode',
  /** The failure of a host that an Eviction in `observe` is advice for. */
  incident: 'drover.dev/incident',
  /** Who started it, as the starter knew them. */
  startedBy: 'drover.dev/started-by',
  /** Set by `drover retry`: a new value starts a stopped or failed eviction again. */
  retry: 'drover.dev/retry',
} as const;

/** Written by drover on a Hypervisor: what it knows of its own doing, so that it takes back no more than that. */
export const hypervisorAnnotations = {
  /** Comma list of what it has written because the Node says so. */
  fromNode: 'drover.dev/from-node',
  /** Uid of the Node that it was made for. */
  nodeUid: 'drover.dev/node-uid',
  /** Comma list of the traits that it has put on the resource provider. */
  appliedTraits: 'drover.dev/applied-traits',
  /** Boot id of the Node when drover took it into maintenance for an update. */
  rollingUpdate: 'drover.dev/rolling-update',
  /** The value of `drover.dev/retry` that a run has taken up. */
  retryHandled: 'drover.dev/retry-handled',
  /** Keeps the host out of service until it is taken away: `Reason: message`. */
  hold: 'drover.dev/hold',
  /** What `hold` said before the host was fenced, there while it is: it is put back when the host is released. */
  userHold: 'drover.dev/user-hold',
  /**
   * Written by commands: who set `spec.maintenance`, and when: `name 2026-01-31T12:00:00Z`. It counts while drover is
   * the last that wrote that field.
   */
  maintenanceBy: 'drover.dev/maintenance-by',
  /**
   * Boot id that the Node had when the host was fenced, there until the host is restored: what comes back as the same
   * boot was never off.
   */
  fencedBootId: 'drover.dev/fenced-boot-id',
  /** Boot id that the Node said last: a host that fails is known by it when its Node is gone. */
  lastBootId: 'drover.dev/last-boot-id',
} as const;

/** Written by drover on a VirtualMachineSetResourcePolicy, whose status has no room for it. */
export const policyAnnotations = {
  /**
   * Generation for which all that it names is there; `observed 3` where drover only observes, `cancelled 3` where a
   * user has cancelled its run.
   */
  made: 'drover.dev/policy-made',
  /** What it waits for, or why drover does nothing, for people. */
  waitsFor: 'drover.dev/policy-waits-for',
} as const;

/** What Gardener, the nodes and the replaced operator call things (docs/compatibility.md#names-on-nodes). */
export const nodeMetadata = {
  /** Makes a Node a hypervisor. */
  virtDriver: 'nova.openstack.cloud.sap/virt-driver',
  /** Switches the lifecycle on; `skip-tests` leaves the tests out. */
  lifecycle: 'cobaltcore.cloud.sap/node-hypervisor-lifecycle',
  aggregates: 'nova.openstack.cloud.sap/aggregates',
  customTraits: 'nova.openstack.cloud.sap/custom-traits',
  zone: 'topology.kubernetes.io/zone',
  selectedForUpdate: 'node.machine.sapcloud.io/selected-for-update',
  updateResult: 'node.machine.sapcloud.io/update-result',
  offboardingTaint: 'kvm.cloud.sap/offboarding',
  /**
   * On the PodDisruptionBudget, the Deployment and the pod that hold the drain of a Node back; its value is their name.
   */
  drainGuard: 'cobaltcore-maintenance-controller',
  /** Gardener lets nothing onto a Node before its pods with this label are ready. */
  criticalComponent: 'node.gardener.cloud/critical-component',
} as const;

/** Labels that go from the Node to its Hypervisor, and on to its Evictions (docs/compatibility.md#names-on-nodes). */
export const copiedLabels = [
  'kubernetes.io/hostname',
  'kubernetes.metal.cloud.sap/bb',
  'kubernetes.metal.cloud.sap/cluster',
  'kubernetes.metal.cloud.sap/name',
  'kubernetes.metal.cloud.sap/type',
  'worker.garden.sapcloud.io/group',
  'worker.gardener.cloud/pool',
  'topology.kubernetes.io/region',
  nodeMetadata.zone,
] as const;

export const labels = {
  /** On a Migration: the uid of the Eviction that it belongs to. */
  evictionUid: 'drover.dev/eviction-uid',
  /** On a Migration: the host that is being emptied. */
  host: 'drover.dev/host',
  /** On an image that drover has made: the id of its content library. */
  contentLibrary: 'drover.dev/content-library',
} as const;

/** Begins every reason drover writes into a compute service, so that enabling again can prove ownership. */
export const disabledReasonPrefix = 'drover:';

/**
 * Begins the reason of a service that is disabled for the maintenance of its Hypervisor. Only that, or what the
 * replaced operator writes for the same cause, is lifted when the maintenance is over: an eviction that leaves its host
 * disabled does so on purpose.
 */
export const maintenanceReasonPrefix = `${disabledReasonPrefix} maintenance `;
/**
 * Begins the reason of a service that is disabled because its host was fenced; it is lifted as that of a maintenance
 * is, once nothing holds the host any more.
 */
export const fencedReasonPrefix = `${maintenanceReasonPrefix}ha: node failure `;
/** Reason of `drover.dev/hold` while a host that was fenced is not restored. */
export const fencedHold = 'NodeFailure';
/**
 * Reason of the condition `NodeFailure` after a user has cancelled the run of the failure: only another change starts
 * it again.
 */
export const cancelledFailure = 'Cancelled';
/** The Lease that says which host drover fenced last by itself, and when. */
export const fencingLease = 'drover-fencing';
/** On that Lease, as JSON: the hosts that had power and that drover fenced by itself within the last hour. */
export const silentFencingsAnnotation = 'drover.dev/silent-fencings';
/** Where each kubelet renews a Lease of its Node's name. */
export const nodeLeaseNamespace = 'kube-node-lease';
export const replacedMaintenanceReasonPrefix = 'Hypervisor CRD: spec.maintenance=';
