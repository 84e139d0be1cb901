import { labClock } from '../../lab/clock.ts';
import { findCondition } from '../../contracts/conditions.ts';
import type { Hypervisor } from '../../contracts/crds/hypervisor.ts';
import { hypervisorSchema } from '../../contracts/crds/hypervisor.ts';
import { hypervisorConditions } from '../../contracts/hypervisor/conditions.ts';
import { hypervisorId, nodeMetadata } from '../../contracts/ids.ts';
import type { AgentReport } from '../../lab/hypervisors.ts';
import { reportAgentStatus, testAggregate } from '../../lab/hypervisors.ts';
import { createAggregate } from '../../lab/openstack/hosts.ts';
import type { Session } from '../../lab/openstack/session.ts';
import { until } from './until.ts';
import type { World } from './world.ts';
import { quickSettings } from './world-base.ts';

/**
 * What the flows of hypervisors have in common: Nodes as their kubelets, agents and Gardener would write them, and what
 * can be observed of the result.
 */

/** Settings of drover that drive hypervisors, in seconds rather than minutes. */
export const lifecycleSettings = (more: { hypervisor?: object; nodeFailure?: object } = {}): object => ({
  ...quickSettings,
  modes: { Eviction: 'act', Hypervisor: 'act' },
  ...more,
  hypervisor: { recheckMs: 2_000, lingerMs: 300, registrationMs: 60_000, testRetryDelayMs: 200, ...more.hypervisor },
});

interface Aggregate {
  id: number;
  name: string;
  hosts: string[];
}

export const listAggregates = async (session: Session): Promise<Aggregate[]> =>
  (await session.compute<{ aggregates: Aggregate[] }>('GET', '/os-aggregates')).aggregates;

/** Makes a zone, the test aggregate, and others by name, where they are not there. */
export async function ensureFixtureAggregates(
  session: Session,
  { zone, others = [] }: { zone?: string; others?: readonly string[] },
): Promise<void> {
  const names = (await listAggregates(session)).map(({ name }) => name);
  const wanted = [
    ...(zone === undefined ? [] : [{ name: zone, availabilityZone: zone }]),
    testAggregate,
    ...others.map((name) => ({ name })),
  ];
  for (const aggregate of wanted) if (!names.includes(aggregate.name)) await createAggregate(session, aggregate);
}

export interface NodeSpec {
  zone: string;
  /** Value of the label that switches the lifecycle on; null: no label. Default: `skip-tests`. */
  lifecycle?: string | null;
  aggregates?: readonly string[];
  customTraits?: readonly string[];
}

/** A Node whose labels make it a hypervisor. */
export const nodeManifest = (
  name: string,
  { zone, lifecycle = 'skip-tests', aggregates = [], customTraits = [] }: NodeSpec,
): object => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: {
    name,
    labels: {
      [nodeMetadata.virtDriver]: 'kvm',
      [nodeMetadata.zone]: zone,
      'kubernetes.io/hostname': name,
      ...(lifecycle !== null && { [nodeMetadata.lifecycle]: lifecycle }),
    },
    annotations: {
      ...(aggregates.length > 0 && { [nodeMetadata.aggregates]: aggregates.join(',') }),
      ...(customTraits.length > 0 && { [nodeMetadata.customTraits]: customTraits.join(',') }),
    },
  },
});

/** What is reported of a Node, all of it at once; what is not said is as it is on a Node that is well. */
export interface NodeReport {
  ready?: 'True' | 'False' | 'Unknown';
  /** Milliseconds since the epoch; default: now. Kubernetes keeps whole seconds. */
  readySinceMs?: number;
  bootId?: string;
  /** InternalIP. */
  address?: string;
  /** Since when machine-controller-manager terminates it, milliseconds since the epoch. */
  terminatingSinceMs?: number;
  /** Reason of the condition `InPlaceUpdate`. */
  inPlaceUpdate?: string;
}

/** What flows do and observe in a world. Hosts that the lab has made Hypervisors for get theirs from their Nodes. */
export type HypervisorFixture = Awaited<ReturnType<typeof openHypervisorFixture>>;

