import { isDeepStrictEqual } from 'node:util';
import type { Agent } from '../contracts/crds/agent.ts';
import type { AgentMachine } from '../contracts/crds/agent-machine.ts';
import type { ClusterMachine } from '../contracts/crds/cluster-machine.ts';
import { neighbours as names } from '../contracts/agent-pool/metadata.ts';
import type { Clock } from '../runtime/clock.ts';
import { isFailure } from '../runtime/kubernetes/kubernetes-faults.ts';
import type { KubernetesObjects, MergePatch } from '../runtime/kubernetes/objects.ts';
import { neighbourResources as resources } from '../runtime/kubernetes/resources.ts';

/**
 * The neighbours of an agent pool, as their documents say they behave, on the objects of a real kube-apiserver or a
 * simulated one: Cluster API's MachineSet, its Agent provider, and assisted-service. Each round does what they would
 * have done by then.
 */

/** A VM as assisted-service's agent on it would see itself. */
export interface BootedVm {
  name: string;
  /** Lower case, with hyphens. */
  biosUuid: string;
  /** Of all its cards, as Linux writes them. */
  macAddresses: readonly string[];
  isOn: boolean;
  /** An ISO is in its drive. */
  hasIso: boolean;
}

export interface Neighbours {
  /** As a MachineSet does: makes Machines with their AgentMachines, or deletes the newest. */
  scale(replicas: number, signal: AbortSignal): Promise<void>;
  /** Deletes the Machine, as a user or a health check does. */
  deleteMachine(name: string, signal: AbortSignal): Promise<void>;
  round(signal: AbortSignal): Promise<void>;
  /** Names of the Nodes of the hosted cluster. */
  nodes(): readonly string[];
  /**
   * By the uid of each Machine that may be gone: when it was last asked for to be let go, in Unix ms. It was there
   * until then.
   */
  letGo(): ReadonlyMap<string, number>;
}

export interface NeighbourOptions {
  client: KubernetesObjects;
  clock: Pick<Clock, 'now'>;
  /** Of the pool and its InfraEnv. */
  namespace: string;
  infraEnv: string;
  controlPlaneNamespace: string;
  hostedCluster: string;
  nodePool: string;
  /** What AgentMachines select by. */
  labels: Readonly<Record<string, string>>;
  /** Of the Agent provider: before and after June 2026. */
  conditions: 'legacy' | 'v1beta2';
  discoveryMs: number;
  /** So long a Machine that is being deleted is drained. Default: not at all. */
  drainMs?: number;
  installMs: number;
  listVms: (signal: AbortSignal) => Promise<readonly BootedVm[]>;
  /** A VM of which no Agent ever comes. Default: none. */
  isMute?: (vm: BootedVm) => boolean;
  /** Whether Machines that others delete are made again, as a MachineSet does. Default: no. */
  recreates?: boolean;
  /** Of the AgentMachine of a Machine. Default: the same. */
  agentMachineName?: (machine: string) => string;
}

type Condition = Record<'type' | 'status' | 'reason' | 'message' | 'lastTransitionTime', string>;

const hook = 'pre-terminate.delete.hook.machine.cluster.x-k8s.io/agentmachine';
const deprovision = 'agentmachine.agent-install.openshift.io/deprovision';
const machineFinalizer = 'machine.cluster.x-k8s.io';
const apiGroup = 'cluster.x-k8s.io/v1beta1';

