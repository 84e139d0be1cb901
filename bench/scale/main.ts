import { countFirstLooks, countLooks, preflightAll } from '../../test/simulator/region-at-size.ts';
import { type EvictionLoad, timeEviction } from '../../test/simulator/eviction-at-size.ts';
import type { Benchmark, Figure, Suite } from '../harness/benchmark.ts';
import type { LoadRun } from '../load/load-run.ts';

const lower = (id: string, title: string, unit: string, goal: number | null = null): Figure => ({
  id,
  title,
  unit,
  better: 'lower',
  goal,
});
const inSeconds = (ms: number): number => ms / 1_000;

const evictions = 200;

/** Preflights that are all asked for at once. */
function preflights(hosts: number): Benchmark<LoadRun> {
  const name = `preflight-${hosts}`;
  const what = `${evictions} evictions at once, of ${hosts.toLocaleString('en-US')} hosts`;
  return {
    name,
    title: what,
    minutes: 2,
    figures: [
      lower(`${name}.requests`, `${what}: requests of Nova and Placement for each preflight`, 'requests', 30),
      lower(`${name}.all`, `${what}: all preflights, with 0.2 s for an answer`, 's', 120),
    ],
    async measure({ quick }) {
      const { requests, tookMs } = await (quick
        ? preflightAll(hosts / 10, evictions / 10)
        : preflightAll(hosts, evictions));
      return { [`${name}.requests`]: [requests], [`${name}.all`]: [inSeconds(tookMs)] };
    },
  };
}

const disabled = 200;
const restarted = 500;

const looks: Benchmark<LoadRun> = {
  name: 'looks',
  title: 'looks at hosts of a region',
  minutes: 2,
  figures: [
    lower(
      'looks.disabled',
      `a look each minute at each of ${disabled} disabled hosts: requests for each`,
      'requests',
      3,
    ),
    lower('looks.first', `the first look at each of ${restarted} hosts at once: requests for each`, 'requests', 3.5),
  ],
  async measure({ quick }) {
    const part = quick ? 10 : 1;
    return {
      'looks.disabled': [await countLooks(disabled / part)],
      'looks.first': [await countFirstLooks(restarted / part)],
    };
  },
};

/** @param name of the figures */
function evicts(name: string, load: EvictionLoad): Benchmark<LoadRun> {
  const { servers, seconds, parallelism, novaRuns } = load;
  const isQueued = parallelism > novaRuns;
  const what = `an eviction of ${servers} servers of ${seconds} s, ${parallelism} at once where Nova runs ${novaRuns}`;
  return {
    name,
    title: what,
    minutes: 1,
    figures: [
      lower(`${name}.all`, `${what}: Eviction created → Succeeded`, 's'),
      lower(
        `${name}.move`,
        `${what}: one migration, from its request to its end, mean`,
        's',
        isQueued ? 2 * seconds : null,
      ),
      lower(`${name}.around`, `${what}: besides the time that Nova needs for them`, 's', isQueued ? null : 5),
    ],
    async measure({ quick }) {
      const { moves, tookMs, moveMs } = await timeEviction(quick ? { ...load, servers: 2 } : load);
      if (!quick && moves !== servers) throw new Error(`${moves} migrations of ${servers} servers`);
      // Those that wait in Nova's queue overlap with the one that runs.
      const neededMs = isQueued ? (moves * seconds * 1_000) / novaRuns : (moves * moveMs) / parallelism;
      return {
        [`${name}.all`]: [inSeconds(tookMs)],
        [`${name}.move`]: [inSeconds(moveMs)],
        [`${name}.around`]: [inSeconds(tookMs - neededMs)],
      };
    },
  };
}

/**
 * Evictions in a large region, on the simulator's model of Nova and Placement: requests are counted, and time is
 * virtual, so that the same sources give the same figures on any machine.
 */
export const scaleSuite: Suite<LoadRun> = {
  name: 'scale',
  title: 'Evictions of a large region',
  benchmarks: [
    preflights(250),
    preflights(1_000),
    looks,
    evicts('one-by-one', { servers: 6, seconds: 10, parallelism: 1, novaRuns: 1 }),
    evicts('nova-queue', { servers: 12, seconds: 10, parallelism: 4, novaRuns: 1 }),
  ],
};
