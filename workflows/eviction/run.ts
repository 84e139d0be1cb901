import { CancellationScope, condition } from '@temporalio/workflow';
import type { EvictionReport } from '../../contracts/eviction/activities.ts';
import type { Membership } from '../limits/membership.ts';
import type { EvictionState } from './state.ts';

/** What a run holds besides its state: things that are not carried over when it continues as new. */
export interface EvictionRun {
  state: EvictionState;
  /** Makes the run look at its plan again. */
  wake(): void;
  /** The moves in flight, by server id. `abort`: it is to end now. */
  moves: Map<string, { abort(): void }>;
  /** Its side of the region's allowance. */
  membership: Membership;
  /** Its last reports to the region failed, so many in a row, and when the next is made; null: they arrive. */
  unheard: { failures: number; retryAtMs: number } | null;
  /** What the run waits for now; null while it acts. */
  waiting: { for: string; untilMs: number | null } | null;
  /** Something that the Eviction shows has changed since it was last written. */
  unpublished: boolean;
  /** When the Eviction, which has changed, is to be read again, in milliseconds since the epoch; null: it has not changed. */
  readAtMs: number | null;
  /** Events that are not written yet. */
  events: EvictionReport['events'];
}

/** Notes an event for people; written with the next report. */
export function note(
  run: Pick<EvictionRun, 'events' | 'unpublished'>,
  type: 'Normal' | 'Warning',
  reason: string,
  message: string,
): void {
  run.events.push({ type, reason, message });
  run.unpublished = true;
}

/**
 * Waits for `activity`, but no longer than until the run is asked to stop or its Eviction has changed (which may ask for that too): then
 * the activity is cancelled and the answer is undefined.
 */
export async function unlessSteered<Result>(
  run: EvictionRun,
  activity: () => Promise<Result>,
): Promise<Result | undefined> {
  const scope = new CancellationScope();
  const result = scope.run(activity);
  const steered = condition(() => run.state.stop !== null || run.readAtMs !== null).then(() => undefined);
  try {
    return await Promise.race([result, steered]);
  } finally {
    scope.cancel();
    // Cancelled because nobody waits for it any more.
    result.catch(() => undefined);
  }
}
