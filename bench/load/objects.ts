import { setTimeout as delay } from 'node:timers/promises';
import { annotations } from '../../contracts/ids.ts';
import type { Benchmark, Samples } from '../harness/benchmark.ts';
import { readCpuSeconds, readMemory } from '../process-usage.ts';
import { mapConcurrently } from './concurrency.ts';
import type { LoadRun } from './load-run.ts';
import { isIdle, withLoadWorld } from './load-world.ts';

/** One of so many objects is not reconciled, as in a cluster where everything restarts. */
const oneIn = 20;
/** Longer than a resync. */
const idleSeconds = 70;
const concurrency = 24;

/** The bridge starts, and there are many objects. */
export const objects: Benchmark<LoadRun> = {
  name: 'objects-5000',
  title: 'the bridge starts beside 5,000 Evictions, 250 of them not reconciled',
  minutes: 4,
  figures: [
    {
      id: 'objects-5000.ready',
      title: 'bridge, 5,000 objects: start of the process → all listed, 250 signalled',
      unit: 's',
      better: 'lower',
      goal: null,
    },
    {
      id: 'objects-5000.cpu',
      title: 'bridge, 5,000 objects: processor time until then',
      unit: 's',
      better: 'lower',
      goal: null,
    },
    {
      id: 'objects-5000.resident',
      title: 'bridge, 5,000 objects: resident set then',
      unit: 'MiB',
      better: 'lower',
      goal: null,
    },
    {
      id: 'objects-5000.peak',
      title: 'bridge, 5,000 objects: peak until then',
      unit: 'MiB',
      better: 'lower',
      goal: null,
    },
    {
      id: 'objects-5000.idle',
      title: 'bridge, 5,000 objects: share of a core with nothing to do',
      unit: '%',
      better: 'lower',
      goal: null,
    },
  ],
  measure: (run) =>
    withLoadWorld(run, async ({ bridge, create, reconcile, untilHealth }): Promise<Samples> => {
      const count = run.quick ? 200 : 5_000;
      const observed = Math.ceil(count / oneIn);
      await mapConcurrently(
        Array.from({ length: count }, (_, index) => `node-${index + 1}`),
        concurrency,
        async (host, index) => {
          const isObserved = index % oneIn === 0;
          await create(host, isObserved ? { [annotations.mode]: 'observe' } : {});
          if (!isObserved) await reconcile(host);
        },
      );
      run.report(`${count} Evictions are there`);
      const samples = {
        ready: [] as number[],
        cpu: [] as number[],
        resident: [] as number[],
        peak: [] as number[],
        idle: [] as number[],
      };
      for (let repetition = 1; repetition <= run.repetitions; repetition += 1) {
        const startedMs = await bridge.start();
        await untilHealth(
          'all to be listed and signalled',
          120_000,
          (health) =>
            health.kinds.Eviction?.objects === count && health.deliveries.signalWithStart >= observed && isIdle(health),
        );
        const [pid, readyMs] = [bridge.pid(), Date.now()];
        const cpuSeconds = readCpuSeconds(pid) ?? Number.NaN;
        const memory = readMemory(pid);
        samples.ready.push((readyMs - startedMs) / 1_000);
        samples.cpu.push(cpuSeconds);
        samples.resident.push(memory?.residentMiB ?? Number.NaN);
        samples.peak.push(memory?.peakMiB ?? Number.NaN);
        if (repetition === run.repetitions) {
          await delay(run.quick ? 2_000 : idleSeconds * 1_000, undefined, { signal: run.signal });
          samples.idle.push((((readCpuSeconds(pid) ?? Number.NaN) - cpuSeconds) / (Date.now() - readyMs)) * 100_000);
        }
        await bridge.stop();
      }
      return Object.fromEntries(Object.entries(samples).map(([name, values]) => [`objects-5000.${name}`, values]));
    }),
};
