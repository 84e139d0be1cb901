import type { Condition } from '../../contracts/conditions.ts';
import type { Eviction } from '../../contracts/crds/eviction.ts';
import type { Migration } from '../../contracts/crds/migration.ts';
import type { EvictionProgress, EvictionResult } from '../../contracts/eviction/eviction.ts';
import { kindTable } from '../../contracts/kinds/table.ts';

/** An Eviction as people are shown it. */
export const describeEviction = (eviction: Eviction, mode: 'observe' | 'act'): EvictionObject => ({
  name: eviction.metadata.name,
  uid: eviction.metadata.uid,
  generation: eviction.metadata.generation,
  resourceVersion: eviction.metadata.resourceVersion,
  host: eviction.spec.hypervisor,
  reason: eviction.spec.reason,
  createdAt: eviction.metadata.creationTimestamp,
  deleting: eviction.metadata.deletionTimestamp !== undefined,
  annotations: eviction.metadata.annotations ?? {},
  conditions: eviction.status?.conditions ?? [],
  reconciled: kindTable.Eviction.isReconciled(eviction, mode),
});

const binaryUnits = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];

/** The node agent's texts: `512 B`, `1.5 GiB`. Null for anything else. */
function parseBytes(text: string | undefined): number | null {
  const [, figure, unit = ''] = /^(\d+(?:\.\d+)?) (B|[KMGTPE]iB)$/.exec(text ?? '') ?? [];
  return figure === undefined ? null : Number(figure) * 1024 ** (binaryUnits.indexOf(unit) + 1);
}

/** A Migration as people are shown it. */
export const describeMigration = ({ metadata, status }: Migration): MigrationObject => ({
  id: metadata.name,
  origin: status?.origin ?? null,
  destination: status?.destination ?? null,
  type: status?.type ?? null,
  percent: percentOf(status),
  error: status?.errMsg ?? null,
});

/** How much of a migration is copied, 0 to 100, of what its Migration object says; null when it says nothing of it. */
export function percentOf(
  status:
    | {
        dataTotal?: string | undefined;
        dataRemaining?: string | undefined;
        memTotal?: string | undefined;
        memRemaining?: string | undefined;
      }
    | undefined,
): number | null {
  const total = parseBytes(status?.dataTotal) ?? parseBytes(status?.memTotal);
  const remaining = parseBytes(status?.dataRemaining) ?? parseBytes(status?.memRemaining);
  if (total === null || remaining === null || total === 0) return null;
  return Math.min(100, Math.max(0, ((total - remaining) / total) * 100));
}

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
  /** Its spec is reached, and no retry is pending. */
  reconciled: boolean;
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
