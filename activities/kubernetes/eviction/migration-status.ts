import type { MigrationStatus } from '../../../contracts/crds/migration.ts';
import type { MigrationReport } from '../../../contracts/eviction/migrate-instance.ts';

/**
 * The status of a Migration object, in the formats of the node agent (hypervisor.md A.3): its readers must not see who writes.
 */
export function migrationStatus(
  { subject, migration, startedAt, message }: MigrationReport,
  nowMs: number,
): MigrationStatus {
  const type = jobType(migration?.status ?? null);
  const memory = copied(migration?.memoryTotalBytes ?? null, migration?.memoryRemainingBytes ?? null, type);
  const disk = copied(migration?.diskTotalBytes ?? null, migration?.diskRemainingBytes ?? null, type);
  const data =
    memory === null
      ? disk
      : disk === null
        ? memory
        : { total: memory.total + disk.total, remaining: memory.remaining + disk.remaining };
  const target = migration?.targetHost ?? null;
  return {
    origin: migration?.sourceHost ?? subject.sourceHost,
    ...(target !== null && { destination: target }),
    ...(type !== null && { type }),
    operation: 'migration_out',
    ...(message !== null && type !== 'completed' && { errMsg: message }),
    started: startedAt,
    timeElapsed: formatDuration(Math.max(0, nowMs - Date.parse(startedAt))),
    ...(data !== null && {
      dataTotal: formatBytes(data.total),
      dataProcessed: formatBytes(data.total - data.remaining),
      dataRemaining: formatBytes(data.remaining),
    }),
    ...(memory !== null && {
      memTotal: formatBytes(memory.total),
      memProcessed: formatBytes(memory.total - memory.remaining),
      memRemaining: formatBytes(memory.remaining),
    }),
    ...(disk !== null && {
      diskTotal: formatBytes(disk.total),
      diskProcessed: formatBytes(disk.total - disk.remaining),
      diskRemaining: formatBytes(disk.remaining),
    }),
  };
}

/** Libvirt's word for the state of a Nova migration; null before there is one. */
function jobType(status: string | null): 'unbounded' | 'completed' | 'failed' | 'cancelled' | null {
  switch (status) {
    case null:
      return null;
    case 'completed':
    case 'confirmed':
    case 'done':
      return 'completed';
    case 'failed':
    case 'error':
      return 'failed';
    case 'cancelled':
    case 'reverted':
      return 'cancelled';
    default:
      return 'unbounded';
  }
}

/** Nova forgets the figures of a migration that is over; a completed one has copied everything. */
function copied(
  total: number | null,
  remaining: number | null,
  type: ReturnType<typeof jobType>,
): { total: number; remaining: number } | null {
  if (total === null || total <= 0) return null;
  if (type === 'completed') return { total, remaining: 0 };
  return remaining === null ? null : { total, remaining: Math.min(total, Math.max(0, remaining)) };
}

/** What a Migration object shows, by whomever it was written. */
export function readMigration(status: MigrationStatus | undefined): { target: string | null; percent: number | null } {
  const { origin, destination, type, dataTotal, dataRemaining } = status ?? {};
  // The node agent of the source writes itself as destination until the instance has arrived (hypervisor.md A.3, trap 2).
  const target = destination === undefined || destination === '' || destination === origin ? null : destination;
  if (type === 'completed' || type === 'success') return { target, percent: 100 };
  const total = parseBytes(dataTotal);
  const remaining = parseBytes(dataRemaining);
  if (total === null || remaining === null || total === 0) return { target, percent: null };
  return { target, percent: Math.min(100, Math.max(0, Math.round(100 * (1 - remaining / total)))) };
}

const units = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'] as const;

/** `"%.1f XiB"`; below 1024 `"N B"`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${Math.round(bytes)} B`;
  const power = Math.min(units.length, Math.floor(Math.log2(bytes) / 10));
  return `${(bytes / 1024 ** power).toFixed(1)} ${units[power - 1] ?? ''}`;
}

/** Bytes, to the precision of the text; null where it is none. */
export function parseBytes(text: string | undefined): number | null {
  const [, number, unit] = /^(\d+(?:\.\d+)?) (B|[KMGTPE]iB)$/u.exec(text ?? '') ?? [];
  if (number === undefined || unit === undefined) return null;
  return Number(number) * 1024 ** (units.findIndex((known) => known === unit) + 1);
}

/** As Go's `time.Duration` prints itself, to a tenth of a second: `850ms`, `45.2s`, `1m5s`, `1h0m0.5s`. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds <= 0) return '0s';
  if (milliseconds < 1_000) return `${Math.round(milliseconds)}ms`;
  const tenths = Math.round(milliseconds / 100);
  const seconds = `${(tenths % 600) / 10}s`;
  const minutes = Math.floor(tenths / 600);
  if (minutes === 0) return seconds;
  return minutes < 60 ? `${minutes}m${seconds}` : `${Math.floor(minutes / 60)}h${minutes % 60}m${seconds}`;
}
