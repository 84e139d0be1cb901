import { kindTable } from '../../contracts/kinds/table.ts';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parse, stringify } from 'yaml';
import { hostCheckSettings } from '../../lab/host-check-settings.ts';
import { writePrivateFile } from '../../lab/private-files.ts';
import { vcenterSettings } from '../../lab/vsphere/vm-fixture.ts';
import { shared } from '../faults/hypervisor-objects.ts';
import { openRandom } from '../faults/random.ts';
import { openFaultProxy } from '../faults/proxy.ts';
import { until } from '../flows/until.ts';
import type { World } from '../flows/world.ts';
import { hosts, quickSettings } from '../flows/world-base.ts';
import { openWorld } from '../flows/world.ts';
import { readWorld } from '../read-world.ts';
import type { Snapshot } from '../invariants/snapshot.ts';
import { violations } from '../invariants/violations.ts';
import { type ChaosBmcs, openBmcs } from './bmcs.ts';
import {
  hypervisors,
  prepareHypervisors,
  removeHypervisors,
  restoreHypervisors,
  performHypervisorAction,
} from './hypervisors.ts';
import { performUserAction, list, reasonOf, returnToService } from './user-actions.ts';
import { type ChaosPool, openPool, performPoolAction, poolSettings, restorePool } from './agent-pools.ts';
import { type ChaosVcenter, openVcenter } from './chaos-vcenter.ts';
import { type ChaosPlan, type Lifecycle, lifecycles, planChaos } from './plan.ts';
import type { Ways } from './inject.ts';
import { inject, reviveDead } from './inject.ts';
import {
  performVmAction,
  prepareVirtualMachines,
  removeVirtualMachines,
  restoreVirtualMachines,
} from './virtual-machines.ts';
import {
  type ChaosVolumes,
  openVolumes,
  performVolumeAction,
  removeVolumes,
  restoreVolumes,
  volumeSettings,
} from './volumes.ts';

export interface ChaosOptions {
  seed: number;
  durationMs: number;
  /** Default: all. */
  only?: readonly Lifecycle[];
  report: (line: string) => void;
}

export interface ChaosResult {
  /** Violated invariants, faults that could not be healed, evictions that were not reconciled. */
  complaints: string[];
  faults: number;
  userActions: number;
  /** What hypervisors went through: onboardings, maintenances, their ends, terminated runs. */
  hypervisorActions: number;
  /** The same of virtual machines. */
  vmActions: number;
  /** And of the pool of agents. */
  poolActions: number;
  /** VsphereAgents that were seen. */
  agents: number;
  /** What became of DataVolumes, and of their sources. */
  volumeActions: number;
  /** DataVolumes that have succeeded. */
  clones: number;
  evictions: number;
  /** Runs that handled a failed host. */
  failures: number;
  /** How often a host was forced down, on evidence. */
  fencings: number;
  /** Servers that were started elsewhere, as their host was dead. */
  evacuations: number;
  /** Migrations that Nova completed. */
  moves: number;
  /** From the end of the last fault until everything was idle. */
  recoverySeconds: number;
  /** What complaints are derived from; without texts, which are too long. */
  snapshot: Snapshot;
}

