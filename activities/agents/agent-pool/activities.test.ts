import { approvalIn, approvalOf } from '../../../contracts/agent-pool/approvals.ts';
import {
  agentPoolAnnotations,
  agentPoolFinalizer,
  vsphereAgentFinalizer,
} from '../../../contracts/agent-pool/metadata.ts';
import type { AgentPoolRules, ObservedPool, ReplacedMachine } from '../../../contracts/agent-pool/agent-pool.ts';
import { vmIdentityOf } from '../../../contracts/agent-pool/vm-identity.ts';
import type { VsphereAgentPool } from '../../../contracts/crds/vsphere-agent-pool.ts';
import type { VsphereAgent } from '../../../contracts/crds/vsphere-agent.ts';
import { applyObject } from '../../../lab/kubernetes-objects.ts';
import { type BootedVm, playNeighbours } from '../../../lab/agent-neighbours.ts';
import { errors } from '../../../contracts/errors.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import { refusalFailure } from '../../../runtime/kubernetes/kubernetes-faults.ts';
import type { Kubernetes } from '../../../runtime/kubernetes/kubernetes.ts';
import { type KubernetesObjects, openObjects } from '../../../runtime/kubernetes/objects.ts';
import { neighbourResources, resources } from '../../../runtime/kubernetes/resources.ts';
import type { AuditEntry } from '../../../runtime/telemetry/audit.ts';
import { never, openVirtual } from '../../../test/contracts/hosts/subject.ts';
import { createFakeKubernetes } from '../../../test/fakes/kubernetes/fake-kubernetes.ts';
import {
  controlPlane,
  minuteMs,
  poolNamespace,
  poolSpec,
  rules,
} from '../../../test/fixtures/activities/agent-pool.ts';
import { testScope } from '../../../test/fixtures/activities/nova.ts';
import type { MarkedVm } from '../vcenter/marked-vms.ts';
import { createAgentPoolActivities } from './activities.ts';
import type { AgentPoolDependencies, SeenInventory } from './dependencies.ts';

const namespace = poolNamespace;
const gib = 1024 ** 3;

interface Options {
  rules?: Partial<AgentPoolRules>;
  conditions?: 'legacy' | 'v1beta2';
  isMute?: (vm: BootedVm) => boolean;
  pool?: { metadata?: object; spec?: object };
  client?: (client: KubernetesObjects) => KubernetesObjects;
}

