import type { Incident, TrackedEvacuation } from '../../contracts/node-failure/fencing.ts';
import type { HandlingSettings } from '../../contracts/node-failure/activities.ts';
import type { InstanceObservation } from '../../contracts/eviction/migrate-instance.ts';
import { explain } from '../lib/failures.ts';
import { failureRegionWait, onEvidence } from '../lib/node-failure-activities.ts';

export interface EvacuationOutcome {
  outcome: 'evacuated' | 'gone' | 'failed';
  /** Null where it came up elsewhere. */
  why: string | null;
}

/** Has one server of a dead host started elsewhere, and waits for it. Never fails: what went wrong is the outcome's `why`. */
export async function evacuateServer(
  { id, name }: TrackedEvacuation,
  sourceHost: string,
  incident: Incident,
  { region, evacuation, fencing }: HandlingSettings,
): Promise<EvacuationOutcome> {
  try {
    const start = await onEvidence(region, `Evacuate ${name} off ${sourceHost}`, fencing.holdCheckMs).startEvacuation({
      instanceId: id,
      sourceHost,
      targetHost: null,
      incident: incident.id,
    });
    if (start.outcome === 'started') {
      const { deadlineMs, poll } = evacuation;
      // Temporal's own time-out comes after the activity's, which can say how it stands.
      const end = await failureRegionWait(
        region,
        `Wait until ${name} has come up elsewhere`,
        deadlineMs + 120_000,
      ).awaitEvacuation({ instanceId: id, sourceHost, migrationId: start.migration.id, deadlineMs, poll });
      return outcomeOf(
        end.observation,
        sourceHost,
        end.message ??
          (end.stuck === null
            ? `its evacuation ended as ${end.status}`
            : `its evacuation has not ended within ${Math.round(deadlineMs / 60_000)} min`),
      );
    }
    if (start.outcome === 'changed')
      return outcomeOf(start.observation, sourceHost, 'Nova has not begun its evacuation');
    return { outcome: 'failed', why: start.outcome === 'refused' ? start.message : 'no host has room for it' };
  } catch (error) {
    return { outcome: 'failed', why: explain(error).message };
  }
}

/** Where the server is decides, not what a record says. Pure. */
export function outcomeOf({ instance }: InstanceObservation, sourceHost: string, why: string): EvacuationOutcome {
  if (instance === null) return { outcome: 'gone', why: null };
  if (instance.host !== null && instance.host !== sourceHost && instance.taskState === null)
    return { outcome: 'evacuated', why: null };
  return {
    outcome: 'failed',
    why: instance.taskState === null ? why : `${why}; Nova is still at it (${instance.taskState})`,
  };
}
