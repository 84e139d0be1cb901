import { findCondition } from '../../contracts/conditions.ts';
import { hypervisorConditions } from '../../contracts/hypervisor/conditions.ts';
import type { HypervisorProgress } from '../../contracts/hypervisor/hypervisor.ts';
import { hypervisorId, workflowTypes } from '../../contracts/ids.ts';
import { progressQuery } from '../../contracts/messages.ts';
import type { HypervisorObject } from './hypervisor-objects.ts';
import type { TemporalAccess } from '../command/temporal-access.ts';
import { answered } from '../command/temporal-access.ts';
import { webUiLink } from '../command/web-ui.ts';

/** Everything that is known of a hypervisor; part of the JSON of `drover describe --json`. */
export interface HypervisorDescription {
  object: HypervisorObject;
  /**
   * The run that drives it now; null: none is open, or Temporal does not answer. `progress` null: no worker answers.
   */
  run: { workflowId: string; runId: string; progress: HypervisorProgress | null } | null;
  /** RFC 3339: when machine-controller-manager takes the machine away, whatever is on it; null: it is not. */
  takenAwayAt: string | null;
  webUi: string | null;
}

/** The time that the run has put into the condition Offboarded (workflows/hypervisor/describe-status.ts). */
export function readTakenAway({ conditions }: Pick<HypervisorObject, 'conditions'>): string | null {
  const offboarded = findCondition(conditions, hypervisorConditions.offboarded);
  if (offboarded === undefined || offboarded.status === 'True') return null;
  return /The machine is taken away at (\d{4}-\d\d-\d\dT[\d:.]+Z)/u.exec(offboarded.message)?.[1] ?? null;
}

/** A worker may be gone; the object is shown all the same. */
const progressTimeoutMs = 5_000;

/** The run that drives a hypervisor, and the link to it. */
export async function findHypervisorRun(
  temporal: TemporalAccess,
  name: string,
): Promise<Pick<HypervisorDescription, 'run' | 'webUi'>> {
  const workflowId = hypervisorId(name, temporal.config.cluster);
  const run = await openRun(temporal, workflowId);
  const { namespace, context } = temporal;
  return { run, webUi: run === null ? null : webUiLink(namespace, workflowId, run.runId, context.env) };
}

async function openRun(temporal: TemporalAccess, workflowId: string): Promise<HypervisorDescription['run']> {
  const handle = temporal.client.workflow.getHandle(workflowId);
  try {
    const { runId, status, type } = await answered(temporal, () => handle.describe());
    if ((status.name !== 'RUNNING' && status.name !== 'PAUSED') || type !== workflowTypes.reconcileHypervisor)
      return null;
    const progress = await answered(
      temporal,
      () => handle.query(progressQuery<HypervisorProgress>()),
      progressTimeoutMs,
    ).catch(() => null);
    return { workflowId, runId, progress };
  } catch {
    temporal.abort.throwIfAborted();
    return null;
  }
}
