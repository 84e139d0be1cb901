import type { VsphereAgentPool } from '../../../contracts/crds/vsphere-agent-pool.ts';
import type { VsphereAgent } from '../../../contracts/crds/vsphere-agent.ts';
import type { Neighbours, NeighbourOptions } from '../../../lab/agent-neighbours.ts';
import {
  agentFixture,
  applyPool,
  listBootedVms,
  neighboursOf,
  readPool,
  setIsoUrl,
  setUpAgents,
} from '../../../lab/agents.ts';
import { labClock, withClock } from '../../../lab/clock.ts';
import type { Kubernetes } from '../../../runtime/kubernetes/kubernetes.ts';
import { openObjects } from '../../../runtime/kubernetes/objects.ts';
import { resources } from '../../../runtime/kubernetes/resources.ts';
import type { VcenterWitness } from '../../../lab/vsphere/witness.ts';
import { violations } from '../../invariants/violations.ts';
import { loadWorkflows } from '../bundle.ts';
import { deploy, type Deployment, type DeploymentOptions } from '../deployment.ts';
import { snapshotOf } from '../snapshot.ts';

const second = 1_000;
export const minute = 60 * second;
/** Between two rounds of the neighbours. */
const roundMs = 5 * second;
/** Any signal will do: in virtual time nothing hangs. */
export const never = new AbortController().signal;
export const isoUrl = (token: string, id = 'one'): string => `https://images.test/images/${id}?image_token=${token}`;

/** A pool of agents with its neighbours and a vCenter, a worker and a bridge, and time that passes at will. */
export interface PoolWorld {
  readonly deployment: Deployment;
  /** kube-apiserver, as its administrator. */
  readonly api: Kubernetes;
  readonly witness: VcenterWitness;
  readonly neighbours: Neighbours;
  /** The neighbours go on meanwhile. */
  pass(ms: number): Promise<void>;
  /** Until it is so, for at most that long; whether it is. */
  until(isSo: () => Promise<boolean>, withinMs?: number): Promise<boolean>;
  scale(replicas: number): Promise<void>;
  /** Worker and bridge are away meanwhile; the neighbours are not. */
  down(ms: number, meanwhile?: () => Promise<void>): Promise<void>;
  /** Names of the VMs in the folder of the pool. */
  vms(): Promise<string[]>;
  pool(name?: string): Promise<VsphereAgentPool>;
  agents(): Promise<VsphereAgent[]>;
  violations(): Promise<string[]>;
}

export interface PoolWorldOptions extends Partial<Omit<DeploymentOptions, 'settings' | 'parts'>> {
  /** As in `agentPools`. */
  settings?: object;
  /** Other sections of the settings. */
  sections?: object;
  neighbours?: Partial<NeighbourOptions>;
  /** Before the pool is there. */
  prepare?: (api: Kubernetes, deployment: Deployment) => Promise<void>;
  /** Of the pool that is made first; null: none is. */
  pool?: Parameters<typeof applyPool>[1] | null;
}

const forAtMostMs = 48 * 60 * minute;

export const poolSettings = (own: object = {}): object => ({
  modes: { Eviction: 'off', VsphereAgentPool: 'act', VsphereAgent: 'act' },
  agentPools: {
    discoveryMs: 10 * minute,
    lingerMs: 100,
    publishMinMs: 0,
    ...own,
    iso: { hosts: ['images.test'] },
  },
});

/** Runs a story in a world of its own: an InfraEnv with an ISO, a pool, and no demand yet. */
export async function inPoolWorld<Result>(
  { settings, sections, neighbours: played = {}, prepare, pool = {}, ...options }: PoolWorldOptions,
  story: (world: PoolWorld) => Promise<Result>,
): Promise<Result> {
  const deployment = deploy({
    bundle: await loadWorkflows(),
    seed: 1,
    parts: ['vsphere'],
    settings: { ...poolSettings(settings), ...sections },
    bridge: true,
    ...options,
  });
  const { simulation, kubernetes, vcenter, isos } = deployment;
  if (vcenter === null) throw new Error('a world of agents has a vCenter');
  const { witness } = vcenter;
  const api = kubernetes.admin;
  const client = openObjects(api);
  const { namespace } = agentFixture;
  const neighbours = neighboursOf(api, {
    clock: { now: () => labClock().now() },
    listVms: () => listBootedVms(witness),
    discoveryMs: 30 * second,
    installMs: minute,
    ...played,
  });
  const pass = async (ms: number): Promise<void> => {
    for (let passedMs = 0; passedMs < ms; passedMs += roundMs) {
      await labClock().sleep(Math.min(roundMs, ms - passedMs));
      await neighbours.round(never);
    }
  };
  const world: PoolWorld = {
    deployment,
    api,
    witness,
    neighbours,
    pass,
    async until(isSo, withinMs = 30 * minute) {
      for (let passedMs = 0; passedMs < withinMs; passedMs += roundMs) {
        if (await isSo()) return true;
        await pass(roundMs);
      }
      return await isSo();
    },
    scale: (replicas) => neighbours.scale(replicas, never),
    async down(ms, meanwhile = () => Promise.resolve()) {
      deployment.bridge?.kill();
      simulation.killWorker(ms);
      await meanwhile();
      await pass(ms);
      deployment.bridge?.start();
    },
    vms: async () => (await listBootedVms(witness)).map(({ name }) => name).toSorted(),
    async pool(name) {
      const found = await readPool(api, never, name);
      if (found === null) throw new Error('there is no such pool');
      return found;
    },
    agents: () => client.list(resources.VsphereAgent, { namespace }, never),
    async violations() {
      const seen = { sinceMs: 0, expected: new Map(), ownChanges: [], hosts: null, vms: null };
      return violations(await snapshotOf(deployment, seen));
    },
  };
  try {
    const run = async (): Promise<Result> => {
      const { username, password } = await vcenter.settings.credential(never);
      await setUpAgents(api, { url: vcenter.settings.url, username, password });
      isos.set(isoUrl('a'), 'the first ISO');
      await setIsoUrl(api, isoUrl('a'));
      await prepare?.(api, deployment);
      if (pool !== null) await applyPool(api, pool);
      return await story(world);
    };
    return (await simulation.run(withClock(simulation.clock, run), forAtMostMs)) as Result;
  } finally {
    deployment.close();
  }
}

/** `True Reconciled`, by the condition's type. */
export const conditionOf = ({ status }: Pick<VsphereAgentPool, 'status'>, type: string): string => {
  const found = status?.conditions?.find((one) => one.type === type);
  return found === undefined ? 'none' : `${found.status} ${found.reason}`;
};

/** `Bound AgentBound`, by the name of the VsphereAgent. */
export const phasesOf = (agents: readonly VsphereAgent[]): Record<string, string> =>
  Object.fromEntries(
    agents.map(({ metadata, status }) => [
      metadata.name,
      `${status?.vm?.phase ?? 'none'} ${status?.vm?.reason ?? 'none'}`,
    ]),
  );

/** What the pool says that it waits for before VMs go, by their VsphereAgents. */
export const heldOf = ({ status }: Pick<VsphereAgentPool, 'status'>): Record<string, string> =>
  Object.fromEntries(
    (status?.plannedActions ?? []).flatMap(({ type, name, reason }) => {
      const [, waitsFor] = /^(\w+): /u.exec(reason ?? '') ?? [];
      return type === 'DeleteVM' && name !== undefined && waitsFor !== undefined ? [[name, waitsFor]] : [];
    }),
  );

/** Names of the VMs of the fixture's NodePool. */
export const namesOf = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${agentFixture.nodePool}-${String(index + 1).padStart(3, '0')}`);
