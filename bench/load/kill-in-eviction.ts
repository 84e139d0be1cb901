import { killTemporal, restartTemporal } from '../../lab/parts/temporal-faults.ts';
import type { BenchWorld } from '../eviction/bench-world.ts';
import type { Benchmark, Samples } from '../harness/benchmark.ts';
import type { LoadRun } from './load-run.ts';
import { measureUnderWay } from './under-way.ts';

interface Victim {
  kill: (world: BenchWorld) => Promise<unknown>;
  restart: (world: BenchWorld) => Promise<unknown>;
}

/**
 * Kills it with four servers on their way, starts it again at once, and waits until drover asks Nova for the next one.
 */
const killInEviction = (name: string, what: string, { kill, restart }: Victim): Benchmark<LoadRun> => ({
  name,
  title: `kill -9 of ${what} in mid-eviction, started again at once`,
  minutes: 4,
  figures: [
    {
      id: `${name}.progress`,
      title: `kill -9 of ${what} → the next migration asked for`,
      unit: 's',
      better: 'lower',
      goal: 15,
    },
  ],
  measure: async (run): Promise<Samples> => {
    const { measured } = await measureUnderWay(run, async ({ world, nextMoveMs }) => {
      const killedMs = Date.now();
      await kill(world);
      const goneMs = Date.now();
      await restart(world);
      return (await nextMoveMs(goneMs)) - killedMs;
    });
    return { [`${name}.progress`]: measured.map((ms) => ms / 1_000) };
  },
});

export const killWorker = killInEviction('kill-worker', 'the worker', {
  kill: ({ drover }) => drover.kill('worker'),
  restart: ({ drover }) => drover.restart('worker'),
});

export const killTemporalServer = killInEviction('kill-temporal', 'Temporal', {
  kill: ({ lab }) => killTemporal(lab.handles.temporal),
  restart: ({ lab }) => restartTemporal(lab.handles.temporal),
});