/** @param hosts whose Hypervisors are to come from their Nodes */
export async function openHypervisorFixture(
  world: World,
  { zone, aggregates = [], hosts }: { zone: string; aggregates?: readonly string[]; hosts: readonly string[] },
) {
  await ensureFixtureAggregates(world.session, { zone, others: aggregates });
  await world.kubectl(['delete', 'hypervisor', ...hosts, '--ignore-not-found']);

  const merge = (kind: string, name: string, body: object, ...more: string[]): Promise<string> =>
    world.kubectl(['patch', kind, name, ...more, '--type=merge', '--patch', JSON.stringify(body)]);
  // Not by kubectl: waits poll several times a second, and it takes a seventh of one.
  const read = async (host: string): Promise<Hypervisor | null> => {
    const found = await world.getHypervisor(host);
    return found === null ? null : hypervisorSchema.parse(found);
  };

  return {
    zone,
    read,
    /** Makes the Node, or changes it to that. */
    applyNode: (host: string, spec: Partial<NodeSpec> = {}): Promise<string> =>
      world.kubectl(['apply', '-f', '-'], JSON.stringify(nodeManifest(host, { zone, ...spec }))),
    /** As its kubelet and machine-controller-manager report it. */
    reportNode: (
      host: string,
      { ready = 'True', readySinceMs, bootId = 'boot-1', address, terminatingSinceMs, inPlaceUpdate }: NodeReport = {},
    ): Promise<string> => {
      const now = new Date(labClock().now()).toISOString();
      const condition = (type: string, status: string, reason: string, sinceMs = labClock().now()): object => ({
        type,
        status,
        reason,
        message: reason,
        lastHeartbeatTime: now,
        lastTransitionTime: new Date(sinceMs).toISOString(),
      });
      const conditions = [
        condition('Ready', ready, 'FlowTest', readySinceMs),
        ...(terminatingSinceMs === undefined
          ? []
          : [condition('Terminating', 'True', 'ScaleDown', terminatingSinceMs)]),
        ...(inPlaceUpdate === undefined ? [] : [condition('InPlaceUpdate', 'True', inPlaceUpdate)]),
      ];
      const nodeInfo = {
        bootID: bootId,
        machineID: host,
        systemUUID: host,
        kernelVersion: '6',
        osImage: 'x',
        containerRuntimeVersion: 'x',
        kubeletVersion: 'v1',
        kubeProxyVersion: 'v1',
        operatingSystem: 'linux',
        architecture: 'amd64',
      };
      const addresses = address === undefined ? {} : { addresses: [{ type: 'InternalIP', address }] };
      return merge('node', host, { status: { conditions, nodeInfo, ...addresses } }, '--subresource=status');
    },
    changeNode: (host: string, change: { metadata?: object; spec?: object }): Promise<string> =>
      merge('node', host, change),
    reportAgent: (host: string, report?: AgentReport): Promise<void> => reportAgentStatus(world.api, host, report),
    patchSpec: (host: string, spec: object): Promise<string> => merge('hypervisor', host, { spec }),
    /** As a user resets a status. Only of a reconciled one: drover's own writes would be lost. */
    clearCondition: async (host: string, type: string): Promise<void> => {
      const conditions = (await read(host))?.status?.conditions?.filter((condition) => condition.type !== type) ?? [];
      await merge('hypervisor', host, { status: { conditions } }, '--subresource=status');
    },
    /** Waits until the Hypervisor says that state, and that it is where it should be. */
    untilState: (
      host: string,
      state: string,
      status: 'True' | 'False' | 'Unknown' = 'True',
      deadlineMs = 180_000,
    ): Promise<Hypervisor> =>
      until(`${host} to be ${state} ${status}`, deadlineMs, async () => {
        const hypervisor = await read(host);
        const lifecycle = findCondition(hypervisor?.status?.conditions, hypervisorConditions.lifecycle);
        if (hypervisor !== null && lifecycle?.reason === state && lifecycle.status === status) return hypervisor;
        return lifecycle === undefined
          ? 'no Hypervisor yet'
          : `${lifecycle.reason} ${lifecycle.status}: ${lifecycle.message}`;
      }),
    /** Waits until a condition has that reason and, where it is given, says that. */
    untilCondition: (
      host: string,
      type: string,
      reason: string,
      says = /(?:)/u,
      deadlineMs = 180_000,
    ): Promise<Hypervisor> =>
      until(`${host} to be ${type}/${reason}`, deadlineMs, async () => {
        const hypervisor = await read(host);
        const found = findCondition(hypervisor?.status?.conditions, type);
        return hypervisor !== null && found?.reason === reason && says.test(found.message ?? '')
          ? hypervisor
          : `${found?.reason ?? 'no condition'}: ${found?.message ?? ''}`;
      }),
    /** Waits until the run that drives the host is closed, as that of a reconciled one is. */
    untilRunClosed: (host: string): Promise<true> =>
      until<true>(`the run of ${host} to be closed`, 60_000, async () => {
        const { status } = await world.client.workflow.getHandle(hypervisorId(host)).describe();
        return status.name === 'COMPLETED' || status.name;
      }),
    /** Sorted. */
    aggregatesOf: async (host: string): Promise<string[]> =>
      (await listAggregates(world.session))
        .filter(({ hosts: members }) => members.includes(host))
        .map(({ name }) => name)
        .toSorted(),
  };
}
