import { availableParallelism } from 'node:os';
import { readProcesses } from '../../lab/processes.ts';
import type { Benchmark, Samples } from '../harness/benchmark.ts';
import { ratiosOf, runPairs } from '../harness/pairs.ts';
import type { LoadRun } from '../load/load-run.ts';
import { countVerbs } from '../onboarding/count-calls.ts';
import { readCpuSeconds, readMemory } from '../process-usage.ts';
import { mean, percentile } from '../statistics.ts';
import type { BareVcenter } from './bare-vcenter.ts';
import { openBareVcenter } from './bare-vcenter.ts';
import { readRuns } from './count-runs.ts';
import type { Pace } from './figures.ts';
import { createFigures, paces } from './figures.ts';
import type { VmsWorld } from './vms-world.ts';
import { withVmsWorld } from './vms-world.ts';

/** What one side has come to; null: the script has no such thing. */
interface Side {
  wallSeconds: number;
  vsphere: number;
  drover: null | {
    seconds: number[];
    kubernetes: number;
    events: number;
    runs: number;
    workerMiB: number;
    bridgeMiB: number;
    cpuSeconds: Record<Who, number>;
  };
}

const sideNames = ['drover', 'script'] as const;
/** Who uses the processors while VMs are made: drover, or what it calls. */
type Who = 'drover' | 'others';

/** So many VMs are made and switched on at once, by drover and by a script, alternately. */
export const createVms = (pace: Pace, count: number): Benchmark<LoadRun> => ({
  name: pace,
  title: `${count} VMs are made and switched on, beside a bare script; ${paces[pace].title}`,
  minutes: pace === 'create' ? 15 : 8,
  figures: createFigures(pace, count),
  measure: (run) =>
    withVmsWorld(run, {}, async (world): Promise<Samples> => {
      const bare = await openBareVcenter(world.lab.handles.vsphere);
      try {
        const pairs = await runPairs(run.repetitions, sideNames, async (side, pair) => {
          await world.control.delayTasks(paces[pace].taskDelaysMs);
          const names = Array.from({ length: count }, (_, index) => `${side}-${pair + 1}-${index + 1}`);
          const measured = side === 'drover' ? await byDrover(world, names) : await byScript(bare, names, run.signal);
          await world.control.delayTasks({});
          await (side === 'drover' ? world.removeAll().then(() => world.untilQuiet()) : bare.remove(names, run.signal));
          run.report(
            `${side}: ${measured.wallSeconds.toFixed(1)} s, ${measured.vsphere.toFixed(1)} calls of vCenter for each`,
          );
          return measured;
        });
        run.report(await describeCalls(world));
        const walls = pairs.map(({ first, sides }) => ({
          first,
          sides: { drover: sides.drover.wallSeconds, script: sides.script.wallSeconds },
        }));
        const ours = pairs.flatMap(({ sides }) => sides.drover.drover ?? []);
        const values: Record<string, number[]> = {
          wall: walls.map(({ sides }) => sides.drover),
          p50: ours.map(({ seconds }) => percentile(seconds, 0.5)),
          p99: ours.map(({ seconds }) => percentile(seconds, 0.99)),
          bare: walls.map(({ sides }) => sides.script),
          ratio: ratiosOf(walls, 'drover', 'script'),
          vsphere: pairs.map(({ sides }) => sides.drover.vsphere),
          'bare-vsphere': pairs.map(({ sides }) => sides.script.vsphere),
          kubernetes: ours.map(({ kubernetes }) => kubernetes),
          events: ours.map(({ events }) => events),
          runs: ours.map(({ runs }) => runs),
          worker: ours.map(({ workerMiB }) => workerMiB),
          bridge: ours.map(({ bridgeMiB }) => bridgeMiB),
          'drover-cpu': ours.map(({ cpuSeconds }) => cpuSeconds.drover / count),
          'others-cpu': ours.map(({ cpuSeconds }) => cpuSeconds.others / count),
          floor: pairs.map(
            ({ sides }) =>
              (sides.drover.drover?.cpuSeconds.others ?? Number.NaN) /
              availableParallelism() /
              sides.script.wallSeconds,
          ),
        };
        return Object.fromEntries(
          Object.entries(values).map(([name, samples]) => [`vms-${count}-${pace}.${name}`, samples]),
        );
      } finally {
        await bare.close();
      }
    }),
});

async function byDrover(world: VmsWorld, names: readonly string[]): Promise<Side> {
  const before = await world.calls();
  const cpuBefore = readCpu(world);
  const made = [...(await world.make(names)).values()];
  const cpuAfter = readCpu(world);
  // What a run writes after that, and runs that are started then, are part of the price.
  await world.untilQuiet();
  const after = await world.calls();
  const perVm = (system: string): number =>
    (['worker', 'bridge'] as const).reduce(
      (sum, process) => sum + (after[process].get(system) ?? 0) - (before[process].get(system) ?? 0),
      0,
    ) / names.length;
  const runs = await readRuns(world.client, names);
  return {
    wallSeconds:
      (Math.max(...made.map(({ reconciledMs }) => reconciledMs)) -
        Math.min(...made.map(({ createdMs }) => createdMs))) /
      1_000,
    vsphere: perVm('vsphere'),
    drover: {
      seconds: made.map(({ createdMs, reconciledMs }) => (reconciledMs - createdMs) / 1_000),
      kubernetes: perVm('kubernetes'),
      events: mean(runs.map(({ events }) => events)),
      runs: mean(runs.map(({ runs: number }) => number)),
      workerMiB: readMemory(world.drover.worker.pid)?.peakMiB ?? Number.NaN,
      bridgeMiB: readMemory(world.drover.bridge?.pid ?? 0)?.peakMiB ?? Number.NaN,
      cpuSeconds: { drover: cpuAfter.drover - cpuBefore.drover, others: cpuAfter.others - cpuBefore.others },
    },
  };
}

/** Processor time so far. */
function readCpu({ lab, drover }: VmsWorld): Record<Who, number> {
  const sum = (pids: readonly number[]): number =>
    pids.reduce((total, pid) => total + (readCpuSeconds(pid) ?? Number.NaN), 0);
  const { temporal, kubernetes, vsphere } = lab.handles;
  const others = [temporal, kubernetes, vsphere].flatMap(({ dir }) => readProcesses(dir).map(({ pid }) => pid));
  return {
    drover: sum([drover.worker.pid, ...(drover.bridge === null ? [] : [drover.bridge.pid])]),
    others: sum(others),
  };
}

async function byScript(bare: BareVcenter, names: readonly string[], signal: AbortSignal): Promise<Side> {
  const callsBefore = bare.calls();
  const startedMs = performance.now();
  await bare.make(names, signal);
  return {
    wallSeconds: (performance.now() - startedMs) / 1_000,
    vsphere: (bare.calls() - callsBefore) / names.length,
    drover: null,
  };
}

/** What was called most, removals included: where calls can be saved. */
async function describeCalls({ drover }: VmsWorld): Promise<string> {
  const page = await (await fetch(drover.metricsUrls.worker, { signal: AbortSignal.timeout(10_000) })).text();
  const most = (system: string): string =>
    [...countVerbs(page, system)]
      .toSorted(([, a], [, b]) => b - a)
      .slice(0, 8)
      .map(([verb, count]) => `${verb} ${count}`)
      .join(', ');
  return `the worker called vCenter: ${most('vsphere')}; kube-apiserver: ${most('kubernetes')}`;
}