/** A pool with its neighbours; VMs come and go as the runs of VsphereAgents have it. */
async function openWorld({ conditions = 'v1beta2', isMute, ...options }: Options = {}) {
  const virtual = openVirtual();
  const { clock, run } = virtual;
  const kubernetes = createFakeKubernetes(virtual);
  const client = openObjects(kubernetes.admin);
  const vms = new Map<string, BootedVm>();
  const audit: AuditEntry[] = [];
  const hosted = { isUp: true };
  const inventory = {
    error: null as Error | null,
    looks: 0,
    /** It answers nothing, and does not heed the signal. */
    hangs: false,
    seen: {
      vms: [] as MarkedVm[],
      space: { name: 'pod', freeBytes: 900 * gib, capacityBytes: 1_000 * gib, largestFreeBytes: 500 * gib },
      isIsoGone: false,
    } satisfies SeenInventory,
    destroyed: [] as string[],
  };
  const neighbours = playNeighbours({
    client,
    clock,
    namespace,
    infraEnv: 'demo',
    controlPlaneNamespace: controlPlane,
    hostedCluster: 'demo',
    nodePool: 'demo',
    labels: { team: 'a' },
    conditions,
    discoveryMs: minuteMs,
    installMs: 2 * minuteMs,
    listVms: async () => [...vms.values()],
    ...(isMute !== undefined && { isMute }),
  });
  const nodesOnly: Kubernetes = {
    server: '',
    request: async () => {
      if (!hosted.isUp) throw droverFailure('KubernetesUnavailable', 'no answer');
      return { items: neighbours.nodes().map((name) => ({ metadata: { name } })) };
    },
    stream: async () => {
      throw new Error('no watch');
    },
    close: async () => undefined,
  };
  const dependencies: AgentPoolDependencies = {
    client: options.client?.(client) ?? client,
    inventory: {
      look: async () => {
        inventory.looks += 1;
        if (inventory.hangs) await clock.sleep(24 * 60 * minuteMs);
        if (inventory.error !== null) throw inventory.error;
        return structuredClone(inventory.seen);
      },
      destroy: async (_tools, _pool, vm) => {
        inventory.destroyed.push(vm.vmId);
        return true;
      },
    },
    openForeignCluster: () => nodesOnly,
    settings: {
      mode: 'act',
      recheckMs: 1,
      lingerMs: 1,
      publishMinMs: 1,
      rules: { ...rules, ...options.rules },
      freeSpacePercent: 10,
    },
    namespaces: [],
    cluster: '',
    signalWithStart: async () => undefined,
    clock,
    stopGate: async () => undefined,
    audit: { record: async (entry) => void audit.push(structuredClone(entry)) },
    scope: () => testScope({ scheduledMs: clock.now(), deadlineMs: clock.now() + 60_000 }),
  };
  const activities = createAgentPoolActivities(dependencies);
  const of = { namespace, name: 'pool', uid: '' };

  await run(async () => {
    for (const name of [namespace, controlPlane])
      await applyObject(kubernetes.admin, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    await applyObject(kubernetes.admin, {
      apiVersion: 'agent-install.openshift.io/v1beta1',
      kind: 'InfraEnv',
      metadata: { namespace, name: 'demo' },
      spec: {},
    });
    await client.patchStatus(
      neighbourResources.InfraEnv,
      { namespace, name: 'demo' },
      { isoDownloadURL: 'https://images.example/demo.iso' },
      never,
    );
    await applyObject(kubernetes.admin, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace: controlPlane, name: 'admin-kubeconfig' },
      data: { kubeconfig: Buffer.from(kubeconfig).toString('base64') },
    });
    const pool = await client.create(
      resources.VsphereAgentPool,
      {
        metadata: { namespace, name: 'pool', finalizers: [agentPoolFinalizer], ...options.pool?.metadata },
        spec: { ...poolSpec, ...options.pool?.spec },
      },
      never,
    );
    of.uid = pool?.metadata.uid ?? '';
  });

  const agents = (): VsphereAgent[] => kubernetes.objects('vsphereagents') as unknown as VsphereAgent[];
  const pool = () => kubernetes.object('vsphereagentpools', of) as unknown as VsphereAgentPool;

  /** What the run of each VsphereAgent does. */
  async function driveVms(): Promise<void> {
    for (const { metadata, status } of agents()) {
      const { name, uid, deletionTimestamp, annotations = {} } = metadata;
      if (deletionTimestamp !== undefined) {
        vms.delete(name);
        await client.patch(resources.VsphereAgent, { namespace, name }, { metadata: { finalizers: [] } }, never);
        continue;
      }
      if (status?.vm?.biosUUID !== undefined) continue;
      const vmName = annotations[agentPoolAnnotations.vmName] ?? name;
      const { biosUuid } = vmIdentityOf(uid);
      vms.set(name, { name: vmName, biosUuid, macAddresses: [], isOn: true, hasIso: true });
      const ready = {
        type: 'Ready',
        status: 'True' as const,
        reason: 'VMCreated',
        message: '',
        lastTransitionTime: new Date(clock.now()).toISOString(),
      };
      await client.patchStatus(
        resources.VsphereAgent,
        { namespace, name },
        { vm: { name: vmName, biosUUID: biosUuid }, conditions: [ready] },
        never,
      );
    }
  }

  const observe = async (): Promise<ObservedPool> => {
    const found = await activities.observeAgentPool({ namespace, name: 'pool' });
    if (found.kind !== 'observed') throw new Error(found.message);
    return found.observed;
  };
  const publish = (): Promise<void> =>
    activities.publishAgentPool({ ...of, status: { conditions: [], plannedActions: [] }, retryHandled: null });

  /** What the run of the pool does. */
  async function drivePool(): Promise<void> {
    const observed = await observe();
    if (observed.unprepared.length > 0) await activities.prepareAgents({ ...of, agents: observed.unprepared });
    if (observed.unpinned.length > 0) await activities.pinAgentMachines({ ...of, agentMachines: observed.unpinned });
    await publish();
    if (observed.released.length > 0) await activities.releaseVsphereAgents({ ...of, agents: observed.released });
    if (observed.wanted.length > 0) await activities.createVsphereAgents({ ...of, agents: observed.wanted });
    if (!(await observe()).isListed) await publish();
  }

  const rounds = async (count: number, isDown = false): Promise<void> => {
    for (let round = 0; round < count; round += 1) {
      await neighbours.round(never);
      if (!isDown) {
        await drivePool();
        await driveVms();
      }
      await clock.sleep(30_000);
    }
  };
  return {
    clock,
    client,
    kubernetes,
    activities,
    neighbours,
    inventory,
    hosted,
    vms,
    of,
    agents,
    pool,
    observe,
    publish,
    rounds,
    drivePool,
    run,
    scale: (replicas: number) => neighbours.scale(replicas, never),
    created: () => audit.filter(({ action }) => action === 'createVsphereAgent').length,
    phases: () => agents().map(({ status }) => `${status?.vm?.phase}/${status?.vm?.reason}`),
    events: () => kubernetes.objects('events').map((event) => (event as unknown as { reason: string }).reason),
  };
}

const kubeconfig = JSON.stringify({
  'current-context': 'admin',
  contexts: [{ name: 'admin', context: { cluster: 'c', user: 'u' } }],
  clusters: [{ name: 'c', cluster: { server: 'https://api.example', 'certificate-authority-data': 'Y2E=' } }],
  users: [{ name: 'u', user: { token: 'a-token-of-a-test' } }],
});

