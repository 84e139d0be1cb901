import { setTimeout as delay } from 'node:timers/promises';
import { agentFixture } from '../../lab/agents.ts';
import { neighbourResources } from '../../runtime/kubernetes/resources.ts';
import { until } from '../../test/flows/until.ts';
import type { Benchmark, Samples } from '../harness/benchmark.ts';
import { ratiosOf, runPairs } from '../harness/pairs.ts';
import type { LoadRun } from '../load/load-run.ts';
import { countVerbs } from '../onboarding/count-calls.ts';
import { readMemory } from '../process-usage.ts';
import { type AgentsWorld, patienceMs, withAgentsWorld } from './agents-world.ts';
import { explainAgents } from './explain.ts';
import { growFigures, growPrefix } from './figures.ts';
import { sameCreates } from './own-vcenter.ts';
import { countPoolEvents, readAgentRuns } from './read-runs.ts';

/** Of the vCenter's tasks, as other virtual machines are measured: recommending, making and switching on. */
const taskDelaysMs = { CreateVm: 5_000, PowerOn: 1_000 };
/** What takes minutes in a guest: long enough that no run is still open from the step before. */
const played = { discoveryMs: 5_000, installMs: 10_000, drainMs: 10_000 };
/** Of those that are made one after another; the others would take as long. */
const serialShare = 10;
const pollMs = 200;

interface Side {
  onSeconds: number;
  vsphere: number;
  drover: null | Readonly<Record<string, number>>;
}

/** So many agents at once, by drover and by a script, alternately. */
export const growAgents = (count: number): Benchmark<LoadRun> => ({
  name: 'grow',
  title: `a NodePool is scaled from 0 to ${count}, beside a script`,
  minutes: 12,
  figures: growFigures(count),
  measure: (run) =>
    // The script does not wait for discovery either.
    withAgentsWorld(run, { agentPools: { maxConcurrent: count }, played }, async (world): Promise<Samples> => {
      const serial: number[] = [];
      const pairs = await runPairs(run.repetitions, ['drover', 'script'] as const, async (side, pair) => {
        await world.control.delayTasks(taskDelaysMs);
        const measured =
          side === 'drover' ? await byDrover(world, count, run) : await byScript(world, count, pair, run);
        if (side === 'script') serial.push(await oneByOne(world, count, pair, run));
        run.report(
          `${side}: ${measured.onSeconds.toFixed(1)} s, ${measured.vsphere.toFixed(1)} calls of vCenter for each`,
        );
        return measured;
      });
      run.report(await describeCalls(world));
      const walls = pairs.map(({ first, sides }) => ({
        first,
        sides: { drover: sides.drover.onSeconds, script: sides.script.onSeconds },
      }));
      const samples: Record<string, number[]> = {
        on: walls.map(({ sides }) => sides.drover),
        script: walls.map(({ sides }) => sides.script),
        ratio: ratiosOf(walls, 'drover', 'script'),
        serial,
        faster: walls.map(({ sides }, pair) => (serial[pair] ?? Number.NaN) / sides.drover),
        vsphere: pairs.map(({ sides }) => sides.drover.vsphere),
        'script-vsphere': pairs.map(({ sides }) => sides.script.vsphere),
        uploads: [await countUploads(world)],
      };
      for (const { sides } of pairs)
        for (const [name, value] of Object.entries(sides.drover.drover ?? {})) (samples[name] ??= []).push(value);
      return Object.fromEntries(
        Object.entries(samples).map(([name, values]) => [`${growPrefix(count)}.${name}`, values]),
      );
    }),
});

