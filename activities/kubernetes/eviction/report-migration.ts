import { ApplicationFailure } from '@temporalio/common';

import type { Migration, MigrationStatus } from '../../../contracts/crds/migration.ts';
import { fieldManager, labels } from '../../../contracts/ids.ts';
import type { MigrationReport, ReportMigration } from '../../../contracts/eviction/migrate-instance.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { isFailure } from '../../../runtime/kubernetes/kubernetes-faults.ts';
import type { KubernetesClient, MigrationKey } from './client.ts';
import { migrationStatus } from './migration-status.ts';

/** Figures that grow by themselves are written no more often than this. */
const minIntervalMs = 2_000;

/** Fields that change with every look; they alone are no news. */
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
 * Keeps the Migration object of a server current, by server-side apply under drover's field manager. Fields that the node agent owns are
 * left out, so that its figures, which are finer, stay; a conflict is never forced (hypervisor.md A.3).
 *
 * It throws what passes: kube-apiserver is away, or others write at the same time. What does not pass (no permission, no such namespace)
 * goes to `warn`: the object is for people, and must not end the move that it shows.
 */
export function createMigrationReporter(
  client: KubernetesClient,
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
      if (!(error instanceof ApplicationFailure) || error.nonRetryable !== true) throw error;
      warn(`Migration ${namespace}/${instanceId} was not written: ${error.message}`);
    }
    // Nothing more is to come, in this attempt.
    if (status.type !== undefined && status.type !== 'unbounded') shown.delete(instanceId);
  };
}

/** News at once, figures at most every {@link minIntervalMs}, nothing new never. Pure. */
export function isNews(last: Pick<Shown, 'status' | 'atMs'>, next: MigrationStatus, nowMs: number): boolean {
  const fields = new Set([...Object.keys(last.status), ...Object.keys(next)] as (keyof MigrationStatus)[]);
  const changed = [...fields].filter((field) => last.status[field] !== next[field]);
  if (changed.some((field) => !figures.includes(field))) return true;
  return changed.some((field) => field !== 'timeElapsed') && nowMs - last.atMs >= minIntervalMs;
}

/** Returns the fields that others own. */
async function write(
  client: KubernetesClient,
  key: MigrationKey,
  { subject }: MigrationReport,
  status: MigrationStatus,
  last: Shown | undefined,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const foreign =
    last?.evictionUid === subject.eviction.uid
      ? last.foreign
      : foreignFields(await client.applyMigration(key, ownLabels(subject), signal));
  try {
    return foreignFields(await client.applyMigrationStatus(key, without(status, foreign), signal));
  } catch (error) {
    if (!isFailure(error, 'ObjectConflict')) throw error;
    // The node agent has taken a field over since: look whose is what, and leave it that one too.
    const current = await client.getMigration(key, signal);
    if (current === null) throw error;
    return foreignFields(await client.applyMigrationStatus(key, without(status, foreignFields(current)), signal));
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
