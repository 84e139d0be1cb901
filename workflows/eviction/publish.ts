import { setCurrentDetails } from '@temporalio/workflow';
import type { EvictionPhase } from '../../contracts/eviction/eviction.ts';
import { kubernetes } from '../lib/activities.ts';
import { showAttributes } from '../lib/attributes.ts';
import { explain } from '../lib/failures.ts';
import { describeConditions } from './conditions.ts';
import { describeDetails, describeProgress } from './progress.ts';
import type { EvictionRun } from './run.ts';
import { askToStop, outstanding, outstandingRamMiB } from './state.ts';

/** Half of the run's age: early news is fresh, and a long eviction does not fill its history with reports. */
export function publishIntervalMs(
  ageMs: number,
  { publishMinMs, publishMaxMs }: { publishMinMs: number; publishMaxMs: number },
): number {
  return Math.min(publishMaxMs, Math.max(publishMinMs, ageMs / 2));
}

/** Enters a phase; the search attribute follows, and so do the details. */
export function enterPhase(run: EvictionRun, phase: EvictionPhase, reason?: string): void {
  const { state } = run;
  if (state.phase === phase) return;
  state.phase = phase;
  state.phaseSinceMs = Date.now();
  run.unpublished = true;
  showAttributes({
    kind: 'Eviction',
    object: state.desired.name,
    host: state.desired.hypervisor,
    phase,
    ...(reason === undefined ? {} : { reason }),
  });
}

/** Shows the run as it is now in the Web UI. Costs no event. */
export function showDetails({ state, waiting }: EvictionRun): void {
  setCurrentDetails(describeDetails(describeProgress(state, waiting, Date.now()), state.end?.message ?? null));
}

/** Writes the Eviction once, and takes in how far the migrations have come. Fails as the activity does. */
export async function publishNow(run: EvictionRun, options: { releaseFinalizer: boolean }): Promise<void> {
  const { state } = run;
  run.unpublished = false;
  const events = run.events.splice(0);
  try {
    const { migrations, gone } = await kubernetes(`Write the status of Eviction ${state.desired.name}`).publishEviction(
      {
        name: state.desired.name,
        uid: state.desired.uid,
        conditions: describeConditions(state, run.waiting?.for ?? null),
        hypervisorServiceId: state.host?.serviceId ?? null,
        outstandingInstances: outstanding(state).map(({ instance }) => instance.id),
        outstandingRamMb: outstandingRamMiB(state),
        events,
        releaseFinalizer: options.releaseFinalizer,
      },
    );
    for (const [id, shown] of Object.entries(migrations)) {
      const one = state.instances[id];
      if (one?.state === 'moving') Object.assign(one, shown);
    }
    if (gone && state.stop === null && state.end === null) {
      askToStop(state, 'the Eviction being gone', Date.now());
      run.wake();
    }
  } catch (error) {
    run.events.unshift(...events);
    run.unpublished = true;
    throw error;
  }
}

/**
 * Publishes beside the actions: at most one report is under way, and reports come no faster than {@link publishIntervalMs}. A report
 * that fails is not the eviction's problem: the next one carries the same news.
 */
export function createPublisher(run: EvictionRun): {
  publishWhenDue(): void;
  nextMs(): number | null;
  idle(): Promise<void>;
} {
  let lastMs = 0;
  let current: Promise<void> | null = null;
  const dueMs = (): number => lastMs + publishIntervalMs(lastMs - run.state.startedAtMs, run.state.settings);
  return {
    publishWhenDue() {
      if (!run.unpublished || current !== null || Date.now() < dueMs()) return;
      lastMs = Date.now();
      current = publishNow(run, { releaseFinalizer: false })
        .catch((error: unknown) => void explain(error))
        .finally(() => {
          current = null;
          // What changed meanwhile is not in this report, and nothing else may come for long.
          if (run.unpublished) run.wake();
        });
    },
    /** When a report that waits is due at the latest. */
    nextMs: () => (run.unpublished && current === null ? lastMs + run.state.settings.publishMaxMs : null),
    idle: () => current ?? Promise.resolve(),
  };
}