const servers = 12;
/** As many hosts as stay in service at least. */
const keep = 3;
const common = {
  ...quickSettings,
  virtualMachine: {
    recheckMs: 2_000,
    lingerMs: 300,
    addressMs: 1,
    softPowerMs: 3_000,
    deletePowerOffMs: 3_000,
    taskMs: 60_000,
  },
  hypervisor: { recheckMs: 2_000, lingerMs: 300, registrationMs: 120_000, testRetryDelayMs: 200 },
};
const nodeFailure = {
  mode: 'automatic',
  automaticAggregates: [shared],
  // Longer than the lab's Nova takes to say that a nova-compute is down; before, the host looks like one whose kubelet
  // alone has failed.
  failAfterMs: 20_000,
  fenceSilent: { quorum: 2, afterMs: 22_000, mostPerHour: 20 },
  observeMs: 500,
  restObserveMs: 1_000,
  // Two hosts that fail by lot are no failure of what they share.
  gates: { cycleMs: 1, domainWindowMs: 1, mostFencedPerAggregate: 2 },
  power: { recheckMs: 500, pollMs: 200, timeoutMs: 5_000 },
  evacuation: { retryMs: 2_000 },
};
/** Evictions are always driven: there are none where they are not chosen. */
function settingsFor({ lab }: World, chosen: readonly Lifecycle[], vcenter: ChaosVcenter, bmcs: ChaosBmcs): object {
  const modeOf = (lifecycle: Lifecycle): string => (chosen.includes(lifecycle) ? 'act' : 'off');
  const tests = hostCheckSettings(hypervisors.at(-1) ?? '', lab.handles.openstack, {});
  return {
    ...common,
    hypervisor: { ...common.hypervisor, ...tests },
    ...(chosen.includes('hypervisors') && { nodeFailure: { ...nodeFailure, bmc: bmcs.settings } }),
    modes: {
      Eviction: 'act',
      Hypervisor: modeOf('hypervisors'),
      VirtualMachine: modeOf('vms'),
      VsphereAgentPool: modeOf('pools'),
      VsphereAgent: modeOf('pools'),
      DataVolume: modeOf('volumes'),
      StorageProfile: modeOf('volumes'),
    },
    vsphere: vcenterSettings(vcenter.handle),
    agentPools: poolSettings(vcenter),
    dataVolumes: volumeSettings,
  };
}

/** Longer than any back-off that a run may be in. */
const idleMs = 420_000;

/**
 * A load of evictions and of the lifecycles of hypervisors, virtual machines, agent pools and volumes while everything
 * breaks that can; at the end all converges and the invariants hold.
 */
