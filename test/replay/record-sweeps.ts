import { orphanSweepId } from '../../contracts/ids.ts';
import { messages } from '../../contracts/messages.ts';
import { machineFixture, putMachine, removeMachine } from '../../lab/machines.ts';
import { inSweepWorld, periodMs, type SweepWorld, type SweepWorldOptions } from '../simulator/sweeps/sweep-world.ts';
import type { RecordedRun } from './corpus.ts';
import { takeRuns } from './take-runs.ts';

/** Machines, their orphans and their API servers, in a simulation. */
export interface SweepRecording {
  name: string;
  options?: SweepWorldOptions;
  readonly happen: (world: SweepWorld) => Promise<void>;
}

const workers = Array.from({ length: 5 }, (_, index) => `worker-${index + 1}`);
const makeWorkers = async (world: SweepWorld): Promise<void> => {
  for (const name of workers) await world.makeVm(name);
};

export const sweeps: readonly SweepRecording[] = [
  {
    name: 'sweep-deleted',
    async happen(world) {
      await makeWorkers(world);
      await world.makeVm('orphan', { machine: null });
      await world.makeServer('orphan-server', { machine: null });
      await world.pass(8 * periodMs);
    },
  },
  {
    name: 'sweep-approved',
    async happen(world) {
      await makeWorkers(world);
      await world.pass(3 * periodMs);
      for (const name of workers) await removeMachine(world.api, name);
      await world.pass(4 * periodMs);
      const sweep = world.deployment.simulation.client.workflow.getHandle(orphanSweepId(machineFixture.namespace));
      const approval = { by: 'jane', reason: 'the cluster is given up' };
      // The same id each time, as the same code writes the same bytes.
      await sweep.executeUpdate(messages.approve, { args: [approval], updateId: 'approve' });
      await world.pass(3 * periodMs);
    },
  },
  {
    name: 'sweep-frozen',
    options: { hasTarget: true },
    async happen(world) {
      await makeWorkers(world);
      await putMachine(world.api, { name: 'unknown', phase: 'Unknown' });
      await world.pass(2 * periodMs);
      world.deployment.target.service.kill();
      await world.makeVm('orphan', { machine: null });
      await world.pass(6 * periodMs);
      world.deployment.target.service.start();
      await world.pass(5 * periodMs);
    },
  },
  {
    name: 'safety-switched-off',
    options: { sweep: { periodMs: 40 * periodMs }, hasTarget: true },
    async happen(world) {
      await world.pass(130 * periodMs);
      world.deployment.configure({ modes: { Eviction: 'off' } });
      world.deployment.simulation.killWorker();
      await world.pass(3 * periodMs);
    },
  },
];

export const recordSweep = ({ options = {}, happen }: SweepRecording): Promise<Omit<RecordedRun, 'name'>[]> =>
  inSweepWorld(options, async (world) => {
    await happen(world);
    return takeRuns(world.deployment);
  });
