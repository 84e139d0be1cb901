import { kindTable } from '../../contracts/kinds/table.ts';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parse, stringify } from 'yaml';
import { writePrivateFile } from '../../lab/private-files.ts';
import { vcenterSettings } from '../../lab/vsphere/scene.ts';
import { openRandom } from '../faults/random.ts';
import { openFaultProxy } from '../faults/proxy.ts';
import { until } from '../flows/until.ts';
import type { World } from '../flows/world.ts';
import { hosts, quickSettings } from '../flows/world-base.ts';
import { openWorld } from '../flows/world.ts';
import { readWorld } from '../read-world.ts';
import type { Snapshot } from '../invariants/snapshot.ts';
import { violations } from '../invariants/violations.ts';
import { prepareHypervisors, removeHypervisors, settleHypervisors, acquireSlot } from './hypervisors.ts';
import { act, list, reasonOf, returnToService } from './people.ts';
import type { ChaosPlan } from './plan.ts';
import { planChaos } from './plan.ts';
import type { Ways } from './strike.ts';
import { strike } from './strike.ts';
import {
  type ChaosVcenter,
  openVcenter,
  removeVirtualMachines,
  settleVirtualMachines,
  takeVmTurn,
} from './virtual-machines.ts';

export interface ChaosOptions {
  seed: number;
  durationMs: number;
  report: (line: string) => void;
}

export interface ChaosResult {
  /** Violated invariants, strikes that could not be healed, evictions that did not settle. */
  complaints: string[];
  strikes: number;
  deeds: number;
  /** What hypervisors went through: onboardings, maintenances, their ends, terminated runs. */
  turns: number;
  /** The same of virtual machines. */
  vmTurns: number;
  evictions: number;
  /** Runs that looked into a host that had failed. */
  failures: number;
  /** Migrations that Nova completed. */
  moves: number;
  /** From the last strike's end until everything had settled. */
  settleSeconds: number;
  /** What complaints are judged by; without texts, which are too long. */
  facts: Pick<Snapshot, 'novaCalls' | 'migrationEvents' | 'services' | 'servers' | 'audit' | 'objects' | 'runs'>;
}

const servers = 12;
/** As many hosts as stay in service at least. */
const keep = 3;
const settings = {
  ...quickSettings,
  modes: { Eviction: 'act', Hypervisor: 'act', VirtualMachine: 'act' },
  virtualMachine: {
    recheckMs: 2_000,
    lingerMs: 300,
    addressMs: 1,
    softPowerMs: 3_000,
    deletePowerOffMs: 3_000,
    taskMs: 60_000,
  },
  hypervisor: { recheckMs: 2_000, lingerMs: 300, registrationMs: 120_000, testRetryDelayMs: 200 },
  nodeFailure: { mode: 'recommend', failAfterMs: 1_000, observeMs: 500, restObserveMs: 1_000 },
};
/** Longer than any back-off that a run may be in. */
const settleMs = 420_000;

/** A load of evictions and of the lifecycles of hypervisors and virtual machines while everything breaks that can; at the end all converges and the invariants hold. */
export async function runChaos({ seed, durationMs, report }: ChaosOptions): Promise<ChaosResult> {
  const plan = planChaos(seed, durationMs);
  const world = await openWorld({ sinks: [], ownLab: true });
  const nova = await openFaultProxy({ system: 'nova', target: world.lab.handles.openstack.computeUrl });
  const vcenter = await openVcenter(world);
  const ways = { nova, vcenter };
  const complaints: string[] = [];
  try {
    await prepareHypervisors(world, hosts);
    await sendThrough(world, ways);
    await populate(world, seed);
    const began = performance.now();
    const beganAt = new Date().toISOString();
    const sinceStart = (): number => performance.now() - began;
    const told = (line: string): void => report(`${(sinceStart() / 1_000).toFixed(1).padStart(7)} s  ${line}`);
    await Promise.all([
      keepStriking(world, ways, plan, sinceStart, told, complaints),
      keepActing(world, plan, sinceStart, told, complaints),
      keepTurning(world, vcenter, plan, sinceStart, told, complaints),
      keepReturning(world, durationMs, sinceStart, complaints),
    ]);
    nova.cure();
    const endedMs = performance.now();
    complaints.push(...(await Promise.all([settleHypervisors(world), settleVirtualMachines(world)])).flat());
    await untilSettled(world).catch((error: unknown) => complaints.push((error as Error).message));
    const settleSeconds = (performance.now() - endedMs) / 1_000;
    const handles = { ...world.lab.handles, vsphere: vcenter.handle };
    const seen = await readWorld({ ...world, lab: { ...world.lab, handles }, vms: vcenter.observed });
    complaints.push(...violations(seen));
    const evictions = world.evictions.count();
    const { count: failures } = await world.client.workflow.count(
      `WorkflowType = "handleNodeFailure" AND StartTime > "${beganAt}"`,
    );
    const moves = seen.migrationEvents.filter(({ status }) => status === 'completed').length;
    const { novaCalls, migrationEvents, services, servers: left, audit, objects, runs } = seen;
    return {
      complaints,
      facts: { novaCalls, migrationEvents, services, servers: left, audit, objects, runs },
      strikes: plan.strikes.length,
      deeds: plan.deeds.length,
      turns: plan.turns.length,
      vmTurns: plan.vmTurns.length,
      evictions,
      failures,
      moves,
      settleSeconds,
    };
  } finally {
    await world.drover.kill('worker').catch(() => undefined);
    await removeHypervisors(world).catch((error: unknown) =>
      complaints.push(`not cleared up: ${(error as Error).message}`),
    );
    await removeVirtualMachines(world).catch((error: unknown) =>
      complaints.push(`not cleared up: ${(error as Error).message}`),
    );
    await world.close();
    await nova.close();
    await vcenter.close();
  }
}

