import { CancellationScope, defineQuery, isCancellation, setCurrentDetails, setHandler } from '@temporalio/workflow';
import type { MigrateInstanceInput, MigrateInstanceResult } from '../../contracts/migrate-instance.ts';
import { messages } from '../../contracts/messages.ts';
import { nova } from '../lib/activities.ts';
import { explain } from '../lib/failures.ts';
import { planAfterFailure } from './after-failure.ts';
import { makeMove, waitUntilAllowed } from './make-move.ts';
import type { Move, Progress } from './plan.ts';
import { planMove } from './plan.ts';
import { planWindDown } from './plan-wind-down.ts';
import { beginProgress, lookedAgain, resultOf } from './progress.ts';
import { describeMove } from './describe.ts';
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
 * Fails only with what concerns Nova as a whole (credential, outage): its parent then tries again later.
 */
export async function migrateInstance(input: MigrateInstanceInput): Promise<MigrateInstanceResult> {
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
    return await drive(input, progress, (move) => show(describeMove(move)));
  } catch (error) {
    if (!isCancellation(error)) throw error;
    show('Cancelled: bringing what is in flight to an end');
    return await CancellationScope.nonCancellable(() => windDown(input, progress));
  }
}

async function drive(input: MigrateInstanceInput, progress: Progress, show: (move: Move) => void): Promise<MigrateInstanceResult> {
  for (let failures = 0; ; ) {
    const move = planMove(wishOf(input), progress);
    show(move);
    if (move.do === 'end') return resultOf(progress, move.outcome, move.message);
    try {
      await makeMove(input, progress, move);
    } catch (error) {
      const next = planAfterFailure(explain(error).code, failures);
      if (next === 'fail') throw error;
      if (next === 'awaitLift') await waitUntilAllowed();
      else failures += 1;
      const looked = await nova(input.settings.region, `Look at ${input.instance.name} again`).observeInstance({ instanceId: input.instance.id });
      lookedAgain(progress, looked);
    }
  }
}

/** Leaves the server in a described state. */
async function windDown(input: MigrateInstanceInput, progress: Progress): Promise<MigrateInstanceResult> {
  lookedAgain(progress, await nova(input.settings.region, `Look at ${input.instance.name}`).observeInstance({ instanceId: input.instance.id }));
  for (;;) {
    const move = planWindDown(input, progress);
    if (move.do === 'end') return resultOf(progress, move.outcome, move.message);
    await makeMove(input, progress, move);
  }
}
