import type {
  ClaimSpec,
  CloneOf,
  DataVolumeInput,
  DesiredVolume,
  ObservedVolume,
  VolumeSettings,
  VolumeStatus,
} from '../../contracts/data-volume/data-volume.ts';
import type { Strategy, VolumePhase } from '../../contracts/data-volume/metadata.ts';
import type { SlotClaim } from '../limits/slots.ts';
import type { Situation } from '../lib/lifecycle.ts';
import type { Plan, Step } from '../lib/plan.ts';

/** The types of the run of a DataVolume, and what it remembers. */

/** What is said while it is executed is its `phase`, which is one of a DataVolume. */
export type VolumeStep = Step & { phase: VolumePhase } & (
    | { kind: 'leave'; source: string }
    | { kind: 'adopt' }
    | { kind: 'removePredecessor' }
    | { kind: 'complete' }
    | { kind: 'remove' }
    | { kind: 'removeFinalizer' }
    | { kind: 'awaitSource'; usedBy: readonly string[] }
    | {
        kind: 'snapshot';
        snapshotClass: string;
        known: string | null;
        /** The claim that always follows is made with it; null: there is one. */
        restore: { isTemporary: boolean } | null;
      }
    | {
        kind: 'claim';
        isTemporary: boolean;
        from: CloneOf | null;
        requestBytes: number;
        known: string | null;
      }
    | {
        /** A snapshot, to be copied. */
        kind: 'restore';
        from: string;
        spec: Pick<ClaimSpec, 'storageClass' | 'volumeMode'> & { requestBytes: number };
        known: string | null;
      }
    | { kind: 'expand'; claim: string; requestBytes: number; known: string | null }
    | { kind: 'copy'; from: string; to: { name: string; uid: string }; image: string }
    | { kind: 'transfer'; claim: string; known: string | null }
    | { kind: 'beginAnew'; strategy: Strategy; fallbackReason: string | null }
    | { kind: 'giveUp'; reason: string; message: string }
  );

export interface VolumeMemory {
  slot: SlotClaim | null;
  /** What is waited for, since when: each has a deadline. Null: nothing. */
  awaiting: { phase: string; sinceMs: number } | null;
  /** Why no snapshot is cut yet, as the activity that cuts it said last; null: nothing keeps it. */
  snapshotWaitsFor: string | null;
  /** A user asks to try one again that was given up. */
  isRetried: boolean;
  /** How it is begun anew, where what was made before is not gone yet; null: it is as the DataVolume says. */
  anew: { strategy: Strategy; fallbackReason: string | null } | null;
  /** What a removal could not take away yet. */
  left: readonly string[];
  /** When it could not; null: nothing is left. */
  leftAtMs: number | null;
}

export const noVolumeMemory: VolumeMemory = {
  slot: null,
  awaiting: null,
  snapshotWaitsFor: null,
  isRetried: false,
  anew: null,
  left: [],
  leftAtMs: null,
};

export interface VolumeLifecycle {
  input: DataVolumeInput;
  desired: DesiredVolume;
  observed: ObservedVolume;
  settings: VolumeSettings;
  memory: VolumeMemory;
  step: VolumeStep;
  status: VolumeStatus;
}

export type VolumeSituation = Situation<VolumeLifecycle>;
export type VolumePlan = Plan<VolumeStep>;
