import { latencySettings, measureBridgeLatency } from '../bridge-latency.ts';
import { orderOf } from '../harness/pairs.ts';
import { describeMachine } from '../machine.ts';
import type { BenchLab, BenchWorld } from './bench-world.ts';
import { openBenchWorld, withBenchLab } from './bench-world.ts';
import type { Load, Pair } from './overhead.ts';
import { evict, loads, measurePair, middlePair, overheadSettings, warmUp } from './overhead.ts';
import type { EvictionResults } from './results.ts';
import { measureWarmStart } from './warm-start.ts';

export const figures = ['overhead', 'history', 'latency', 'start'] as const;
export type Figure = (typeof figures)[number];

export interface EvictionBench {
  /** What to measure; `start` comes last, as it has a lab of its own. */
  only: readonly Figure[];
  windows: readonly number[];
  /** Of each load of the overhead; the recorded one is the median. */
  pairs: number;
  /** Seconds and a few servers instead of minutes: to see that it works. */
  quick: boolean;
  report: (line: string) => void;
  /** Takes each figure as soon as it is known. */
  take: (measured: EvictionResults) => void;
  signal: AbortSignal;
}

/** A history grows with the number of servers, and with the time that they take. */
const historyLoad: Load = { window: 1, servers: 24, seconds: 1 };
const enoughServers = 24;
const changes = 30;

/** Measures what was asked for. A figure that fails is reported, and the others go on. @returns the failures */
export async function benchEviction(bench: EvictionBench): Promise<string[]> {
  const failures: string[] = [];
  const guarded = async (what: string, measure: () => Promise<void>): Promise<void> => {
    bench.signal.throwIfAborted();
    try {
      await measure();
    } catch (error) {
      bench.signal.throwIfAborted();
      const failure = `${what}: ${(error as Error).message}`;
      failures.push(failure);
      bench.report(`FAILED ${failure}`);
    }
  };
  const inLab: Record<Exclude<Figure, 'start'>, (lab: BenchLab) => Promise<void>> = {
    overhead: (lab) =>
      withWorld(bench, lab, overheadSettings(Math.max(...bench.windows)), (world) =>
        measureOverhead(bench, world, guarded),
      ),
    history: (lab) => withWorld(bench, lab, {}, (world) => measureHistory(bench, world)),
    latency: (lab) =>
      withWorld(bench, lab, latencySettings, async (world) =>
        bench.take({ latency: await measureBridgeLatency(world, bench.quick ? 3 : changes) }),
      ),
  };
  const chosen = bench.only.filter((figure) => figure !== 'start');
  if (chosen.length > 0) {
    await withBenchLab(bench.report, bench.signal, async (lab) => {
      for (const figure of chosen) await guarded(figure, () => inLab[figure](lab));
    });
  }
  if (bench.only.includes('start'))
    await guarded('start', async () => bench.take({ start: await measureWarmStart(bench.report, bench.signal) }));
  return failures;
}

async function withWorld(
  { signal }: EvictionBench,
  lab: BenchLab,
  settings: object,
  measure: (world: BenchWorld) => Promise<void>,
): Promise<void> {
  const world = await openBenchWorld(lab, settings, signal);
  try {
    await orInterrupted(measure(world), signal);
  } finally {
    await world.close();
  }
}

/** A measurement is a row of long waits; an interruption waits for none of them. */
async function orInterrupted(measuring: Promise<void>, signal: AbortSignal): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>();
  const interrupt = (): void => reject(signal.reason);
  signal.addEventListener('abort', interrupt, { once: true });
  try {
    await Promise.race([measuring, promise]);
  } finally {
    signal.removeEventListener('abort', interrupt);
    // What is left of it fails as its lab goes away; its result is not needed.
    measuring.catch(() => undefined);
  }
}

async function measureOverhead(
  { windows, pairs, quick, report, take }: EvictionBench,
  world: BenchWorld,
  guarded: (what: string, measure: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const chosen = loads
    .filter(({ window }) => windows.includes(window))
    .map((load) => (quick ? { ...load, servers: load.window * 2 + 1, seconds: 2 } : load));
  await warmUp(world);
  let measured = 0;
  for (const load of chosen) {
    await guarded(`window ${load.window}`, async () => {
      const all: Pair[] = [];
      for (; all.length < pairs; measured += 1)
        all.push(await measurePair(world, load, orderOf(['drover', 'script'], measured)[0], report));
      const pair = middlePair(all);
      const { servers, drover, machine } = pair;
      take({ overhead: [pair], ...(servers >= enoughServers && { history: [{ ...drover.events, machine }] }) });
    });
  }
}

/** Events alone, without the script and in less time. */
async function measureHistory({ quick, take }: EvictionBench, world: BenchWorld): Promise<void> {
  const load = quick ? { ...historyLoad, servers: 3 } : historyLoad;
  const machine = describeMachine(world.versions);
  await world.seed(load.servers, load.seconds, load.window);
  take({ history: [{ ...(await evict(world, load)).events, machine }] });
}
