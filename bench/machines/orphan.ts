import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { orphanSweepId } from '../../contracts/ids.ts';
import type { SweepResult } from '../../contracts/machine-safety/sweep.ts';
import { machineFixture, makeMachineVm, putMachine, vmPath } from '../../lab/machines.ts';
import { inventory } from '../../lab/vsphere/handle.ts';
import { openGovcWitness } from '../../lab/vsphere/witness.ts';
import { until } from '../../test/flows/until.ts';
import type { Benchmark, Samples } from '../harness/benchmark.ts';
import type { LoadRun } from '../load/load-run.ts';
import { orphanFigures } from './figures.ts';
import { setUpVcenter } from './fill.ts';
import { type MachinesLab, type MachinesWorld, withMachinesWorld } from './machines-world.ts';

const { namespace, folder } = machineFixture;
const workflowId = orphanSweepId(namespace);
const timesEach = 3;
/** Its Schedule requests one every so often; nothing but two sightings holds an orphan back. */
const sweep = { periodMs: 4_000, jitterMs: 0, ageMs: 0, sightings: 2, probationMs: 0 };
const patienceMs = 60_000;

/** The second sweep that sees an orphan deletes it. */
export const orphan: Benchmark<LoadRun> = {
  name: 'orphan',
  title: 'an orphan VM that is on goes with the second sweep that sees it',
  minutes: 4,
  figures: orphanFigures,
  measure: (run) =>
    withMachinesWorld(
      run,
      { providers: ['vsphere'], machines: { sweep }, prepare: addWorker },
      async (world): Promise<Samples> => {
        const times: { gone: number; events: number }[] = [];
        for (let time = 1; time <= (run.quick ? 1 : run.repetitions * timesEach); time += 1) {
          const measured = await measureOrphan(world, `lost-${time}`, run.signal);
          run.report(`gone after ${measured.gone.toFixed(2)} s, ${measured.events} events`);
          times.push(measured);
        }
        return {
          'machines-orphan.gone': times.map(({ gone }) => gone),
          'machines-orphan.events': times.map(({ events }) => events),
        };
      },
    ),
};

/** Without any Machine a user would have to approve. */
async function addWorker(world: MachinesLab<'vsphere'>): Promise<void> {
  await setUpVcenter(world);
  const providerId = await makeMachineVm(openGovcWitness(world.lab.handles.vsphere), 'worker');
  await putMachine(world.api, { name: 'worker', providerId });
}

async function measureOrphan(
  { lab, client }: Pick<MachinesWorld<'vsphere'>, 'lab' | 'client'>,
  name: string,
  signal: AbortSignal,
): Promise<{ gone: number; events: number }> {
  const witness = openGovcWitness(lab.handles.vsphere);
  await makeMachineVm(witness, name);
  await witness.setPower(vmPath(name), 'on');
  const endMs = Date.now() + patienceMs;
  for (;;) {
    const left = await witness.find('vm', `${inventory.vmFolder}/${folder}`);
    if (!left.includes(vmPath(name))) break;
    if (Date.now() > endMs) throw new Error(`${name} was not deleted within ${patienceMs / 1_000} s`);
    await delay(50, undefined, { signal });
  }
  const goneMs = Date.now();
  const { startedMs, events } = await until('the sweep to end', 30_000, () => findDeletion(client, name), signal);
  return { gone: (goneMs - startedMs) / 1_000, events };
}

/** The run that has deleted the VM. */
async function findDeletion(client: Client, name: string): Promise<{ startedMs: number; events: number } | string> {
  const query = `WorkflowId = "${workflowId}" AND ExecutionStatus = "Completed"`;
  for await (const { runId, startTime, historyLength } of client.workflow.list({ query })) {
    const { deleted = [] } = (await client.workflow.getHandle(workflowId, runId).result()) as SweepResult;
    if (deleted.some(({ machineName }) => machineName === name))
      return { startedMs: startTime.getTime(), events: historyLength };
  }
  return `no run has deleted ${name}`;
}
