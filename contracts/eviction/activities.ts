import type {
  AllowanceConsumer,
  AllowanceRequest,
  AllowanceObservation,
  QueueReport,
  SlotAnswer,
  SlotGrant,
  SlotLimit,
} from '../allowance.ts';
import type { ConditionUpdate } from '../conditions.ts';
import type {
  DesiredEviction,
  EvictionInput,
  EvictionSettings,
  Preflight,
  StuckLimits,
  PollIntervals,
} from './eviction.ts';
import type { HostObservation } from './instance.ts';
import type {
  InstanceObservation,
  MigrationEnd,
  MigrationStart,
  MigrationSubject,
  StartRequest,
} from './migrate-instance.ts';

/**
 * What workflows may ask for, by task queue. An activity's name is a wire name. All are safe to repeat and to run twice
 * at once; what each may fail with is in contracts/errors.ts.
 */

/** Queue `kubernetes`. */
export interface EvictionObjectActivities {
  /** Validates input given by hand, finds or makes the Eviction, adds the finalizer and says what is to be done. */
  openEviction(input: EvictionInput, serving: string | null): Promise<EvictionOpened>;
  /** Writes conditions, lists and events, only where they differ, and returns what the Migration objects show. */
  publishEviction(report: EvictionReport): Promise<EvictionPublished>;
  /** Waits until `drover stop` is lifted. */
  awaitStopLifted(): Promise<void>;
  /**
   * Waits until the host's Node is Ready with another boot id than `bootId`; false when it did not return
   * before the deadline.
   */
  awaitNodeReturned(node: string, bootId: string | null, deadlineMs: number): Promise<boolean>;
}

export type EvictionOpened =
  /** Every Eviction of the host is reconciled. */
  | { kind: 'nothing' }
  /** This run has another id than the host's: the right one was signalled with start. */
  | { kind: 'handedOver'; workflowId: string; eviction: string }
  | {
      kind: 'run';
      desired: DesiredEviction;
      settings: EvictionSettings;
      /** Of the host's Node, when the eviction began. */ bootId: string | null;
      /** Value of `drover.dev/retry`, which the run has taken up by this; absent: no user has asked. */
      retry?: string;
    };

export interface EvictionReport {
  name: string;
  uid: string;
  conditions: ConditionUpdate[];
  /** Nova's id of the hypervisor, which upstream has in the field `hypervisorServiceId`. */
  hypervisorId: string | null;
  /** Null: the servers are not listed yet, and the Eviction goes on saying what it says. */
  outstandingInstances: string[] | null;
  outstandingRamMb: number;
  events: { type: 'Normal' | 'Warning'; reason: string; message: string }[];
  /** The run has ended: release the object if it is deleted. */
  releaseFinalizer: boolean;
}

export interface EvictionPublished {
  /** By server id, what the Migration objects of this Eviction show. */
  migrations: Record<string, { target: string | null; percent: number | null }>;
  /** The object is gone, or is another one of the same name. */
  gone: boolean;
}

/** Queue `nova:<region>`. */
export interface EvictionHostActivities {
  /** Reads the host, its servers and every possible target, and names each obstacle. Changes nothing. */
  preflightEviction(request: { hypervisor: string; evictionUid: string }): Promise<Preflight>;
  observeHost(request: { hypervisor: string }): Promise<HostObservation>;
  /** Disables the compute service with drover's reason; a disable of another client is left with its reason. */
  ensureServiceDisabled(request: { host: string; reason: string }): Promise<HostObservation['service']>;
  /** Enables the compute service, only if it still carries drover's reason. Returns whether it is enabled now. */
  ensureServiceEnabled(request: { host: string }): Promise<boolean>;
}

/** Queue `nova:<region>`. */
export interface InstanceActivities {
  observeInstance(request: { instanceId: string }): Promise<InstanceObservation>;
  startLiveMigration(request: StartRequest): Promise<MigrationStart>;
  startColdMigration(request: StartRequest): Promise<MigrationStart>;
  /** Waits for the migration's end, or until it is stuck. Keeps the Migration object current. */
  awaitMigration(
    request: MigrationSubject & { migrationId: number; gibibytes: number; stuck: StuckLimits; poll: PollIntervals },
  ): Promise<MigrationEnd>;
  /** Aborts the migration and waits until it is over, however it then ends; `stuck` where it is not over in time. */
  abortMigration(request: MigrationSubject & { migrationId: number }): Promise<MigrationEnd>;
  /** Makes Nova finish the copy (pause or post-copy); then wait for its end again. */
  forceCompleteMigration(request: MigrationSubject & { migrationId: number }): Promise<void>;
  /** Confirms a cold migration that drover started, and waits until the source is free. */
  confirmMigration(request: MigrationSubject & { migrationId: number }): Promise<MigrationEnd>;
  /** Waits until the server has no task in progress or is gone. Returns what it found, at the deadline too. */
  awaitInstanceIdle(request: { instanceId: string; deadlineMs: number }): Promise<InstanceObservation>;
  /** Waits until some target that the scheduler could choose has room; false when none had before the deadline. */
  awaitTargetRoom(request: { sourceHost: string; perTarget: number; deadlineMs: number }): Promise<boolean>;
}

/** Queue `drover`. */
export interface TemporalActivities {
  /** Reports to the run that allocates the migrations of the region, and starts that run where none is open. */
  requestAllowance(input: { region: string; request: AllowanceRequest }): Promise<void>;
  /**
   * Acquires a slot of the run that allocates the limit, which is started where none is open. While the run is queued,
   * its object says so, and each attempt fails and is repeated after `renewMs`, which asks again; the grant completes
   * the activity between two attempts.
   *
   * @param input.said null: the object says nothing of it
   */
  acquireSlot(input: {
    limit: SlotLimit;
    request: AllowanceRequest;
    renewMs: number;
    said: QueueReport | null;
  }): Promise<SlotAnswer>;
  /**
   * Completes the activities of runs that were queued. Returns the run ids of those that do not wait for it any more.
   */
  grantSlots(grants: SlotGrant[]): Promise<string[]>;
  /** Which of the consumers' runs are closed: their run ids, as two runs can share a consumer's id. */
  findClosedConsumers(consumers: Pick<AllowanceConsumer, 'consumer' | 'runId'>[]): Promise<string[]>;
  /** Requests the cancellation of a run, as `temporal workflow cancel` does. */
  cancelRun(request: { workflowId: string; runId: string }): Promise<void>;
}

/** Queue `nova:<region>`. */
export interface AllowanceActivities {
  /** @param request.limitInForce what the run goes by now, for the metrics; null: it knows none yet. */
  observeAllowance(request: { region: string; limitInForce?: number | null }): Promise<AllowanceObservation>;
}

/** Queue `vsphere:<vcenter>`. */
export interface SlotActivities<Limit extends SlotLimit = SlotLimit> {
  observeSlots(request: Limit): Promise<AllowanceObservation>;
}
