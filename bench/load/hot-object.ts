import { mostSignalsWithin, readSignals } from '../../test/flows/read-signals.ts';
import { until } from '../../test/flows/until.ts';
import type { Benchmark, Samples } from '../harness/benchmark.ts';
import { editSteadily } from './concurrency.ts';
import type { LoadRun } from './load-run.ts';
import { withLoadWorld } from './load-world.ts';

const editEveryMs = 10;

/** One object is edited a hundred times a second. */
export const hotObject: Benchmark<LoadRun> = {
  name: 'hot-object',
  title: 'one Eviction is edited 100 times a second',
  minutes: 1,
  figures: [
    {
      id: 'hot-object.signals',
      title: '100 edits/s: signals to the run, the most in any second',
      unit: 'signals/s',
      better: 'lower',
      goal: 5,
    },
    {
      id: 'hot-object.edits',
      title: '100 edits/s: what kube-apiserver took',
      unit: 'edits/s',
      better: 'higher',
      goal: null,
    },
    {
      id: 'hot-object.last',
      title: '100 edits/s: last edit → signal that carries it',
      unit: 'ms',
      better: 'lower',
      goal: null,
    },
  ],
  measure: (run) =>
    withLoadWorld(run, async ({ bridge, client, create, changeSpec, untilHealth }): Promise<Samples> => {
      await bridge.start();
      await untilHealth('the bridge to lead', 60_000, ({ lease }) => lease.held);
      const samples = { signals: [] as number[], edits: [] as number[], last: [] as number[] };
      for (let repetition = 1; repetition <= run.repetitions; repetition += 1) {
        const host = `hot-${repetition}`;
        await create(host);
        const perSecond = await editSteadily(run.quick ? 200 : 1_000, editEveryMs, (count) =>
          changeSpec(host, `edit ${count}`),
        );
        const lastMs = Date.now();
        const { resourceVersion } = (await changeSpec(host, 'the last edit')).metadata;
        const signals = await until('the last edit to be signalled', 30_000, async () => {
          const signals = await readSignals(client, host);
          return signals.at(-1)?.resourceVersion === resourceVersion
            ? signals
            : `${signals.length} signals, the last of ${signals.at(-1)?.resourceVersion}`;
        });
        samples.signals.push(mostSignalsWithin(signals, 1_000));
        samples.edits.push(perSecond);
        samples.last.push((signals.at(-1)?.atMs ?? Number.NaN) - lastMs);
      }
      return {
        'hot-object.signals': samples.signals,
        'hot-object.edits': samples.edits,
        'hot-object.last': samples.last,
      };
    }),
};
