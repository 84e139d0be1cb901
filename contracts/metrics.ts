/** One metric, as Prometheus sees it. */
interface MetricRow {
  /**
   * Starts with `drover_` and ends with its unit: a base unit (`_seconds`, `_bytes`), or what is counted; counters end
   * with `_total`.
   */
  name: `drover_${string}`;
  kind: 'counter' | 'gauge' | 'histogram';
  /**
   * None has values without bound: no server ids, no run ids, no paths with names in them. Objects only while they are
   * not reconciled.
   */
  labels: readonly string[];
  /** Upper bounds, in the unit of the name. Only of histograms. */
  buckets?: readonly number[];
  /** Which processes show it. `runs`: workflow code, by way of the worker. */
  from: readonly ('worker' | 'bridge' | 'runs')[];
  help: string;
}

/** From a read of one object of an API to a list of thousands, and a time-out of ten seconds. */
const callBuckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15] as const;

/** From one call to a wait for a migration of hours. */
const stepBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 1_800, 7_200, 28_800] as const;

/** From a host with nothing on it to one that takes days. */
const runBuckets = [1, 5, 15, 60, 300, 900, 1_800, 3_600, 7_200, 14_400, 28_800, 86_400, 259_200] as const;

/** Up to where Temporal suggests a new run, and where it ends one (51,200). */
const historyBuckets = [50, 100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 40_000, 51_200] as const;

/** Above the bridge's least distance of 0.2 s between two signals to one run, and below a minute of back-off. */
const signalBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60] as const;

/**
 * Every metric that drover makes. Beside them, each process shows its own CPU, memory and event loop (`process_…`,
 * `nodejs_…`), and the worker what Temporal's SDK counts (`temporal_…`). docs/observability.md has the same table; a
 * test compares them.
 */