test.each(['legacy', 'v1beta2'] as const)('from 0 to 5 and back, with conditions as %s', async (conditions) => {
  const world = await openWorld({ conditions });
  await world.run(async () => {
    await world.scale(5);
    await world.rounds(20);
    expect(world.phases()).toEqual(Array.from({ length: 5 }, () => 'Bound/AgentBound'));
    expect(world.created()).toBe(5);
    expect(world.neighbours.nodes()).toHaveLength(5);
    expect(world.pool().status).toMatchObject({
      desiredReplicas: 5,
      waitingAgentMachines: 0,
      boundAgents: 5,
      availableAgents: 0,
      ownedVMs: Array.from({ length: 5 }, () => ({ phase: 'Bound', machineRef: { kind: 'Machine' } })),
    });
    await world.scale(1);
    await world.rounds(10);
    expect(world.agents()).toHaveLength(1);
    expect(world.vms.size).toBe(1);
    expect(world.kubernetes.objects('agents')).toHaveLength(1);
    await world.scale(0);
    await world.rounds(10);
    expect([world.agents(), world.vms.size, world.kubernetes.objects('agents')]).toEqual([[], 0, []]);
    expect(world.created()).toBe(5);
  });
});

test('a VsphereAgent whose Agent is installed says so, where its definition keeps no more than upstream’s', async () => {
  const world = await openWorld();
  await world.run(async () => {
    await world.scale(1);
    await world.rounds(20);
    const [found] = world.agents();
    expect(found?.metadata.annotations).toMatchObject({ 'drover.dev/installed': 'true' });
    expect(Object.keys(found?.status ?? {}).toSorted()).toEqual(['conditions', 'vm']);
    expect((await world.observe()).isListed).toBe(true);
  });
});

test('a VM whose Agent never comes is replaced while its AgentMachine waits', async () => {
  let isBroken = true;
  const world = await openWorld({ isMute: () => isBroken });
  await world.run(async () => {
    await world.scale(1);
    await world.rounds(63);
    isBroken = false;
    await world.rounds(20);
    expect(world.created()).toBe(2);
    expect(world.phases()).toEqual(['Bound/AgentBound']);
    expect(world.agents()[0]?.metadata.name).toMatch(/^demo-001-[0-9a-f]{10}$/u);
  });
});

test('Machines that went while drover was down: one VM goes when its Node is gone', async () => {
  const world = await openWorld();
  await world.run(async () => {
    await world.scale(3);
    await world.rounds(20);
    await world.scale(2);
    await world.rounds(10, true);
    world.hosted.isUp = false;
    expect((await world.observe()).held).toMatchObject([{ cause: 'MachineAbsent', waitsFor: 'NodeUnknown' }]);
    world.hosted.isUp = true;
    await world.rounds(3);
    expect(world.agents()).toHaveLength(2);
  });
});

test('Machines that went while drover was down: several VMs go with an approval', async () => {
  const world = await openWorld();
  await world.run(async () => {
    await world.scale(3);
    await world.rounds(20);
    await world.scale(0);
    await world.rounds(10, true);
    await world.rounds(3);
    const { held } = await world.observe();
    expect(held.map(({ waitsFor }) => waitsFor)).toEqual(Array.from({ length: 3 }, () => 'ApprovalRequired'));
    const approved = world.agents().map(({ metadata }) => approvalOf(metadata));
    const approval = { [agentPoolAnnotations.approvedDeletions]: approved.join(',') };
    await world.client.patch(resources.VsphereAgentPool, world.of, { metadata: { annotations: approval } }, never);
    await world.rounds(3);
    expect(world.agents()).toEqual([]);
  });
});

test('a list that cannot be read is no empty list', async () => {
  let isBroken = false;
  const world = await openWorld({
    client: (client) => ({
      ...client,
      list: async (resource, query, signal) => {
        if (isBroken && resource.kind === 'Machine') throw droverFailure('KubernetesUnavailable', 'no answer');
        return await client.list(resource, query, signal);
      },
    }),
  });
  await world.run(async () => {
    await world.scale(1);
    await world.rounds(20);
    isBroken = true;
    await expect(world.observe()).rejects.toMatchObject({ type: 'KubernetesUnavailable' });
    await expect(world.publish()).rejects.toMatchObject({ type: 'KubernetesUnavailable' });
    expect(world.phases()).toEqual(['Bound/AgentBound']);
  });
});

test('what was decided is judged once more: an Agent that is bound meanwhile keeps its VM', async () => {
  const world = await openWorld({ rules: { deleteSurplus: true, surplusMs: 0 } });
  await world.run(async () => {
    await world.scale(1);
    await world.rounds(1);
    await world.neighbours.deleteMachine('demo-001', never);
    await world.rounds(10);
    // It went as a surplus, as nothing waits for it any more.
    expect(world.agents()).toEqual([]);

    await world.scale(1);
    await world.rounds(20);
    const [name, uid] = [world.agents()[0]?.metadata.name ?? '', world.agents()[0]?.metadata.uid ?? ''];
    const kept = await world.activities.releaseVsphereAgents({
      ...world.of,
      agents: [{ name, uid, cause: 'Surplus', agent: null }],
    });
    expect(kept).toEqual({ released: [], kept: [name], refused: null });
    expect(world.agents()).toHaveLength(1);
  });
});

