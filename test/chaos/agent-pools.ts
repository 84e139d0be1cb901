import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { agentPoolAnnotations, agentPoolConditions } from '../../contracts/agent-pool/metadata.ts';
import { readHeld } from '../../contracts/agent-pool/planned-actions.ts';
import { findCondition } from '../../contracts/conditions.ts';
import { agentPoolId, vsphereAgentId } from '../../contracts/ids.ts';
import { installNeighbourKinds } from '../../lab/agent-neighbour-kinds.ts';
import type { Neighbours } from '../../lab/agent-neighbours.ts';
import {
  agentFixture,
  applyPool,
  labPoolAccess,
  listBootedVms,
  neighboursOf,
  readPool,
  setIsoUrl,
  setUpAgents,
} from '../../lab/agents.ts';
import { labClock } from '../../lab/clock.ts';
import { applyObject } from '../../lab/kubernetes-objects.ts';
import { openObjects } from '../../runtime/kubernetes/objects.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import { neighbourResources, resources } from '../../runtime/kubernetes/resources.ts';
import { type AgentLog, openAgentLog } from '../flows/agent-log.ts';
import { until } from '../flows/until.ts';
import type { World } from '../flows/world.ts';
import type { ChaosVcenter } from './chaos-vcenter.ts';
import { patiently } from './patiently.ts';
import type { PoolAction } from './plan.ts';

/**
 * A pool of agents whose NodePool is scaled while everything breaks, and its neighbours, whom kube-apiserver and
 * vCenter fail too.
 */

const { namespace, controlPlaneNamespace, pool: name } = agentFixture;

/** As many Nodes as there are at most, and as there are to be once everything is whole again; then none. */
const mostNodes = 8;
const lastNodes = [3, 0] as const;
/** Between two rounds of the neighbours. */
const roundMs = 1_000;
/** What takes a guest minutes takes a second here. */
const played = { discoveryMs: 500, installMs: 1_000, drainMs: 2_000, recreates: true };
/** Longer than any back-off that a run may be in. */
const serviceMs = 300_000;
const patience = (): AbortSignal => AbortSignal.timeout(10_000);
const isoToken = 'a-token-of-chaos-0123456789abcdef';

export interface ChaosPool {
  neighbours: Neighbours;
  log: AgentLog;
  /** Neighbours and users one after the other, as they share what is played. */
  inTurn: <Result>(work: () => Promise<Result>) => Promise<Result>;
  close(): Promise<void>;
}

/** Section `agentPools`: what waits for minutes waits for seconds. */
export const poolSettings = ({ isos }: Pick<ChaosVcenter, 'isos'>): object => ({
  discoveryMs: 60_000,
  recheckMs: 5_000,
  lingerMs: 300,
  publishMinMs: 500,
  deleteSurplus: true,
  surplusMs: 10_000,
  replacementsPerHour: 1_000,
  iso: { hosts: [new URL(isos.url).host], caFile: isos.caFile },
});

/** Before the drover is started that drives it. */
export async function openPool(world: World, { handle, isos, witness }: ChaosVcenter): Promise<ChaosPool> {
  const { api, planted, lab } = world;
  await installNeighbourKinds(lab.handles.kubernetes);
  await setUpAgents(api, labPoolAccess(handle));
  // The lab's cluster is the hosted one, too.
  await applyObject(api, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: controlPlaneNamespace, name: 'admin-kubeconfig' },
    stringData: { kubeconfig: readFileSync(lab.handles.kubernetes.kubeconfig, 'utf8') },
  });
  planted.push({ name: 'the token of the ISO', value: isoToken });
  await setIsoUrl(api, `${isos.url}/images/${agentFixture.infraEnv}?image_token=${isoToken}`);
  await applyPool(api);
  const neighbours = neighboursOf(api, { clock: labClock(), listVms: () => listBootedVms(witness), ...played });
  const log = await openAgentLog(api, witness, () => neighbours.letGo());
  let last: Promise<unknown> = Promise.resolve();
  const inTurn: ChaosPool['inTurn'] = (work) => {
    const done = last.then(work, work);
    last = done.catch(() => undefined);
    return done;
  };
  const over = new AbortController();
  const playing = (async () => {
    while (!over.signal.aborted) {
      // What fails them is tried again with the next round.
      await inTurn(() => neighbours.round(patience())).catch(() => undefined);
      await delay(roundMs);
    }
  })();
  return {
    neighbours,
    log,
    inTurn,
    async close() {
      over.abort();
      await playing;
      await log.close();
    },
  };
}

