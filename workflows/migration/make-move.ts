import { CancellationScope, sleep } from '@temporalio/workflow';
import type {
  MigrateInstanceInput,
  MigrationStart,
  MigrationSubject,
} from '../../contracts/eviction/migrate-instance.ts';
import { kubernetesWait, nova, novaWait } from '../lib/activities.ts';
import { count, outcomeOf } from '../lib/metrics.ts';
import type { Move, Progress } from './plan.ts';
import {
  completionForced,
  foundNoRoom,
  idleAwaited,
  migrationAborted,
  migrationEnded,
  moveConfirmed,
  startAnswered,
} from './progress.ts';
import { copiedGiB, migrationWaitMs, retryDelayMs, subjectOf } from './request.ts';

/** A stop is lifted by a person; the run asks again at least once a day. */
const stopWaitMs = 24 * 60 * 60_000;

/** Waits until `drover stop` is lifted. */
export const waitUntilAllowed = (): Promise<void> =>
  kubernetesWait('Wait until `drover stop` is lifted', stopWaitMs).awaitStopLifted();

/** Carries out one move of the plan and writes what came of it into `progress`. Decides nothing. */
export async function makeMove(
  input: MigrateInstanceInput,
  progress: Progress,
  move: Exclude<Move, { do: 'end' }>,
): Promise<void> {
  const { instance, settings } = input;
  const { region } = settings;
  switch (move.do) {
    case 'migrateLive':
      return await begin(input, progress, 'live', (subject) =>
        nova(region, `Ask Nova to move ${instance.name} live`).startLiveMigration({
          ...subject,
          perTarget: settings.perTarget,
        }),
      );
    case 'migrateCold':
      return await begin(input, progress, 'cold', (subject) =>
        nova(region, `Ask Nova to move ${instance.name} cold`).startColdMigration({
          ...subject,
          perTarget: settings.perTarget,
        }),
      );
    case 'awaitMigration': {
      if (progress.attempts === 0) progress.attempts = 1;
      const wait = novaWait(
        region,
        `Wait for migration ${move.migration.id} of ${instance.name}`,
        migrationWaitMs(input),
      );
      const end = await wait.awaitMigration({
        ...subjectOf(input, progress),
        migrationId: move.migration.id,
        gibibytes: copiedGiB(input),
        stuck: settings.stuck,
        poll: settings.poll,
      });
      count('migrations', { type: move.migration.type, outcome: outcomeOf(end) });
      return migrationEnded(progress, end);
    }
    case 'abort': {
      const end = await novaWait(
        region,
        `Abort the stuck migration of ${instance.name}`,
        migrationWaitMs(input),
      ).abortMigration({
        ...subjectOf(input, progress),
        migrationId: move.migration.id,
      });
      return migrationAborted(progress, end);
    }
    case 'forceComplete':
      await nova(region, `Make Nova finish the migration of ${instance.name}`).forceCompleteMigration({
        ...subjectOf(input, progress),
        migrationId: move.migration.id,
      });
      return completionForced(progress, move.migration.id);
    case 'confirm': {
      const end = await novaWait(
        region,
        `Confirm the cold migration of ${instance.name}`,
        migrationWaitMs(input),
      ).confirmMigration({
        ...subjectOf(input, progress),
        migrationId: move.migrationId,
      });
      return moveConfirmed(progress, end);
    }
    case 'awaitIdle': {
      const deadlineMs = settings.instanceBusyMs;
      const wait = novaWait(region, `Wait until ${instance.name} is idle`, deadlineMs + settings.stuck.startMs);
      return idleAwaited(progress, await wait.awaitInstanceIdle({ instanceId: instance.id, deadlineMs }));
    }
  }
}

/** One attempt: a pause after earlier ones, the request, and what Nova makes of it. */
async function begin(
  input: MigrateInstanceInput,
  progress: Progress,
  kind: 'live' | 'cold',
  request: (subject: MigrationSubject) => Promise<MigrationStart>,
): Promise<void> {
  const delayMs = retryDelayMs(input, progress.attempts);
  if (delayMs > 0) await sleep(delayMs, { summary: `Pause before attempt ${progress.attempts + 1}` });
  progress.asked = true;
  // A cancel waits for the answer: what Nova has begun must be known to be aborted or confirmed.
  const start = await CancellationScope.nonCancellable(() =>
    request(subjectOf(input, { ...progress, attempts: progress.attempts + 1 })),
  );
  progress.asked = false;
  if (start.outcome === 'targetsBusy') return awaitRoom(input, progress);
  if (start.outcome === 'refused')
    count('migrations', { type: kind === 'live' ? 'live-migration' : 'migration', outcome: 'refused' });
  startAnswered(progress, kind, start);
}

async function awaitRoom(input: MigrateInstanceInput, progress: Progress): Promise<void> {
  const { instance, sourceHost, settings } = input;
  const { region, perTarget, targetBusyMs: deadlineMs } = settings;
  const wait = novaWait(
    region,
    `Wait for a target with room for ${instance.name}`,
    deadlineMs + settings.stuck.startMs,
  );
  if (!(await wait.awaitTargetRoom({ sourceHost, perTarget, deadlineMs }))) foundNoRoom(progress, input);
}
