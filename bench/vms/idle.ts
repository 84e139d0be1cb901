import { readProcess } from '../../lab/processes.ts';
import { until } from '../../test/flows/until.ts';
import type { Benchmark, Samples } from '../harness/benchmark.ts';
import type { LoadRun } from '../load/load-run.ts';
import { readCpuSeconds, readMemory } from '../process-usage.ts';
import { countRunsSince } from './count-runs.ts';
import { idleFigures } from './figures.ts';
import type { VmsWorld } from './vms-world.ts';
import { withVmsWorld } from './vms-world.ts';

/** As the bridge's health page shows it. */
interface BridgePage {
  lease: { held: boolean };
  resyncs: number;
  queue: { fresh: number; resync: number; inFlight: number; backingOff: number };
  kinds: { VirtualMachine?: { synced: boolean; objects: number } };
}

/** So many are made at once. */
const portion = 100;

/** There are many VMs that are as they should be, and nothing happens to them. */
export const idleVms = (count: number): Benchmark<LoadRun> => ({
  name: 'idle',
  title: `${count} reconciled VMs, and nothing happens to them`,
  minutes: 35,
  figures: idleFigures(count),
  measure: (run) =>
    // A round of comparisons each minute, as by default; a quick run has no time for that.
    withVmsWorld(run, run.quick ? { bridge: { resyncMs: 5_000 } } : {}, async (world): Promise<Samples> => {
      const startedMs = performance.now();
      const names = Array.from({ length: count }, (_, index) => `idle-${index + 1}`);
      // If all come at once, none is made before all have been observed.
      for (let made = 0; made < count; made += portion) {
        await world.make(names.slice(made, made + portion));
        run.report(
          `${Math.min(count, made + portion)} VMs are reconciled after ${((performance.now() - startedMs) / 1_000).toFixed(0)} s`,
        );
      }
      await world.untilQuiet();
      // Signals of the last changes come before the round that is measured.
      await untilResync(world, run.signal);
      const samples: Record<string, number[]> = {};
      for (let repetition = 1; repetition <= run.repetitions; repetition += 1) {
        const resync = await measureResync(world, run.signal);
        for (const [name, value] of Object.entries(resync)) (samples[name] ??= []).push(value);
      }
      for (let repetition = 1; repetition <= run.repetitions; repetition += 1) {
        const restart = await measureRestart(world, count, run.signal);
        for (const [name, value] of Object.entries(restart)) (samples[name] ??= []).push(value);
      }
      return Object.fromEntries(Object.entries(samples).map(([name, values]) => [`vms-idle-${count}.${name}`, values]));
    }),
});

/** It is another one after each restart. */
const bridgePid = ({ drover }: VmsWorld): number => readProcess(drover.dir, 'bridge').pid;

const readPage = async ({ drover }: VmsWorld): Promise<BridgePage> =>
  (await (
    await fetch(new URL('/readyz', drover.metricsUrls.bridge), { signal: AbortSignal.timeout(5_000) })
  ).json()) as BridgePage;

/** Waits until the bridge has compared once more, and sends no more signals. */
async function untilResync(world: VmsWorld, signal: AbortSignal): Promise<void> {
  const { resyncs } = await readPage(world);
  const observe = async (): Promise<true | string> => {
    const page = await readPage(world);
    return (page.resyncs > resyncs && isIdle(page)) || JSON.stringify(page.queue);
  };
  await until('a resync', 180_000, observe, signal);
}

/** From one comparison to the next. */
async function measureResync(world: VmsWorld, signal: AbortSignal): Promise<Record<string, number>> {
  const pids = { worker: world.drover.worker.pid, bridge: bridgePid(world) };
  const observe = async () => ({
    atMs: Date.now(),
    calls: await world.calls(),
    bridge: readCpuSeconds(pids.bridge) ?? Number.NaN,
    worker: readCpuSeconds(pids.worker) ?? Number.NaN,
  });
  const before = await observe();
  await untilResync(world, signal);
  const after = await observe();
  const calls = (system: string): number =>
    (['worker', 'bridge'] as const).reduce(
      (sum, process) => sum + (after.calls[process].get(system) ?? 0) - (before.calls[process].get(system) ?? 0),
      0,
    );
  return {
    worker: readMemory(pids.worker)?.residentMiB ?? Number.NaN,
    bridge: readMemory(pids.bridge)?.residentMiB ?? Number.NaN,
    'resync-bridge-cpu': after.bridge - before.bridge,
    'resync-worker-cpu': after.worker - before.worker,
    'resync-vsphere': calls('vsphere'),
    'resync-kubernetes': calls('kubernetes'),
    'resync-runs': await countRunsSince(world.client, before.atMs),
  };
}

/** kill -9 of the bridge: another one lists everything, and compares all of it once it holds the Lease. */
async function measureRestart(world: VmsWorld, count: number, signal: AbortSignal): Promise<Record<string, number>> {
  const startedMs = Date.now();
  await world.drover.kill('bridge');
  await world.drover.restart('bridge');
  const observe = async (): Promise<true | string> => {
    const page = await readPage(world);
    return (page.lease.held && page.kinds.VirtualMachine?.objects === count && isIdle(page)) || JSON.stringify(page);
  };
  await until('all to be listed again', 180_000, observe, signal);
  const seconds = (Date.now() - startedMs) / 1_000;
  const bridge = (await world.calls()).bridge;
  return {
    restart: seconds,
    'restart-cpu': readCpuSeconds(bridgePid(world)) ?? Number.NaN,
    'restart-kubernetes': bridge.get('kubernetes') ?? 0,
    'restart-runs': await countRunsSince(world.client, startedMs),
  };
}

const isIdle = ({ queue: { fresh, resync, inFlight, backingOff } }: BridgePage): boolean =>
  fresh + resync + inFlight + backingOff === 0;
