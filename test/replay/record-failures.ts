import { ApplicationFailure } from '@temporalio/common';
import type { GuestWatchProgress } from '../../contracts/node-failure/guest-watch.ts';
import { messages, progressQuery } from '../../contracts/messages.ts';
import { quietRound } from '../flows/node-failure/guests.ts';
import { comeBack, untilObserved } from '../flows/node-failure/world.ts';
import type { Failing, FailureWorld, Machine } from '../flows/node-failure/world.ts';
import { until } from '../flows/until.ts';
import type { RecordedRun } from './corpus.ts';

/** A host that fails, with a scripted machine. */
export interface FailureRecording {
  name: string;
  machine: Partial<Machine>;
  goesOn: (failing: Failing) => Promise<unknown>;
}

const patienceMs = 30_000;

const untilEvacuated = ({ machine: { servers, actions } }: Failing): Promise<unknown> =>
  until(
    'all servers to be elsewhere',
    patienceMs,
    () => Object.values(servers).every((place) => place === 'elsewhere') || actions.join(),
  );

const untilFirstOnItsWay = ({ machine: { actions } }: Failing): Promise<unknown> =>
  until('an evacuation', patienceMs, () => actions.some((action) => action.startsWith('evacuate')) || actions.join());

/** One recording for each way out of the run. */
export const failures: readonly FailureRecording[] = [
  {
    name: 'node-failure-fenced',
    machine: {},
    async goesOn(failing) {
      await untilEvacuated(failing);
      await untilObserved(failing.machine, 3);
      comeBack(failing.machine, 'boot-2');
      await failing.handle.result();
    },
  },
  {
    name: 'node-failure-partition',
    machine: { power: 'On' },
    async goesOn({ machine, handle, progress }) {
      await until('a suspect', patienceMs, async () => (await progress()).verdict?.reason === 'NoWitness' || 'not yet');
      await untilObserved(machine, 5);
      comeBack(machine, 'boot-1');
      await handle.result();
    },
  },
  {
    name: 'node-failure-confirmed',
    machine: { power: null, mode: 'recommend' },
    async goesOn(failing) {
      await until('a suspect', patienceMs, async () => (await failing.progress()).confirm !== null || 'not yet');
      await failing.confirm();
      await untilEvacuated(failing);
      comeBack(failing.machine, 'boot-2');
      await failing.handle.result();
    },
  },
  {
    name: 'node-failure-hung',
    machine: { power: 'On', libvirt: 'silent', fencesSilent: true },
    async goesOn(failing) {
      await untilEvacuated(failing);
      comeBack(failing.machine, 'boot-2');
      failing.machine.libvirt = 'healthy';
      await failing.handle.result();
    },
  },
  {
    name: 'node-failure-left',
    machine: { ready: 'Gone', power: null, mode: 'recommend' },
    async goesOn(failing) {
      await until('a suspect', patienceMs, async () => (await failing.progress()).confirm !== null || 'not yet');
      await failing.confirm();
      await untilEvacuated(failing);
      failing.machine.hasLeftNova = true;
      await failing.handle.result();
    },
  },
  {
    name: 'node-failure-alive',
    machine: { ready: 'False', compute: 'up', power: 'On' },
    goesOn: ({ handle }) => handle.result(),
  },
  {
    name: 'node-failure-cancelled',
    machine: { evacuationsEnd: false },
    async goesOn(failing) {
      await untilFirstOnItsWay(failing);
      await failing.handle.cancel();
      await until(
        'the cancel to be known',
        patienceMs,
        async () => (await failing.progress()).message.includes('was cancelled') || 'not yet',
      );
      failing.machine.evacuationsEnd = true;
      await failing.handle.result().catch(() => undefined);
    },
  },
  {
    name: 'node-failure-terminated',
    machine: { evacuationsEnd: false },
    async goesOn(failing) {
      await untilFirstOnItsWay(failing);
      await failing.handle.terminate('recorded');
      failing.machine.evacuationsEnd = true;
    },
  },
];

export async function recordFailure(
  world: FailureWorld,
  { name, machine, goesOn }: FailureRecording,
): Promise<Omit<RecordedRun, 'name'>[]> {
  const failing = await world.fail(name, machine);
  await goesOn(failing);
  return [{ workflowId: failing.handle.workflowId, history: await failing.handle.fetchHistory() }];
}

/** The watch over guests, one activity of which fails, until there is nothing left to watch. */
export async function recordGuestWatch(world: FailureWorld): Promise<Omit<RecordedRun, 'name'>[]> {
  world.rounds.push(
    quietRound,
    ApplicationFailure.create({ type: 'StillBroken', message: 'it broke', nonRetryable: true }),
    quietRound,
  );
  const { handle } = await world.listen(0);
  await until(
    'it to wait',
    patienceMs,
    async () => (await handle.query(progressQuery<GuestWatchProgress>())).waitingFor.includes('it broke') || 'not yet',
  );
  await handle.executeUpdate(messages.retryNow, { args: [{}] });
  await handle.result();
  return [{ workflowId: handle.workflowId, history: await handle.fetchHistory() }];
}