test('an Agent that changes between the judgement and its deletion keeps its VM', async () => {
  let isRacing = false;
  const world = await openWorld({
    rules: { deleteSurplus: true, surplusMs: 0 },
    client: (client) => ({
      ...client,
      delete: async (resource, version, signal) => {
        if (isRacing && resource.kind === 'Agent') {
          const { namespace: at, name } = version;
          const labels = { agentMachineRef: 'taken' };
          await client.patch(neighbourResources.Agent, { namespace: at, name }, { metadata: { labels } }, signal);
        }
        await client.delete(resource, version, signal);
      },
    }),
  });
  await world.run(async () => {
    await world.scale(1);
    await world.rounds(1);
    await world.neighbours.deleteMachine('demo-001', never);
    isRacing = true;
    await world.rounds(10);
    expect(world.agents()).toHaveLength(1);
    expect(world.kubernetes.objects('agents')).toHaveLength(1);
  });
});

/** One Node of another template, and a VM that stands ready. */
async function drift(world: Awaited<ReturnType<typeof openWorld>>): Promise<ReplacedMachine[]> {
  await world.scale(1);
  await world.rounds(20);
  const annotations = { [agentPoolAnnotations.replaceDrifted]: 'all' };
  await world.client.patch(
    resources.VsphereAgentPool,
    world.of,
    { metadata: { annotations }, spec: { template: { numCPUs: 9 } } },
    never,
  );
  await world.rounds(10);
  expect(world.phases().toSorted()).toEqual(['Available/AgentAvailable', 'Bound/AgentBound']);
  const { machines = [] } = (await world.observe()).replacement ?? {};
  expect(machines).toMatchObject([{ name: 'demo-001', vm: 'demo-001' }]);
  return machines;
}

const deletionOf = (world: Awaited<ReturnType<typeof openWorld>>) =>
  world.kubernetes.object('machines.cluster.x-k8s.io', { namespace: controlPlane, name: 'demo-001' })?.metadata
    .deletionTimestamp;

test('a Machine of another template is deleted, once, and said', async () => {
  const world = await openWorld();
  await world.run(async () => {
    const machines = await drift(world);
    const deleted = { deleted: ['demo-001'], kept: [], forbidden: null };
    expect(await world.activities.deleteMachines({ ...world.of, machines })).toEqual(deleted);
    expect(deletionOf(world)).toBeDefined();
    expect(world.events()).toContain('MachineDeleted');
    // An answer that was lost.
    expect(await world.activities.deleteMachines({ ...world.of, machines })).toEqual(deleted);
    expect(world.events().filter((reason) => reason === 'MachineDeleted')).toHaveLength(1);
    expect(world.agents().find(({ metadata }) => metadata.name !== 'demo-001')?.metadata.labels).toEqual({
      'agent-forge.containeroo.ch/created-for': 'surge',
      'agent-forge.containeroo.ch/vsphere-agent-pool': 'pool',
    });
  });
});

test.each<[string, (world: Awaited<ReturnType<typeof openWorld>>) => Promise<unknown>]>([
  ['something waits', (world) => world.scale(3).then(() => world.neighbours.round(never))],
  [
    'a user has taken it back',
    (world) =>
      world.client.patch(
        resources.VsphereAgentPool,
        world.of,
        { metadata: { annotations: { [agentPoolAnnotations.replaceDrifted]: 'true' } } },
        never,
      ),
  ],
])('a Machine of another template is judged once more: %s', async (_what, change) => {
  const world = await openWorld();
  await world.run(async () => {
    const machines = await drift(world);
    await change(world);
    expect(await world.activities.deleteMachines({ ...world.of, machines })).toEqual({
      deleted: [],
      kept: ['demo-001'],
      forbidden: null,
    });
    expect(deletionOf(world)).toBeUndefined();
  });
});

test('a Machine that drover may not delete stays, and what to bind is said', async () => {
  const world = await openWorld({
    client: (client) => ({
      ...client,
      delete: async (resource, version, signal) => {
        if (resource.kind === 'Machine') throw refusalFailure(403, status('machines is forbidden'), 'DELETE');
        await client.delete(resource, version, signal);
      },
    }),
  });
  await world.run(async () => {
    const machines = await drift(world);
    expect(await world.activities.deleteMachines({ ...world.of, machines })).toMatchObject({
      deleted: [],
      kept: ['demo-001'],
      forbidden: expect.stringContaining('bind the ClusterRole drover-worker-agent-replacement there'),
    });
  });
});

test('repeating a step makes nothing twice', async () => {
  const world = await openWorld();
  await world.run(async () => {
    await world.scale(2);
    await world.neighbours.round(never);
    const { wanted } = await world.observe();
    await world.activities.createVsphereAgents({ ...world.of, agents: wanted });
    await world.activities.createVsphereAgents({ ...world.of, agents: wanted });
    expect(world.agents().map(({ metadata }) => metadata.name)).toEqual(['demo-001', 'demo-002']);
    expect(world.agents()[0]?.metadata).toMatchObject({
      finalizers: [vsphereAgentFinalizer],
      labels: { 'agent-forge.containeroo.ch/vsphere-agent-pool': 'pool' },
      annotations: { 'agent-forge.containeroo.ch/vm-name': 'demo-001' },
    });
    expect(world.created()).toBe(2);
    expect(world.events()).toEqual(['PlanApplied']);
    expect((await world.observe()).wanted).toEqual([]);
  });
});

const status = (message: string) => JSON.stringify({ kind: 'Status', reason: 'Forbidden', message });

