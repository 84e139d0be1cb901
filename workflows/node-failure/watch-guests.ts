import { continueAsNew } from '@temporalio/workflow';
import type {
  GuestWatchInput,
  GuestWatchProgress,
  GuestWatchResult,
  GuestWatchRound,
} from '../../contracts/node-failure/guest-watch.ts';
import { guestWatch } from '../lib/node-failure-activities.ts';
import { runRounds } from '../lib/system-workflow.ts';

/**
 * Watches the guests of one shard of the hypervisors: a system workflow, with an activity of an hour for each round.
 * Started by workers, where the settings ask for it; it ends when they do not any more. To cancel or terminate it stops
 * nothing for long: a worker starts it again within five minutes.
 */
export async function watchGuests(input: GuestWatchInput): Promise<GuestWatchResult> {
  const { shard } = Object(input) as GuestWatchInput;
  const progress: GuestWatchProgress = { shard, lastRound: null, waitingFor: '' };
  const isWanted = await runRounds({
    progress,
    name: `Guest watch ${shard}`,
    execute: () => guestWatch(`Watch the guests of shard ${shard}`).watchGuests({ shard }),
    describe: describeRound,
  });
  if (isWanted) return await continueAsNew<typeof watchGuests>({ shard });
  return { outcome: 'SwitchedOff', message: 'nodeFailure.guestEvents is not set, or has fewer shards by now' };
}

const describeRound = ({ hosts, connected, left, signalled, withheld }: GuestWatchRound): string =>
  [
    `In its last round ${hosts} hypervisors were watched, ${connected} of them connected at its end; runs of failures were signalled ${signalled} times.`,
    ...(withheld === 0
      ? []
      : [
          `${withheld} times too many hosts failed at once to signal any: check what they share, such as their storage.`,
        ]),
    ...(left === 0 ? [] : [`**${left} are not watched**: raise nodeFailure.guestEvents.shards.`]),
  ].join(' ');
