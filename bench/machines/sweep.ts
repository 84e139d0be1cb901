import type { Provider } from '../../lab/machines.ts';
import type { Benchmark, Samples } from '../harness/benchmark.ts';
import type { LoadRun } from '../load/load-run.ts';
import { countCalls } from '../onboarding/count-calls.ts';
import { readMemory } from '../process-usage.ts';
import { providers, sweepFigures, sweepPrefix } from './figures.ts';
import { fillProject, fillVcenter } from './fill.ts';
import { bySelf, type MachinesWorld, sweepOnce, withMachinesWorld } from './machines-world.ts';

const machines = { sweep: bySelf };

/** Every VM has its Machine: a sweep lists all, and has nothing to do. */
export const sweepVcenter = (count: number): Benchmark<LoadRun> => ({
  name: 'vsphere',
  title: `a sweep of ${count} VMs in a vCenter, none of them an orphan`,
  minutes: 6,
  figures: sweepFigures('vsphere', count),
  measure: (run) =>
    withMachinesWorld(
      run,
      { providers: ['vsphere'], machines, prepare: (lab) => fillVcenter(lab, count, run) },
      (world) => measureSweeps(run, world, 'vsphere', count),
    ),
});

/** The same of servers in a project. */
export const sweepProject = (count: number): Benchmark<LoadRun> => ({
  name: 'openstack',
  title: `a sweep of ${count} servers in Nova, none of them an orphan`,
  minutes: 8,
  figures: sweepFigures('openstack', count),
  measure: (run) =>
    withMachinesWorld(
      run,
      { providers: ['openstack'], machines, prepare: (lab) => fillProject(lab, count, run) },
      (world) => measureSweeps(run, world, 'openstack', count),
    ),
});

async function measureSweeps(
  { repetitions, report, signal }: LoadRun,
  { client, drover }: Pick<MachinesWorld<never>, 'client' | 'drover'>,
  provider: Provider,
  count: number,
): Promise<Samples> {
  const { system, title } = providers[provider];
  const calls = async (): Promise<number> => {
    const page = await fetch(drover.metricsUrls.worker, { signal: AbortSignal.timeout(10_000) });
    return countCalls(await page.text()).get(system) ?? 0;
  };
  const before = readMemory(drover.worker.pid)?.residentMiB ?? Number.NaN;
  const samples: Record<string, number[]> = { before: [before] };
  for (let repetition = 1; repetition <= repetitions; repetition += 1) {
    const callsBefore = await calls();
    const { result, wallSeconds, events } = await sweepOnce(client, signal);
    const { listed, machines: found, orphans, classes = [] } = result;
    const failure = classes.find((one) => one.failure !== null)?.failure?.message;
    if (listed !== count || found !== count || orphans !== 0 || failure !== undefined)
      throw new Error(
        `the sweep found ${listed} of ${count}, ${found} Machines and ${orphans} orphans: ${failure ?? result.message}`,
      );
    const measured = { wall: wallSeconds, calls: (await calls()) - callsBefore, events };
    report(`${wallSeconds.toFixed(1)} s, ${measured.calls} calls of ${title}, ${events} events`);
    for (const [name, value] of Object.entries(measured)) (samples[name] ??= []).push(value);
  }
  samples['worker'] = [readMemory(drover.worker.pid)?.peakMiB ?? Number.NaN];
  return Object.fromEntries(
    Object.entries(samples).map(([name, values]) => [`${sweepPrefix(provider, count)}.${name}`, values]),
  );
}
