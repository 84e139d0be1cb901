import { sleep } from '@temporalio/workflow';
import type { MigrateInstanceInput, MigrationStart, MigrationSubject } from '../../contracts/migrate-instance.ts';
import { kubernetesWait, nova, novaWait } from '../lib/activities.ts';
import { count, outcomeOf } from '../lib/metrics.ts';
import type { Move, Progress } from './plan.ts';
import { copiedGiB, migrationWaitMs, retryDelayMs, subjectOf } from './request.ts';

/** A stop is lifted by a person; the run asks again at least once a day. */
const stopWaitMs = 24 * 60 * 60_000;

/** Waits until `drover stop` is lifted. */
export const waitUntilAllowed = (): Promise<void> => kubernetesWait('Wait until `drover stop` is lifted', stopWaitMs).awaitStopLifted();

/** Carries out one move of the plan and writes what came of it into `progress`. Decides nothing. */
export async function makeMove(input: MigrateInstanceInput, progress: Progress, move: Exclude<Move, { do: 'end' }>): Promise<void> {
  const { instance, settings } = input;
  const { region } = settings;
  switch (move.do) {
    case 'migrateLive':
      await begin(input, progress, 'live-migration', (subject) =>
        nova(region, `Ask Nova to move ${instance.name} live`).startLiveMigration({ ...subject, perTarget: settings.perTarget }),
      );
      return;
    case 'migrateCold':
      // The id is the proof that the resize to be confirmed later is drover's own.
      progress.ownCold = await begin(input, progress, 'migration', (subject) =>
        nova(region, `Ask Nova to move ${instance.name} cold`).startColdMigration({ ...subject, perTarget: settings.perTarget }),
      );
      return;
    case 'awaitMigration': {
      if (progress.attempts === 0) progress.attempts = 1;
      const wait = novaWait(region, `Wait for migration ${move.migration.id} of ${instance.name}`, migrationWaitMs(input));
      const end = await wait.awaitMigration({
        ...subjectOf(input, progress),
        migrationId: move.migration.id,
        gibibytes: copiedGiB(input),
        stuck: settings.stuck,
        poll: settings.poll,
      });
      count('migrations', { type: move.migration.type, outcome: outcomeOf(end) });
      progress.observation = end.observation;
      progress.lastEnd = end;
      if (end.stuck !== null) progress.stuckAttempts += 1;
      return;
    }
    case 'abort': {
      const stuck = progress.lastEnd?.stuck ?? 'TooLong';
      const end = await novaWait(region, `Abort the stuck migration of ${instance.name}`, migrationWaitMs(input)).abortMigration({
        ...subjectOf(input, progress),
        migrationId: move.migration.id,
      });
      progress.observation = end.observation;
      progress.lastEnd = { ...end, stuck: null, message: end.message ?? stuckSentence[stuck] };
      return;
    }
    case 'forceComplete':
      await nova(region, `Make Nova finish the migration of ${instance.name}`).forceCompleteMigration({
        ...subjectOf(input, progress),
        migrationId: move.migration.id,
      });
      progress.forced = move.migration.id;
      progress.lastEnd = null;
      return;
    case 'confirm': {
      const end = await novaWait(region, `Confirm the cold migration of ${instance.name}`, migrationWaitMs(input)).confirmMigration({
        ...subjectOf(input, progress),
        migrationId: move.migrationId,
      });
      progress.observation = end.observation;
      progress.lastEnd = end;
      progress.ownCold = null;
      return;
    }
    case 'awaitIdle': {
      const deadlineMs = settings.instanceBusyMs;
      progress.observation = await novaWait(region, `Wait until ${instance.name} is idle`, deadlineMs + settings.stuck.startMs).awaitInstanceIdle({
        instanceId: instance.id,
        deadlineMs,
      });
      progress.waitedIdle = progress.observation.instance?.taskState !== null;
      return;
    }
  }
}

const stuckSentence = {
  NotStarted: 'stuck: the migration was queued for too long, and was aborted',
  NoProgress: 'stuck: the copy made no progress (the guest may write faster than the network copies), and was aborted',
  TooLong: 'stuck: the copy took longer than its size allows, and was aborted',
} as const;

/** One attempt: a pause after earlier ones, the request, and what Nova makes of it. Returns the id of the migration that it began, if any. */
async function begin(
  input: MigrateInstanceInput,
  progress: Progress,
  type: 'live-migration' | 'migration',
  request: (subject: MigrationSubject) => Promise<MigrationStart>,
): Promise<number | null> {
  const delayMs = retryDelayMs(input, progress.attempts);
  if (delayMs > 0) await sleep(delayMs, { summary: `Pause before attempt ${progress.attempts + 1}` });
  const start = await request(subjectOf(input, { ...progress, attempts: progress.attempts + 1 }));
  switch (start.outcome) {
    case 'started':
      progress.attempts += 1;
      progress.lastEnd = null;
      progress.observation = { ...progress.observation, migration: start.migration };
      return start.migration.id;
    case 'changed':
      progress.observation = start.observation;
      return null;
    case 'refused':
      count('migrations', { type, outcome: 'refused' });
      progress.attempts += 1;
      progress.refusal = start.message;
      return null;
    case 'targetsBusy':
      await awaitRoom(input, progress);
      return null;
  }
}

async function awaitRoom({ instance, sourceHost, settings }: MigrateInstanceInput, progress: Progress): Promise<void> {
  const { region, perTarget, targetBusyMs: deadlineMs } = settings;
  const wait = novaWait(region, `Wait for a target with room for ${instance.name}`, deadlineMs + settings.stuck.startMs);
  if (await wait.awaitTargetRoom({ sourceHost, perTarget, deadlineMs })) return;
  progress.refusal = `every possible target had ${perTarget} migrations in progress for ${Math.round(deadlineMs / 1000)} s`;
}
