import type { PollIntervals } from '../eviction/eviction.ts';
import type { PowerProof } from './power.ts';

/**
 * One failure of one host, from the first verdict that it failed (or may have) until it is restored. Times: ms since
 * the epoch.
 */
export interface Incident {
  id: string;
  host: string;
  /**
   * Of its Node, as last observed before the silence; null where it is not known: then a confirmation says `unknown`.
   */
  bootId: string | null;
  openedAtMs: number;
}

/** What a confirmation names in the place of a boot id that is not recorded. */
export const unknownBoot = 'unknown';

/**
 * A person’s word that a host is off and stays so until drover releases it. It names the incident and the boot, so that
 * it cannot be meant for another day’s trouble or for a host that has come back since.
 */
export interface Confirmation {
  /** Of the update that brought it. */
  id: string;
  incident: string;
  bootId: string;
  person: string;
  /** When the run got it, by the run's clock. */
  atMs: number;
}

/** Why drover may take the servers of a host as stopped. There is no third way. */
export type FenceEvidence =
  | { by: 'power'; proof: PowerProof }
  | { by: 'person'; confirmation: Confirmation; usedAtMs: number };

/** What decides about one server of a dead host. */
export interface EvacuationCandidate {
  id: string;
  name: string;
  /** `OS-EXT-STS:vm_state`. */
  vmState: string;
  memoryMiB: number;
  /** Root, ephemeral and swap disk on the host: an evacuation makes them anew, empty. */
  localDiskGiB: number;
  metadata: Record<string, string>;
  imageId: string | null;
  /** Null: not known, as Glance could not be read. Empty also where the image is gone, or there is none. */
  imageTags: string[] | null;
  serverGroups: string[];
}

/** `evacuating`: in flight in this run. `left`: stays on the host, for `why`. */
export const evacuationStates = ['pending', 'evacuating', 'evacuated', 'gone', 'left'] as const;
export type EvacuationState = (typeof evacuationStates)[number];

export interface TrackedEvacuation extends EvacuationCandidate {
  state: EvacuationState;
  attempts: number;
  /** Why it is left, or what the last attempt ran into. */
  why: string | null;
  /** Not before that it is tried again; null: at once. */
  retryAtMs: number | null;
}

/**
 * A person’s word that what lies on the host’s own disks of one server is given up: the server comes up elsewhere with
 * them made anew.
 */
export interface DiskConsent {
  /** Of the server. */
  id: string;
  person: string;
  /** When the run got it, by the run's clock. */
  atMs: number;
}

/** Servers that are never evacuated, because something else brings them back or because their owner said so. */
export interface EvacuationExclusions {
  imageIds: string[];
  imageTags: string[];
  /** `key`, or `key=value` in any case of letters. */
  metadata: string[];
}

/** Nova’s metadata of a server: a number, higher goes first. */
export const priorityKey = 'drover:priority';

export interface FencingSettings {
  /** Time between the two reads of Off. */
  powerRecheckMs: number;
  /** How long a confirmation is good. */
  consentMs: number;
  /** While servers are evacuated, the power was last read Off at most this long ago. */
  holdCheckMs: number;
  /** Evacuations at once. */
  parallelism: number;
  /** How often one server is tried. */
  maxAttempts: number;
  /** After a first failure; doubles with each further one, up to {@link longestEvacuationRetryMs}. */
  retryMs: number;
  exclusions: EvacuationExclusions;
}

export const longestEvacuationRetryMs = 10 * 60_000;

export const fencingDefaults: FencingSettings = {
  powerRecheckMs: 10_000,
  consentMs: 15 * 60_000,
  holdCheckMs: 30_000,
  parallelism: 4,
  maxAttempts: 3,
  retryMs: 30_000,
  // Octavia replaces its amphorae itself, and an evacuated one would be a second. Masakari’s key, which people
  // have set already.
  exclusions: {
    imageIds: [],
    imageTags: ['amphora', 'amphora-image', 'octavia-amphora-image'],
    metadata: ['HA_Enabled=false', 'drover:evacuate=false'],
  },
};

/** Why a host may be taken for dead, or for alive again. It goes into the audit log. */
export interface ForcedDownProof {
  /** The failure that it is about. */
  incident: string;
  /**
   * `power-off`: its power was read as off, so nothing runs on it whatever Nova still shows. `person`: a user confirmed
   * it. `restart`: it was started again, and nova-compute with it.
   */
  by: 'power-off' | 'restart' | 'person';
  /** The power controller's name, the boot id, or the person. */
  witness: string;
  /** RFC 3339. */
  at: string;
}

export interface ForcedDownRequest {
  /** The compute service's `host`. */
  host: string;
  forcedDown: boolean;
  proof: ForcedDownProof;
}

export interface EvacuationRequest {
  instanceId: string;
  /** The compute service's `host` that is dead. */
  sourceHost: string;
  /** Null: the scheduler chooses. */
  targetHost: string | null;
  /** The failure that it is about. */
  incident: string;
}

export interface EvacuationWait {
  instanceId: string;
  sourceHost: string;
  migrationId: number;
  /** From now on; then it is given back as stuck, `TooLong`. Nova cannot abort an evacuation. */
  deadlineMs: number;
  poll: PollIntervals;
}
