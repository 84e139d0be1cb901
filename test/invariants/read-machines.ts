import type { History } from '@temporalio/common/lib/proto-utils.js';
import { optionalTsToMs } from '@temporalio/common/lib/time.js';
import { safetyMemo } from '../../contracts/machine-safety/api-server-safety.ts';
import { readSafetyState } from '../../contracts/machine-safety/judge-api-servers.ts';
import type { SweepActivities } from '../../contracts/machine-safety/sweep.ts';
import type { Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import type { MachineFact, SafetyFact } from './snapshot.ts';

/** As far as a snapshot looks at a Machine. */
export interface ReadMachine {
  metadata: { namespace?: string; name: string; uid: string; creationTimestamp?: string };
  spec?: { providerID?: string };
}

const group = 'machine.sapcloud.io/v1alpha1';

/** Those that are there now. That one names a VM which is gone is as bad, whenever it has begun to. */
export async function listMachines(api: Kubernetes, namespace: string): Promise<MachineFact[]> {
  const path = resourcePath(group, 'machines', { namespace });
  const { items } = (await api.request({ method: 'GET', path }, AbortSignal.timeout(20_000))) as {
    items: ReadMachine[];
  };
  return items.flatMap((machine) =>
    factOf(machine, Date.parse(machine.metadata.creationTimestamp ?? ''), null).filter(({ fromMs }) => fromMs >= 0),
  );
}

/** From when until when a Machine had which id. Pure. */
export function machineFacts(
  changes: readonly { atMs: number; type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: ReadMachine }[],
): MachineFact[] {
  const facts: MachineFact[] = [];
  for (const [, those] of Map.groupBy(changes, ({ object }) => object.metadata.uid))
    for (const [index, { atMs, type, object }] of those.entries())
      if (type !== 'DELETED') facts.push(...factOf(object, atMs, those[index + 1]?.atMs ?? null));
  return facts;
}

function factOf({ metadata, spec }: ReadMachine, fromMs: number, untilMs: number | null): MachineFact[] {
  const providerId = spec?.providerID ?? '';
  return providerId === ''
    ? []
    : [{ name: `${metadata.namespace ?? ''}/${metadata.name}`, providerId, fromMs, untilMs }];
}

/** What a run has decided of the freeze, and what it has asked to delete. Pure. */
export function safetyOf({ events }: History): SafetyFact[] {
  return (events ?? []).flatMap((event): SafetyFact[] => {
    const atMs = optionalTsToMs(event.eventTime) ?? 0;
    const decided = event.workflowPropertiesModifiedEventAttributes?.upsertedMemo?.fields?.[safetyMemo];
    // What cannot be read is no thaw.
    if (decided) return [{ what: 'decides', atMs, frozen: readSafetyState(jsonOf(decided.data))?.frozen ?? true }];
    const asked = event.activityTaskScheduledEventAttributes;
    if (asked?.activityType?.name !== ('deleteOrphan' satisfies keyof SweepActivities)) return [];
    const { providerId = '' } = Object(jsonOf(asked.input?.payloads?.[0]?.data)) as { providerId?: string };
    return [{ what: 'deletes', atMs, providerId }];
  });
}

function jsonOf(data: Uint8Array | null | undefined): unknown {
  try {
    return JSON.parse(Buffer.from(data ?? '').toString('utf8')) as unknown;
  } catch {
    // Encoded, or nothing.
    return null;
  }
}
