import type { RunResult } from '../runs.ts';
import type { onTimeReasons } from './conditions.ts';
import type { HostObservation } from './instance.ts';

/** Why a host is emptied: decides whether obstacles refuse the eviction and whether the host is enabled again. */
export const evictionCauses = ['admin', 'decommission', 'rolling-update', 'termination', 'node-failure'] as const;
export type EvictionCause = (typeof evictionCauses)[number];

/** What a user may consent to. */
export const consents = ['cold-migrate', 'force-complete'] as const;
export type Consent = (typeof consents)[number];

const longestHostName = 253;

/**
 * What is wrong with the name of a host; null: nothing. It has to be part of a workflow id and of a URL. The definition
 * of an Eviction takes any text.
 */
export function hostNameProblem(name: string): string | null {
  if (name === '') return 'must not be empty';
  if (name.length > longestHostName) return 'is longer than a host name can be';
  return /^[A-Za-z0-9]([-._A-Za-z0-9]*[A-Za-z0-9])?$/u.test(name) ? null : 'is no host name';
}

/**
 * The plain JSON that starts an eviction by hand. The bridge starts one with `{ hypervisor }` alone: everything else is
 * then in the Eviction and its annotations.
 */
export interface EvictionInput {
  /** Name of the Hypervisor, or of Nova's compute host. */
  hypervisor: string;
  /** Free text for users; needed unless an Eviction for the host exists. */
  reason?: string;
  cause?: EvictionCause;
  /** RFC 3339 time by which the host must be empty. */
  deadline?: string;
  reEnable?: boolean;
  /** How many instances of the host may move at once. */
  parallelism?: number;
  /** Obstacle ids that the starter accepts. */
  acceptObstacles?: string[];
  consent?: Consent[];
  /** `observe`: plan and publish, change nothing. */
  mode?: 'observe' | 'act';
  /** Who starts it, as the starter knows them. */
  startedBy?: string;
}

/** Every interval and limit of an eviction. Set in drover's configuration, fixed in the run when it opens. */
export interface EvictionSettings {
  /** Nova's region; selects the task queue. */
  region: string;
  /** Prefix of workflow ids; empty by default. */
  cluster: string;
  /**
   * Migrations at once from one host, unless the Eviction says otherwise. Nova runs one by default and queues the rest.
   */
  perSource: number;
  /** Migrations at once to one host. */
  perTarget: number;
  /** How often a server that fails to move is tried. */
  maxAttempts: number;
  /** Pause before the second attempt; doubles for each further one. */
  retryDelayMs: number;
  stuck: StuckLimits;
  poll: PollIntervals;
  /** How long to wait for a server that is being built, deleted, rebooted or resized by another client. */
  instanceBusyMs: number;
  /** How long until a server that another run moves is observed again. */
  busyElsewhereMs: number;
  /** How long to wait while every possible target has as many migrations as it may have. */
  targetBusyMs: number;
  /**
   * How long the host must have been disabled when it is observed empty; else time between two observations that both
   * must find it so.
   */
  emptyRecheckMs: number;
  /** How long the host may take to become empty once nothing moves any more. */
  emptyDeadlineMs: number;
  /** The CR is written at most this often while instances move … */
  publishMinMs: number;
  /** … and at least this often when something changed. */
  publishMaxMs: number;
  /** How often the run reports to the migration allowance. */
  allowanceRenewMs: number;
  /** How long a cancelled eviction lets migrations in flight finish before it aborts them. */
  cancelGraceMs: number;
  /** How long to wait for the Node to come back after a rolling update before giving up on enabling the host. */
  nodeReturnMs: number;
  /** How long a run that changed something lingers, so that bursts and echoes coalesce. */
  lingerMs: number;
}

/** When a live migration counts as stuck. The clock starts at `running`. */
export interface StuckLimits {
  /** Time per GiB of memory plus disk copied. */
  msPerGiB: number;
  /** However small the server. */
  floorMs: number;
  /** Time without a new low of the bytes that remain. */
  noProgressMs: number;
  /** Deadline of its own for accepted, queued and preparing. */
  startMs: number;
}

/** The wait for a migration polls often near its start and its expected end, seldom between. */
export interface PollIntervals {
  minMs: number;
  maxMs: number;
}

/** What the Eviction asks for: its spec, its annotations and what is known of the object. */
export interface DesiredEviction {
  name: string;
  uid: string;
  generation: number;
  hypervisor: string;
  reason: string;
  cause: EvictionCause;
  deadline: string | null;
  /** Null: as the cause says. */
  reEnable: boolean | null;
  /** Null: as the settings say. */
  parallelism: number | null;
  acceptedObstacles: string[];
  consent: Consent[];
  mode: 'observe' | 'act';
  startedBy: string | null;
  /** It is deleted: the run stops and releases the finalizer. */
  deleting: boolean;
}