/** Does what a user would, or Cluster API; returns what was done. */
export async function performPoolAction(
  world: World,
  { neighbours, inTurn }: ChaosPool,
  { what, lot }: PoolAction,
): Promise<string> {
  const objects = openObjects(world.api);
  const chosen = <Item>(items: readonly Item[]): Item | undefined => items[Math.floor(lot * items.length)];
  const agents = () => patiently(() => objects.list(resources.VsphereAgent, { namespace }, patience()));
  switch (what) {
    case 'scale': {
      const count = Math.floor(lot * (mostNodes + 1));
      await inTurn(() => patiently(() => neighbours.scale(count, patience())));
      return `scale the NodePool to ${count}`;
    }
    case 'deleteMachine': {
      const machine = chosen(await patiently(() => machinesOf(world)))?.metadata.name;
      if (machine === undefined) return 'there is no Machine to delete';
      await inTurn(() => patiently(() => neighbours.deleteMachine(machine, patience())));
      return `delete Machine ${machine}`;
    }
    case 'deleteAgent': {
      const agent = chosen(await agents());
      if (agent === undefined) return 'there is no VsphereAgent to delete';
      await patiently(() => objects.delete(resources.VsphereAgent, agent.metadata, patience()));
      return `delete VsphereAgent ${agent.metadata.name} (${agent.status?.vm?.phase ?? 'new'})`;
    }
    case 'editTemplate': {
      const memoryMiB = lot < 0.5 ? 1_024 : 2_048;
      await change(world, { spec: { template: { memoryMiB } } });
      return `VMs are to have ${memoryMiB} MiB`;
    }
    case 'checkIso':
      await change(world, { metadata: { annotations: { [agentPoolAnnotations.forceIsoRefresh]: String(lot) } } });
      return 'check the ISO';
    case 'terminate': {
      const agent = chosen(await agents())?.metadata.name;
      const id = agent === undefined || lot < 0.3 ? agentPoolId(namespace, name) : vsphereAgentId(namespace, agent);
      // There may be none, or Temporal is away: that is not an error.
      const said = await world.client.workflow
        .getHandle(id)
        .terminate('chaos')
        .then(
          () => '',
          (error: unknown) => `: ${(error as Error).message}`,
        );
      return `terminate ${id}${said}`;
    }
  }
}

const change = ({ api }: World, body: object): Promise<unknown> => {
  const path = resourcePath('agent-forge.containeroo.ch/v1alpha1', 'vsphereagentpools', { namespace, name });
  return patiently(() => api.request({ method: 'PATCH', patchType: 'merge', path, body }, patience()));
};

const machinesOf = ({ api }: World) =>
  openObjects(api).list(neighbourResources.ClusterMachine, { namespace: controlPlaneNamespace }, patience());

/** At the end there are some Nodes, and then none. Returns what is not as it should be then. */
export async function restorePool(world: World, vcenter: ChaosVcenter, pool: ChaosPool): Promise<string[]> {
  const complaints: string[] = [];
  for (const count of lastNodes) {
    await pool.inTurn(() => patiently(() => pool.neighbours.scale(count, patience())));
    await until(`${count} Nodes, on as many VMs`, serviceMs, () => observePool(world, vcenter, pool, count)).catch(
      (error: unknown) => complaints.push((error as Error).message),
    );
  }
  return complaints;
}

/**
 * True: there are as many Machines as VMs, which are on, and as VsphereAgents, with no ISO in a drive;
 * and nothing else.
 */
async function observePool(
  world: World,
  { witness }: ChaosVcenter,
  pool: ChaosPool,
  count: number,
): Promise<true | string> {
  const objects = openObjects(world.api);
  const machines = await machinesOf(world);
  const vms = await listBootedVms(witness);
  const agents = await objects.list(resources.VsphereAgent, { namespace }, patience());
  // Others are left of VMs that are gone: assisted-service keeps what has registered.
  const bound = (await objects.list(neighbourResources.Agent, { namespace }, patience())).filter(
    ({ spec }) => spec?.clusterDeploymentName?.name !== undefined,
  );
  const status = (await readPool(world.api, patience()))?.status;
  const helped = await helpOut(world, pool, { machines, vms: vms.map((vm) => vm.name), status });
  if (helped !== null) return helped;
  const ready = findCondition(status?.conditions, agentPoolConditions.ready);
  const seen = [
    `${machines.length} Machines, ${machines.filter((one) => one.status?.phase === 'Running').length} run`,
    `VMs ${vms.map((vm) => `${vm.name} ${vm.isOn ? 'on' : 'off'}${vm.hasIso ? ' with its ISO' : ''}`).join(', ')}`,
    `VsphereAgents ${agents.map((one) => `${one.metadata.name} ${one.status?.vm?.phase ?? '-'}/${one.status?.vm?.reason ?? '-'}`).join(', ')}`,
    `${bound.length} Agents are bound`,
    `the pool says ${ready?.status ?? ''} ${ready?.reason ?? 'nothing'}: ${ready?.message ?? ''}`,
    `it plans ${JSON.stringify(status?.plannedActions)}`,
  ].join('; ');
  const isSo =
    [machines, vms, agents, bound].every(({ length }) => length === count) &&
    machines.every((one) => one.status?.phase === 'Running') &&
    vms.every((vm) => vm.isOn && !vm.hasIso) &&
    ready?.status === 'True';
  return isSo || seen;
}

interface Seen {
  machines: Awaited<ReturnType<typeof machinesOf>>;
  vms: readonly string[];
  status: NonNullable<Awaited<ReturnType<typeof readPool>>>['status'];
}

/** What is left to users: an approval, and the health check of Cluster API. Null: nothing was to be done. */
async function helpOut(
  world: World,
  { neighbours }: ChaosPool,
  { machines, vms, status }: Seen,
): Promise<string | null> {
  const held = (status?.plannedActions ?? []).flatMap((action) => readHeld(action) ?? []);
  const waiting = held.filter(({ waitsFor }) => waitsFor === 'ApprovalRequired').map((one) => one.name);
  if (waiting.length > 0) {
    await world.command('pools', 'approve', `${namespace}/${name}`, ...waiting);
    return 'what waits for it was approved';
  }
  for (const { metadata, status: its } of machines) {
    const node = its?.nodeRef?.name;
    if (node === undefined || metadata.deletionTimestamp !== undefined || vms.includes(node)) continue;
    await neighbours.deleteMachine(metadata.name, patience());
    return `Machine ${metadata.name} was deleted, as its Node ${node} is on no VM`;
  }
  return null;
}
