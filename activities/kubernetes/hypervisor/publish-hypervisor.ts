import { isDeepStrictEqual } from 'node:util';

import { type Condition, findCondition, setConditions } from '../../../contracts/conditions.ts';
import type { HypervisorStatus } from '../../../contracts/crds/hypervisor.ts';
import type { ObjectKey } from '../../../contracts/hypervisor/activities.ts';
import { hypervisorConditions } from '../../../contracts/hypervisor/conditions.ts';
import type { HypervisorStatusPatch } from '../../../contracts/hypervisor/hypervisor.ts';
import { isFailure } from '../../../runtime/kubernetes/kubernetes-faults.ts';
import { resources } from '../../../runtime/kubernetes/resources.ts';
import { retryConflicts } from '../../../runtime/kubernetes/retry-conflicts.ts';
import { conditionMessageLimit, cut } from '../lib/cut-text.ts';
import { writeEvent } from '../lib/write-event.ts';
import type { HypervisorTools } from './dependencies.ts';
import { patchHypervisor } from './patch-hypervisor.ts';

export type HypervisorReport = ObjectKey & { status: HypervisorStatusPatch };

/**
 * Writes what differs, on the version that was read; then an event where the state is another one, and the annotations.
 * Safe to repeat, and safe when two runs publish at once: each compares with what is there. A Hypervisor that is gone,
 * or is another one of that name, is left alone.
 *
 * @throws ObjectConflict when others write all the time; what the client throws (contracts/errors.ts)
 */
export async function publishHypervisor(tools: HypervisorTools, report: HypervisorReport): Promise<void> {
  const entered = await retryConflicts(() => writeStatus(tools, report));
  if (entered !== null) {
    const regarding = { kind: 'Hypervisor', name: report.name, uid: report.uid } as const;
    const { status, reason, message } = entered.state;
    await writeEvent(tools, { regarding, type: status === 'False' ? 'Warning' : 'Normal', reason, message }, [
      report.uid,
      entered.resourceVersion,
      reason,
    ]);
  }
  const { annotations = null } = report.status;
  if (annotations !== null) await patchHypervisor(tools, { ...report, generation: 0, patches: [{ annotations }] });
}

/**
 * Returns the state that the Hypervisor has entered with this report, and the version that it was in
 * before; null: none.
 */
async function writeStatus(
  { client, scope, clock }: HypervisorTools,
  { name, uid, status }: HypervisorReport,
): Promise<{ state: Condition; resourceVersion: string } | null> {
  const found = await client.get(resources.Hypervisor, { name }, scope.signal);
  if (found?.metadata.uid !== uid) return null;
  const { metadata, status: current } = found;
  const change = statusChange(current, status, new Date(clock.now()));
  if (change === null) return null;
  try {
    await client.patchStatus(resources.Hypervisor, metadata, change, scope.signal);
  } catch (error) {
    if (isFailure(error, 'ObjectNotFound')) return null;
    throw error;
  }
  const state = findCondition(change.conditions, hypervisorConditions.lifecycle);
  const before = findCondition(current?.conditions, hypervisorConditions.lifecycle);
  return state === undefined || state.reason === before?.reason
    ? null
    : { state, resourceVersion: metadata.resourceVersion };
}

/**
 * The fields of the status that are to be written; null: none. Conditions of others, and all fields that the patch does
 * not speak of, stay. Pure.
 */
export function statusChange(
  current: HypervisorStatus | undefined,
  patch: HypervisorStatusPatch,
  now: Date,
): Partial<HypervisorStatus> | null {
  const updates = patch.conditions.map((update) => ({
    ...update,
    message: cut(update.message, conditionMessageLimit),
  }));
  const kept = current?.conditions?.filter(({ type }) => patch.removed?.includes(type) !== true) ?? [];
  const { conditions: _, removed: __, annotations: ___, libVirtVersion = null, ...fields } = patch;
  const wanted = {
    ...fields,
    conditions: [...setConditions(kept, updates, now.toISOString())],
    // The node agent's word counts as soon as there is one.
    libVirtVersion: (current?.libVirtVersion ?? unknown) === unknown ? libVirtVersion : null,
  };
  const was: Partial<HypervisorStatus> = { conditions: [], ...current };
  const change = Object.entries(wanted).filter(
    ([field, value]) => value !== null && !isDeepStrictEqual(value, was[field as keyof HypervisorStatus]),
  );
  return change.length === 0 ? null : Object.fromEntries(change);
}

/** The CRD's default for what the node agent has not said. */
const unknown = 'unknown';
