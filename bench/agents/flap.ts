import { setTimeout as delay } from 'node:timers/promises';
import { agentFixture } from '../../lab/agents.ts';
import { neighbourResources } from '../../runtime/kubernetes/resources.ts';
import type { Benchmark, Samples } from '../harness/benchmark.ts';
import type { LoadRun } from '../load/load-run.ts';
import { type AgentsWorld, withAgentsWorld } from './agents-world.ts';
import { flapFigures, flapPrefix } from './figures.ts';

/**
 * A hundredth of an autoscaler's times, about: it is up for half of each period, and spare VMs outlast the period as
 * they do by the defaults.
 */
const flapping = { forMs: 60_000, halfMs: 5_000, surplusMs: 15_000 };
const taskDelaysMs = { CreateVm: 1_000, PowerOn: 500 };
const played = { discoveryMs: 2_000, installMs: 2_000, drainMs: 3_000 };
const lookEveryMs = 300;
/** More than what has begun takes, to be made and given back. */
const settlesMs = 30_000;

/** A NodePool is scaled to and fro. */
export const flapAgents = (count: number): Benchmark<LoadRun> => ({
  name: 'flap',
  title: `a NodePool is scaled to and fro between 0 and ${count}`,
  minutes: 6,
  figures: flapFigures(count),
  measure: (run) =>
    withAgentsWorld(
      run,
      { agentPools: { maxConcurrent: count, deleteSurplus: true, surplusMs: flapping.surplusMs }, played },
      async (world): Promise<Samples> => {
        const samples: Record<string, number[]> = {};
        for (let repetition = 1; repetition <= run.repetitions; repetition += 1) {
          await world.control.delayTasks(taskDelaysMs);
          const measured = await measureFlapping(world, count, run);
          run.report(
            Object.entries(measured)
              .map(([name, value]) => `${name} ${value}`)
              .join(', '),
          );
          for (const [name, value] of Object.entries(measured))
            (samples[`${flapPrefix(count)}.${name}`] ??= []).push(value);
          await world.removeAll();
        }
        return samples;
      },
    ),
});

/** What was seen of VMs, by their BIOS UUIDs, which are the names of their Agents. */
interface Seen {
  made: Set<string>;
  taken: Set<string>;
  wasted: Set<string>;
  most: number;
}

async function measureFlapping(world: AgentsWorld, count: number, { quick, signal }: LoadRun) {
  const { neighbours, vcenter } = world;
  const seen: Seen = { made: new Set(), taken: new Set(), wasted: new Set(), most: 0 };
  const looking = new AbortController();
  const looked = look(world, seen, AbortSignal.any([looking.signal, signal]));
  let machines = 0;
  const endMs = performance.now() + (quick ? flapping.forMs / 3 : flapping.forMs);
  while (performance.now() < endMs) {
    await neighbours.scale(count, signal);
    machines += count;
    await delay(flapping.halfMs, undefined, { signal });
    await neighbours.scale(0, signal);
    await delay(flapping.halfMs, undefined, { signal });
  }
  looking.abort();
  await looked;
  // All have been made, found and given back by then.
  await delay(flapping.surplusMs + settlesMs, undefined, { signal });
  const { made, taken, wasted, most } = seen;
  return {
    machines,
    made: made.size,
    taken: taken.size,
    spare: [...made].filter((uuid) => !taken.has(uuid)).length,
    wasted: wasted.size,
    most,
    left: (await vcenter.listVms(signal)).length,
  };
}

async function look({ vcenter, objects }: AgentsWorld, seen: Seen, signal: AbortSignal): Promise<void> {
  const patient = (): AbortSignal => AbortSignal.timeout(30_000);
  while (!signal.aborted) {
    const vms = (await vcenter.listVms(patient())).map(({ biosUuid }) => biosUuid);
    const agents = await objects.list(neighbourResources.Agent, { namespace: agentFixture.namespace }, patient());
    for (const uuid of vms) seen.made.add(uuid);
    for (const { metadata, spec } of agents)
      if (spec?.clusterDeploymentName?.name !== undefined) seen.taken.add(metadata.name);
    for (const uuid of seen.made) if (!vms.includes(uuid) && !seen.taken.has(uuid)) seen.wasted.add(uuid);
    seen.most = Math.max(seen.most, vms.length);
    await delay(lookEveryMs, undefined, { signal }).catch(() => undefined);
  }
}
