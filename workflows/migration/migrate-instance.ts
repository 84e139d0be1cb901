import { CancellationScope, defineQuery, isCancellation, setCurrentDetails, setHandler } from '@temporalio/workflow';
import type { MigrateInstanceInput, MigrateInstanceResult } from '../../contracts/migrate-instance.ts';
import { messages } from '../../contracts/messages.ts';
import { nova, novaWait } from '../lib/activities.ts';
import { explain } from '../lib/failures.ts';
import { makeMove, waitUntilAllowed } from './make-move.ts';
import type { Move, Progress } from './plan.ts';
import { planMove } from './plan.ts';
import { describeMove } from './describe.ts';
import { readMigrateInput } from './read-input.ts';
import { migrationWaitMs, subjectOf, wishOf } from './request.ts';

/** What the query `progress` of this run answers. */
export interface MigrateInstanceProgress {
  instanceId: string;
  name: string;
  sourceHost: string;
  attempts: number;
  /** What the run does, as a sentence. */
  doing: string;
  /** RFC 3339: since when. */
  since: string;
}

/** Losing the race against somebody who changes the same server is normal; losing it this often is not. */
const maxSurprises = 10;

/**
 * Moves one server off its host. A child of `evictHypervisor`; its id is the server's lock. It ends when the server is elsewhere, gone,
 * cannot be moved, or the run was cancelled: then a live migration in flight is aborted, and a cold one runs to its end.
 *
 * Fails only with what concerns Nova as a whole (credential, outage): its parent then tries again later.
 */
export async function migrateInstance(given: MigrateInstanceInput): Promise<MigrateInstanceResult> {
  const input = readMigrateInput(given);
  const progress = begin(input);
  const shown: MigrateInstanceProgress = {
    instanceId: input.instance.id,
    name: input.instance.name,
    sourceHost: input.sourceHost,
    attempts: 0,
    doing: 'Starting',
    since: new Date().toISOString(),
  };
  const show = (doing: string): void => {
    Object.assign(shown, { doing, attempts: progress.attempts, since: new Date().toISOString() });
    setCurrentDetails(`**${doing}** (attempt ${progress.attempts}, ${input.instance.name} on ${input.sourceHost})`);
  };
  setHandler(defineQuery<MigrateInstanceProgress>(messages.progress), () => shown);

  try {
    return await drive(input, progress, (move) => show(describeMove(move)));
  } catch (error) {
    if (!isCancellation(error)) throw error;
    show('Cancelled: bringing what is in flight to an end');
    return await CancellationScope.nonCancellable(() => windDown(input, progress));
  }
}

/** The parent has just looked at the server, so the first move needs no look of its own: every ensure verb looks first anyway. */
function begin({ instance, sourceHost }: MigrateInstanceInput): Progress {
  return {
    observation: { instance: { ...instance, host: sourceHost }, migration: null },
    attempts: 0,
    stuckAttempts: 0,
    lastEnd: null,
    refusal: null,
    ownCold: null,
    forced: null,
    waitedIdle: false,
  };
}

async function drive(input: MigrateInstanceInput, progress: Progress, show: (move: Move) => void): Promise<MigrateInstanceResult> {
  for (let surprises = 0; ; ) {
    const move = planMove(wishOf(input), progress);
    show(move);
    if (move.do === 'end') return conclude(progress, move.outcome, move.message);
    try {
      await makeMove(input, progress, move);
    } catch (error) {
      const { code } = explain(error);
      if (code === 'Stopped') await waitUntilAllowed();
      else if (!isSurprise(code) || ++surprises > maxSurprises) throw error;
      progress.observation = await nova(input.settings.region, `Look at ${input.instance.name} again`).observeInstance({ instanceId: input.instance.id });
      progress.lastEnd = null;
    }
  }
}

/** What only says that the server is not as it was thought to be. */
const isSurprise = (code: string | null): boolean =>
  code === 'InstanceBusy' || code === 'InstanceNotFound' || code === 'MigrationNotFound' || code === 'MigrationNotAbortable' || code === 'MigrationRefused';

function conclude(progress: Progress, outcome: MigrateInstanceResult['outcome'], message: string | null): MigrateInstanceResult {
  const targetHost = outcome === 'moved' ? (progress.observation.instance?.host ?? null) : null;
  return { outcome, targetHost, attempts: progress.attempts, message };
}

/** Leaves the server in a described state: back on its source, on its target, or confirmed there. */
async function windDown(input: MigrateInstanceInput, progress: Progress): Promise<MigrateInstanceResult> {
  const { instance, settings } = input;
  const say = (verb: string): string => `${verb} ${instance.name}`;
  progress.observation = await nova(settings.region, say('Look at')).observeInstance({ instanceId: instance.id });
  const { migration } = progress.observation;
  if (migration !== null && migration.status !== 'finished' && migration.sourceHost === input.sourceHost) {
    const request = { ...subjectOf(input, progress), migrationId: migration.id };
    const end =
      migration.type === 'live-migration'
        ? await novaWait(settings.region, say('Abort the migration of'), migrationWaitMs(input)).abortMigration(request)
        : await makeMove(input, progress, { do: 'awaitMigration', migration }).then(() => progress.lastEnd);
    if (end !== null) progress.observation = end.observation;
  }
  const { instance: now } = progress.observation;
  if (now?.status === 'VERIFY_RESIZE' && progress.ownCold !== null) {
    await makeMove(input, progress, { do: 'confirm', migrationId: progress.ownCold });
  }
  const host = progress.observation.instance?.host ?? null;
  if (progress.observation.instance === null) return conclude(progress, 'gone', null);
  if (host !== null && host !== input.sourceHost) return conclude(progress, 'moved', null);
  return conclude(progress, 'stopped', 'the eviction was stopped');
}
