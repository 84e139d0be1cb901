import { setTimeout as delay } from 'node:timers/promises';
import { annotations } from '../../contracts/ids.ts';
import type { Benchmark, Samples } from '../harness/benchmark.ts';
import type { LoadRun } from './load-run.ts';
import { measureUnderWay } from './under-way.ts';

/** An empty host whose Eviction comes while no worker runs; drover only observes it. */
const other = 'node-2';
const goneMs = 600_000;

/** Every worker is away, in the middle of an eviction, for longer than every time-out of an activity. */
export const workersGone: Benchmark<LoadRun> = {
  name: 'workers-gone',
  title: 'no worker for ten minutes in mid-eviction',
  minutes: 12,
  figures: [
    {
      id: 'workers-gone.progress',
      title: 'workers back after 10 minutes → the next migration asked for',
      unit: 's',
      better: 'lower',
      goal: 15,
    },
    {
      id: 'workers-gone.converged',
      title: 'workers back after 10 minutes → 8 servers later, the eviction has ended',
      unit: 's',
      better: 'lower',
      goal: null,
    },
  ],
  measure: async (run): Promise<Samples> => {
    let backMs = Number.NaN;
    const { measured, endedMs } = await measureUnderWay(
      run,
      async ({ world, nextMoveMs }) => {
        await world.drover.kill('worker');
        const createdMs = await world.createEviction(other, { [annotations.mode]: 'observe' });
        await delay(run.quick ? 15_000 : goneMs, undefined, { signal: run.signal });
        backMs = Date.now();
        await world.drover.restart('worker');
        const nextMs = await nextMoveMs(backMs);
        await world.untilEnded(other, createdMs, 120_000);
        return nextMs - backMs;
      },
      1,
    );
    return {
      'workers-gone.progress': measured.map((ms) => ms / 1_000),
      'workers-gone.converged': endedMs.map((ms) => (ms - backMs) / 1_000),
    };
  },
};
