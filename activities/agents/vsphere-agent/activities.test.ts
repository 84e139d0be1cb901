import { agentPoolAnnotations, vsphereAgentFinalizer } from '../../../contracts/agent-pool/metadata.ts';
import { vmIdentityOf } from '../../../contracts/agent-pool/vm-identity.ts';
import type { VsphereAgentObservation } from '../../../contracts/agent-pool/vsphere-agent.ts';
import { applyObject, mergeObject, mergeStatus } from '../../../lab/kubernetes-objects.ts';
import { errors, type ErrorCode } from '../../../contracts/errors.ts';
import { inventory } from '../../../lab/vsphere/handle.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import { openObjects } from '../../../runtime/kubernetes/objects.ts';
import type { AuditEntry } from '../../../runtime/telemetry/audit.ts';
import { openVirtual } from '../../../test/contracts/hosts/subject.ts';
import { failureOf } from '../../../test/contracts/vsphere-context.ts';
import { createFakeKubernetes } from '../../../test/fakes/kubernetes/fake-kubernetes.ts';
import { createFakeVcenter } from '../../../test/fakes/vsphere/vcenter.ts';
import { testScope } from '../../../test/fixtures/activities/nova.ts';
import { openPoolVcenters } from '../vcenter/pool-vcenters.ts';
import { createVsphereAgentActivities } from './activities.ts';
import type { VsphereAgentDependencies } from './dependencies.ts';

const namespace = 'team';
const name = 'agent-1';
const folder = `${inventory.vmFolder}/hc`;
const agentForge = 'agent-forge.containeroo.ch/v1alpha1';
const iso = 'agent-forge/abc.iso';
const settings = {
  mode: 'act',
  recheckMs: 1_000,
  lingerMs: 0,
  publishMinMs: 0,
  cluster: '',
  slotRenewMs: 1_000,
} as const;

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const secret = (data: object = {}, at: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { namespace, name: 'vcenter', ...at },
  data: { server: base64('lab.test\n'), username: base64('pools'), password: base64('hidden'), ...data },
});
const pool = (spec: object = {}, metadata: object = {}, vsphere: object = {}): object => ({
  apiVersion: agentForge,
  kind: 'VsphereAgentPool',
  metadata: { namespace, name: 'pool-a', ...metadata },
  spec: {
    agent: { labels: { a: 'b' } },
    controlPlaneNamespace: 'team-hc',
    hostedClusterRef: { name: 'hc' },
    infraEnvRef: { name: 'env' },
    nodePoolRef: { name: 'np' },
    template: { diskGiB: 20, memoryMiB: 1_024 },
    vsphere: {
      credentialsSecretRef: { name: 'vcenter' },
      datacenter: inventory.datacenter,
      datastoreCluster: 'DC0_POD0',
      isoDatastore: 'LocalDS_0',
      network: 'VM Network',
      resourcePool: 'DC0_C0/Resources',
      ...vsphere,
    },
    ...spec,
  },
});
const agent = (metadata: object = {}): object => ({
  apiVersion: agentForge,
  kind: 'VsphereAgent',
  metadata: { namespace, name, finalizers: [vsphereAgentFinalizer], ...metadata },
  spec: { poolRef: { name: 'pool-a' } },
});