test.each<[string, string | null]>([
  ['vsphereagents "a" is forbidden: exceeded quota: few, requested: count/vsphereagents=1', 'exceeded quota'],
  ['vsphereagents is forbidden: User "drover" cannot create resource "vsphereagents"', null],
])('a create that is refused: %s', async (message, refused) => {
  const world = await openWorld({
    client: (client) => ({
      ...client,
      create: async (resource, object, signal) => {
        if (resource.kind === 'VsphereAgent') throw refusalFailure(403, status(message), 'POST');
        return await client.create(resource, object, signal);
      },
    }),
  });
  await world.run(async () => {
    await world.scale(1);
    await world.neighbours.round(never);
    const { wanted } = await world.observe();
    const creating = world.activities.createVsphereAgents({ ...world.of, agents: wanted });
    if (refused === null) await expect(creating).rejects.toMatchObject({ type: 'KubernetesForbidden' });
    else expect((await creating).refused).toContain(refused);
  });
});

/** kube-apiserver refuses what is written of one. */
const refusing =
  (isRefused: (kind: string, name: string) => boolean) =>
  (client: KubernetesObjects): KubernetesObjects => {
    const check = (kind: string, name: string): void => {
      if (isRefused(kind, name)) throw refusalFailure(422, status(`${name} is invalid`), 'PATCH');
    };
    return {
      ...client,
      create: async (resource, object, signal) => {
        check(resource.kind, (object as { metadata: { name: string } }).metadata.name);
        return await client.create(resource, object, signal);
      },
      patch: async (resource, version, change, signal) => {
        check(resource.kind, version.name);
        return await client.patch(resource, version, change, signal);
      },
      patchStatus: async (resource, version, change, signal) => {
        check(`${resource.kind} status`, version.name);
        return await client.patchStatus(resource, version, change, signal);
      },
      delete: async (resource, key, signal) => {
        check(`${resource.kind} delete`, key.name);
        await client.delete(resource, key, signal);
      },
    };
  };

test('one that is refused does not hold the others up: creates', async () => {
  const world = await openWorld({
    client: refusing((kind, name) => kind === 'VsphereAgent' && name === 'demo-001'),
  });
  await world.run(async () => {
    await world.scale(3);
    await world.neighbours.round(never);
    const { wanted } = await world.observe();
    const { refused } = await world.activities.createVsphereAgents({ ...world.of, agents: wanted });
    expect(refused).toContain('demo-001 is invalid');
    expect(world.agents().map(({ metadata }) => metadata.name)).toEqual(['demo-002', 'demo-003']);
  });
});

test('… Agents that are prepared, and VsphereAgents whose status is written', async () => {
  let refused: string[] = [];
  const world = await openWorld({
    client: refusing((kind, name) => refused.includes(`${kind} ${name}`)),
  });
  await world.run(async () => {
    await world.scale(2);
    await world.rounds(3);
    await world.neighbours.round(never);
    const { unprepared } = await world.observe();
    const [one, two] = unprepared.map(({ agent }) => agent);
    refused = [`Agent ${one}`];
    await expect(world.activities.prepareAgents({ ...world.of, agents: unprepared })).rejects.toMatchObject({
      type: 'ObjectRefused',
      message: expect.stringContaining(`${one} is invalid`),
    });
    expect((await world.observe()).unprepared.map(({ agent }) => agent)).toEqual([one]);
    expect(two).toBeDefined();
    refused = [];
    await world.drivePool();
    const [before] = world.phases();
    await world.neighbours.round(never);
    refused = ['VsphereAgent status demo-001'];
    await world.publish();
    expect(world.phases()).toEqual([before, 'Bound/AgentBound']);
    expect(world.pool().status?.ownedVMs).toMatchObject([{ phase: 'Bound' }, { phase: 'Bound' }]);
    expect(world.events()).toContain('ObjectRefused');
  });
});

test('… and VsphereAgents that are released', async () => {
  const world = await openWorld({
    isMute: () => true,
    client: refusing((kind, name) => kind === 'VsphereAgent delete' && name === 'demo-001'),
  });
  await world.run(async () => {
    await world.scale(2);
    await world.rounds(3);
    await world.clock.sleep(31 * minuteMs);
    const { released } = await world.observe();
    expect(released).toHaveLength(2);
    expect(await world.activities.releaseVsphereAgents({ ...world.of, agents: released })).toEqual({
      released: ['demo-002'],
      kept: [],
      refused: expect.stringContaining('demo-001 is invalid'),
    });
    expect(world.agents().map(({ metadata }) => metadata.deletionTimestamp !== undefined)).toEqual([false, true]);
  });
});

test('a pool that goes keeps the VMs that are Nodes, until a user says otherwise', async () => {
  const world = await openWorld();
  await world.run(async () => {
    await world.scale(1);
    await world.rounds(20);
    await world.client.delete(resources.VsphereAgentPool, world.of, never);
    await world.rounds(3);
    expect(await world.observe()).toMatchObject({ remaining: 1, held: [{ waitsFor: 'MachinePresent' }], wanted: [] });
    const annotations = { [agentPoolAnnotations.forceDelete]: 'true' };
    await world.client.patch(resources.VsphereAgentPool, world.of, { metadata: { annotations } }, never);
    await world.rounds(3);
    expect(await world.observe()).toMatchObject({ remaining: 0, held: [] });
    expect(await world.activities.patchAgentPoolFinalizer({ ...world.of, present: false })).toBe(true);
    expect(world.pool()).toBeNull();
  });
});

