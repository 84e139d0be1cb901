import type { Consent, EvictionSettings, Obstacle } from './eviction.ts';
import type { Instance, Migration } from './instance.ts';

/** Input of `migrateInstance`, the child run that moves one server off its host. */
export interface MigrateInstanceInput {
  /** As the parent last saw it. */
  instance: Instance;
  /** The compute service's host that the server shall leave. */
  sourceHost: string;
  /** The Eviction it belongs to, for the Migration object. */
  eviction: { name: string; uid: string };
  consent: Consent[];
  /** Whether a user accepted that a resize of this very instance is confirmed though drover has not begun it. */
  accepted: boolean;
  /**
   * Whether a user accepted that it is moved though it is locked. Absent: a release that did not ask has begun the run,
   * and it is moved.
   */
  mayMoveLocked?: boolean;
  settings: EvictionSettings;
}

/** How it ended. A run that is cancelled ends as `stopped`, never with a raw failure. */
export interface MigrateInstanceResult {
  outcome: 'moved' | 'gone' | 'nonMigratable' | 'stopped';
  targetHost: string | null;
  attempts: number;
  /** Row of the error table or Nova's words, when it did not move. */
  message: string | null;
  /** Id of the migration that Nova still shows in progress, and that does not end; null: there is none. */
  inFlight: number | null;
  /** What keeps it from being moved, and a user may accept. */
  obstacle?: Obstacle;
}

/** What one observation of a server found. */
export interface InstanceObservation {
  /** Null when Nova knows the server no more. */
  instance: Instance | null;
  /** The migration in progress, no matter who started it; null when there is none. */
  migration: Migration | null;
}

/** Answer of the submitting activities: the migration that now runs, or why none does. */
export type MigrationStart =
  | { outcome: 'started'; migration: Migration }
  /** The server is not as the caller thought: plan again. */
  | { outcome: 'changed'; observation: InstanceObservation }
  /** Every target the scheduler could choose has as many migrations as it may have. */
  | { outcome: 'targetsBusy' }
  /** Nova said no at once (409, 403, 400). */
  | { outcome: 'refused'; message: string };

/**
 * What a request for a cold migration leaves behind where its answer is lost, as heartbeat details and as the last
 * detail of the failure: the ids of the migration records that were there before. A new one is drover's own to confirm.
 */
export interface ColdRequest {
  known: readonly number[];
}

/** Answer of the waiting activities. */
export interface MigrationEnd {
  /** `stuck` where it is still going on and judged stuck; else the record's last status. */
  status: string;
  stuck: 'NotStarted' | 'NoProgress' | 'TooLong' | null;
  targetHost: string | null;
  observation: InstanceObservation;
  /** Nova's words, where the migration failed: the action's event or the server's fault. */
  message: string | null;
}

/** Who moves what, for the Migration object that shows it. */
export interface MigrationSubject {
  instanceId: string;
  sourceHost: string;
  eviction: { name: string; uid: string };
  /** Attempt of the run, from 1. */
  attempt: number;
}

/** What a submitting activity is asked for. */
export interface StartRequest extends MigrationSubject {
  perTarget: number;
  /** See {@link MigrateInstanceInput}. */
  mayMoveLocked?: boolean;
}

/** What the Migration object of a server shall show now. */
export interface MigrationReport {
  subject: MigrationSubject;
  /** Null before Nova has a record. */
  migration: Migration | null;
  /** RFC 3339 time of the first request of this attempt. */
  startedAt: string;
  /** What is being waited for, or what went wrong. */
  message: string | null;
}

/** Keeps the Migration object current. Injected into the waiting activities by the composition root. */
export type ReportMigration = (report: MigrationReport, signal: AbortSignal) => Promise<void>;
