import type { Condition } from '../../contracts/conditions.ts';
import type { EvictionProgress, EvictionResult } from '../../contracts/eviction/eviction.ts';

/** How Temporal says that a run is or ended. */
export type RunStatus = 'Running' | 'Completed' | 'Failed' | 'Cancelled' | 'Terminated' | 'TimedOut' | 'Unknown';

/** A run of an eviction, as Temporal lists it. */
export interface EvictionRun {
  workflowId: string;
  runId: string;
  host: string;
  status: RunStatus;
  /** RFC 3339. */
  startedAt: string;
  /** RFC 3339; null while it runs. */
  endedAt: string | null;
  /** Search attribute DroverPhase. */
  phase: string | null;
  /** Search attribute DroverReason. */
  reason: string | null;
}

/** An Eviction, as far as people are shown it. */
export interface EvictionObject {
  name: string;
  uid: string;
  generation: number;
  resourceVersion: string;
  host: string;
  reason: string;
  /** RFC 3339. */
  createdAt: string;
  deleting: boolean;
  annotations: Record<string, string>;
  conditions: Condition[];
  /** Its story is over and nobody asked for more. */
  settled: boolean;
}

/** The Migration object of one server, as far as people are shown it. */
export interface MigrationObject {
  /** Server id. */
  id: string;
  origin: string | null;
  destination: string | null;
  /** `unbounded` while it runs, `completed`, `failed`, `cancelled`. */
  type: string | null;
  /** 0 to 100; null when unknown. */
  percent: number | null;
  error: string | null;
}

/** What a running run answered; null when no worker did. */
export type Answer = EvictionProgress | null;

/** How a run ended. */
export interface Ending {
  outcome: 'Succeeded' | 'Failed' | 'Stopped' | 'Observed' | 'HandedOver' | 'NothingToDo' | 'Terminated';
  /** One sentence. */
  message: string;
  /** Null where the run could not leave one. */
  result: EvictionResult | null;
}