test.each([
  ['is deleted with all that it made', 'Delete', true, true],
  ['is deleted, and retains', 'Retain', true, undefined],
  ['is not deleted', 'Delete', false, undefined],
] as const)('ISOs are left by a pool that %s', async (_, cleanupPolicy, isDeleted, leavesIsos) => {
  const world = await openWorld({ pool: { spec: { cleanupPolicy } } });
  await world.run(async () => {
    const { client, of } = world;
    if (isDeleted) await client.delete(resources.VsphereAgentPool, of, never);
    expect((await world.observe()).leavesIsos).toBeUndefined();
    const iso = { path: 'agent-forge/a.iso', sha256: 'a' };
    await client.patchStatus(resources.VsphereAgentPool, of, { iso }, never);
    expect((await world.observe()).leavesIsos).toBe(leavesIsos);
  });
});

test('Retain deletes nothing', async () => {
  const world = await openWorld({ pool: { spec: { cleanupPolicy: 'Retain' } }, rules: { deleteSurplus: true } });
  await world.run(async () => {
    await world.scale(2);
    await world.rounds(20);
    await world.scale(0);
    await world.rounds(20);
    expect(world.agents()).toHaveLength(2);
    expect(world.phases()).toEqual(['Released/MachineDeleted', 'Released/MachineDeleted']);
  });
});

test('AgentMachines insist on the VM that was made for them, where the settings ask for it', async () => {
  const world = await openWorld({ rules: { pinSelectors: true } });
  await world.run(async () => {
    await world.scale(3);
    await world.rounds(20);
    for (const { status: said } of world.agents()) expect(said?.vm?.machineRef?.name).toBe(said?.vm?.name);
    expect(world.phases()).toHaveLength(3);
  });
});

const problems = async (
  options: Options,
  change: (world: Awaited<ReturnType<typeof openWorld>>) => Promise<unknown>,
) => {
  const world = await openWorld(options);
  return await world.run(async () => {
    await change(world);
    const observed = await world.observe();
    return { observed, world };
  });
};

test.each<[string, Options, (world: Awaited<ReturnType<typeof openWorld>>) => Promise<unknown>, object[]]>([
  ['all is well', {}, async () => undefined, []],
  [
    'no InfraEnv',
    {},
    ({ client }) => client.delete(neighbourResources.InfraEnv, { namespace, name: 'demo' }, never),
    [{ condition: 'InfraEnvAvailable', reason: 'InfraEnvUnavailable' }],
  ],
  [
    'an InfraEnv that is bound',
    {},
    ({ client }) =>
      client.patch(
        neighbourResources.InfraEnv,
        { namespace, name: 'demo' },
        { spec: { clusterRef: { name: 'x' } } },
        never,
      ),
    [{ condition: 'InfraEnvAvailable' }],
  ],
  [
    'an InfraEnv without an ISO',
    {},
    ({ client }) =>
      client.patchStatus(neighbourResources.InfraEnv, { namespace, name: 'demo' }, { isoDownloadURL: null }, never),
    [{ condition: 'InfraEnvAvailable' }],
  ],
  [
    'a Secret that lacks something',
    {},
    async ({ inventory }) => (inventory.error = droverFailure('InvalidObject', 'Secret a/b has no username')),
    [{ condition: 'VsphereReady', reason: 'InvalidObject' }],
  ],
  [
    'a vCenter that does not answer',
    {},
    async ({ inventory }) => (inventory.error = droverFailure('VsphereUnavailable', 'no answer')),
    [{ condition: 'VsphereReady' }],
  ],
  ...(['VsphereTaskOverdue', 'VsphereTaskNotFound', 'VsphereNotSupported', 'VsphereReplaced'] as const).map(
    (code): [string, Options, (world: Awaited<ReturnType<typeof openWorld>>) => Promise<unknown>, object[]] => [
      `a datastore of ISOs that cannot be looked at (${code})`,
      {},
      async ({ inventory }) => (inventory.error = droverFailure(code, 'no')),
      [{ condition: 'VsphereReady', reason: errors[code].reason }],
    ],
  ),
  [
    'a limit that is no number',
    { pool: { metadata: { annotations: { [agentPoolAnnotations.maxAgents]: 'many' } } } },
    async () => undefined,
    [{ condition: 'CapacitySatisfied', reason: 'InvalidAnnotation' }],
  ],
])('problems: %s', async (_, options, change, expected) => {
  const { observed } = await problems(options, change);
  expect(observed.problems).toHaveLength(expected.length);
  expect(observed.problems).toMatchObject(expected);
});

test('two pools of one NodePool: the younger makes nothing', async () => {
  const world = await openWorld();
  await world.run(async () => {
    await world.clock.sleep(60_000);
    const also = { metadata: { namespace, name: 'also', finalizers: [] }, spec: poolSpec };
    await world.client.create(resources.VsphereAgentPool, also, never);
    await world.scale(1);
    await world.neighbours.round(never);
    expect(await world.observe()).toMatchObject({ wanted: [{ name: 'demo-001' }], problems: [] });
    expect(await world.activities.observeAgentPool({ namespace, name: 'also' })).toMatchObject({
      observed: { wanted: [], problems: [{ condition: 'AgentMachineDemandFound', reason: 'NodePoolTaken' }] },
    });
  });
});