export function playNeighbours(options: NeighbourOptions): Neighbours {
  const { client, clock, namespace, controlPlaneNamespace, nodePool } = options;
  /** When each VM was first seen on, and each Agent first seen bound. */
  const bootedMs = new Map<string, number>();
  const boundMs = new Map<string, number>();
  const drainedMs = new Map<string, number>();
  const nodes = new Set<string>();
  const letGoMs = new Map<string, number>();
  let made = 0;
  let wanted: number | null = null;

  const isDraining = (uid: string): boolean => {
    const sinceMs = drainedMs.get(uid) ?? clock.now();
    drainedMs.set(uid, sinceMs);
    return clock.now() - sinceMs < (options.drainMs ?? 0);
  };
  const now = (): string => new Date(clock.now()).toISOString();
  const condition = (type: string, status: boolean, reason: string): Condition => ({
    type,
    status: status ? 'True' : 'False',
    reason,
    message: reason,
    lastTransitionTime: now(),
  });
  const annotations = { [names.nodePool]: `${namespace}/${nodePool}` };
  const machinesOf = (signal: AbortSignal) =>
    client.list(resources.ClusterMachine, { namespace: controlPlaneNamespace }, signal);
  const agentMachinesOf = (signal: AbortSignal) =>
    client.list(resources.AgentMachine, { namespace: controlPlaneNamespace }, signal);
  const agentsOf = (signal: AbortSignal) => client.list(resources.Agent, { namespace }, signal);

  async function makeMachine(signal: AbortSignal): Promise<void> {
    made += 1;
    const name = `${nodePool}-${String(made).padStart(3, '0')}`;
    const metadata = { namespace: controlPlaneNamespace, name, annotations };
    const machine = await client.create(
      resources.ClusterMachine,
      {
        metadata: { ...metadata, annotations: { ...annotations, [hook]: '' }, finalizers: [machineFinalizer] },
        spec: { clusterName: options.hostedCluster },
      },
      signal,
    );
    if (machine !== null) await makeAgentMachine(machine, signal);
  }

  async function makeAgentMachine({ metadata: { name, uid } }: ClusterMachine, signal: AbortSignal): Promise<void> {
    await client.create(
      resources.AgentMachine,
      {
        metadata: {
          namespace: controlPlaneNamespace,
          name: options.agentMachineName?.(name) ?? name,
          annotations,
          finalizers: [deprovision],
          ownerReferences: [{ apiVersion: apiGroup, kind: 'Machine', name, uid, controller: true }],
        },
        spec: { agentLabelSelector: { matchLabels: options.labels } },
      },
      signal,
    );
  }

  /** Assisted-service: an Agent for each VM that has booted the ISO, and its installation when it is taken. */
  async function discover(signal: AbortSignal): Promise<void> {
    const [vms, agents] = [await options.listVms(signal), await agentsOf(signal)];
    const infraEnv = await client.get(resources.InfraEnv, { namespace, name: options.infraEnv }, signal);
    for (const vm of vms) {
      if (!vm.isOn || !vm.hasIso || options.isMute?.(vm) === true) continue;
      const sinceMs = bootedMs.get(vm.biosUuid) ?? clock.now();
      bootedMs.set(vm.biosUuid, sinceMs);
      if (clock.now() - sinceMs < options.discoveryMs || agents.some((agent) => agent.metadata.name === vm.biosUuid))
        continue;
      const labels = { ...infraEnv?.spec?.agentLabels, [names.infraEnv]: options.infraEnv };
      const agent = await client.create(
        resources.Agent,
        {
          metadata: { namespace, name: vm.biosUuid, labels },
          spec: { approved: false, role: 'auto-assign', clusterDeploymentName: null },
        },
        signal,
      );
      if (agent !== null) await client.patchStatus(resources.Agent, agent.metadata, registered(vm), signal);
    }
    for (const agent of agents) await install(agent, signal);
  }

  const registered = (vm: BootedVm) => ({
    inventory: {
      hostname: 'localhost',
      systemVendor: { serialNumber: serialOf(vm.biosUuid), manufacturer: 'VMware, Inc.' },
      interfaces: vm.macAddresses.map((macAddress, index) => ({ name: `ens${192 + index}`, macAddress })),
    },
    debugInfo: { state: 'known-unbound' },
    conditions: [
      condition('Connected', true, 'AgentIsConnected'),
      condition('RequirementsMet', true, 'AgentIsReady'),
      condition('Validated', true, 'ValidationsPassing'),
      condition('Installed', false, 'InstallationNotStarted'),
      condition('Bound', false, 'Unbound'),
    ],
  });

  async function install(agent: Agent, signal: AbortSignal): Promise<void> {
    const { name } = agent.metadata;
    const isBound = agent.spec?.clusterDeploymentName?.name !== undefined;
    if (!isBound) {
      if (boundMs.delete(name))
        await setAgent(
          agent,
          'unbinding-pending-user-action',
          [condition('Bound', false, 'UnbindingPendingUserAction')],
          signal,
        );
      return;
    }
    const sinceMs = boundMs.get(name) ?? clock.now();
    boundMs.set(name, sinceMs);
    const isInstalled = clock.now() - sinceMs >= options.installMs;
    const conditions = [
      condition('Bound', true, 'Bound'),
      condition('Installed', isInstalled, isInstalled ? 'InstallationCompleted' : 'InstallationInProgress'),
    ];
    await setAgent(agent, isInstalled ? 'added-to-existing-cluster' : 'installing', conditions, signal);
  }

  async function setAgent(agent: Agent, state: string, update: Condition[], signal: AbortSignal): Promise<void> {
    const conditions = merged(agent.status?.conditions, update);
    if (isDeepStrictEqual(conditions, agent.status?.conditions)) return;
    await client.patchStatus(resources.Agent, agent.metadata, { conditions, debugInfo: { state } }, signal);
  }

  /**
   * The Agent provider: each AgentMachine takes the first Agent that suits it, and gives it back with its Machine. What
   * it had begun to take when something failed it takes first.
   */
  async function provide(signal: AbortSignal): Promise<void> {
    // In this order: of an AgentMachine that is made meanwhile the Machine is there, and one whose Machine is not found
    // is given back.
    const [agentMachines, machines] = [await agentMachinesOf(signal), await machinesOf(signal)];
    const taken = new Set<string>();
    for (const agentMachine of agentMachines) {
      const agents = await agentsOf(signal);
      const machine = machines.find(({ metadata }) => metadata.uid === agentMachine.metadata.ownerReferences?.[0]?.uid);
      const own = agents.find(({ metadata }) => metadata.name === agentMachine.status?.agentRef?.name);
      const begun = agents.find((agent) => isReservedFor(agent, agentMachine));
      if (machine === undefined || machine.metadata.deletionTimestamp !== undefined) {
        if (machine !== undefined && isDraining(machine.metadata.uid)) continue;
        await giveBack(agentMachine, own ?? begun, signal);
        continue;
      }
      if (own !== undefined) {
        await finish(agentMachine, machine.metadata.name, own, signal);
        continue;
      }
      const suitable =
        begun ?? agents.find((agent) => !taken.has(agent.metadata.name) && isSuitable(agent, agentMachine));
      if (suitable === undefined) await setConditions(agentMachine, noSuitableAgents(), {}, signal);
      else {
        taken.add(suitable.metadata.name);
        await reserve(agentMachine, suitable, signal);
      }
    }
    for (const machine of machines) {
      const { deletionTimestamp, uid, finalizers = [] } = machine.metadata;
      const hasAgent = agentMachines.some(({ metadata }) => metadata.ownerReferences?.[0]?.uid === uid);
      if (deletionTimestamp === undefined || hasAgent || finalizers.length === 0) continue;
      letGoMs.set(uid, clock.now());
      await client.patch(resources.ClusterMachine, machine.metadata, { metadata: { finalizers: [] } }, signal);
    }
  }

  const isReservedFor = ({ metadata: { labels, annotations: given } }: Agent, { metadata }: AgentMachine): boolean =>
    labels?.[names.agentMachineRef] === metadata.name &&
    given?.[names.agentMachineRefNamespace] === controlPlaneNamespace;

  const noSuitableAgents = (): Condition[] =>
    options.conditions === 'legacy'
      ? [condition('Ready', false, 'NoSuitableAgents'), condition('AgentReserved', false, 'NoSuitableAgents')]
      : [condition('Ready', false, 'IssuesReported'), condition('AgentReserved', false, 'NoSuitableAgents')];

  async function reserve(agentMachine: AgentMachine, agent: Agent, signal: AbortSignal): Promise<void> {
    await client.patch(
      resources.Agent,
      agent.metadata,
      {
        metadata: {
          labels: { [names.agentMachineRef]: agentMachine.metadata.name },
          annotations: { [names.agentMachineRefNamespace]: controlPlaneNamespace },
        },
        spec: { clusterDeploymentName: { name: options.hostedCluster, namespace: controlPlaneNamespace } },
      },
      signal,
    );
    const { name } = agent.metadata;
    await client.patch(
      resources.AgentMachine,
      { namespace: controlPlaneNamespace, name: agentMachine.metadata.name },
      { spec: { providerID: `agent://${name}` } },
      signal,
    );
    const conditions = [condition('AgentReserved', true, 'AgentReserved'), condition('Ready', false, 'Installing')];
    await setConditions(agentMachine, conditions, { agentRef: { name, namespace } }, signal);
  }

  async function finish(agentMachine: AgentMachine, machine: string, agent: Agent, signal: AbortSignal): Promise<void> {
    if (!holds(agent.status?.conditions, 'Installed', 'True')) return;
    const node = agent.spec?.hostname ?? agent.metadata.name;
    nodes.add(node);
    await setConditions(agentMachine, [condition('Ready', true, 'Ready')], { ready: true }, signal);
    const key = { namespace: controlPlaneNamespace, name: machine };
    const found = await client.get(resources.ClusterMachine, key, signal);
    if (found !== null && found.status?.phase !== 'Running')
      await client.patchStatus(resources.ClusterMachine, key, { phase: 'Running', nodeRef: { name: node } }, signal);
  }

  /** Unbinds the Agent, whose VM would have to boot the ISO again, and lets the Machine go. */
  async function giveBack(agentMachine: AgentMachine, agent: Agent | undefined, signal: AbortSignal): Promise<void> {
    if (agent !== undefined && agent.metadata.labels?.[names.agentMachineRef] !== undefined) {
      nodes.delete(agent.spec?.hostname ?? agent.metadata.name);
      await client.patch(
        resources.Agent,
        agent.metadata,
        {
          metadata: {
            labels: { [names.agentMachineRef]: null },
            annotations: { [names.agentMachineRefNamespace]: null },
          },
          spec: { clusterDeploymentName: null },
        },
        signal,
      );
    }
    const key = { namespace: controlPlaneNamespace, name: agentMachine.metadata.name };
    await client.delete(resources.AgentMachine, key, signal);
    const found = await client.get(resources.AgentMachine, key, signal);
    if (found !== null) await client.patch(resources.AgentMachine, key, { metadata: { finalizers: [] } }, signal);
  }

  async function setConditions(
    agentMachine: AgentMachine,
    update: Condition[],
    more: MergePatch<{ agentRef: { name: string; namespace: string }; ready: boolean }>,
    signal: AbortSignal,
  ): Promise<void> {
    const conditions = merged(agentMachine.status?.conditions, update);
    if (isDeepStrictEqual(conditions, agentMachine.status?.conditions) && Object.keys(more).length === 0) return;
    const { namespace: where, name } = agentMachine.metadata;
    await client.patchStatus(resources.AgentMachine, { namespace: where, name }, { conditions, ...more }, signal);
  }

  /** Another writer was faster: the next round does it. */
  const unlessOvertaken = async (working: Promise<void>): Promise<void> => {
    try {
      await working;
    } catch (error) {
      if (!isFailure(error, 'ObjectConflict') && !isFailure(error, 'ObjectNotFound')) throw error;
    }
  };

  /** As many as there are to be that are not being deleted, each with its AgentMachine. */
  async function keepReplicas(replicas: number, signal: AbortSignal): Promise<void> {
    const there = (await machinesOf(signal)).filter(
      ({ metadata }) =>
        metadata.deletionTimestamp === undefined &&
        metadata.annotations?.[names.nodePool] === annotations[names.nodePool],
    );
    for (let count = there.length; count < replicas; count += 1) await makeMachine(signal);
    const newest = there.toSorted((a, b) => (a.metadata.name < b.metadata.name ? 1 : -1));
    const surplus = newest.slice(0, Math.max(0, there.length - replicas));
    for (const { metadata } of surplus) await client.delete(resources.ClusterMachine, metadata, signal);
  }

  /** Of a Machine that was made when kube-apiserver went away. */
  async function completeMachines(signal: AbortSignal): Promise<void> {
    const [machines, agentMachines] = [await machinesOf(signal), await agentMachinesOf(signal)];
    const complete = new Set(agentMachines.map(({ metadata }) => metadata.ownerReferences?.[0]?.uid));
    for (const machine of machines)
      if (machine.metadata.deletionTimestamp === undefined && !complete.has(machine.metadata.uid))
        await makeAgentMachine(machine, signal);
  }

  return {
    scale: async (replicas, signal) => {
      wanted = replicas;
      await keepReplicas(replicas, signal);
    },
    deleteMachine: (name, signal) =>
      client.delete(resources.ClusterMachine, { namespace: controlPlaneNamespace, name }, signal),
    round: async (signal) => {
      if (options.recreates === true && wanted !== null) {
        await keepReplicas(wanted, signal);
        await completeMachines(signal);
      }
      await unlessOvertaken(discover(signal));
      await unlessOvertaken(provide(signal));
    },
    nodes: () => [...nodes].toSorted(),
    letGo: () => letGoMs,
  };
}