export async function runChaos({
  seed,
  durationMs,
  only: chosen = lifecycles,
  report,
}: ChaosOptions): Promise<ChaosResult> {
  const plan = planChaos(seed, durationMs, chosen);
  const world = await openWorld({ sinks: [], ownLab: true });
  const nova = await openFaultProxy({ system: 'nova', target: world.lab.handles.openstack.computeUrl });
  const vcenter = await openVcenter();
  const bmcs = await openBmcs(hypervisors);
  const hasServers = chosen.includes('evictions') || chosen.includes('hypervisors');
  const complaints: string[] = [];
  let pool: ChaosPool | null = null;
  let volumes: ChaosVolumes | null = null;
  try {
    if (chosen.includes('hypervisors')) await prepareHypervisors(world, hosts);
    const vms = chosen.includes('vms') ? await prepareVirtualMachines(world, vcenter) : undefined;
    if (chosen.includes('pools')) pool = await openPool(world, vcenter);
    if (chosen.includes('volumes')) volumes = await openVolumes(world);
    const csi = volumes?.csi ?? null;
    const ways = { nova, vcenter, bmcs, csi };
    await sendThrough(world, ways, settingsFor(world, chosen, vcenter, bmcs));
    if (hasServers) await populate(world, seed);
    const began = performance.now();
    const beganAt = new Date().toISOString();
    const sinceStart = (): number => performance.now() - began;
    const log = (line: string): void => report(`${(sinceStart() / 1_000).toFixed(1).padStart(7)} s  ${line}`);
    await Promise.all([
      injectFaults(world, ways, plan, sinceStart, log, complaints),
      performUserActions(world, plan, sinceStart, log, complaints),
      performLifecycleActions(world, { vcenter, bmcs, pool, volumes }, plan, sinceStart, log, complaints),
      returnEmptyHosts(world, durationMs, sinceStart, complaints),
    ]);
    nova.cure();
    const endedMs = performance.now();
    await reviveDead(world, csi);
    const restored = await Promise.all([
      chosen.includes('hypervisors') ? restoreHypervisors(world, bmcs) : [],
      chosen.includes('vms') ? restoreVirtualMachines(world) : [],
      pool === null ? [] : restorePool(world, vcenter, pool),
      volumes === null ? [] : restoreVolumes(world, volumes),
    ]);
    complaints.push(...restored.flat());
    await untilIdle(world).catch((error: unknown) => complaints.push((error as Error).message));
    const recoverySeconds = (performance.now() - endedMs) / 1_000;
    const handles = { ...world.lab.handles, vsphere: vcenter.handle };
    const snapshot = await readWorld({
      ...world,
      lab: { ...world.lab, handles },
      readPower: () => bmcs.readPower(),
      ...(vms !== undefined && { vms }),
      ...(pool !== null && { agentLog: pool.log }),
      ...(volumes !== null && { volumeLog: volumes.log }),
    });
    complaints.push(...violations(snapshot));
    const agents = new Set(snapshot.agents.map(({ uid }) => uid)).size;
    if (pool !== null && agents === 0) complaints.push('no VsphereAgent was seen');
    if (volumes !== null) complaints.push(...(await removeVolumes(world, volumes)));
    const evictions = world.evictions.count();
    const { count: failures } = await world.client.workflow.count(
      `WorkflowType = "handleNodeFailure" AND StartTime > "${beganAt}"`,
    );
    const moves = snapshot.migrationEvents.filter(({ status }) => status === 'completed').length;
    const evacuated = snapshot.migrationEvents.filter(
      ({ type, status }) => type === 'evacuation' && (status === 'done' || status === 'completed'),
    );
    const fencings = snapshot.audit.filter(
      ({ action, after }) => action === 'ensureForcedDown' && (after as { forcedDown?: boolean } | null)?.forcedDown,
    ).length;
    return {
      complaints,
      snapshot,
      faults: plan.faults.length,
      userActions: plan.userActions.length,
      hypervisorActions: plan.hypervisorActions.length,
      vmActions: plan.vmActions.length,
      poolActions: plan.poolActions.length,
      agents,
      volumeActions: plan.volumeActions.length,
      clones: snapshot.dataVolumes.filter(({ succeededMs }) => succeededMs !== null).length,
      evictions,
      failures,
      fencings,
      evacuations: new Set(evacuated.map(({ id }) => id)).size,
      moves,
      recoverySeconds,
    };
  } finally {
    await world.drover.kill('worker').catch(() => undefined);
    const complain = (error: unknown): number => complaints.push(`not cleared up: ${(error as Error).message}`);
    await pool?.close().catch(complain);
    await volumes?.close().catch(complain);
    if (chosen.includes('hypervisors')) await removeHypervisors(world).catch(complain);
    if (chosen.includes('vms')) await removeVirtualMachines(world).catch(complain);
    await world.close();
    await nova.close();
    await vcenter.close();
    await bmcs.close();
  }
}

/** drover reaches Nova through the proxy only. */
async function sendThrough(world: World, { nova }: Ways, settings: object): Promise<void> {
  const { clouds } = parse(readFileSync(world.lab.handles.openstack.cloudsFile, 'utf8')) as {
    clouds: Record<string, object>;
  };
  const file = join(world.dir, 'clouds.yaml');
  writePrivateFile(file, stringify({ clouds: { lab: { ...clouds['lab'], compute_endpoint_override: nova.url } } }));
  await world.replaceDrover({
    settings,
    env: { OS_CLIENT_CONFIG_FILE: file },
  });
}

/** Servers of every migration behaviour, a few on each host. */
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

