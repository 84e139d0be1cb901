import { findCondition } from '../../contracts/conditions.ts';
import type { Hypervisor } from '../../contracts/crds/hypervisor.ts';
import { hypervisorConditions } from '../../contracts/hypervisor/conditions.ts';
import { hypervisorId } from '../../contracts/ids.ts';
import { timeSteps } from './time-steps.ts';
import { until } from '../../test/flows/until.ts';
import type { Benchmark, Samples } from '../harness/benchmark.ts';
import { mapConcurrently } from '../load/concurrency.ts';
import type { LoadRun } from '../load/load-run.ts';
import { readMemory } from '../process-usage.ts';
import { percentile } from '../statistics.ts';
import { countCalls } from './count-calls.ts';
import type { Size } from './figures.ts';
import { onboardingFigures } from './figures.ts';
import type { OnboardingWorld } from './onboarding-world.ts';
import { addNodes, withOnboardingWorld } from './onboarding-world.ts';

/** For each hypervisor, at most. */
const patienceMs = 15_000;
const patienceAtLeastMs = 120_000;
/** More nova-computes than these in one process take longer to start than to onboard. */
const mostHosts = 200;
const minutes = { 1: 2, 20: 4, 200: 25 } as const satisfies Record<Size, number>;

/** So many Nodes are created at once, and every one of them is brought into service. */
export const onboardAtOnce = (size: Size): Benchmark<LoadRun> => ({
  name: `onboarding-${size}`,
  title: size === 1 ? 'one Node becomes a hypervisor' : `${size} Nodes become hypervisors at once`,
  minutes: minutes[size],
  figures: onboardingFigures(size),
  async measure(run): Promise<Samples> {
    const count = run.quick ? Math.min(size, 4) : size;
    const rounds = Array.from({ length: Math.min(run.repetitions, Math.floor(mostHosts / count)) }, (_, round) =>
      Array.from({ length: count }, (_host, index) => `kvm-${round + 1}-${index + 1}`),
    );
    return await withOnboardingWorld(run, rounds.flat(), async (world) => {
      const samples: Record<string, number[]> = {};
      for (const hosts of rounds) {
        const round = await measureRound(world, hosts, run.signal);
        run.report(
          Object.entries(round)
            .map(([name, value]) => `${name} ${value.toFixed(1)}`)
            .join(', '),
        );
        for (const { id } of onboardingFigures(size))
          (samples[id] ??= []).push(round[id.split('.')[1] as keyof typeof round]);
      }
      return samples;
    });
  },
});

/** The last part of each figure's id → its value. */
async function measureRound(world: OnboardingWorld, hosts: readonly string[], signal: AbortSignal) {
  const { client, drover } = world;
  const before = await readCalls(world);
  const createdMs = await addNodes(world, hosts);
  const arrivedMs = await untilInService(world, hosts, signal);
  const wallSeconds = hosts.map(
    (host) => ((arrivedMs.get(host) ?? Number.NaN) - (createdMs.get(host) ?? Number.NaN)) / 1_000,
  );
  const allSeconds = (Math.max(...arrivedMs.values()) - Math.min(...createdMs.values())) / 1_000;
  const after = await readCalls(world);
  const callsOf = (system: string): number => ((after.get(system) ?? 0) - (before.get(system) ?? 0)) / hosts.length;
  const steps = await mapConcurrently(hosts, 8, (host) => timeSteps(client, hypervisorId(host)));
  const between = steps.map(
    ({ steps: number, sumMs }, index) => Math.max(0, (wallSeconds[index] ?? Number.NaN) - sumMs / 1_000) / number,
  );
  return {
    all: allSeconds,
    p50: percentile(wallSeconds, 0.5),
    p99: percentile(wallSeconds, 0.99),
    steps: percentile(
      steps.map(({ sumMs }) => sumMs / 1_000),
      0.5,
    ),
    between: percentile(between, 0.5),
    nova: callsOf('nova'),
    placement: callsOf('placement'),
    kubernetes: callsOf('kubernetes'),
    worker: readMemory(drover.worker.pid)?.peakMiB ?? Number.NaN,
    bridge: readMemory(drover.bridge?.pid ?? 0)?.peakMiB ?? Number.NaN,
  };
}

/** When each was first observed in service, in unix ms. @throws when one is aborted */
async function untilInService(
  world: OnboardingWorld,
  hosts: readonly string[],
  signal: AbortSignal,
): Promise<Map<string, number>> {
  const arrivedMs = new Map<string, number>();
  const observe = async (): Promise<true | string> => {
    const observedMs = Date.now();
    for (const hypervisor of await world.listHypervisors()) {
      const { name } = hypervisor.metadata;
      if (hosts.includes(name) && !arrivedMs.has(name) && isInService(hypervisor)) arrivedMs.set(name, observedMs);
    }
    return arrivedMs.size === hosts.length ? true : `${arrivedMs.size} of ${hosts.length}`;
  };
  await until('all to be in service', Math.max(patienceAtLeastMs, hosts.length * patienceMs), observe, signal);
  return arrivedMs;
}

function isInService({ status }: Hypervisor): boolean {
  const lifecycle = findCondition(status?.conditions, hypervisorConditions.lifecycle);
  return lifecycle?.reason === 'Active' && lifecycle.status === 'True';
}

/** Of worker and bridge together. */
async function readCalls({ drover }: OnboardingWorld): Promise<Map<string, number>> {
  const sum = new Map<string, number>();
  for (const url of Object.values(drover.metricsUrls)) {
    const page = await (await fetch(url, { signal: AbortSignal.timeout(10_000) })).text();
    for (const [system, count] of countCalls(page)) sum.set(system, (sum.get(system) ?? 0) + count);
  }
  return sum;
}