function open(change: Partial<VsphereAgentDependencies> = {}) {
  const virtual = openVirtual();
  const { clock, random } = virtual;
  const kubernetes = createFakeKubernetes(virtual);
  const { admin } = kubernetes;
  const vcenter = createFakeVcenter({ clock, network: virtual.network, random, name: 'lab' });
  const audit: AuditEntry[] = [];
  const signalled: object[] = [];
  const client = openObjects(kubernetes.client);
  const vcenters = openPoolVcenters({
    client,
    vcenters: [vcenter.settings],
    systemNamespace: 'drover-system',
    openVcenter: (own) => vcenter.openVim(own),
    openRest: (own) => vcenter.openRest(own),
    clock,
  });
  const activities = createVsphereAgentActivities({
    client,
    vcenters,
    settings,
    namespaces: [],
    releaseSlot: async () => undefined,
    signalWithStart: async (input) => void signalled.push(input),
    stopGate: async () => undefined,
    audit: { record: async (entry) => void audit.push(structuredClone(entry)) },
    clock,
    scope: () => testScope({ deadlineMs: clock.now() + 3_600_000 }),
    ...change,
  });
  const set = async (...objects: object[]): Promise<void> => {
    for (const one of objects) await applyObject(admin, one);
  };
  const uid = (): string => kubernetes.object('vsphereagents', { namespace, name })?.metadata.uid ?? '';
  const of = () => ({ namespace, name, uid: uid() });
  return {
    ...virtual,
    kubernetes,
    admin,
    vcenter,
    audit,
    signalled,
    activities,
    set,
    uid,
    of,
    /** All that a VM needs. */
    prepare: async (...more: object[]) => {
      await set({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
      await set({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team-hc' } });
      await set(secret(), pool(), agent(), ...more);
      await mergeStatus(admin, { ...pool(), status: { iso: { path: iso, sha256: 'abc' } } });
    },
    observe: async (): Promise<VsphereAgentObservation> => {
      const observation = await activities.observeVsphereAgent({ namespace, name });
      if (observation.kind !== 'observed') throw new Error(observation.message);
      return observation;
    },
    delete: () =>
      admin.request(
        { method: 'DELETE', path: `/apis/${agentForge}/namespaces/${namespace}/vsphereagents/${name}` },
        new AbortController().signal,
      ),
    vms: () => vcenter.witness.find('vm', folder).catch(() => []),
  };
}

test('a VM is made, tagged with its mark, powered on, and shown in the object', async () => {
  const { run, prepare, observe, activities, of, uid, kubernetes } = open();
  await run(async () => {
    await prepare();
    const before = await observe();
    expect(before).toMatchObject({
      settings: { mode: 'act', vcenter: 'lab' },
      desired: { uid: uid(), deleting: false, isHeld: true, vmName: name, force: false },
      observed: {
        pool: { deleting: false, deletes: true, force: false, isoPath: iso },
        problem: null,
        phase: null,
        machine: null,
        isInstalled: false,
        vm: null,
        recorded: { name: null, conditions: [] },
      },
      digest: expect.any(String),
      retry: null,
    });
    const made = await activities.createAgentVm(of());
    expect(made).toMatchObject({
      name,
      biosUUID: vmIdentityOf(uid()).biosUuid,
      isOn: true,
      iso: `[LocalDS_0] ${iso}`,
      missingTags: [],
    });
    await activities.powerOnAgentVm(of());
    expect((await observe()).observed.vm).toEqual({ ...made, isOn: true });
    const { biosUUID, macAddress } = made;
    const ready = { status: 'True', reason: 'VMCreated', message: 'VM agent-1 is on', observedGeneration: 1 } as const;
    const publish = () =>
      activities.publishVsphereAgent({
        ...of(),
        status: { vm: { name, biosUUID, macAddress }, ready },
        retryHandled: null,
      });
    await publish();
    await publish();
    expect((await observe()).observed.recorded).toEqual({
      name,
      biosUUID,
      macAddress,
      conditions: [{ type: 'Ready', ...ready }],
    });
    expect(kubernetes.objects('events')).toMatchObject([{ reason: 'VMCreated', type: 'Normal' }]);
  });
});

test('a VM that was made at another vCenter than its pool leads to is neither made again nor let go', async () => {
  const { run, prepare, observe, activities, of, kubernetes, admin, set } = open();
  await run(async () => {
    await prepare();
    await activities.createAgentVm(of());
    const { annotations } = kubernetes.object('vsphereagents', { namespace, name })?.metadata ?? {};
    expect(annotations?.[agentPoolAnnotations.vcenterId]).toMatch(/^[-0-9a-f]{36}$/u);

    // Where the VM is, it is found, whatever is noted.
    await mergeObject(admin, agent({ annotations: { [agentPoolAnnotations.vcenterId]: 'another' } }));
    expect((await observe()).observed).toMatchObject({ problem: null, vm: { name } });

    await set(agent({ name: 'agent-2', annotations: { [agentPoolAnnotations.vcenterId]: 'another' } }));
    const other = await activities.observeVsphereAgent({ namespace, name: 'agent-2' });
    expect(other).toMatchObject({
      observed: {
        vm: null,
        problem: { reason: 'VcenterChanged', message: expect.stringContaining('made at vCenter another') },
      },
    });
  });
});

test('a datastore of ISOs that is given by its path is named by its name in the drive', async () => {
  const { run, prepare, activities, of } = open();
  await run(async () => {
    await prepare(pool({}, {}, { isoDatastore: 'iso-pod/LocalDS_0' }));
    expect(await activities.createAgentVm(of())).toMatchObject({ iso: `[LocalDS_0] ${iso}` });
  });
});

test('a slot is released when the VM is made, and not only when it is on', async () => {
  const done: string[] = [];
  const world = open({ releaseSlot: async () => void done.push(...world.audit.map(({ action }) => action)) });
  await world.run(async () => {
    await world.prepare();
    const slot = { limit: { kind: 'creates', vcenter: 'lab' }, request: {} as never } as const;
    expect(await world.activities.createAgentVm({ ...world.of(), slot })).toMatchObject({
      isOn: true,
      isSlotReleased: true,
    });
    const all = world.audit.map(({ action }) => action);
    expect(done.length).toBeGreaterThan(0);
    expect(all.length).toBeGreaterThan(done.length);
    expect(all.slice(0, done.length)).toEqual(done);
  });
});

test('what the run of the pool says of the VM stays', async () => {
  const { run, prepare, observe, activities, of, admin, kubernetes } = open();
  await run(async () => {
    await prepare();
    await mergeStatus(admin, { ...agent(), status: { vm: { name, phase: 'Bound', reason: 'AgentBound' } } });
    await activities.publishVsphereAgent({
      ...of(),
      status: {
        vm: { name, biosUUID: 'b', macAddress: null },
        ready: { status: 'False', reason: 'ISONotReady', message: 'waits', observedGeneration: 1 },
      },
      retryHandled: 'now',
    });
    expect(kubernetes.object('vsphereagents', { namespace, name })).toMatchObject({
      metadata: { annotations: { 'drover.dev/retry-handled': 'now' } },
      status: { vm: { name, biosUUID: 'b', phase: 'Bound', reason: 'AgentBound' } },
    });
    expect((await observe()).observed.phase).toBe('Bound');
  });
});

test('in mode observe only the condition Observed is written: all else is the operator’s that acts', async () => {
  const { run, prepare, observe, activities, of, admin, kubernetes } = open();
  await run(async () => {
    await prepare();
    const said = { status: 'True', reason: 'Theirs', message: 'm', observedGeneration: 1 } as const;
    const theirs = { type: 'Ready', ...said, lastTransitionTime: '2026-01-01T00:00:00Z' };
    const vm = { name, biosUUID: '423e1a2b-0c3d-4e5f-8a9b-0c1d2e3f4a5b', phase: 'Bound' };
    await mergeStatus(admin, { ...agent(), status: { vm, conditions: [theirs] } });
    const status = { observed: { ...said, reason: 'Observed' } };
    for (let times = 0; times < 2; times += 1)
      await activities.publishVsphereAgent({ ...of(), status, retryHandled: null });
    expect(kubernetes.object('vsphereagents', { namespace, name })?.status).toEqual({
      vm,
      conditions: [theirs, { type: 'Observed', ...status.observed, lastTransitionTime: expect.any(String) }],
    });
    expect(kubernetes.objects('events')).toEqual([]);
    await activities.publishVsphereAgent({
      ...of(),
      status: { ready: { ...said, reason: 'Ours' } },
      retryHandled: null,
    });
    expect((await observe()).observed.recorded.conditions).toMatchObject([{ type: 'Ready', reason: 'Ours' }]);
  });
});

test('an Event says what a VsphereAgent waits for, but for what its pool says of all', async () => {
  const { run, prepare, activities, of, kubernetes } = open();
  await run(async () => {
    await prepare();
    for (const reason of ['ISONotReady', 'VirtualMachineNameTaken'])
      await activities.publishVsphereAgent({
        ...of(),
        status: { ready: { status: 'False', reason, message: 'waits', observedGeneration: 1 } },
        retryHandled: null,
      });
    expect(kubernetes.objects('events')).toMatchObject([{ reason: 'VirtualMachineNameTaken', type: 'Warning' }]);
  });
});

test.each<[string, object[], string, string]>([
  [
    'a Secret in a foreign namespace',
    [pool({}, {}, { credentialsSecretRef: { name: 'v', namespace: 'other' } })],
    'InvalidObject',
    'other/v',
  ],
  ['no such Secret', [pool({}, {}, { credentialsSecretRef: { name: 'none' } })], 'InvalidObject', 'team/none'],
  [
    'a vCenter that is in no setting',
    [secret({ server: base64('https://elsewhere.test/sdk') })],
    'InvalidConfiguration',
    'elsewhere.test',
  ],
  ['a server that is none', [secret({ server: base64('user@host') })], 'InvalidObject', 'HOST:PORT'],
  ['no password', [secret({ password: '' })], 'InvalidObject', 'password'],
  [
    'a name that is no host name',
    [agent({ annotations: { [agentPoolAnnotations.vmName]: 'No_Host' } })],
    'InvalidObject',
    'No_Host',
  ],
])('what a user has to put right is a problem: %s', async (_, objects, reason, words) => {
  const { run, prepare, observe, activities, of, vms } = open();
  await run(async () => {
    await prepare(...objects);
    const { observed } = await observe();
    expect(observed.problem).toEqual({ reason, message: expect.stringContaining(words) });
    expect(JSON.stringify(observed)).not.toContain('hidden');
    expect(await failureOf(activities.createAgentVm(of()))).toMatchObject({ type: reason });
    expect(await vms()).toEqual([]);
  });
});

test('a Secret in drover’s own namespace is taken', async () => {
  const { run, prepare, observe } = open();
  await run(async () => {
    await prepare(
      secret({}, { namespace: 'drover-system' }),
      pool({}, {}, { credentialsSecretRef: { name: 'vcenter', namespace: 'drover-system' } }),
    );
    expect((await observe()).observed.problem).toBeNull();
  });
});

test('a vCenter that does not answer is a failure, and no problem of the object', async () => {
  const { run, prepare, observe, vcenter } = open();
  await run(async () => {
    await prepare();
    await vcenter.control.inject({ method: 'FindAllByUuid', does: 'status', status: 503 });
    expect(await failureOf(observe())).toMatchObject({ type: 'VsphereUnavailable' });
  });
});

test.each<[code: ErrorCode, vcenter: 'notAsked' | 'noAnswer' | undefined]>([
  ['VsphereUnavailable', 'noAnswer'],
  ['AnswerMalformed', 'noAnswer'],
  ['VsphereObjectNotFound', 'noAnswer'],
  ['VsphereNotPermitted', 'noAnswer'],
  ['InvalidObject', 'notAsked'],
  ['VsphereCredentialRefused', 'notAsked'],
  ['VsphereBusy', undefined],
  ['VirtualMachineAmbiguous', undefined],
])('… unless it is being deleted with a pool that goes by force: %s', async (code, vcenter) => {
  const force = { annotations: { [agentPoolAnnotations.forceDelete]: 'true' }, finalizers: ['test/held'] };
  const vcenters = { use: () => Promise.reject(droverFailure(code, 'not now')), close: async () => undefined };
  const { run, prepare, observe, admin, clock, delete: remove } = open({ vcenters });
  await run(async () => {
    await prepare(pool({}, force));
    const path = `/apis/${agentForge}/namespaces/${namespace}/vsphereagentpools/pool-a`;
    await admin.request({ method: 'DELETE', path }, new AbortController().signal);
    await remove();
    // Of how long its vCenter has not answered, the time since its deletion says nothing.
    await clock.sleep(11 * 60_000);
    const { problem } = (await observe()).observed;
    expect(problem).toEqual({
      reason: errors[code].reason,
      message: expect.stringContaining('not now'),
      ...(vcenter && { vcenter }),
    });
  });
});

test('without an ISO nothing is made', async () => {
  const { run, prepare, admin, activities, of, vms } = open();
  await run(async () => {
    await prepare();
    await mergeStatus(admin, { ...pool(), status: { iso: null } });
    expect(await failureOf(activities.createAgentVm(of()))).toMatchObject({ type: 'VsphereObjectNotFound' });
    expect(await vms()).toEqual([]);
  });
});

const machine = {
  apiVersion: 'cluster.x-k8s.io/v1beta1',
  kind: 'Machine',
  metadata: { namespace: 'team-hc', name: 'm-1' },
  spec: { clusterName: 'hc' },
};
const bound = {
  ...agent(),
  status: { vm: { name, machineRef: { kind: 'Machine', namespace: 'team-hc', name: 'm-1' } } },
};
type World = ReturnType<typeof open>;

const agentOf = (name: string, metadata: object = {}, spec: object = {}): object => ({
  apiVersion: 'agent-install.openshift.io/v1beta1',
  kind: 'Agent',
  metadata: { namespace, name, ...metadata },
  spec: { approved: true, ...spec },
});
/** It says that it runs on the VM of the VsphereAgent. */
async function runsOnVm(world: World, one: object): Promise<void> {
  await world.set(one);
  const { biosUuid } = vmIdentityOf(world.uid());
  const serialNumber = `VMware-${biosUuid.replaceAll('-', '').replaceAll(/../gu, '$& ').trim()}`;
  await mergeStatus(world.admin, { ...one, status: { inventory: { systemVendor: { serialNumber } } } });
}
const isTaken = { labels: { agentMachineRef: 'am-1' }, annotations: { agentMachineRefNamespace: 'team-hc' } };
const isInCluster = { clusterDeploymentName: { namespace, name: 'hc' } };
const force = (world: World): Promise<unknown> =>
  mergeObject(world.admin, agent({ annotations: { [agentPoolAnnotations.forceDelete]: 'true' } }));

test.each<[string, (world: World) => Promise<unknown>, RegExp | null]>([
  ['it is being deleted', (world) => world.delete(), null],
  ['it is not being deleted', async () => undefined, /is not being deleted/u],
  [
    'its pool retains',
    async (world) => {
      await world.set(pool({ cleanupPolicy: 'Retain' }));
      await world.delete();
    },
    /retains/u,
  ],
  [
    'its pool is gone',
    async (world) => {
      await world.admin.request(
        { method: 'DELETE', path: `/apis/${agentForge}/namespaces/${namespace}/vsphereagentpools/pool-a` },
        new AbortController().signal,
      );
      await world.delete();
    },
    /its pool is not there/u,
  ],
  [
    'its Machine is there',
    async (world) => {
      await world.set(machine);
      await mergeStatus(world.admin, bound);
      await world.delete();
      expect((await world.observe()).observed.machine).toBe('team-hc/m-1');
    },
    /its Machine team-hc\/m-1 is there/u,
  ],
  [
    'its Agent is taken, and its Machine is not recorded',
    async (world) => {
      await world.set(agentOf('a-0'));
      await runsOnVm(world, agentOf('a-1', isTaken));
      await world.delete();
      expect((await world.observe()).observed.machine).toBe('team-hc/am-1');
    },
    /its Machine team-hc\/am-1 is there/u,
  ],
  [
    'its Machine is there, and it is forced',
    async (world) => {
      await world.set(machine);
      await mergeStatus(world.admin, bound);
      await force(world);
      await world.delete();
      expect((await world.observe()).desired?.force).toBe(true);
    },
    null,
  ],
  [
    'its Machine is gone',
    async (world) => {
      await mergeStatus(world.admin, bound);
      await world.delete();
      expect((await world.observe()).observed.machine).toBeNull();
    },
    null,
  ],
  [
    'its Machine is gone, and its Agent is bound',
    async (world) => {
      await mergeStatus(world.admin, bound);
      await runsOnVm(world, agentOf('a-1', {}, isInCluster));
      await world.delete();
      expect((await world.observe()).observed).toMatchObject({ machine: null, agent: { name: 'a-1', isBound: true } });
    },
    /its Agent a-1 is bound/u,
  ],
  [
    'its Agent is bound, and it is forced',
    async (world) => {
      await mergeStatus(world.admin, bound);
      await runsOnVm(world, agentOf('a-1', {}, isInCluster));
      await force(world);
      await world.delete();
    },
    null,
  ],
])('whether the VM is destroyed when %s', async (_, change, stays) => {
  const world = open();
  await world.run(async () => {
    await world.prepare();
    await world.activities.createAgentVm(world.of());
    await world.activities.powerOnAgentVm(world.of());
    await change(world);
    const failure = await failureOf(world.activities.destroyAgentVm(world.of()));
    if (stays === null) expect([failure, await world.vms()]).toEqual(['no failure', []]);
    else {
      expect(failure).toMatchObject({ type: 'VirtualMachineConflict', message: expect.stringMatching(stays) });
      expect(await world.vms()).toEqual([`${folder}/${name}`]);
    }
  });
});

test.each<[what: string, prepare: (world: World) => Promise<unknown>, left: string[]]>([
  ['goes with it', (world) => runsOnVm(world, agentOf('a-1')), []],
  [
    'goes, however often its host has registered',
    async (world) => {
      await runsOnVm(world, agentOf('a-1'));
      await runsOnVm(world, agentOf('a-2'));
    },
    [],
  ],
  [
    'goes though the VM is gone',
    async (world) => {
      await runsOnVm(world, agentOf('a-1'));
      for (const path of await world.vms()) await world.vcenter.witness.destroyVm(path);
      await world.delete();
      expect((await world.observe()).observed).toMatchObject({ vm: null, agent: { name: 'a-1', isBound: false } });
    },
    [],
  ],
  ['of another host stays', (world) => world.set(agentOf('a-1')), ['a-1']],
  [
    'that is bound stays, by force',
    async (world) => {
      await runsOnVm(world, agentOf('a-1', {}, isInCluster));
      await force(world);
    },
    ['a-1'],
  ],
])('the Agent of a VsphereAgent that is deleted %s', async (_, change, left) => {
  const world = open();
  await world.run(async () => {
    await world.prepare();
    await world.activities.createAgentVm(world.of());
    await change(world);
    await world.delete();
    await world.activities.destroyAgentVm(world.of());
    expect(await world.vms()).toEqual([]);
    expect(world.kubernetes.objects('agents').map(({ metadata }) => metadata.name)).toEqual(left);
    const said = world.kubernetes.objects('events').map((event) => (event as { reason?: string }).reason);
    expect(said.includes('AgentDeleted')).toBe(left.length === 0);
  });
});

test('an Agent that is bound right before it would be deleted keeps its VM', async () => {
  const world = open({
    stopGate: () => runsOnVm(world, agentOf('a-1', {}, isInCluster)),
  });
  await world.run(async () => {
    await world.prepare();
    await mergeStatus(world.admin, bound);
    await runsOnVm(world, agentOf('a-1'));
    await world.delete();
    expect(await failureOf(world.activities.destroyAgentVm(world.of()))).toMatchObject({
      type: 'VirtualMachineConflict',
      message: expect.stringContaining('its Agent a-1 is bound'),
    });
    expect(world.kubernetes.objects('agents')).toHaveLength(1);
  });
});

test('the VM of another object of the same name stays', async () => {
  const { run, prepare, activities, of, vms } = open();
  await run(async () => {
    await prepare();
    await activities.createAgentVm(of());
    await activities.destroyAgentVm({ ...of(), uid: 'another' });
    await activities.powerOnAgentVm({ ...of(), uid: 'another' });
    expect(await failureOf(activities.createAgentVm({ ...of(), uid: 'another' }))).toMatchObject({
      type: 'ObjectNotFound',
    });
    expect(await vms()).toHaveLength(1);
  });
});

test('an Agent that is installed is noticed', async () => {
  const { run, prepare, observe, admin, set, activities, of } = open();
  await run(async () => {
    await prepare();
    await activities.createAgentVm(of());
    const installed = {
      apiVersion: 'agent-install.openshift.io/v1beta1',
      kind: 'Agent',
      metadata: { namespace, name: 'a-1' },
      spec: { approved: true },
    };
    await set(installed);
    await mergeStatus(admin, { ...agent(), status: { vm: { name, agentRef: { name: 'a-1' } } } });
    expect((await observe()).observed.isInstalled).toBe(false);
    await mergeStatus(admin, {
      ...installed,
      status: { conditions: [{ type: 'Installed', status: 'True', reason: 'InstallationCompleted' }] },
    });
    expect((await observe()).observed).toMatchObject({ isInstalled: true, vm: { iso: `[LocalDS_0] ${iso}` } });
    await activities.ejectAgentIso(of());
    expect((await observe()).observed.vm?.iso).toBeNull();
  });
});

test('a VM of that name without the mark is a problem, but holds no deletion back', async () => {
  const { run, prepare, observe, vcenter, activities, of, delete: remove } = open();
  await run(async () => {
    await prepare();
    await vcenter.witness.createFolder(folder);
    await vcenter.witness.cloneVm({ from: inventory.template, to: `${folder}/${name}` });
    expect((await observe()).observed).toMatchObject({
      vm: null,
      problem: { reason: 'VirtualMachineNameTaken', message: expect.stringContaining('drover does not touch it') },
    });
    expect(await failureOf(activities.createAgentVm(of()))).toMatchObject({ type: 'VirtualMachineNameTaken' });
    await remove();
    expect((await observe()).observed).toMatchObject({ vm: null, problem: null });
    await activities.destroyAgentVm(of());
    expect(await vcenter.witness.find('vm', folder)).toEqual([`${folder}/${name}`]);
  });
});

test('… unless it is the host that is recorded, which agent-forge-operator made', async () => {
  const { run, prepare, observe, admin, vcenter, vms, delete: remove } = open();
  await run(async () => {
    await prepare();
    await vcenter.witness.createFolder(folder);
    const path = `${folder}/${name}`;
    await vcenter.witness.cloneVm({ from: inventory.template, to: path });
    const { uuid = '' } = (await vcenter.witness.describeVm(path))?.config ?? {};
    const says = (biosUUID: string) => mergeStatus(admin, { ...agent(), status: { vm: { name, biosUUID } } });
    await says(uuid.toUpperCase());
    await remove();
    expect((await observe()).observed).toMatchObject({
      vm: null,
      problem: { reason: 'VirtualMachineNameTaken', message: expect.stringContaining('destroy it in vCenter') },
    });
    expect(await vms()).toEqual([path]);
    await says('423e1a2b-0c3d-4e5f-8a9b-0c1d2e3f4a5b');
    expect((await observe()).observed).toMatchObject({ vm: null, problem: null });
    await says(uuid);
    await vcenter.witness.destroyVm(path);
    expect((await observe()).observed).toMatchObject({ vm: null, problem: null });
  });
});

test('a VM that a create may still make is waited for, where none was ever seen', async () => {
  const { run, prepare, observe, admin, vcenter, clock, activities, of, uid, vms, delete: remove } = open();
  await run(async () => {
    await prepare();
    await vcenter.witness.createFolder(folder);
    await vcenter.control.delayTasks({ CreateVm: 60_000 });
    // Its worker dies while the task runs.
    const dying = failureOf(activities.createAgentVm(of()));
    await clock.sleep(5_000);
    await remove();
    expect(await vms()).toEqual([]);
    expect(await failureOf(observe())).toMatchObject({
      type: 'VsphereBusy',
      message: expect.stringContaining(`may still make VM ${name} of VsphereAgent ${namespace}/${name}`),
    });
    await mergeStatus(admin, { ...agent(), status: { vm: { name, biosUUID: vmIdentityOf(uid()).biosUuid } } });
    expect((await observe()).observed).toMatchObject({ vm: null, problem: null });
    await mergeStatus(admin, { ...agent(), status: { vm: { name, biosUUID: null } } });
    await dying;
    expect((await observe()).observed.vm).toMatchObject({ name });
    await activities.destroyAgentVm(of());
    expect((await observe()).observed).toMatchObject({ vm: null, problem: null });
  });
});

test('… and a create in another folder is of no account', async () => {
  const { run, prepare, observe, set, vcenter, clock, activities, of, delete: remove } = open();
  await run(async () => {
    await prepare();
    await vcenter.witness.createFolder(`${inventory.vmFolder}/other`);
    await vcenter.control.delayTasks({ CreateVm: 60_000 });
    const creating = failureOf(activities.createAgentVm(of()));
    await clock.sleep(5_000);
    await set(pool({}, {}, { folder: 'other' }));
    await remove();
    expect((await observe()).observed).toMatchObject({ vm: null, problem: null });
    await creating;
  });
});

test('what is not this run’s is handed over, and what is switched off is left as it is', async () => {
  const run = { workflowId: 'agent/team/another', runId: 'r' };
  const other = open({ scope: () => testScope({ run }) });
  await other.run(async () => {
    await other.prepare();
    expect(await other.activities.observeVsphereAgent({ namespace, name })).toMatchObject({ kind: 'handedOver' });
    expect(other.signalled).toEqual([{ namespace, name }]);
  });
  for (const change of [{ settings: null }, { namespaces: ['elsewhere'] }]) {
    const off = open(change);
    await off.run(async () =>
      expect(await off.activities.observeVsphereAgent({ namespace, name })).toMatchObject({ kind: 'nothing' }),
    );
  }
  const none = open();
  await none.run(async () => expect((await none.observe()).desired).toBeNull());
  await expect(none.activities.observeVsphereAgent({ namespace: 'No', name: '' })).rejects.toMatchObject({
    type: 'InvalidInput',
  });
});

test('the finalizer is put on and taken off', async () => {
  const { run, prepare, activities, of, observe, set } = open();
  await run(async () => {
    await prepare();
    await set(agent({ finalizers: [] }));
    expect((await observe()).desired?.isHeld).toBe(false);
    expect(await activities.patchVsphereAgentFinalizer({ ...of(), present: true })).toBe(true);
    expect((await observe()).desired?.isHeld).toBe(true);
    expect(await activities.patchVsphereAgentFinalizer({ ...of(), uid: 'another', present: false })).toBe(false);
    expect(await activities.patchVsphereAgentFinalizer({ ...of(), present: false })).toBe(true);
    expect((await observe()).desired?.isHeld).toBe(false);
  });
});
