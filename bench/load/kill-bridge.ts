import { readSignals } from '../../test/flows/read-signals.ts';
import { until } from '../../test/flows/until.ts';
import type { Benchmark, Samples } from '../harness/benchmark.ts';
import type { LoadRun } from './load-run.ts';
import { withLoadWorld } from './load-world.ts';

/** Its Lease must run out before another bridge, or itself, delivers again. */
export const killBridge: Benchmark<LoadRun> = {
  name: 'kill-bridge',
  title: 'kill -9 of the bridge, started again at once',
  minutes: 1,
  figures: [
    {
      id: 'kill-bridge.progress',
      title: 'kill -9 of the bridge → the next signal',
      unit: 's',
      better: 'lower',
      goal: 15,
    },
  ],
  measure: (run) =>
    withLoadWorld(run, async ({ bridge, client, create, untilHealth }): Promise<Samples> => {
      await bridge.start();
      const seconds: number[] = [];
      for (let repetition = 1; repetition <= run.repetitions; repetition += 1) {
        await untilHealth('the bridge to lead', 60_000, ({ lease }) => lease.held);
        const host = `killed-${repetition}`;
        const killedMs = Date.now();
        await bridge.kill();
        await Promise.all([create(host), bridge.restart()]);
        const [signal] = await until('the change to be signalled', 120_000, async () => {
          const signals = await readSignals(client, host);
          return signals.length > 0 ? signals : 'not yet';
        });
        seconds.push(((signal?.atMs ?? Number.NaN) - killedMs) / 1_000);
      }
      return { 'kill-bridge.progress': seconds };
    }),
};
