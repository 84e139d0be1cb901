import type {
  DiskConsent,
  EvacuationCandidate,
  EvacuationExclusions,
  TrackedEvacuation,
} from '../../contracts/node-failure/fencing.ts';
import type { InstanceObservation } from '../../contracts/eviction/migrate-instance.ts';
import { priorityKey } from '../../contracts/node-failure/fencing.ts';

/** Nova evacuates servers in these states only. */
const evacuable: readonly string[] = ['active', 'stopped', 'error'];

/**
@
 *
 * @param consentedDisks the servers whose local disks a user gave up
 */
export function whyLeft(
  server: EvacuationCandidate,
  exclusions: EvacuationExclusions,
  consentedDisks: readonly Pick<DiskConsent, 'id'>[],
): string | null {
  if (!evacuable.includes(server.vmState)) return `Nova evacuates no server in the state ${server.vmState}`;
  const excluded = exclusions.metadata.find((one) => hasMetadata(server.metadata, one));
  if (excluded !== undefined) return `its metadata has ${excluded}`;
  if (server.imageId !== null && exclusions.imageIds.includes(server.imageId))
    return `its image ${server.imageId} is excluded`;
  const tag = exclusions.imageTags.find((one) => server.imageTags?.includes(one));
  if (tag !== undefined) return `its image has the tag ${tag}`;
  if (hasLocalDisk(server) && !consentedDisks.some(({ id }) => id === server.id))
    return `${server.localDiskGiB} GiB of its disks lie on the host and would be lost; it needs a consent of its own`;
  return null;
}

/** What is no number is no proof that nothing lies on the host. */
export const hasLocalDisk = ({ localDiskGiB }: EvacuationCandidate): boolean => !(localDiskGiB <= 0);

function hasMetadata(metadata: Record<string, string>, pair: string): boolean {
  const [key = '', value] = pair.split('=', 2);
  if (!Object.hasOwn(metadata, key)) return false;
  return value === undefined || metadata[key]?.toLowerCase() === value.toLowerCase();
}

const usualPriority = 500;

/** 1 to 1000; anything else counts as none. */
function priorityOf({ metadata }: EvacuationCandidate): number {
  const given = Number(Object.hasOwn(metadata, priorityKey) ? metadata[priorityKey] : Number.NaN);
  return Number.isInteger(given) && given >= 1 && given <= 1_000 ? given : usualPriority;
}

/** Whether it waits for its next attempt. */
export const isPaused = ({ retryAtMs }: TrackedEvacuation, nowMs: number): boolean =>
  retryAtMs !== null && nowMs < retryAtMs;

/**
 * Which of the pending servers go next: the highest priority first, those that ran before those that were stopped,
 * large ones before small ones while there is room for them. Members of one server group go one at a time, as the
 * scheduler must see where the last one is.
 */
export function pickEvacuations(
  all: readonly TrackedEvacuation[],
  parallelism: number,
  nowMs: number,
): TrackedEvacuation[] {
  const inFlight = all.filter(({ state }) => state === 'evacuating');
  const sorted = all
    .filter((server) => server.state === 'pending' && !isPaused(server, nowMs))
    .toSorted(
      (a, b) =>
        // One that failed before lets the others pass.
        a.attempts - b.attempts ||
        priorityOf(b) - priorityOf(a) ||
        Number(b.vmState === 'active') - Number(a.vmState === 'active') ||
        b.memoryMiB - a.memoryMiB ||
        a.name.localeCompare(b.name, 'en') ||
        a.id.localeCompare(b.id, 'en'),
    );
  const busyGroups = new Set(inFlight.flatMap(({ serverGroups }) => serverGroups));
  const picked: TrackedEvacuation[] = [];
  for (const one of sorted) {
    if (picked.length + inFlight.length >= parallelism) break;
    if (one.serverGroups.some((group) => busyGroups.has(group))) continue;
    for (const group of one.serverGroups) busyGroups.add(group);
    picked.push(one);
  }
  return picked;
}

export interface EvacuationOutcome {
  /** `putOff`: Nova was not asked at all, so it was no attempt. */
  outcome: 'evacuated' | 'gone' | 'failed' | 'putOff';
  /** Null where it came up elsewhere. */
  why: string | null;
}

/** Where the server is decides, and not what the migration record says. Pure. */
export function evacuationOutcome(
  { instance }: InstanceObservation,
  sourceHost: string,
  why: string,
): EvacuationOutcome {
  if (instance === null) return { outcome: 'gone', why: null };
  if (instance.host !== null && instance.host !== sourceHost && instance.taskState === null)
    return { outcome: 'evacuated', why: null };
  return {
    outcome: 'failed',
    why: instance.taskState === null ? why : `${why}; Nova is still at it (${instance.taskState})`,
  };
}
