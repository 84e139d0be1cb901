import { type Condition, findCondition } from '../../contracts/conditions.ts';
import type { Eviction } from '../../contracts/crds/eviction.ts';
import { withClock } from '../../lab/clock.ts';
import { applyHypervisors } from '../../lab/hypervisors.ts';
import type { CommandEnd } from '../../lab/kubectl.ts';
import { applyObject } from '../../lab/kubernetes-objects.ts';
import { openObjects } from '../../runtime/kubernetes/objects.ts';
import { resources } from '../../runtime/kubernetes/resources.ts';
import { until } from '../flows/until.ts';
import { hosts, quickSettings } from '../flows/world-base.ts';
import { loadWorkflows } from './bundle.ts';
import { simulatedCommand } from './command.ts';
import { deploy, type Deployment, type DeploymentOptions } from './deployment.ts';

/** The host that tests evict, where one is enough. */
export const host = 'node-1';

const minuteMs = 60_000;
const { signal } = new AbortController();

/** drover over a region with hosts, and what a user does to evict one. */
export interface EvictionStory extends Pick<Deployment, 'simulation' | 'hosts'> {
  deployment: Deployment;
  admin: Deployment['kubernetes']['admin'];
  openstack: NonNullable<Deployment['openstack']>;
  /** Makes an Eviction; its name is the host's where `of` gives none. */
  evict: (of?: { name?: string; hypervisor?: string; annotations?: Record<string, string> }) => Promise<unknown>;
  /** The Eviction of that name. */
  read: (name?: string) => Promise<Eviction | null>;
  annotate: (annotations: Record<string, string>, name?: string) => Promise<unknown>;
  conditionOf: (type: string, name?: string) => Promise<Condition | undefined>;
  /** @param deadlineMs 10 min where it is not given */
  untilReason: (type: string, reason: string, deadlineMs?: number) => Promise<unknown>;
  drover: (...args: string[]) => Promise<CommandEnd>;
  /** Runs a story, in virtual time, once the hosts are there; and ends the deployment. */
  run: (story: () => Promise<void>, withinMs: number) => Promise<void>;
}

export async function openEvictionStory(
  options: Partial<Omit<DeploymentOptions, 'bundle' | 'parts'>> = {},
): Promise<EvictionStory> {
  const deployment = deploy({
    bundle: await loadWorkflows(),
    seed: 1,
    parts: ['openstack'],
    settings: quickSettings,
    bridge: true,
    ...options,
  });
  const { simulation, kubernetes, openstack } = deployment;
  const { admin } = kubernetes;
  if (openstack === null) throw new Error('there is no OpenStack');
  const objects = openObjects(admin);
  const read: EvictionStory['read'] = (name = host) => objects.get(resources.Eviction, { name }, signal);
  const conditionOf: EvictionStory['conditionOf'] = async (type, name) =>
    findCondition((await read(name))?.status?.conditions, type);
  return {
    deployment,
    simulation,
    hosts: deployment.hosts,
    admin,
    openstack,
    evict: ({ hypervisor = host, name = hypervisor, annotations = {} } = {}) =>
      applyObject(admin, {
        apiVersion: 'kvm.cloud.sap/v1',
        kind: 'Eviction',
        metadata: { name, annotations },
        spec: { hypervisor, reason: 'test' },
      }),
    read,
    annotate: (annotations, name = host) =>
      objects.patch(resources.Eviction, { name }, { metadata: { annotations } }, signal),
    conditionOf,
    untilReason: (type, reason, deadlineMs = 10 * minuteMs) =>
      until(`the reason ${reason}`, deadlineMs, async () => {
        const found = await conditionOf(type);
        return found?.reason === reason || `${found?.reason}: ${found?.message}`;
      }),
    drover: (...args) => simulatedCommand(deployment, args),
    async run(story, withinMs) {
      const whole = async (): Promise<void> => {
        await applyObject(admin, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'monsoon3' } });
        await applyHypervisors(admin, Object.fromEntries(hosts.map((name) => [name, {}])));
        await story();
      };
      await simulation.run(withClock(simulation.clock, whole), withinMs);
      deployment.close();
    },
  };
}