/** As VMware's firmware writes a BIOS UUID: `VMware-42 1d ee … - 8f …`. */
export function serialOf(biosUuid: string): string {
  const bytes = biosUuid.replaceAll('-', '').match(/../gu) ?? [];
  return `VMware-${bytes.slice(0, 8).join(' ')}-${bytes.slice(8).join(' ')}`;
}

const holds = (
  conditions: readonly { type: string; status: string }[] | undefined,
  type: string,
  status: string,
): boolean => conditions?.some((one) => one.type === type && one.status === status) === true;

/** What the Agent provider asks of an Agent before it takes it. */
function isSuitable({ metadata, spec, status }: Agent, { spec: wanted }: AgentMachine): boolean {
  const { matchLabels = {} } = (wanted?.agentLabelSelector ?? {}) as { matchLabels?: Record<string, string> };
  const { labels = {} } = metadata;
  return (
    metadata.deletionTimestamp === undefined &&
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    labels[names.agentMachineRef] === undefined &&
    spec?.approved === true &&
    spec.clusterDeploymentName?.name === undefined &&
    status?.debugInfo?.state === 'known-unbound' &&
    holds(status.conditions, 'Connected', 'True') &&
    holds(status.conditions, 'Validated', 'True') &&
    holds(status.conditions, 'Bound', 'False')
  );
}

/** Those that stay the same keep their time. */
const merged = (before: readonly object[] | undefined, update: readonly Condition[]): Condition[] => {
  const given = (before ?? []) as Condition[];
  const kept = given.map((one) => {
    const newer = update.find(({ type }) => type === one.type);
    if (newer === undefined || (newer.status === one.status && newer.reason === one.reason)) return one;
    return newer.status === one.status ? { ...newer, lastTransitionTime: one.lastTransitionTime } : newer;
  });
  return [...kept, ...update.filter(({ type }) => !given.some((one) => one.type === type))];
};