test('limits are those of the pool, else of the settings; a full datastore cluster is one', async () => {
  const annotations = { [agentPoolAnnotations.maxAgents]: '7' };
  const { observed } = await problems({ pool: { metadata: { annotations } } }, async ({ inventory }) => {
    inventory.seen.space.freeBytes = 99 * gib;
  });
  expect(observed.limits).toMatchObject({
    maxAgents: 7,
    maxConcurrent: 20,
    freeSpace: { reason: 'DatastoreClusterFull' },
  });
});

test('its vCenter is looked at once a minute, whatever happens to Agents', async () => {
  const world = await openWorld();
  await world.run(async () => {
    for (let count = 0; count < 10; count += 1) await world.observe();
    expect(world.inventory.looks).toBe(1);
    await world.clock.sleep(minuteMs);
    await world.observe();
    expect(world.inventory.looks).toBe(2);
  });
});

test('a vCenter that hangs holds an observation up for half a minute, and not each one', async () => {
  const world = await openWorld();
  await world.run(async () => {
    await world.scale(1);
    await world.neighbours.round(never);
    world.inventory.hangs = true;
    const beganMs = world.clock.now();
    const { problems: said, wanted } = await world.observe();
    expect(world.clock.now() - beganMs).toBe(30_000);
    expect(said).toMatchObject([{ condition: 'VsphereReady', reason: 'VsphereUnavailable' }]);
    expect(wanted).toHaveLength(1);
    for (let count = 0; count < 10; count += 1) expect((await world.observe()).problems).toEqual(said);
    expect(world.clock.now() - beganMs).toBe(30_000);
    world.inventory.hangs = false;
    await world.clock.sleep(30_000);
    expect((await world.observe()).problems).toEqual([]);
  });
});

const strayOf =
  ({ of, clock }: Pick<Awaited<ReturnType<typeof openWorld>>, 'of' | 'clock'>) =>
  (vmId: string, more: Partial<MarkedVm> = {}): MarkedVm => ({
    vmId,
    name: vmId,
    agent: `${namespace}/gone`,
    uid: `uid-${vmId}`,
    cluster: '',
    biosUUID: '',
    isOn: false,
    poolUid: of.uid,
    createdMs: clock.now() - 31 * minuteMs,
    ...more,
  });

test('VMs with the mark of this very pool and no VsphereAgent are destroyed, when they are old', async () => {
  const world = await openWorld();
  await world.run(async () => {
    await world.clock.sleep(60 * minuteMs);
    const stray = strayOf(world);
    await world.scale(1);
    await world.neighbours.round(never);
    await world.drivePool();
    await world.clock.sleep(minuteMs);
    world.inventory.seen.vms = [
      stray('vm-1'),
      stray('vm-on', { isOn: true }),
      stray('vm-young', { createdMs: world.clock.now() - minuteMs }),
      stray('vm-unknown', { createdMs: null }),
      stray('vm-of-another-pool', { poolUid: 'other' }),
      stray('vm-of-another-cluster', { cluster: 'other' }),
      stray('vm-owned', { uid: world.agents()[0]?.metadata.uid ?? '' }),
    ];
    const { strays, held } = await world.observe();
    expect(strays.map(({ vmId }) => vmId)).toEqual(['vm-1']);
    expect(held).toMatchObject([
      { name: 'vm-on', cause: 'Stray', waitsFor: 'ApprovalRequired', message: expect.stringContaining('it is on') },
      { name: 'vm-unknown', cause: 'Stray', waitsFor: 'ApprovalRequired', message: expect.stringContaining('how old') },
    ]);
    expect(await world.observe()).toMatchObject({ strays: [], held: [{ name: 'vm-on' }, { name: 'vm-unknown' }] });
    const asked = [
      ...strays,
      { vmId: 'vm-owned', name: '', uid: world.agents()[0]?.metadata.uid ?? '' },
      { vmId: 'vm-on', name: 'vm-on', uid: 'uid-vm-on' },
      { vmId: 'vm-unknown', name: 'vm-unknown', uid: 'uid-vm-unknown' },
    ];
    expect(await world.activities.destroyStrays({ ...world.of, vms: asked })).toEqual({ destroyed: ['vm-1'] });
    expect(world.inventory.destroyed).toEqual(['vm-1']);
    const approve = (approval: string) => {
      const annotations = { [agentPoolAnnotations.approvedDeletions]: approval };
      return world.client.patch(resources.VsphereAgentPool, world.of, { metadata: { annotations } }, never);
    };
    for (const other of ['vm-on', 'vm-on/another']) {
      await approve(other);
      expect(await world.activities.destroyStrays({ ...world.of, vms: asked })).toEqual({ destroyed: ['vm-1'] });
    }
    await approve(held.map(({ name, message }) => approvalIn(message, name)).join(', '));
    expect(await world.activities.destroyStrays({ ...world.of, vms: asked })).toEqual({
      destroyed: ['vm-1', 'vm-on', 'vm-unknown'],
    });
  });
});