async function injectFaults(
  world: World,
  ways: Ways,
  { faults }: ChaosPlan,
  sinceStart: () => number,
  log: (line: string) => void,
  complaints: string[],
): Promise<void> {
  for (const [atMs, those] of Map.groupBy(faults, (one) => one.atMs)) {
    await delay(Math.max(0, atMs - sinceStart()));
    log(those.map(({ target, how, forMs }) => `${how} ${target} for ${forMs} ms`).join(', '));
    const outcomes = await Promise.allSettled(those.map((one) => inject(world, ways, one)));
    const [revived] = await Promise.allSettled([reviveDead(world, ways.csi)]);
    for (const outcome of [...outcomes, revived])
      if (outcome.status === 'rejected') complaints.push(`not healed: ${(outcome.reason as Error).message}`);
  }
}

async function performUserActions(
  world: World,
  { userActions }: ChaosPlan,
  sinceStart: () => number,
  log: (line: string) => void,
  complaints: string[],
): Promise<void> {
  for (const action of userActions) {
    await delay(Math.max(0, action.atMs - sinceStart()));
    try {
      log(await performUserAction(world, action, hosts, keep));
    } catch (error) {
      complaints.push(`${action.what} could not be done: ${(error as Error).message}`);
    }
  }
}

/**
 * One after the other for each hypervisor, each virtual machine, the pool and the volumes; none waits for another's.
 */
async function performLifecycleActions(
  world: World,
  {
    vcenter,
    bmcs,
    pool,
    volumes,
  }: { vcenter: ChaosVcenter; bmcs: ChaosBmcs; pool: ChaosPool | null; volumes: ChaosVolumes | null },
  { hypervisorActions, vmActions, poolActions, volumeActions }: ChaosPlan,
  sinceStart: () => number,
  log: (line: string) => void,
  complaints: string[],
): Promise<void> {
  const performInOrder = async <One extends { atMs: number; what: string }>(
    mine: readonly One[],
    perform: (action: One) => Promise<string>,
  ): Promise<void> => {
    for (const action of mine) {
      await delay(Math.max(0, action.atMs - sinceStart()));
      try {
        log(await perform(action));
      } catch (error) {
        complaints.push(`${action.what} could not be done: ${(error as Error).message}`);
      }
    }
  };
  const each = [...Map.groupBy(hypervisorActions, ({ hypervisor }) => hypervisor).values()].map((mine) =>
    performInOrder(mine, (action) => performHypervisorAction(world, bmcs, action)),
  );
  const eachVm = [...Map.groupBy(vmActions, ({ vm }) => vm).values()].map((mine) =>
    performInOrder(mine, (action) => performVmAction(world, vcenter, action)),
  );
  const ofPool = pool === null ? [] : [performInOrder(poolActions, (action) => performPoolAction(world, pool, action))];
  const ofVolumes =
    volumes === null ? [] : [performInOrder(volumeActions, (action) => performVolumeAction(world, volumes, action))];
  await Promise.all([...each, ...eachVm, ...ofPool, ...ofVolumes]);
}

/** As a user: removes Evictions that have ended, so that the load goes on. */
async function returnEmptyHosts(
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

/**
 * Every Eviction is reconciled, and no run of an Eviction, a hypervisor, its failure, a virtual machine, a VsphereAgent
 * or a DataVolume is open.
 */
const untilIdle = (world: World): Promise<unknown> =>
  until('everything to be idle', idleMs, async () => {
    const open = (await list(world)).filter((eviction) => !kindTable.Eviction.isReconciled(eviction, 'act'));
    if (open.length > 0) return open.map((eviction) => `${eviction.metadata.name} is ${reasonOf(eviction)}`).join(', ');
    const running: string[] = [];
    for await (const { workflowId } of world.client.workflow.list({
      query:
        'ExecutionStatus="Running" AND WorkflowType IN ("evictHypervisor", "migrateInstance", "reconcileHypervisor", "handleNodeFailure", "reconcileVirtualMachine", "reconcileAgent", "cloneDataVolume")',
    }))
      running.push(workflowId);
    return running.length === 0 ? true : `open: ${running.join(', ')}`;
  });
