import { continueAsNew } from '@temporalio/workflow';
import type {
  GuestWatchInput,
  GuestWatchProgress,
  GuestWatchResult,
  GuestWatchTurn,
} from '../../contracts/node-failure/guest-watch.ts';
import { guestWatch } from '../lib/node-failure-activities.ts';
import { watchInTurns } from '../lib/watch-turns.ts';

/**
 * Listens to the guests of one shard of the hypervisors, for good: one activity after the other, an hour each, so that the history tells of
 * hours and never of guests. Started by workers, where the settings ask for it; it ends when they do not any more. To cancel or terminate
 * it stops nobody's work: a worker begins it anew within five minutes.
 */
export async function watchGuests(input: GuestWatchInput): Promise<GuestWatchResult> {
  const { shard } = Object(input) as GuestWatchInput;
  const progress: GuestWatchProgress = { shard, lastTurn: null, waitingFor: 'the end of its turn' };
  const take = (): Promise<GuestWatchTurn> =>
    guestWatch(`Listen to the guests of shard ${shard}`).watchGuests({ shard });
  const goesOn = await watchInTurns({ progress, name: `Guest watch ${shard}`, take, describe: describeTurn });
  if (goesOn) return await continueAsNew<typeof watchGuests>({ shard });
  return { outcome: 'SwitchedOff', message: 'nodeFailure.guestEvents is not set, or has fewer shards by now' };
}

const describeTurn = ({ hosts, connected, left, told, withheld }: GuestWatchTurn): string =>
  [
    `In its last turn ${hosts} hypervisors were watched, ${connected} of them connected at its end; runs of failures were told ${told} times.`,
    ...(withheld === 0
      ? []
      : [
          `At ${withheld} looks too many hosts failed at once to be told of: look at what they share, such as their storage.`,
        ]),
    ...(left === 0 ? [] : [`**${left} are not watched**: raise nodeFailure.guestEvents.shards.`]),
  ].join(' ');