/** Why an instance, or the host as a whole, may not be movable. */
export const obstacleCodes = [
  // the host
  'HostDown',
  'OsUpdateInProgress',
  'AgentReportMissing',
  'NoTargets',
  'CapacityShort',
  // one instance
  'NoValidTarget',
  'TargetTooOld',
  'PciDevice',
  'Vgpu',
  'Vtpm',
  'LocalDisk',
  'InstanceLocked',
  'InstanceState',
  'UnconfirmedResize',
  'ServerGroup',
] as const;
export type ObstacleCode = (typeof obstacleCodes)[number];

/**
 * Something that stands in the way of emptying the host. Its id is what users accept: the code, or `code/instance id`.
 */
export interface Obstacle {
  id: string;
  code: ObstacleCode;
  /** Server id, where it concerns one server. */
  instanceId: string | null;
  message: string;
}

/** What users accept of one server. */
export const instanceObstacleId = (code: ObstacleCode, instanceId: string): string => `${code}/${instanceId}`;

/** A lock is its owner's word against any move, which Nova does not keep an administrator from. */
export const lockedObstacle = ({ id, name }: { id: string; name: string }): Obstacle => ({
  id: instanceObstacleId('InstanceLocked', id),
  code: 'InstanceLocked',
  instanceId: id,
  message: `${name || id}: it is locked: unlock it`,
});

/** What a preflight found: the host as it is and everything that stands in the way. */
export interface Preflight {
  host: HostObservation;
  obstacles: Obstacle[];
  /**
   * What it cannot find out, as sentences: they block nothing, and have to be reported. Left out by workers that did
   * not say so.
   */
  notes?: string[];
}

/** How far one instance has come. */
export const instanceStates = ['pending', 'moving', 'moved', 'gone', 'blocked', 'skipped', 'busy'] as const;
export type InstanceState = (typeof instanceStates)[number];

/** One row of the table that users watch. */
export interface InstanceProgress {
  id: string;
  name: string;
  state: InstanceState;
  /** Attempts begun; 0 before the first. */
  attempt: number;
  /** Where it goes or went; null while the scheduler has not chosen. */
  target: string | null;
  /** 0 to 100 of the bytes copied; null when unknown. */
  percent: number | null;
  memoryMiB: number;
  /** RFC 3339: since when it is in this state. */
  since: string;
  /** Why it is blocked, skipped or busy, or what the last attempt ran into. */
  message: string | null;
}

/** What the run is doing; the search attribute DroverPhase carries it. */
export const evictionPhases = [
  'Opening',
  'Preflight',
  'Disabling',
  'Moving',
  'Verifying',
  'Stopping',
  'ReEnabling',
  'Succeeded',
  'Failed',
  'Stopped',
  'Observed',
] as const;
export type EvictionPhase = (typeof evictionPhases)[number];

/** The answer of the query `progress`. */
export interface EvictionProgress {
  eviction: string | null;
  hypervisor: string;
  reason: string | null;
  cause: EvictionCause | null;
  startedBy: string | null;
  mode: 'observe' | 'act' | null;
  phase: EvictionPhase;
  /** RFC 3339: since when it is in this phase. */
  since: string;
  /** What the run waits for, as a sentence; null when it is acting. */
  waitingFor: string | null;
  /** RFC 3339: when the run plans again by itself. */
  nextWakeUp: string | null;
  deadline: string | null;
  /** Whether the host will be empty by the deadline; null: there is none. Absent: an older run does not say. */
  onTime?: { verdict: keyof typeof onTimeReasons; message: string } | null;
  /** Estimated time until the last instance has moved; null when nothing has moved yet. */
  etaMs: number | null;
  paused: string | null;
  window: { parallelism: number; allowance: number; using: number };
  counts: { total: number; done: number; moving: number; pending: number; blocked: number; skipped: number };
  outstandingRamMb: number;
  obstacles: (Obstacle & { accepted: boolean })[];
  /** As in {@link Preflight}. */
  notes: string[];
  instances: InstanceProgress[];
}

/**
 * How an eviction ended. `blocked`: servers stay that a user has to deal with. The reason is that of
 * the condition `Evicting`.
 */
export interface EvictionResult extends RunResult {
  eviction: string;
  hypervisor: string;
  /** The run that does the work, where this one only handed over. */
  workflowId?: string;
  counts?: EvictionProgress['counts'];
  /** The instances that did not move, the worst 20 first. */
  notMoved?: Pick<InstanceProgress, 'id' | 'name' | 'state' | 'message'>[];
  reEnabled?: boolean;
}
