import { setTimeout as delay } from 'node:timers/promises';
import { readSignals } from '../../test/flows/read-signals.ts';
import type { Benchmark, Samples } from '../harness/benchmark.ts';
import { percentile } from '../statistics.ts';
import { inLanes } from './lanes.ts';
import type { LoadRun } from './load-run.ts';
import { isIdle, withLoadWorld } from './load-world.ts';

const hosts = Array.from({ length: 50 }, (_, index) => `node-${index + 1}`);
/** So that a change meets no run that was told less than the queue's distance ago. */
const restMs = 500;

interface Change {
  host: string;
  resourceVersion: string;
  sentMs: number;
  answeredMs: number;
}

/** Fifty objects change at once, again and again. */
export const concurrent: Benchmark<LoadRun> = {
  name: 'concurrent-50',
  title: '50 Evictions change at once',
  minutes: 1,
  figures: [
    { id: 'concurrent-50.p50', title: '50 changes at once: event → signal, p50', unit: 'ms', better: 'lower', goal: null },
    { id: 'concurrent-50.p99', title: '50 changes at once: event → signal, p99', unit: 'ms', better: 'lower', goal: 100 },
    { id: 'concurrent-50.request-p50', title: '50 changes at once: request → signal, p50', unit: 'ms', better: 'lower', goal: null },
    { id: 'concurrent-50.request-p99', title: '50 changes at once: request → signal, p99', unit: 'ms', better: 'lower', goal: null },
  ],
  measure: (run) =>
    withLoadWorld(run, async (world): Promise<Samples> => {
      const rounds = run.quick ? 2 : 10;
      await world.bridge.start();
      await world.untilHealth('the bridge to lead', 60_000, ({ lease }) => lease.held);
      await inLanes(hosts, 10, (host) => world.create(host));
      await world.untilHealth('all runs to be there', 60_000, (health) => health.deliveries.signalWithStart >= hosts.length && isIdle(health));
      const log = await world.watch();
      const repetitions: Change[][] = [];
      // The first repetition opens connections and warms what is compiled.
      for (let repetition = 0; repetition <= run.repetitions; repetition += 1) {
        const changes: Change[] = [];
        for (let round = 0; round < rounds; round += 1) changes.push(...(await changeAll(world, `${repetition}-${round}`)));
        if (repetition > 0) repetitions.push(changes);
        run.report(`repetition ${repetition} of ${run.repetitions}: ${changes.length} changes`);
      }
      const signals = await inLanes(hosts, 8, (host) => readSignals(world.client, host));
      const signalledMs = new Map(signals.flat().map(({ resourceVersion, atMs }) => [resourceVersion, atMs]));
      const latencies = repetitions.map((changes) =>
        changes.map(({ host, resourceVersion, sentMs, answeredMs }) => {
          const atMs = signalledMs.get(resourceVersion);
          if (atMs === undefined) throw new Error(`the run of ${host} was not told of ${resourceVersion}`);
          // It was in etcd before anybody was told of it: whoever heard first is nearest.
          const eventMs = Math.min(answeredMs, log.seenMs.get(resourceVersion) ?? answeredMs);
          return { eventMs: atMs - eventMs, requestMs: atMs - sentMs };
        }),
      );
      const share = (of: 'eventMs' | 'requestMs', percent: number): number[] => latencies.map((all) => percentile(all.map((one) => one[of]), percent));
      return {
        'concurrent-50.p50': share('eventMs', 0.5),
        'concurrent-50.p99': share('eventMs', 0.99),
        'concurrent-50.request-p50': share('requestMs', 0.5),
        'concurrent-50.request-p99': share('requestMs', 0.99),
      };
    }),
};

async function changeAll({ changeSpec, bridge, untilHealth }: Parameters<Parameters<typeof withLoadWorld>[1]>[0], reason: string): Promise<Change[]> {
  await delay(restMs);
  const { queue } = await bridge.health();
  const changes = await Promise.all(
    hosts.map(async (host) => {
      const sentMs = Date.now();
      const { metadata } = await changeSpec(host, reason);
      return { host, resourceVersion: metadata.resourceVersion, sentMs, answeredMs: Date.now() };
    }),
  );
  await untilHealth('all to be told', 30_000, (health) => health.queue.delivered >= queue.delivered + hosts.length && isIdle(health));
  return changes;
}