/** drover reaches Nova through the proxy only. */
async function sendThrough(world: World, { nova, vcenter }: Ways): Promise<void> {
  const { clouds } = parse(readFileSync(world.lab.handles.openstack.cloudsFile, 'utf8')) as {
    clouds: Record<string, object>;
  };
  const file = join(world.dir, 'clouds.yaml');
  writePrivateFile(file, stringify({ clouds: { lab: { ...clouds['lab'], compute_endpoint_override: nova.url } } }));
  await world.replaceDrover({
    settings: { ...settings, vsphere: vcenterSettings(vcenter.handle) },
    env: { OS_CLIENT_CONFIG_FILE: file },
  });
}

/** Servers of every temper, a few on each host. */
async function populate(world: World, seed: number): Promise<void> {
  const random = openRandom(seed);
  for (const host of hosts) await world.freshHost(host, { seconds: 1 });
  await world.seed(
    Array.from({ length: servers }, (_, index) => ({
      name: `chaos-${index + 1}`,
      host: hosts[index % hosts.length] ?? hosts[0],
      migrate: random.pick([['ok'], ['ok'], ['ok'], ['fail', 'ok'], ['hang', 'ok'], ['slow', 'ok']] as const),
      seconds: random.between(1, 4),
    })),
  );
}

async function keepStriking(
  world: World,
  ways: Ways,
  { strikes }: ChaosPlan,
  sinceStart: () => number,
  told: (line: string) => void,
  complaints: string[],
): Promise<void> {
  for (const [atMs, those] of Map.groupBy(strikes, (one) => one.atMs)) {
    await delay(Math.max(0, atMs - sinceStart()));
    told(those.map(({ target, how, forMs }) => `${how} ${target} for ${forMs} ms`).join(', '));
    const outcomes = await Promise.allSettled(those.map((one) => strike(world, ways, one)));
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') complaints.push(`not healed: ${(outcome.reason as Error).message}`);
  }
}

async function keepActing(
  world: World,
  { deeds }: ChaosPlan,
  sinceStart: () => number,
  told: (line: string) => void,
  complaints: string[],
): Promise<void> {
  for (const deed of deeds) {
    await delay(Math.max(0, deed.atMs - sinceStart()));
    try {
      told(await act(world, deed, hosts, keep));
    } catch (error) {
      complaints.push(`${deed.what} could not be done: ${(error as Error).message}`);
    }
  }
}

/** One after the other for each hypervisor and each virtual machine; none waits for another's. */
async function keepTurning(
  world: World,
  vcenter: ChaosVcenter,
  { turns, vmTurns }: ChaosPlan,
  sinceStart: () => number,
  told: (line: string) => void,
  complaints: string[],
): Promise<void> {
  const keepTurningOne = async <One extends { atMs: number; what: string }>(
    mine: readonly One[],
    take: (turn: One) => Promise<string>,
  ): Promise<void> => {
    for (const turn of mine) {
      await delay(Math.max(0, turn.atMs - sinceStart()));
      try {
        told(await take(turn));
      } catch (error) {
        complaints.push(`${turn.what} could not be done: ${(error as Error).message}`);
      }
    }
  };
  const each = [...Map.groupBy(turns, ({ hypervisor }) => hypervisor).values()].map((mine) =>
    keepTurningOne(mine, (turn) => acquireSlot(world, turn)),
  );
  const eachVm = [...Map.groupBy(vmTurns, ({ vm }) => vm).values()].map((mine) =>
    keepTurningOne(mine, (turn) => takeVmTurn(world, vcenter, turn)),
  );
  await Promise.all([...each, ...eachVm]);
}

/** A person clears away what has come to its end, so that the load goes on. */
async function keepReturning(
  world: World,
  durationMs: number,
  sinceStart: () => number,
  complaints: string[],
): Promise<void> {
  while (sinceStart() < durationMs) {
    await delay(4_000);
    await returnToService(world, hosts).catch((error: unknown) =>
      complaints.push(`not returned to service: ${(error as Error).message}`),
    );
  }
}

/** Every Eviction is settled, and no run of an Eviction, a hypervisor, its failure or a virtual machine is open. */
const untilSettled = (world: World): Promise<unknown> =>
  until('everything to settle', settleMs, async () => {
    const open = (await list(world)).filter((eviction) => !kindTable.Eviction.isReconciled(eviction, 'act'));
    if (open.length > 0) return open.map((eviction) => `${eviction.metadata.name} is ${reasonOf(eviction)}`).join(', ');
    const running: string[] = [];
    for await (const { workflowId } of world.client.workflow.list({
      query:
        'ExecutionStatus="Running" AND WorkflowType IN ("evictHypervisor", "migrateInstance", "reconcileHypervisor", "handleNodeFailure", "reconcileVirtualMachine")',
    }))
      running.push(workflowId);
    return running.length === 0 ? true : `open: ${running.join(', ')}`;
  });
