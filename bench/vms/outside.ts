import { govc } from '../../lab/vsphere/govc.ts';
import { inventory } from '../../lab/vsphere/handle.ts';
import { until } from '../../test/flows/until.ts';
import type { Benchmark, Samples } from '../harness/benchmark.ts';
import type { LoadRun } from '../load/load-run.ts';
import { outsideFigures } from './figures.ts';
import type { VmsWorld } from './vms-world.ts';
import { namespace, withVmsWorld } from './vms-world.ts';

const name = 'outside';
const patienceMs = 10_000;
const timesEach = 5;

/** Another client switches a VM off; drover reports it, and switches it on again, as its spec wants it. */
export const outsidePowerOff: Benchmark<LoadRun> = {
  name: 'outside',
  title: 'another client switches a VM off in vCenter',
  minutes: 2,
  figures: outsideFigures,
  measure: (run) =>
    withVmsWorld(run, {}, async (world): Promise<Samples> => {
      await world.make([name]);
      const times: { off: number; govc: number }[] = [];
      for (let time = 1; time <= (run.quick ? 1 : run.repetitions * timesEach); time += 1) {
        await world.untilQuiet();
        times.push(await measurePowerOff(world, run.signal));
        await untilOnAgain(world, run.signal);
      }
      return { 'vms-outside.off': times.map(({ off }) => off), 'vms-outside.govc': times.map(({ govc: own }) => own) };
    }),
};

/** Seconds since govc was started: what it takes itself, until vCenter has done it, is in it. */
async function measurePowerOff({ lab, watch }: VmsWorld, signal: AbortSignal): Promise<{ off: number; govc: number }> {
  const startedMs = Date.now();
  await govc(lab.handles.vsphere, 'vm.power', '-off', `${inventory.vmFolder}/${namespace}/${name}`);
  const offMs = Date.now();
  for (;;) {
    signal.throwIfAborted();
    const reported = watch.powerStates
      .get(name)
      ?.find(({ powerState, atMs }) => powerState === 'PoweredOff' && atMs >= startedMs);
    if (reported !== undefined) return { off: (reported.atMs - startedMs) / 1_000, govc: (offMs - startedMs) / 1_000 };
    if (Date.now() > offMs + patienceMs)
      throw new Error(
        `status.powerState of ${namespace}/${name} was not PoweredOff within ${patienceMs / 1_000} s after govc had switched it off: drover receives no changes of vCenter`,
      );
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function untilOnAgain({ watch }: VmsWorld, signal: AbortSignal): Promise<void> {
  const observe = (): true | string =>
    watch.powerStates.get(name)?.at(-1)?.powerState === 'PoweredOn' ||
    `it is ${watch.powerStates.get(name)?.at(-1)?.powerState}`;
  await until('it to be on again', 60_000, observe, signal);
}
