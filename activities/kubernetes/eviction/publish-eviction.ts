import { isDeepStrictEqual } from 'node:util';

import { type ConditionUpdate, findCondition, setConditions } from '../../../contracts/conditions.ts';
import type { Eviction, EvictionStatus } from '../../../contracts/crds/eviction.ts';
import type { EvictionPublished, EvictionReport } from '../../../contracts/eviction/activities.ts';
import { onlyObserves } from '../../../contracts/eviction/annotations.ts';
import { evictingReasons, evictionConditions } from '../../../contracts/eviction/conditions.ts';
import { evictionFinalizer, labels } from '../../../contracts/ids.ts';
import { isFailure } from '../../../runtime/kubernetes/kubernetes-faults.ts';
import { resources } from '../../../runtime/kubernetes/resources.ts';
import { retryConflicts } from '../../../runtime/kubernetes/retry-conflicts.ts';
import { conditionMessageLimit, cut } from '../lib/cut-text.ts';
import { writeEvent } from '../lib/write-event.ts';
import type { Tools } from './dependencies.ts';
import { readMigration } from './report-migration.ts';

/**
 * Writes what differs: the status on the version that was read, then events, then the finalizer goes. Safe to repeat,
 * and safe when two runs publish at once: each compares with what is there.
 *
 * @throws ObjectConflict when others write all the time; what the client throws (contracts/errors.ts)
 */
export async function publishEviction(tools: Tools, report: EvictionReport): Promise<EvictionPublished> {
  const written = await retryConflicts(() => writeStatus(tools, report));
  if (written === null) return { migrations: {}, gone: true };
  const regarding = { kind: 'Eviction', name: report.name, uid: report.uid } as const;
  for (const event of report.events)
    await writeEvent(tools, { ...event, regarding }, [
      report.uid,
      tools.scope.run?.runId ?? '',
      event.type,
      event.reason,
      event.message,
    ]);
  if (report.releaseFinalizer) await retryConflicts(() => releaseFinalizer(tools, report));
  return { migrations: await readMigrations(tools, report.uid), gone: false };
}

async function getSame({ client, scope }: Tools, { name, uid }: EvictionReport): Promise<Eviction | null> {
  const eviction = await client.get(resources.Eviction, { name }, scope.signal);
  return eviction?.metadata.uid === uid ? eviction : null;
}

async function writeStatus(tools: Tools, report: EvictionReport): Promise<Eviction | null> {
  const eviction = await getSame(tools, report);
  if (eviction === null) return null;
  const observes = onlyObserves(eviction.metadata, tools.mode);
  const wanted = wantedStatus(eviction.status ?? {}, report, observes, new Date(tools.clock.now()));
  const agents = observes ? null : agentStateOf(eviction, wanted);
  const change = Object.fromEntries(
    Object.entries({ ...wanted, ...(agents !== null && { evictionState: agents }) }).filter(
      ([field, value]) => !isDeepStrictEqual(value, eviction.status?.[field as keyof EvictionStatus]),
    ),
  );
  // A CRD without the field drops it: it alone is not written again and again.
  if (Object.keys(change).every((field) => field === 'evictionState' && eviction.status !== undefined)) return eviction;
  try {
    return await tools.client.patchStatus(resources.Eviction, eviction.metadata, change, tools.scope.signal);
  } catch (error) {
    if (isFailure(error, 'ObjectNotFound')) return null;
    throw error;
  }
}

/**
 * The fields of the status that the report speaks of. Pure.
 *
 * @param observes where drover only observes, everything but its own condition is left to the operator that acts
 */
export function wantedStatus(
  current: EvictionStatus,
  report: EvictionReport,
  observes: boolean,
  now: Date,
): EvictionStatus {
  const updates = (observes ? observation(report.conditions) : report.conditions).map((update) => ({
    ...update,
    message: cut(update.message, conditionMessageLimit),
  }));
  const conditions = [...setConditions(current.conditions ?? [], updates, now.toISOString())];
  if (observes) return { conditions };
  return {
    conditions,
    ...(report.outstandingInstances !== null && {
      outstandingInstances: report.outstandingInstances,
      outstandingRamMb: report.outstandingRamMb,
    }),
    ...(report.hypervisorId !== null && { hypervisorServiceId: report.hypervisorId }),
  };
}

/**
 * What the node agent polls on the Eviction of its host's name before it lets the host reboot: `Succeeded` only of a
 * host that is empty. Null: it is none of that name, or nothing has been said. Pure.
 */
export function agentStateOf(
  { metadata, spec }: Pick<Eviction, 'metadata' | 'spec'>,
  { conditions }: EvictionStatus,
): NonNullable<EvictionStatus['evictionState']> | null {
  const evicting = findCondition(conditions, evictionConditions.evicting);
  if (metadata.name !== spec.hypervisor || evicting === undefined) return null;
  if (evicting.status === 'Unknown') return 'Pending';
  if (evicting.status === 'True') return 'Running';
  return evicting.reason === evictingReasons.succeeded ? 'Succeeded' : 'Failed';
}

/** What would have been said of the eviction, as the one condition that is drover's alone. */
function observation(updates: readonly ConditionUpdate[]): ConditionUpdate[] {
  const evicting = updates.find(({ type }) => type === evictionConditions.evicting);
  if (evicting === undefined) return [];
  const preflight = updates.find(({ type }) => type === evictionConditions.preflight);
  const message = [evicting.message, preflight?.message].filter((text) => text !== undefined).join(' — ');
  return [
    {
      ...evicting,
      type: evictionConditions.observed,
      status: evicting.status === 'False' ? 'True' : 'Unknown',
      message,
    },
  ];
}

/** The object says how the run ended: from now on it may be deleted without asking drover. */
async function releaseFinalizer(tools: Tools, report: EvictionReport): Promise<void> {
  const eviction = await getSame(tools, report);
  if (eviction !== null) await releaseEviction(tools, eviction.metadata);
}

async function readMigrations(
  { client, scope, migrationNamespace }: Tools,
  uid: string,
): Promise<EvictionPublished['migrations']> {
  const migrations = await client.listValid(
    resources.Migration,
    { namespace: migrationNamespace, labelSelector: `${labels.evictionUid}=${uid}` },
    scope.signal,
  );
  return Object.fromEntries(migrations.map(({ metadata, status }) => [metadata.name, readMigration(status)]));
}

/**
 * Takes drover's finalizer off the Eviction that was read. Well where it is off, or the Eviction gone.
 * @throws ObjectConflict
 */
export async function releaseEviction(
  { client, scope }: Pick<Tools, 'client' | 'scope'>,
  metadata: Eviction['metadata'],
): Promise<void> {
  const { finalizers = [] } = metadata;
  if (!finalizers.includes(evictionFinalizer)) return;
  try {
    await client.patch(
      resources.Eviction,
      metadata,
      { metadata: { finalizers: finalizers.filter((finalizer) => finalizer !== evictionFinalizer) } },
      scope.signal,
    );
  } catch (error) {
    if (!isFailure(error, 'ObjectNotFound')) throw error;
  }
}
