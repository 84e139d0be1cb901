import type { ObservationOf, RunSettings, Unobserved } from '../runs.ts';
import type { ClaimPropertySet } from './known-provisioners.ts';
import type { Strategy } from './metadata.ts';

/** What the run of a StorageProfile is asked, what it asks, and what it decides on. */

/** The plain JSON that starts the run by hand, and that the bridge starts it with. */
export interface StorageProfileInput {
  /** Of the StorageClass, and of its StorageProfile. */
  name: string;
}

export interface DesiredProfile {
  uid: string;
  generation: number;
  deleting: boolean;
  /** drover has made it, and deletes it with its StorageClass. */
  isOwn: boolean;
}

/** What it says of its class. */
export interface ProfileStatus {
  storageClass: string;
  provisioner: string;
  cloneStrategy: Strategy;
  claimPropertySets: readonly ClaimPropertySet[];
  dataImportCronSourceFormat: 'pvc' | 'snapshot';
  snapshotClass: string | null;
  recognized: { status: 'True' | 'False'; reason: string; message: string };
}

export interface ObservedProfile {
  /** There is such a StorageClass. */
  hasClass: boolean;
  /** What it is to say; null: it has no class. */
  computed: ProfileStatus | null;
  /** How the VolumeSnapshotClass was chosen, for people. */
  snapshotClassWhy: string;
  /** Whether it says so. */
  isSaid: boolean;
}

export type StorageProfileObservation = ObservationOf<DesiredProfile, ObservedProfile, RunSettings>;

/** Queue `volumes`. All are safe to repeat. */
export interface StorageProfileActivities {
  observeStorageProfile(input: StorageProfileInput): Promise<StorageProfileObservation | Unobserved>;
  /** An empty one. One that is there already is left as it is. */
  createStorageProfile(input: StorageProfileInput): Promise<void>;
  /** One of another uid, or that has been written since, is left as it is. */
  deleteStorageProfile(request: StorageProfileInput & { uid: string }): Promise<void>;
  publishStorageProfile(
    request: StorageProfileInput & { uid: string; status: ProfileStatus; retryHandled: string | null },
  ): Promise<void>;
}
