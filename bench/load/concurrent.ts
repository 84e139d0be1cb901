import { kindTable } from '../../contracts/kinds/table.ts';
import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../../runtime/clock.ts';
import { signalWithStart } from '../../runtime/temporal/signal-runs.ts';
import { readSignals } from '../../test/flows/read-signals.ts';
import type { Benchmark, Samples } from '../harness/benchmark.ts';
import { runPairs } from '../harness/pairs.ts';
import { percentile } from '../statistics.ts';
import { mapConcurrently } from './concurrency.ts';
import type { LoadRun } from './load-run.ts';
import type { LoadWorld } from './load-world.ts';
import { isIdle, withLoadWorld } from './load-world.ts';
import type { WatchLog } from './watch-log.ts';

const hosts = Array.from({ length: 50 }, (_, index) => `node-${index + 1}`);
/** So that a change meets no run that was signalled less than the queue's distance ago. */
const restMs = 500;

interface Change {
  host: string;
  resourceVersion: string;
  sentMs: number;
  answeredMs: number;
}

type Side = 'bridge' | 'script';

/**
 * Fifty objects change at once, again and again; beside a script that signals by itself as soon as it has the answer:
 * what Temporal and the machine alone take.
 */
export const concurrent: Benchmark<LoadRun> = {
  name: 'concurrent-50',
  title: '50 Evictions change at once',
  minutes: 2,
  figures: [
    {
      id: 'concurrent-50.p50',
      title: '50 changes at once: event → signal, p50',
      unit: 'ms',
      better: 'lower',
      goal: null,
    },
    {
      id: 'concurrent-50.p99',
      title: '50 changes at once: event → signal, p99',
      unit: 'ms',
      better: 'lower',
      goal: 100,
    },
    {
      id: 'concurrent-50.script-p99',
      title: '50 changes at once: the same by a script that signals when it has the answer, p99',
      unit: 'ms',
      better: 'lower',
      goal: null,
    },
    {
      id: 'concurrent-50.ratio',
      title: '50 changes at once: bridge’s p99 ÷ the script’s',
      unit: '',
      better: 'lower',
      goal: null,
    },
    {
      id: 'concurrent-50.request-p99',
      title: '50 changes at once: request → signal, p99',
      unit: 'ms',
      better: 'lower',
      goal: null,
    },
  ],
  measure: (run) =>
    withLoadWorld(run, async (world): Promise<Samples> => {
      await mapConcurrently(hosts, 10, (host) => world.create(host));
      await world.bridge.start();
      await world.untilHealth(
        'all runs to be there',
        60_000,
        (health) => health.deliveries.signalWithStart >= hosts.length && isIdle(health),
      );
      await world.bridge.stop();
      const log = await world.watch();
      const pairs = await runPairs(run.repetitions, ['bridge', 'script'], async (side, pair) => {
        if (side === 'bridge') await startBridge(world);
        const changes: Change[] = [];
        // The first round opens connections and warms what is compiled.
        for (let round = 0; round <= (run.quick ? 1 : 10); round += 1) {
          const changed = await changeAll(world, side, `${side} ${pair} ${round}`);
          if (round > 0) changes.push(...changed);
        }
        if (side === 'bridge') await world.bridge.stop();
        return latenciesOf(changes, await readSignalTimes(world), log);
      });
      const share = (side: Side, of: keyof Latency, percent: number): number[] =>
        pairs.map(({ sides }) =>
          percentile(
            sides[side].map((one) => one[of]),
            percent,
          ),
        );
      const [ours, theirs] = [share('bridge', 'eventMs', 0.99), share('script', 'eventMs', 0.99)];
      return {
        'concurrent-50.p50': share('bridge', 'eventMs', 0.5),
        'concurrent-50.p99': ours,
        'concurrent-50.script-p99': theirs,
        'concurrent-50.ratio': ours.map((ms, index) => ms / (theirs[index] ?? Number.NaN)),
        'concurrent-50.request-p99': share('bridge', 'requestMs', 0.99),
      };
    }),
};

interface Latency {
  eventMs: number;
  requestMs: number;
}

/** Starts it and lets it signal what it finds. */
async function startBridge({ bridge, untilHealth }: LoadWorld): Promise<void> {
  await bridge.start();
  await untilHealth(
    'the bridge to lead, and to be idle',
    60_000,
    (health) => health.lease.held && health.deliveries.signalWithStart >= hosts.length && isIdle(health),
  );
}

async function changeAll(
  { changeSpec, bridge, client, untilHealth }: LoadWorld,
  side: Side,
  reason: string,
): Promise<Change[]> {
  await delay(restMs);
  const delivered = side === 'bridge' ? (await bridge.health()).queue.delivered : 0;
  const changes = await Promise.all(
    hosts.map(async (host) => {
      const sentMs = Date.now();
      const { metadata } = await changeSpec(host, reason);
      const { uid, generation, resourceVersion } = metadata;
      const answeredMs = Date.now();
      if (side === 'script')
        await signalWithStart(
          client,
          kindTable.Eviction,
          { subject: host, cluster: '', signal: { uid, generation, resourceVersion, cause: 'spec' } },
          { clock: systemClock },
        );
      return { host, resourceVersion, sentMs, answeredMs };
    }),
  );
  if (side === 'bridge')
    await untilHealth(
      'all to be signalled',
      30_000,
      (health) => health.queue.delivered >= delivered + hosts.length && isIdle(health),
    );
  return changes;
}

/** By resourceVersion, unix ms by Temporal's clock. */
async function readSignalTimes({ client }: LoadWorld): Promise<Map<string, number>> {
  const signals = await mapConcurrently(hosts, 8, (host) => readSignals(client, host));
  // The first signal: a bridge that starts later signals it again.
  return new Map(
    signals
      .flat()
      .toReversed()
      .map(({ resourceVersion, atMs }) => [resourceVersion, atMs]),
  );
}

const latenciesOf = (
  changes: readonly Change[],
  signalledMs: ReadonlyMap<string, number>,
  { observedMs }: WatchLog,
): Latency[] =>
  changes.map(({ host, resourceVersion, sentMs, answeredMs }) => {
    const atMs = signalledMs.get(resourceVersion);
    if (atMs === undefined) throw new Error(`the run of ${host} was not signalled for ${resourceVersion}`);
    // It was in etcd before any watch had it: the first watch to receive it is nearest.
    const eventMs = Math.min(answeredMs, observedMs.get(resourceVersion) ?? answeredMs);
    return { eventMs: atMs - eventMs, requestMs: atMs - sentMs };
  });
