import { ApplicationFailure } from '@temporalio/common';
import type { GuestWatchProgress } from '../../contracts/node-failure/guest-watch.ts';
import { messages } from '../../contracts/messages.ts';
import { listenToGuests, quietTurn } from '../flows/node-failure/guests.ts';
import type { FailureWorld } from '../flows/node-failure/world.ts';
import { until } from '../flows/until.ts';
import type { RecordedRun } from './corpus.ts';

/** Guests that fail on a host that lives, heard of by drover's own listening to a libvirt, and what comes of it: on a real Temporal. */
export interface GuestRecording {
  name: string;
  record: (world: FailureWorld) => Promise<Omit<RecordedRun, 'name'>[]>;
}

const patienceMs = 30_000;

type Handle =
  | ReturnType<FailureWorld['failureOf']>
  | Awaited<ReturnType<FailureWorld['listen']>>['handle']
  | Awaited<ReturnType<FailureWorld['listenTo']>>;
const runsOf = (handles: readonly Handle[]): Promise<Omit<RecordedRun, 'name'>[]> =>
  Promise.all(handles.map(async (handle) => ({ workflowId: handle.workflowId, history: await handle.fetchHistory() })));

export const guestRecordings: readonly GuestRecording[] = [
  {
    name: 'guests-handed-over',
    async record(world) {
      const { watch, crash, stop } = await listenToGuests(world, 'guests-handed-over');
      try {
        crash(['vm-1', 'vm-2']);
        const failure = world.failureOf('guests-handed-over');
        await until('the run of the failure', patienceMs, () =>
          failure.describe().then(
            () => true as const,
            (error: unknown) => (error as Error).message,
          ),
        );
        await failure.result();
      } finally {
        await stop();
      }
      return await runsOf([watch, world.failureOf('guests-handed-over')]);
    },
  },
  {
    name: 'guests-advised',
    async record(world) {
      const { machine, watch, crash, stop } = await listenToGuests(world, 'guests-advised', { mode: 'recommend' });
      const failure = world.failureOf('guests-advised');
      try {
        crash(['vm-1', 'vm-2']);
        await until('it to be recommended', patienceMs, () => machine.events.length > 0 || 'not yet');
        // One more is news.
        crash(['vm-1', 'vm-2', 'vm-3']);
        await until(
          'the next word',
          patienceMs,
          async () =>
            ((await failure.fetchHistory()).events ?? []).filter(
              ({ workflowExecutionSignaledEventAttributes: signaled }) => signaled,
            ).length > 1 || 'not yet',
        );
      } finally {
        await stop();
      }
      // Nobody can ask its libvirt for a while: the word about its guests does not count then.
      machine.libvirt = null;
      await failure.result();
      return await runsOf([watch, failure]);
    },
  },
  {
    name: 'guests-switched-off',
    async record(world) {
      world.turns.push(
        quietTurn,
        ApplicationFailure.create({ type: 'StillBroken', message: 'it broke', nonRetryable: true }),
        quietTurn,
      );
      const { handle } = await world.listen(0);
      await until(
        'it to wait',
        patienceMs,
        async () =>
          (await handle.query<GuestWatchProgress>(messages.progress)).waitingFor.includes('it broke') || 'not yet',
      );
      await handle.executeUpdate(messages.retryNow);
      await handle.result();
      return await runsOf([handle]);
    },
  },
];
