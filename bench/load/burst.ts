import { kindTable } from '../../contracts/kinds/table.ts';
import { evictionId } from '../../contracts/ids.ts';
import { systemClock } from '../../runtime/clock.ts';
import { signalWithStart } from '../../runtime/temporal/signal-runs.ts';
import type { Benchmark, Samples } from '../harness/benchmark.ts';
import { ratiosOf, runPairs } from '../harness/pairs.ts';
import { mapConcurrently } from './concurrency.ts';
import type { LoadRun } from './load-run.ts';
import type { LoadWorld } from './load-world.ts';
import { isIdle, withLoadWorld } from './load-world.ts';

/** As many as the bridge's queue has workers. */
const concurrency = 8;

/** Many objects come at once; beside a script that starts the same runs itself, without a watch and a queue. */
export const burst: Benchmark<LoadRun> = {
  name: 'burst',
  title: '500 Evictions come at once',
  minutes: 2,
  figures: [
    {
      id: 'burst.signals',
      title: '500 new Evictions: signals sustained',
      unit: 'signals/s',
      better: 'higher',
      goal: null,
    },
    {
      id: 'burst.ratio',
      title: '500 new Evictions: bridge’s rate ÷ that of a script that starts the runs itself',
      unit: '',
      better: 'higher',
      goal: null,
    },
  ],
  measure: (run) =>
    withLoadWorld(run, async (world): Promise<Samples> => {
      const count = run.quick ? 50 : 500;
      const pairs = await runPairs(run.repetitions, ['bridge', 'script'], async (side, pair) => {
        const hosts = Array.from({ length: count }, (_, index) => `${side}-${pair}-${index}`);
        const perSecond = side === 'bridge' ? await byBridge(world, hosts) : await byScript(world, hosts);
        run.report(`${count} by the ${side}: ${perSecond.toFixed(1)} signals/s`);
        return perSecond;
      });
      return {
        'burst.signals': pairs.map(({ sides }) => sides.bridge),
        'burst.ratio': ratiosOf(pairs, 'bridge', 'script'),
      };
    }),
};

async function byBridge(world: LoadWorld, hosts: readonly string[]): Promise<number> {
  const { bridge, create, untilHealth } = world;
  await bridge.start();
  // What was there before is signalled first.
  await untilHealth(
    'the bridge to lead, and to be idle',
    120_000,
    (health) => health.lease.held && health.kinds.Eviction?.synced === true && isIdle(health),
  );
  const { deliveries } = await bridge.health();
  await mapConcurrently(hosts, concurrency, (host) => create(host));
  await untilHealth(
    'all to be signalled',
    120_000,
    (health) => health.deliveries.signalWithStart >= deliveries.signalWithStart + hosts.length && isIdle(health),
  );
  await bridge.stop();
  return await startsPerSecond(world, hosts);
}

async function byScript(world: LoadWorld, hosts: readonly string[]): Promise<number> {
  const { client, create } = world;
  await mapConcurrently(hosts, concurrency, async (host) => {
    const { metadata } = await create(host);
    const { uid, generation, resourceVersion } = metadata;
    await signalWithStart(
      client,
      kindTable.Eviction,
      { subject: host, cluster: '', signal: { uid, generation, resourceVersion, cause: 'spec' } },
      { clock: systemClock },
    );
  });
  return await startsPerSecond(world, hosts);
}

/** By Temporal's own times of the runs' starts. */
async function startsPerSecond({ client }: LoadWorld, hosts: readonly string[]): Promise<number> {
  const described = await mapConcurrently(hosts, concurrency, (host) =>
    client.workflow.getHandle(evictionId(host)).describe(),
  );
  const startsMs = described.map(({ startTime }) => startTime.getTime());
  return ((hosts.length - 1) / (Math.max(...startsMs) - Math.min(...startsMs))) * 1_000;
}
