import type { MigrateInstanceInput, MigrationSubject } from '../../contracts/eviction/migrate-instance.ts';
import type { Progress, Wish } from './plan.ts';

/** A wait ends by its own verdict; Temporal's time-out only catches a wait that never comes to one. */
const slackMs = 120_000;

export const wishOf = ({ sourceHost, consent, accepted, settings }: MigrateInstanceInput): Wish => ({
  sourceHost,
  consent,
  accepted,
  maxAttempts: settings.maxAttempts,
});

export const subjectOf = (
  { instance, sourceHost, eviction }: MigrateInstanceInput,
  { attempts }: Progress,
): MigrationSubject => ({
  instanceId: instance.id,
  sourceHost,
  eviction,
  attempt: Math.max(1, attempts),
});

/** What a live migration copies: the memory, and the disks that lie on the host. */
export const copiedGiB = ({ instance }: MigrateInstanceInput): number =>
  instance.memoryMiB / 1024 + instance.localDiskGiB;

/** The longest a migration can take before the wait judges it stuck. */
export function migrationWaitMs(input: MigrateInstanceInput): number {
  const { startMs, floorMs, msPerGiB } = input.settings.stuck;
  return Math.ceil(startMs + Math.max(floorMs, copiedGiB(input) * msPerGiB) + slackMs);
}

/** Doubles with each attempt that went wrong. */
export const retryDelayMs = ({ settings }: MigrateInstanceInput, attemptsBegun: number): number =>
  attemptsBegun === 0 ? 0 : settings.retryDelayMs * 2 ** (attemptsBegun - 1);