async function byDrover(world: AgentsWorld, count: number, { signal, report }: LoadRun): Promise<Side> {
  const { client, neighbours, vcenter, drover } = world;
  const [before, poolBefore, sinceMs] = [await world.calls(), await countPoolEvents(client), Date.now()];
  const startedMs = performance.now();
  const seconds = (): number => (performance.now() - startedMs) / 1_000;
  const asking = neighbours
    .scale(count, signal)
    .then(() => untilAllWait(world, count, signal))
    .then(seconds);
  const [asked, on] = await Promise.all([
    asking,
    poll(`${count} VMs to be on`, signal, async () => exactly(await vcenter.countOn(signal), count, 'are on')).then(
      seconds,
      async (error: unknown) => {
        report(await explainAgents(world, signal));
        throw error;
      },
    ),
  ]);
  await poll(`${count} Nodes`, signal, () => exactly(neighbours.nodes().length, count, 'are there'));
  const nodes = seconds();
  report(
    `drover: all wait after ${asked.toFixed(1)} s, on after ${on.toFixed(1)} s, Nodes after ${nodes.toFixed(1)} s`,
  );
  const noIso = async (): Promise<true | string> => {
    const left = (await vcenter.listVms(signal)).filter(({ hasIso }) => hasIso).length;
    return left === 0 ? true : `${left} have theirs`;
  };
  await until('the ISOs to be out', patienceMs, noIso, signal);
  await world.untilQuiet();
  const after = await world.calls();
  const perAgent = (system: string): number => ((after.get(system) ?? 0) - (before.get(system) ?? 0)) / count;
  const { runs, onEvents, ejectEvents } = await readAgentRuns(client, sinceMs);
  const poolEvents = (await countPoolEvents(client)) - poolBefore;
  await world.control.delayTasks({});
  return {
    onSeconds: on,
    vsphere: perAgent('vsphere'),
    drover: {
      asked,
      nodes,
      kubernetes: perAgent('kubernetes'),
      events: (onEvents + poolEvents) / count,
      'events-on': onEvents / count,
      'events-eject': ejectEvents / count,
      'events-pool': poolEvents / count,
      runs: runs / count,
      back: await world.removeAll(),
      worker: readMemory(drover.worker.pid)?.peakMiB ?? Number.NaN,
      bridge: readMemory(drover.bridge?.pid ?? 0)?.peakMiB ?? Number.NaN,
    },
  };
}

/** What the neighbours themselves take until drover can know all that is wanted. */
const untilAllWait = ({ objects }: Pick<AgentsWorld, 'objects'>, count: number, signal: AbortSignal): Promise<void> =>
  poll(`${count} AgentMachines to wait`, signal, async () => {
    const of = { namespace: agentFixture.controlPlaneNamespace };
    const found = await objects.list(neighbourResources.AgentMachine, of, signal);
    return exactly(found.filter(({ status }) => (status?.conditions ?? []).length > 0).length, count, 'wait');
  });

async function byScript(
  { vcenter, pool }: AgentsWorld,
  count: number,
  pair: number,
  { signal }: LoadRun,
): Promise<Side> {
  const { script } = vcenter;
  const names = namesOf(`at-once-${pair}`, count);
  const callsBefore = script.calls();
  const startedMs = performance.now();
  await script.make(names, { pool, atOnce: sameCreates }, signal);
  const onSeconds = (performance.now() - startedMs) / 1_000;
  const vsphere = (script.calls() - callsBefore) / count;
  await script.remove(names, signal);
  return { onSeconds, vsphere, drover: null };
}

/** Each VM is on before the next one is begun. @returns seconds, of all */
async function oneByOne({ vcenter, pool }: AgentsWorld, count: number, pair: number, run: LoadRun): Promise<number> {
  const names = namesOf(`one-by-one-${pair}`, Math.ceil(count / serialShare));
  const startedMs = performance.now();
  await vcenter.script.make(names, { pool, atOnce: null }, run.signal);
  const seconds = ((performance.now() - startedMs) / 1_000 / names.length) * count;
  run.report(`one after another: ${seconds.toFixed(1)} s, by ${names.length} of them`);
  await vcenter.script.remove(names, run.signal);
  return seconds;
}

const namesOf = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index + 1}`);

const countUploads = async ({ control }: AgentsWorld): Promise<number> =>
  (await control.requests()).filter(({ method }) => method === 'PUT /folder').length;

/** What was called most, removals included: where calls can be saved. */
async function describeCalls({ drover }: AgentsWorld): Promise<string> {
  const page = await (await fetch(drover.metricsUrls.worker, { signal: AbortSignal.timeout(10_000) })).text();
  const most = (system: string): string =>
    [...countVerbs(page, system)]
      .toSorted(([, a], [, b]) => b - a)
      .slice(0, 12)
      .map(([verb, count]) => `${verb} ${count}`)
      .join(', ');
  return `the worker called vCenter: ${most('vsphere')}; kube-apiserver: ${most('kubernetes')}`;
}

const exactly = (found: number, count: number, what: string): true | string => found === count || `${found} ${what}`;

/** Finer than a test waits. */
async function poll(
  what: string,
  signal: AbortSignal,
  observe: () => Promise<true | string> | true | string,
): Promise<void> {
  const endMs = performance.now() + patienceMs;
  for (;;) {
    const seen = await observe();
    if (seen === true) return;
    if (performance.now() > endMs) throw new Error(`waited ${patienceMs / 1_000} s for ${what}: ${seen}`);
    await delay(pollMs, undefined, { signal });
  }
}