test('a pool that goes sees its VMs as they are, and those that are too young to be judged', async () => {
  const world = await openWorld();
  await world.run(async () => {
    await world.clock.sleep(60 * minuteMs);
    const stray = strayOf(world);
    world.inventory.seen.vms = [
      stray('vm-on', { isOn: true }),
      stray('vm-young', { createdMs: world.clock.now() - minuteMs }),
      stray('vm-of-another-pool', { poolUid: 'other', createdMs: world.clock.now() }),
    ];
    expect(await world.observe()).toMatchObject({ strays: [], held: [{ name: 'vm-on' }], nextMs: null });
    await world.client.delete(resources.VsphereAgentPool, world.of, never);
    const young = { name: 'vm-young', cause: 'Stray', waitsFor: 'StrayAge' };
    expect(await world.observe()).toMatchObject({
      strays: [],
      held: [{ name: 'vm-on' }, young],
      nextMs: world.clock.now() + minuteMs,
    });
    const annotations = { [agentPoolAnnotations.approvedDeletions]: 'vm-on/uid-vm-on' };
    await world.client.patch(resources.VsphereAgentPool, world.of, { metadata: { annotations } }, never);
    expect(await world.observe()).toMatchObject({ strays: [{ name: 'vm-on' }], held: [young] });
    await world.clock.sleep(30 * minuteMs);
    const { strays, held, nextMs } = await world.observe();
    expect([strays.map(({ name }) => name), held, nextMs]).toEqual([['vm-on', 'vm-young'], [], null]);
  });
});

test('the object says what was planned, and begins to say so with an Event', async () => {
  const world = await openWorld();
  await world.run(async () => {
    const ready = {
      type: 'Ready',
      status: 'False' as const,
      reason: 'InfraEnvUnavailable',
      message: 'm',
      observedGeneration: 1,
    };
    const request = {
      ...world.of,
      status: { conditions: [ready], plannedActions: [{ type: 'DemandDeficit', reason: '1 VM' }] },
      retryHandled: 'now',
    };
    await world.activities.publishAgentPool(request);
    await world.activities.publishAgentPool(request);
    expect(world.pool()).toMatchObject({
      metadata: { annotations: { 'drover.dev/retry-handled': 'now' } },
      status: { observedGeneration: 1, plannedActions: [{ type: 'DemandDeficit' }], conditions: [{ type: 'Ready' }] },
    });
    expect(world.events().toSorted()).toEqual(['InfraEnvUnavailable', 'PlanApplied']);
    expect((await world.observe()).isListed).toBe(true);
  });
});

test('in mode observe only the condition Observed is written: all else is the operator’s that acts', async () => {
  const world = await openWorld();
  await world.run(async () => {
    const { activities, client, of } = world;
    const mode = (value: string | null) =>
      client.patch(resources.VsphereAgentPool, of, { metadata: { annotations: { 'drover.dev/mode': value } } }, never);
    const said = (type: string, reason: string) => ({
      type,
      status: 'False' as const,
      reason,
      message: 'm',
      observedGeneration: 1,
    });
    const publish = (...conditions: ReturnType<typeof said>[]) =>
      activities.publishAgentPool({
        ...of,
        status: { conditions, plannedActions: [{ type: 'DemandDeficit', reason: '1 VM' }] },
        retryHandled: null,
      });
    await world.scale(1);
    await world.rounds(2);
    await publish(said('Ready', 'Theirs'));
    await mode('observe');
    // Its Agent comes, which that operator has not written yet.
    await world.rounds(20, true);
    const [agents, pool, events] = [world.agents(), world.pool(), world.events()];
    expect(await world.observe()).toMatchObject({ isListed: true, saidHeld: [] });
    const observed = [
      said('Ready', 'ObserveOnly'),
      said('CapacitySatisfied', 'Deficit'),
      said('Observed', 'Observed'),
    ] as const;
    await publish(...observed);
    expect(world.agents()).toEqual(agents);
    const theirs = pool.status?.conditions ?? [];
    expect(world.pool().status).toEqual({
      ...pool.status,
      conditions: [...theirs, expect.objectContaining({ type: 'Observed', reason: 'Observed' })],
    });
    const { resourceVersion } = world.pool().metadata;
    await publish(...observed);
    expect(world.pool().metadata.resourceVersion).toBe(resourceVersion);
    expect(world.events()).toEqual(events);
    await mode(null);
    expect((await world.observe()).isListed).toBe(false);
    await publish(said('Ready', 'Ours'));
    expect(world.pool().status?.conditions?.map(({ type, reason }) => `${type} ${reason}`)).toEqual(['Ready Ours']);
    expect(world.agents()).not.toEqual(agents);
  });
});

test.each([
  undefined,
  null,
  {},
  { namespace: 'a' },
  { namespace: 'A', name: 'b' },
  { namespace: 'a', name: 'b', x: 1 },
])('%j names no pool', async (input) => {
  const world = await openWorld();
  await expect(world.activities.observeAgentPool(input as never)).rejects.toMatchObject({ type: 'InvalidInput' });
});
