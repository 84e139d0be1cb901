import type { Migration, MigrationStatus } from '../../../contracts/crds/migration.ts';
import type { MigrationReport, ReportMigration } from '../../../contracts/eviction/migrate-instance.ts';
import { fieldManager, labels } from '../../../contracts/ids.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { isNonRetryable } from '../../../runtime/failure.ts';
import { isFailure } from '../../../runtime/kubernetes/kubernetes-faults.ts';
import type { KubernetesObjects } from '../../../runtime/kubernetes/objects.ts';
import { resources } from '../../../runtime/kubernetes/resources.ts';

/** Figures that grow by themselves are written no more often than this. */
const minIntervalMs = 2_000;

/** Fields that change with every observation; they alone are no reason to write. */
const figures: readonly (keyof MigrationStatus)[] = [
  'timeElapsed',
  'dataTotal',
  'dataProcessed',
  'dataRemaining',
  'memTotal',
  'memProcessed',
  'memRemaining',
  'diskTotal',
  'diskProcessed',
  'diskRemaining',
];

interface Shown {
  /** Of the Eviction whose labels the object carries. */
  evictionUid: string;
  status: MigrationStatus;
  atMs: number;
  /** Fields of the status that another manager owns. */
  foreign: ReadonlySet<string>;
}

/**
 * Keeps the Migration object of a server current, by server-side apply under drover's field manager. Fields that the
 * node agent owns are left out, so that its figures, which are finer, stay; a conflict is never forced.
 *
 * It throws what passes: kube-apiserver is away, or others write at the same time. What does not pass (no permission,
 * no such namespace) goes to `warn`: the object is for users, and must not end the move that it shows.
 */
export function createMigrationReporter(
  client: KubernetesObjects,
  namespace: string,
  warn: (message: string) => void,
  clock: Clock,
): ReportMigration {
  /** By server id. A hint that saves requests: what is not in it is read. */
  const shown = new Map<string, Shown>();

  return async (report, signal) => {
    const { instanceId } = report.subject;
    const status = migrationStatus(report, clock.now());
    const last = shown.get(instanceId);
    if (last?.evictionUid === report.subject.eviction.uid && !isNews(last, status, clock.now())) return;
    try {
      const foreign = await write(client, { namespace, name: instanceId }, report, status, last, signal);
      shown.set(instanceId, { evictionUid: report.subject.eviction.uid, status, atMs: clock.now(), foreign });
    } catch (error) {
      shown.delete(instanceId);
      if (!isNonRetryable(error)) throw error;
      warn(`Migration ${namespace}/${instanceId} was not written: ${error.message}`);
    }
    // Nothing more is to come, in this attempt.
    if (status.type !== undefined && status.type !== 'unbounded') shown.delete(instanceId);
  };
}

/** Other changes at once, figures at most every {@link minIntervalMs}, nothing new never. Pure. */
export function isNews(last: Pick<Shown, 'status' | 'atMs'>, next: MigrationStatus, nowMs: number): boolean {
  const fields = new Set([...Object.keys(last.status), ...Object.keys(next)] as (keyof MigrationStatus)[]);
  const changed = [...fields].filter((field) => last.status[field] !== next[field]);
  if (changed.some((field) => !figures.includes(field))) return true;
  return changed.some((field) => field !== 'timeElapsed') && nowMs - last.atMs >= minIntervalMs;
}

/** Returns the fields that others own. */
async function write(
  client: KubernetesObjects,
  key: { namespace: string; name: string },
  { subject }: MigrationReport,
  status: MigrationStatus,
  last: Shown | undefined,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const foreign =
    last?.evictionUid === subject.eviction.uid
      ? last.foreign
      : foreignFields(
          await client.apply(
            resources.Migration,
            { metadata: { ...key, labels: ownLabels(subject) }, spec: {} },
            signal,
          ),
        );
  try {
    return foreignFields(await client.applyStatus(resources.Migration, key, without(status, foreign), signal));
  } catch (error) {
    if (!isFailure(error, 'ObjectConflict')) throw error;
    // The node agent has taken a field over since: read who owns what, and leave it that one too.
    const current = await client.get(resources.Migration, key, signal);
    if (current === null) throw error;
    return foreignFields(
      await client.applyStatus(resources.Migration, key, without(status, foreignFields(current)), signal),
    );
  }
}

function ownLabels({ eviction, sourceHost }: MigrationReport['subject']) {
  // A label holds less than a host name may.
  const isLabelValue = /^[A-Za-z0-9]([-._A-Za-z0-9]{0,61}[A-Za-z0-9])?$/u.test(sourceHost);
  return { [labels.evictionUid]: eviction.uid, ...(isLabelValue && { [labels.host]: sourceHost }) };
}

const without = (status: MigrationStatus, foreign: ReadonlySet<string>): Partial<MigrationStatus> =>
  Object.fromEntries(Object.entries(status).filter(([field]) => !foreign.has(field)));

/** Fields of the status that a manager other than drover owns. Pure. */
export function foreignFields({ metadata }: Migration): ReadonlySet<string> {
  const others = (metadata.managedFields ?? []).filter(({ manager }) => manager !== fieldManager);
  return new Set(
    others.flatMap(({ fieldsV1 }) =>
      Object.keys((fieldsV1?.['f:status'] as object | undefined) ?? {}).map((field) => field.replace(/^f:/u, '')),
    ),
  );
}

/**
 * The status of a Migration object, in the formats of the node agent: its readers must not see who writes.
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
  // The node agent of the source writes itself as destination until the instance has arrived.
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
