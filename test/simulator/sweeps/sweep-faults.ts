import { apiServerSafetyId, orphanSweepId, overshootSafetyId } from '../../../contracts/ids.ts';
import { machineFixture } from '../../../lab/machines.ts';
import { startRecording } from '../../faults/fault-control.ts';
import { type FaultName, faults } from '../../faults/faults.ts';
import type { CallFault, CleanRun, Target } from '../cell.ts';
import { fates, Recorder } from '../fixture.ts';
import { inSweepWorld, periodMs, type SweepWorld, type SweepWorldOptions } from './sweep-world.ts';

/**
 * One sweep with a fault in it: two orphans, of which vSphere has one and Nova the other, beside five that Machines have. The cells are those of the
 * matrix (cell.ts), but for its scenarios, which are about objects of a kind: a sweep has none.
 */

const { namespace } = machineFixture;
const roles = new Map([
  [orphanSweepId(namespace), 'sweep'],
  [apiServerSafetyId(namespace), 'safety'],
  [overshootSafetyId(namespace), 'overshoot'],
]);

const needed = ['needed-1', 'needed-2', 'needed-3', 'needed-4', 'needed-5'];

/** Those of users make no difference to a sweep: a run of it that was ended is requested again. */
const activityFaults: readonly FaultName[] = ['failBefore', 'failAfter', 'timeOut', 'killWorker'];
const callFaults: readonly CallFault[] = ['failBefore', 'failAfter'];

/** More than any fault holds the orphans up. */
const mostPeriods = 20;

export interface SweepCellResult {
  /** What went wrong, a sentence each. */
  complaints: string[];
  run: CleanRun;
}

/** Runs the sweep with these faults; without one it says where there can be any. */
export async function runSweepCell(
  targets: readonly Target[],
  { sweep, ...options }: SweepWorldOptions = {},
): Promise<SweepCellResult> {
  const injections = targets
    .filter((target) => target.at === 'activity')
    .map(({ step, fault }) => ({ step, order: faults[fault].order, action: async () => undefined }));
  const { recording, decide } = startRecording(roles, injections);
  const recorder = new Recorder(targets, recording);
  const complaints = await inSweepWorld(
    {
      sweep: { ageMs: 0, ...sweep },
      onActivity: async (call) => fates[await decide({ moment: 'before', call })],
      // Of people and of the test itself nothing is lost.
      onCall: (call) => (call.process === 'test' ? 'works' : recorder.call(call)),
      onWorkflowTask: () => (recorder.isKilledNow() ? 'kill' : 'keep'),
      ...options,
    },
    async (world) => {
      await happen(world, () => void recorder.end());
      return await complain(world);
    },
  );
  const missed = targets.length - recorder.injected.length - recording.injected.size;
  return {
    complaints: missed === 0 ? complaints : [...complaints, `${missed} of the faults never came`],
    run: recorder.recorded,
  };
}

async function happen(world: SweepWorld, end: () => void): Promise<void> {
  for (const name of needed.slice(0, 3)) await world.makeVm(name);
  for (const name of needed.slice(3)) await world.makeServer(name);
  await world.makeVm('lost-1', { machine: null });
  await world.makeServer('lost-2', { machine: null });
  for (let periods = 0; periods < mostPeriods && (await left(world)).length > needed.length; periods += 1)
    await world.pass(periodMs);
  end();
  // What is done twice is done then.
  await world.pass(2 * periodMs);
}

const left = async (world: SweepWorld): Promise<string[]> =>
  [...(await world.vms()), ...(await world.servers())].toSorted();

async function complain(world: SweepWorld): Promise<string[]> {
  const { simulation } = world.deployment;
  const there = await left(world);
  const stuck = simulation
    .runs()
    .flatMap(({ workflowId, taskFailures }) =>
      taskFailures.map(({ message }) => `a task of ${workflowId} failed: ${message ?? ''}`),
    );
  return [
    ...(there.join() === needed.join() ? [] : [`there are ${there.join(', ')} in the end`]),
    ...stuck,
    ...(await world.violations()),
  ];
}

/** The bridge's Lease has nothing to do with a sweep. */
const isOfTheBridge = (call: string): boolean => / leases\.\d+$/u.test(call);

/** Each fault at each activity call and at each call of an outside system, and a kill with each workflow task. */
export const sweepCells = ({ steps, calls, tasks }: CleanRun): Record<Target['at'], Target[]> => ({
  activity: steps.flatMap((step) => activityFaults.map((fault): Target => ({ at: 'activity', step, fault }))),
  task: Array.from({ length: tasks }, (_, index) => ({ at: 'task', number: index + 1 })),
  call: calls
    .filter((call) => !isOfTheBridge(call))
    .flatMap((call) => callFaults.map((fault): Target => ({ at: 'call', call, fault }))),
});