export const metrics = {
  info: {
    name: 'drover_info',
    kind: 'gauge',
    labels: ['component', 'version'],
    from: ['worker', 'bridge'],
    help: 'Always 1: which process this is, and its version',
  },
  outsideCalls: {
    name: 'drover_outside_calls_total',
    kind: 'counter',
    labels: ['system', 'verb', 'outcome'],
    from: ['worker', 'bridge'],
    help: 'Calls of Keystone, Nova, Placement, Glance, kube-apiserver, libvirt, Open vSwitch, Ceph, BMCs and vCenters, by what came of them',
  },
  outsideCallSeconds: {
    name: 'drover_outside_call_seconds',
    kind: 'histogram',
    labels: ['system', 'verb'],
    buckets: callBuckets,
    from: ['worker', 'bridge'],
    help: 'How long such a call took, from the request to the end of the answer; of a watch, to its beginning',
  },

  steps: {
    name: 'drover_steps_total',
    kind: 'counter',
    labels: ['step', 'outcome'],
    from: ['worker'],
    help: 'Attempts of activities that ended: completed, cancelled, queued for a slot, waiting, or the code of the failure',
  },
  stepSeconds: {
    name: 'drover_step_seconds',
    kind: 'histogram',
    labels: ['step'],
    buckets: stepBuckets,
    from: ['worker'],
    help: 'How long an attempt of an activity took',
  },
  regionMigrations: {
    name: 'drover_region_migrations',
    kind: 'gauge',
    labels: ['region'],
    from: ['worker'],
    help: 'Migrations in progress in the region, of all users, as last observed; none where no worker has observed lately',
  },
  regionMigrationsLimit: {
    name: 'drover_region_migrations_limit',
    kind: 'gauge',
    labels: ['region'],
    from: ['worker'],
    help: 'How many migrations the region may have at once: at most limits.migrationsPerRegion, fewer while they slow each other down',
  },
  vcenterWatchUpdates: {
    name: 'drover_vcenter_watch_updates_total',
    kind: 'counter',
    labels: ['vcenter'],
    from: ['worker'],
    help: 'Changes of VMs that a vCenter has sent, of all users',
  },
  vcenterWatchChanges: {
    name: 'drover_vcenter_watch_changes_total',
    kind: 'counter',
    labels: ['vcenter', 'outcome'],
    from: ['worker'],
    help: 'What became of them, by VirtualMachine: signalled to its run, or observed by the run itself before',
  },
  vcenterWatchSignalSeconds: {
    name: 'drover_vcenter_watch_signal_seconds',
    kind: 'histogram',
    labels: ['vcenter'],
    buckets: signalBuckets,
    from: ['worker'],
    help: 'From vCenter’s event to the signal that Temporal has accepted, the earliest of what became one signal',
  },
  vcenterWatchObservations: {
    name: 'drover_vcenter_watch_observations_total',
    kind: 'counter',
    labels: ['vcenter'],
    from: ['worker'],
    help: 'Complete observations of the VMs of a vCenter: one for each activity of the watch, and one for each session that was lost',
  },
  vcenterWatchVms: {
    name: 'drover_vcenter_watch_vms',
    kind: 'gauge',
    labels: ['vcenter'],
    from: ['worker'],
    help: 'VMs of VirtualMachines that are watched, as last observed by this worker',
  },
  vcenterWatchLastContact: {
    name: 'drover_vcenter_watch_last_contact_timestamp_seconds',
    kind: 'gauge',
    labels: ['vcenter'],
    from: ['worker'],
    help: 'When vCenter last answered the watch of this worker; until it has, when the watch began',
  },
  machinesFrozen: {
    name: 'drover_machines_frozen',
    kind: 'gauge',
    labels: ['namespace'],
    from: ['worker'],
    help: '1 while Machines of the namespace are frozen as an API server is not known to be well, or as their thaw has not succeeded, else 0; shown by the worker that probes, and for 12 min by one that tried to thaw them: of several workers, the least counts',
  },
  sweepsAwaitingApproval: {
    name: 'drover_sweeps_awaiting_approval',
    kind: 'gauge',
    labels: ['namespace'],
    from: ['worker'],
    help: '1 while a sweep of the namespace waits for a user to approve of its deletions, else 0; none where the worker cannot ask Temporal',
  },
  agentPoolAgents: {
    name: 'drover_agent_pool_agents',
    kind: 'gauge',
    labels: ['namespace', 'pool', 'state'],
    from: ['worker'],
    help: 'AgentMachines that are waiting and VMs that are wanted, provisioning, available, bound or held in a pool, as this worker has last observed it',
  },
  agentPoolIsoDue: {
    name: 'drover_agent_pool_iso_due',
    kind: 'gauge',
    labels: ['namespace', 'pool'],
    from: ['worker'],
    help: '1 while the discovery ISO of the pool is to be checked, else 0, as this worker has last observed it',
  },
  agentPoolObserved: {
    name: 'drover_agent_pool_observed_timestamp_seconds',
    kind: 'gauge',
    labels: ['namespace', 'pool'],
    from: ['worker'],
    help: 'When this worker has last observed the pool: of several workers, the newest counts; none where it has not done so lately',
  },
  isoRefreshes: {
    name: 'drover_iso_refreshes_total',
    kind: 'counter',
    labels: ['outcome'],
    from: ['worker'],
    help: 'Discovery ISOs that were checked: uploaded, reused as another pool had uploaded it, unchanged; failures are those of the step refreshIso',
  },
  dataVolumesWaiting: {
    name: 'drover_data_volume_waiting_timestamp_seconds',
    kind: 'gauge',
    labels: ['namespace', 'data_volume', 'reason'],
    from: ['worker'],
    help: 'When a DataVolume was created that waits for something, by the reason in its condition Ready, as this worker has last observed it; at most 500, the oldest ones',
  },
  cloneSnapshots: {
    name: 'drover_clone_snapshots_total',
    kind: 'counter',
    labels: [],
    from: ['worker'],
    help: 'VolumeSnapshots of sources that were made; clones of one source share them',
  },

  runs: {
    name: 'drover_runs_total',
    kind: 'counter',
    labels: ['kind', 'result'],
    from: ['runs'],
    help: 'Runs that ended, by how; a run that continues as new has not ended',
  },
  runSeconds: {
    name: 'drover_run_seconds',
    kind: 'histogram',
    labels: ['kind'],
    buckets: runBuckets,
    from: ['runs'],
    help: 'How long they took, from the first beginning on',
  },
  runHistoryEvents: {
    name: 'drover_run_history_events',
    kind: 'histogram',
    labels: ['kind'],
    buckets: historyBuckets,
    from: ['runs'],
    help: 'Length of the history of a run that ended or continues as new',
  },
  migrations: {
    name: 'drover_migrations_total',
    kind: 'counter',
    labels: ['type', 'outcome'],
    from: ['runs'],
    help: 'Attempts to move a server: completed, failed, cancelled, stuck, refused',
  },
  clones: {
    name: 'drover_clones_total',
    kind: 'counter',
    labels: ['strategy', 'outcome'],
    from: ['runs'],
    help: 'Clones of volumes by how they were made: completed, failed as they were given up, begun_anew in another way as a deadline had passed',
  },
  drainsHalfOver: {
    name: 'drover_drains_half_over_total',
    kind: 'counter',
    labels: [],
    from: ['runs'],
    help: 'Hosts that were not out of Nova when half of the time was over until machine-controller-manager takes their machine away',
  },

  hostFailures: {
    name: 'drover_host_failures_total',
    kind: 'counter',
    labels: ['reason'],
    from: ['runs'],
    help: 'Hosts found to have failed, or to need an operator, by the reason of the verdict',
  },

  sweepOrphans: {
    name: 'drover_sweep_orphans_total',
    kind: 'counter',
    labels: ['machine_namespace', 'gate'],
    from: ['runs'],
    help: 'Orphan VMs that a sweep has left, counted by each sweep anew, by the gate that holds each back',
  },
  sweepDeletions: {
    name: 'drover_sweep_deletions_total',
    kind: 'counter',
    labels: ['machine_namespace', 'outcome'],
    from: ['runs'],
    help: 'Orphan VMs that a sweep was to delete: deleted, gone, kept as something had changed, failed',
  },
  sweepFailures: {
    name: 'drover_sweep_class_failures_total',
    kind: 'counter',
    labels: ['machine_namespace', 'reason'],
    from: ['runs'],
    help: 'MachineClasses whose VMs a sweep could not list, by the code of the failure',
  },

  bridgeLeading: {
    name: 'drover_bridge_leading',
    kind: 'gauge',
    labels: [],
    from: ['bridge'],
    help: '1 while this bridge holds the Lease and delivers',
  },
  bridgeQueue: {
    name: 'drover_bridge_queue_changes',
    kind: 'gauge',
    labels: ['state'],
    from: ['bridge'],
    help: 'Changes that are not delivered yet: fresh, resync, in_flight, backing_off',
  },
  bridgeDeliveries: {
    name: 'drover_bridge_deliveries_total',
    kind: 'counter',
    labels: ['kind', 'delivery'],
    from: ['bridge'],
    help: 'Where changes went; failed ones are delivered again',
  },
  bridgeSignalSeconds: {
    name: 'drover_bridge_signal_seconds',
    kind: 'histogram',
    labels: ['kind'],
    buckets: signalBuckets,
    from: ['bridge'],
    help: 'From the watch event to the signal that Temporal has accepted, the earliest event where several became one signal',
  },
  bridgeLists: {
    name: 'drover_bridge_lists_total',
    kind: 'counter',
    labels: ['kind'],
    from: ['bridge'],
    help: 'Complete lists of a kind; more than one means that a watch was lost',
  },
  bridgeWatches: {
    name: 'drover_bridge_watches_total',
    kind: 'counter',
    labels: ['kind'],
    from: ['bridge'],
    help: 'Watches begun',
  },
  bridgeLastContact: {
    name: 'drover_bridge_last_contact_timestamp_seconds',
    kind: 'gauge',
    labels: ['kind'],
    from: ['bridge'],
    help: 'When kube-apiserver last sent something on the watch; until it has, when the bridge started',
  },

  objects: { name: 'drover_objects', kind: 'gauge', labels: ['kind'], from: ['bridge'], help: 'Objects of a kind' },
  unreconciledObjects: {
    name: 'drover_unreconciled_objects',
    kind: 'gauge',
    labels: ['kind'],
    from: ['bridge'],
    help: 'Objects that are not reconciled',
  },
  oldestUnreconciled: {
    name: 'drover_oldest_unreconciled_object_seconds',
    kind: 'gauge',
    labels: ['kind'],
    from: ['bridge'],
    help: 'For how long the oldest of them has not been reconciled; 0 where there is none',
  },
  objectState: {
    name: 'drover_object_state',
    kind: 'gauge',
    labels: ['kind', 'object', 'reason', 'attention'],
    from: ['bridge'],
    help: 'Always 1: an object that is not reconciled, or rests and needs a user (attention is then true), and the reason in its condition; empty before drover has written one',
  },
  objectSigns: {
    name: 'drover_object_sign',
    kind: 'gauge',
    labels: ['kind', 'object', 'condition', 'reason'],
    from: ['bridge'],
    help: 'Always 1: a condition that says that something is not as it should be, though the object goes on: traits or aggregates of a host that are not as wanted, a deadline of an eviction that is near',
  },
  hosts: {
    name: 'drover_hosts',
    kind: 'gauge',
    labels: ['state'],
    from: ['bridge'],
    help: 'Hypervisors by the state of their lifecycle; Unknown before a run has said anything of them, Observed where drover only observes',
  },
  evictions: {
    name: 'drover_evictions',
    kind: 'gauge',
    labels: ['state', 'cause'],
    from: ['bridge'],
    help: 'Evictions by the reason of their condition Evicting and by their cause, those that are over included',
  },
  evictionStarted: {
    name: 'drover_eviction_started_timestamp_seconds',
    kind: 'gauge',
    labels: ['object', 'host', 'cause'],
    from: ['bridge'],
    help: 'Since when an Eviction that is not reconciled is evicting, or was made',
  },
  evictionDeadline: {
    name: 'drover_eviction_deadline_timestamp_seconds',
    kind: 'gauge',
    labels: ['object', 'host', 'cause'],
    from: ['bridge'],
    help: 'The deadline of each Eviction that is not over and has one',
  },
  evictionInstances: {
    name: 'drover_eviction_outstanding_instances',
    kind: 'gauge',
    labels: ['object', 'host'],
    from: ['bridge'],
    help: 'Servers that have not left the host, of each Eviction that is not reconciled',
  },
  evictionMemory: {
    name: 'drover_eviction_outstanding_memory_bytes',
    kind: 'gauge',
    labels: ['object', 'host'],
    from: ['bridge'],
    help: 'Their memory, from the flavors',
  },
} as const satisfies Record<string, MetricRow>;

export type MetricKey = keyof typeof metrics;
type OfKind<Kind extends MetricRow['kind']> = {
  [Key in MetricKey]: (typeof metrics)[Key]['kind'] extends Kind ? Key : never;
}[MetricKey];
export type CounterKey = OfKind<'counter'>;
export type GaugeKey = OfKind<'gauge'>;
export type HistogramKey = OfKind<'histogram'>;

/** A value for each label of a metric. */
export type LabelsOf<Key extends MetricKey> = Record<(typeof metrics)[Key]['labels'][number], string>;
