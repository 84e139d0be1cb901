import {
  CancellationScope,
  defineQuery,
  isCancellation,
  setCurrentDetails,
  setHandler,
  sleep,
} from '@temporalio/workflow';
import type { MigrateInstanceInput, MigrateInstanceResult } from '../../contracts/eviction/migrate-instance.ts';
import { messages } from '../../contracts/messages.ts';
import { nova } from '../lib/activities.ts';
import { explain } from '../lib/failures.ts';
import { retryAfterMs } from '../lib/retry.ts';
import { planAfterFailure } from './after-failure.ts';
import { makeMove, waitUntilAllowed } from './make-move.ts';
import type { Move, Progress } from './plan.ts';
import { planMove } from './plan.ts';
import type { LastMove } from './plan-wind-down.ts';
import { planWindDown } from './plan-wind-down.ts';
import { beginProgress, lookedAgain, mayBeInFlight, resultOf } from './progress.ts';
import { describeMove } from './describe.ts';
import { readMigrateInput } from './read-input.ts';
import { wishOf } from './request.ts';

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

/**
 * Moves one server off its host. A child of `evictHypervisor`; its id is the server's lock. It ends when the server is elsewhere, gone,
 * cannot be moved, or the run was cancelled: then a live migration in flight is aborted, and a cold one runs to its end.
 *
 * Fails only with what concerns Nova as a whole (credential, outage), and only while nothing can be in flight: its parent then tries again
 * later. A migration that it began it watches to the end.
 */
export async function migrateInstance(given: MigrateInstanceInput): Promise<MigrateInstanceResult> {
  const input = readMigrateInput(given);
  const progress = beginProgress(input);
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
    return await drive(input, progress, { plan: (now) => planMove(wishOf(input), now), cancelled: false, show });
  } catch (error) {
    if (!isCancellation(error)) throw error;
    return await CancellationScope.nonCancellable(() =>
      drive(input, progress, { plan: (now) => planWindDown(input, now), cancelled: true, show }),
    );
  }
}

interface Course {
  plan: (progress: Progress) => Move | LastMove;
  /** The run was cancelled: it brings what is in flight to an end, however long that takes. */
  cancelled: boolean;
  show: (doing: string) => void;
}

/** Interprets the plan until the server's move has ended. Where a move has failed, it looks first. */
async function drive(
  input: MigrateInstanceInput,
  progress: Progress,
  { plan, cancelled, show }: Course,
): Promise<MigrateInstanceResult> {
  let unsure = cancelled;
  for (let surprises = 0, outages = 0; ;) {
    try {
      if (unsure)
        lookedAgain(
          progress,
          await nova(input.settings.region, `Look at ${input.instance.name} again`).observeInstance({
            instanceId: input.instance.id,
          }),
        );
      unsure = false;
      const move = plan(progress);
      show(cancelled ? `Cancelled: ${describeMove(move)}` : describeMove(move));
      if (move.do === 'end') return resultOf(progress, move.outcome, move.message);
      await makeMove(input, progress, move);
      outages = 0;
    } catch (error) {
      if (isCancellation(error)) throw error;
      const { code, message } = explain(error);
      const next = planAfterFailure(code, { surprises, mayFail: !cancelled && !mayBeInFlight(progress) });
      if (next === 'fail') throw error;
      if (next === 'lookAgain') surprises += 1;
      else if (next === 'awaitLift') await waitUntilAllowed();
      else {
        outages += 1;
        show(`Waiting to look again: ${message}`);
        await sleep(retryAfterMs(outages), { summary: `Look at ${input.instance.name} again` });
      }
      unsure = true;
    }
  }
}
