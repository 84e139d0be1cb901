import type { Condition } from '../../contracts/conditions.ts';
import type { Strategy, VolumePhase } from '../../contracts/data-volume/metadata.ts';
import type { RunProgress } from '../../contracts/runs.ts';

/**
 * A DataVolume, as far as people are shown it. Times are RFC 3339, sizes bytes; what is null is not known, or
 * not asked for.
 */
export interface VolumeObject {
  namespace: string;
  name: string;
  uid: string;
  generation: number;
  resourceVersion: string;
  createdAt: string;
  deleting: boolean;
  /** It asks drover to observe only (`drover.dev/mode`). */
  observed: boolean;
  conditions: Condition[];
  phase: VolumePhase;
  /** `pvc golden/disk`, `snapshot golden/monday`, `DataSource golden/disk`, `blank`; else as its spec names it. */
  source: string;
  /** What it is made from. Of a DataSource, what that named when the clone began. */
  from: { kind: 'pvc' | 'snapshot' | 'dataSource'; namespace: string; name: string } | null;
  /** It is imported or uploaded, which CDI does. */
  isLeft: boolean;
  strategy: Strategy | null;
  /** Why its data is copied. */
  fallbackReason: string | null;
  /** What its spec asks for. Null: as large as its source. */
  sizeBytes: number | null;
  storageClass: string | null;
  /** When what it says changed last. */
  since: string | null;
}

/** What the run of a DataVolume answers. */
export interface VolumeProgress extends RunProgress {
  clone?: {
    strategy: Strategy | null;
    fallbackReason: string | null;
    source: string | null;
    snapshot: string | null;
    temporaryClaim: string | null;
    claim: { phase: string; volume: string | null; capacityBytes: number | null } | null;
  };
}

/** The PVC of the DataVolume's name. */
export interface ShownClaim {
  phase: string;
  volume: string | null;
  storageClass: string | null;
  requestBytes: number;
  capacityBytes: number | null;
}

/** What is there for the clone alone, or is shared with others. */
export interface TemporaryObject {
  kind: 'VolumeSnapshot' | 'PersistentVolumeClaim' | 'ObjectTransfer' | 'Job';
  /** Null: it is of the cluster. */
  namespace: string | null;
  name: string;
  createdAt: string;
  /** Where it is, in a few words. */
  state: string;
  /** `namespace/name` of the other DataVolumes that need it. */
  sharedWith: string[];
}

export interface ShownEvent {
  at: string;
  type: string;
  reason: string;
  message: string;
}

/** What there is besides a DataVolume. What is null cannot be read. */
export interface VolumeParts {
  claim: ShownClaim | 'none' | null;
  temporary: TemporaryObject[] | null;
  /** The last ones, the first one first. */
  events: ShownEvent[] | null;
}
