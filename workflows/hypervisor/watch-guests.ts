import { ApplicationFailure, condition, continueAsNew, defineQuery, defineSignal, defineUpdate, setCurrentDetails, setHandler, workflowInfo } from '@temporalio/workflow';
import type { GuestWatchInput, GuestWatchProgress, GuestWatchResult, GuestWatchTurn } from '../../contracts/guest-watch.ts';
import { messages } from '../../contracts/messages.ts';
import { explain } from '../lib/failures.ts';
import { guestWatch } from '../lib/node-failure-activities.ts';
import { retryAfterMs } from '../lib/retry.ts';

/**
 * Listens to the guests of one shard of the hypervisors, for good: one activity after the other, an hour each, so that the history tells of
 * hours and never of guests. Started by workers, where the settings ask for it; it ends when they do not any more. To cancel or terminate
 * it stops nobody's work: the next worker that starts begins it anew.
 */
export async function watchGuests(input: GuestWatchInput): Promise<GuestWatchResult> {
  const { shard } = Object(input) as GuestWatchInput;
  const progress: GuestWatchProgress = { shard, lastTurn: null, waitingFor: 'the end of its turn' };
  let retryNow = false;
  setHandler(defineQuery<GuestWatchProgress>(messages.progress), () => progress);
  const hurry = (): string => {
    retryNow = true;
    return `Guest watch ${shard} goes on at once, if it waits`;
  };
  setHandler(defineUpdate<string>(messages.retryNow), hurry);
  setHandler(defineSignal(messages.retryNow), () => void hurry());
  let failures = 0;
  for (;;) {
    try {
      const turn = await guestWatch(`Listen to the guests of shard ${shard}`).watchGuests({ shard });
      if (!turn.wanted) return { outcome: 'SwitchedOff', message: 'nodeFailure.guestEvents is not set, or has fewer shards by now' };
      progress.lastTurn = turn;
      setCurrentDetails(describeTurn(turn));
      failures = 0;
    } catch (error) {
      const { code, message } = explain(error);
      if (code === 'InvalidInput') throw ApplicationFailure.create({ type: code, message, nonRetryable: true });
      // A cancel ends the run at the next wait.
      failures += 1;
      retryNow = false;
      progress.waitingFor = `another try: ${message}`;
      await condition(() => retryNow, retryAfterMs(failures));
      progress.waitingFor = 'the end of its turn';
    }
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof watchGuests>({ shard });
  }
}

const describeTurn = ({ hosts, connected, left, told, withheld }: GuestWatchTurn): string =>
  [
    `In its last turn ${hosts} hypervisors were watched, ${connected} of them connected at its end; runs of failures were told ${told} times.`,
    ...(withheld === 0 ? [] : [`At ${withheld} looks too many hosts failed at once to be told of: look at what they share, such as their storage.`]),
    ...(left === 0 ? [] : [`**${left} are not watched**: raise nodeFailure.guestEvents.shards.`]),
  ].join(' ');
