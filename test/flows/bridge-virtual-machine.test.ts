import { resourcePolicyId, virtualMachineId } from '../../contracts/ids.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import type { BridgeOptions, TestBridge } from './bridge-base.ts';
import { type BridgeWorld, openBridgeWorld } from './bridge-world.ts';
import type { Signalled } from './read-signals.ts';
import { until } from './until.ts';

let world: BridgeWorld;

beforeAll(async () => {
  world = await openBridgeWorld();
}, 180_000);
afterEach(() => world.clear());
afterAll(() => world?.close(), 60_000);

/** Every test has VMs of its own: Temporal keeps runs. */
let vms = 0;
const newVm = (): string => `vm-${(vms += 1)}`;

const driven = {
  modes: { Eviction: 'off', Hypervisor: 'off', VirtualMachine: 'act', VirtualMachineSetResourcePolicy: 'off' },
} as const satisfies BridgeOptions['settings'];
const leading = (settings: BridgeOptions['settings'] = {}): Promise<TestBridge> =>
  world.leadingBridge({ settings: { ...driven, ...settings } });

const apiVersion = 'vmoperator.vmware.com/v1alpha6';
const namespace = 'default';
const pathOf = (plural: string, name?: string, subresource?: string): string =>
  resourcePath(apiVersion, plural, {
    namespace,
    ...(name !== undefined && { name }),
    ...(subresource !== undefined && { subresource }),
  });

interface Created {
  metadata: { uid: string; generation: number };
}

const create = (name: string, spec: object = {}, metadata: object = {}): Promise<Created> =>
  world.request('POST', pathOf('virtualmachines'), {
    apiVersion,
    kind: 'VirtualMachine',
    metadata: { name, ...metadata },
    spec,
  });
const createClass = (name: string): Promise<Created> =>
  world.request('POST', pathOf('virtualmachineclasses'), {
    apiVersion,
    kind: 'VirtualMachineClass',
    metadata: { name },
    spec: { hardware: { cpus: 1, memory: '1Gi' } },
  });
const createImage = (name: string): Promise<Created> =>
  world.request('POST', pathOf('virtualmachineimages'), {
    apiVersion,
    kind: 'VirtualMachineImage',
    metadata: { name },
    spec: {},
  });
const createPolicy = (name: string): Promise<Created> =>
  world.request('POST', pathOf('virtualmachinesetresourcepolicies'), {
    apiVersion,
    kind: 'VirtualMachineSetResourcePolicy',
    metadata: { name },
    spec: { clusterModuleGroups: ['web'] },
  });
const patch = (name: string, change: object): Promise<Created> =>
  world.request('PATCH', pathOf('virtualmachines', name), change);
const annotate = (name: string, annotations: Record<string, string | null>): Promise<Created> =>
  patch(name, { metadata: { annotations } });
const patchStatus = (name: string, status: object, manager = 'drover'): Promise<Created> =>
  world.request('PATCH', pathOf('virtualmachines', name, 'status'), { status }, { fieldManager: manager });
const remove = (name: string): Promise<unknown> => world.request('DELETE', pathOf('virtualmachines', name));

const condition = (type: string, status: string, reason: string, more: object = {}) => ({
  type,
  status,
  reason,
  message: reason,
  lastTransitionTime: '2026-01-01T00:00:00Z',
  ...more,
});
/** What the run would say of one that is where it should be. */
const reconcile = (name: string, observedGeneration = 1): Promise<Created> =>
  patchStatus(name, { conditions: [condition('Lifecycle', 'True', 'Reconciled', { observedGeneration })] });

const signalsOf = (name: string): Promise<Signalled[]> => world.signals(name, virtualMachineId(namespace, name));
const signalled = (name: string, count: number): Promise<Signalled[]> =>
  world.signalled(name, count, 15_000, virtualMachineId(namespace, name));
const causes = (all: readonly Signalled[]): string[] => all.map(({ cause }) => cause);
const terminate = (name: string) =>
  world.client.workflow.getHandle(virtualMachineId(namespace, name)).terminate('by mistake');

/** Makes a change and waits until it is signalled. */
const expectNextSignal = async (name: string, change: () => Promise<unknown>, cause: string): Promise<void> => {
  const before = (await signalsOf(name)).length;
  await change();
  const all = await signalled(name, before + 1);
  expect(causes(all.slice(before))).toEqual([cause]);
};

/** Events of two kinds come in any order: what a VM names is there for the bridge before the VM is. */
const untilObserved = (
  bridge: TestBridge,
  kind: 'VirtualMachineImage' | 'VirtualMachineSetResourcePolicy',
): Promise<true> =>
  until<true>(`a ${kind} to be listed`, 15_000, () => (bridge.stats().reflectors[kind]?.objects ?? 0) > 0 || 'not yet');

test('a new VirtualMachine starts the run that the design names, readable in the Web UI', async () => {
  const name = newVm();
  await leading();
  const { metadata } = await create(name);
  expect((await signalled(name, 1))[0]).toMatchObject({ uid: metadata.uid, generation: 1, cause: 'spec' });
  const handle = world.client.workflow.getHandle(`virtualmachine/${namespace}/${name}`);
  const description = await handle.describe();
  expect(description).toMatchObject({
    type: 'reconcileVirtualMachine',
    taskQueue: 'drover',
    memo: { startedBy: 'k8s-bridge' },
  });
  expect(
    Object.fromEntries(description.typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value])),
  ).toEqual({ DroverKind: 'VirtualMachine', DroverObject: `${namespace}/${name}` });
  expect(await description.staticSummary()).toBe(`Drive VM ${namespace}/${name}`);
  expect((await world.startOf(virtualMachineId(namespace, name))).input).toEqual([{ namespace, name }]);
});

test('changes by users and other controllers are signalled, drover’s own writes are not', async () => {
  const name = newVm();
  await leading();
  await create(name, { powerState: 'PoweredOff' });
  await signalled(name, 1);

  await expectNextSignal(name, () => patch(name, { spec: { powerState: 'PoweredOn' } }), 'spec');
  // drover's own notes, finalizer and status.
  await annotate(name, {
    'drover.dev/creating': '2026-01-01T00:00:00Z',
    'drover.dev/retry-handled': 'x',
    'vmoperator.vmware.com/manager-id': 'vc',
    'virtualmachine.vmoperator.vmware.com/first-boot-done': 'true',
  });
  await patch(name, {
    metadata: {
      finalizers: ['vmoperator.vmware.com/virtualmachine'],
      labels: { 'topology.kubernetes.io/zone': 'zone-a', app: 'web' },
    },
  });
  const volumes = (attached: boolean) => [{ name: 'data', type: 'Managed', attached }];
  await patchStatus(name, {
    powerState: 'PoweredOff',
    volumes: volumes(false),
    conditions: [condition('Lifecycle', 'Unknown', 'Creating', { observedGeneration: 2 })],
  });
  await expectNextSignal(name, () => patchStatus(name, { volumes: volumes(true) }, 'csi'), 'status');
  await expectNextSignal(name, () => annotate(name, { 'vmoperator.vmware.com/paused': 'x' }), 'annotations');
  await expectNextSignal(name, () => annotate(name, { 'vmoperator.vmware.com/paused': null }), 'annotations');
  await expectNextSignal(
    name,
    () => annotate(name, { 'poweron.check.vmoperator.vmware.com/scanner': 'x' }),
    'annotations',
  );
  await expectNextSignal(name, () => annotate(name, { 'drover.dev/mode': 'observe' }), 'annotations');
  await expectNextSignal(name, () => annotate(name, { 'drover.dev/retry': '1' }), 'retry');
  await expectNextSignal(name, () => remove(name), 'deleted');
  await patch(name, { metadata: { finalizers: null } });
  await until('its end to be signalled', 15_000, async () =>
    causes(await signalsOf(name)).filter((cause) => cause === 'deleted').length === 2 ? {} : 'not yet',
  );
  expect(new Set((await signalsOf(name)).map(({ runId }) => runId)).size).toBe(1);
});

test('a pause that ends starts a run, though the generation is the same', async () => {
  const name = newVm();
  await leading();
  await create(name, {}, { annotations: { 'vmoperator.vmware.com/paused': '' } });
  await signalled(name, 1);
  await patchStatus(name, { conditions: [condition('Lifecycle', 'False', 'Paused', { observedGeneration: 1 })] });
  await terminate(name);
  await annotate(name, { 'vmoperator.vmware.com/paused': null });
  const all = await signalled(name, 2);
  expect(new Set(all.map(({ runId }) => runId)).size).toBe(2);
});

test('a run that a user terminates is followed by another, though its object says that it is reconciled', async () => {
  const [terminated, left] = [newVm(), newVm()];
  await world.leadingBridge({ settings: driven, timings: { terminatedMs: 300 } });
  for (const name of [terminated, left]) {
    await create(name);
    await signalled(name, 1);
    await reconcile(name);
  }
  await terminate(terminated);
  const all = await signalled(terminated, 2);
  expect(causes(all)).toEqual(['spec', 'relist']);
  expect(new Set(all.map(({ runId }) => runId)).size).toBe(2);
  await terminate(terminated);
  expect(causes(await signalled(terminated, 3))).toEqual(['spec', 'relist', 'relist']);
  expect(causes(await signalsOf(left))).toEqual(['spec']);
});

test('a change of a class is signalled to the VMs that name it, reconciled or not, and to no others', async () => {
  const [reconciled, waiting, other] = [newVm(), newVm(), newVm()];
  const bridge = await leading();
  await create(reconciled, { className: 'late' });
  await create(waiting, { className: 'late' });
  await create(other, { className: 'another' });
  for (const name of [reconciled, waiting, other]) await signalled(name, 1);
  for (const name of [reconciled, other]) {
    await reconcile(name);
    await terminate(name);
  }
  await createClass('another-one');
  await createClass('late');
  for (const name of [reconciled, waiting])
    expect((await signalled(name, 2)).at(-1)).toMatchObject({ cause: 'prerequisite', generation: 1 });
  await world.request('PATCH', pathOf('virtualmachineclasses', 'late'), { metadata: { labels: { a: 'b' } } });
  await world.request('PATCH', pathOf('virtualmachineclasses', 'late'), { spec: { hardware: { cpus: 2 } } });
  for (const name of [reconciled, waiting])
    expect(causes((await signalled(name, 3)).slice(2))).toEqual(['prerequisite']);
  await world.request('DELETE', pathOf('virtualmachineclasses', 'late'));
  for (const name of [reconciled, waiting])
    expect(causes((await signalled(name, 4)).slice(3))).toEqual(['prerequisite']);
  expect(causes(await signalsOf(other))).toEqual(['spec']);
  expect(bridge.stats().deliveries).toMatchObject({ nothing: 0, signalOpen: 0 });
});

test('an image that gets ready reaches the VMs that wait for it', async () => {
  const [waiting, reconciled, drive] = [newVm(), newVm(), newVm()];
  const bridge = await leading();
  await createImage('vmi-1');
  await untilObserved(bridge, 'VirtualMachineImage');
  await create(waiting, { image: { kind: 'VirtualMachineImage', name: 'vmi-1' } });
  await create(reconciled, { image: { kind: 'VirtualMachineImage', name: 'vmi-1' } });
  await create(drive, {
    hardware: { cdrom: [{ name: 'cd1', image: { kind: 'VirtualMachineImage', name: 'vmi-1' } }] },
  });
  for (const name of [waiting, reconciled, drive]) await signalled(name, 1);
  await reconcile(reconciled);
  await expectNextSignal(waiting, () => annotate(waiting, { 'drover.dev/mode': 'act' }), 'annotations');
  await world.request('PATCH', pathOf('virtualmachineimages', 'vmi-1', 'status'), {
    status: { providerItemID: 'item', conditions: [condition('Ready', 'True', 'Synced')] },
  });
  for (const name of [waiting, drive])
    expect(
      (
        await until(`${name} to be signalled`, 15_000, async () =>
          (await signalsOf(name)).at(-1)?.cause === 'prerequisite' ? await signalsOf(name) : 'not yet',
        )
      ).length,
    ).toBeGreaterThan(1);
  expect(causes(await signalsOf(reconciled))).toEqual(['spec']);
});

test('a policy whose modules are made is signalled to the VMs that wait for it, also when another client makes them', async () => {
  const [waiting, reconciled] = [newVm(), newVm()];
  const bridge = await leading();
  await createPolicy('apart');
  await untilObserved(bridge, 'VirtualMachineSetResourcePolicy');
  for (const name of [waiting, reconciled]) await create(name, { reserved: { resourcePolicyName: 'apart' } });
  for (const name of [waiting, reconciled]) await signalled(name, 1);
  await reconcile(reconciled);
  await expectNextSignal(waiting, () => annotate(waiting, { 'drover.dev/mode': 'act' }), 'annotations');
  await expectNextSignal(
    waiting,
    () =>
      world.request('PATCH', pathOf('virtualmachinesetresourcepolicies', 'apart', 'status'), {
        status: { clustermodules: [{ clusterMoID: 'domain-c1', groupName: 'web', moduleUUID: 'm-1' }] },
      }),
    'prerequisite',
  );
  expect(causes(await signalsOf(reconciled))).toEqual(['spec']);
});

test('a policy starts a run of its own, where drover makes them; one that says that all is made is left alone', async () => {
  const bridge = await leading({ modes: { ...driven.modes, VirtualMachineSetResourcePolicy: 'act' }, resyncMs: 300 });
  const id = resourcePolicyId(namespace, 'gold');
  const made = (count: number) => world.signalled('gold', count, 15_000, id);
  await createPolicy('gold');
  expect((await made(1))[0]).toMatchObject({ cause: 'spec', generation: 1 });
  expect(await world.client.workflow.getHandle(id).describe()).toMatchObject({
    type: 'reconcileSetResourcePolicy',
    taskQueue: 'drover',
    memo: { startedBy: 'k8s-bridge' },
  });
  await world.request('PATCH', pathOf('virtualmachinesetresourcepolicies', 'gold'), {
    metadata: {
      annotations: { 'drover.dev/policy-made': '1' },
      finalizers: ['vmoperator.vmware.com/virtualmachinesetresourcepolicy'],
    },
  });
  await world.client.workflow.getHandle(id).terminate('by mistake');
  const { resyncs } = bridge.stats();
  await until('more resyncs', 15_000, () => bridge.stats().resyncs >= resyncs + 3 || 'not yet');
  expect(await world.signals('gold', id)).toHaveLength(1);
  await world.request('PATCH', pathOf('virtualmachinesetresourcepolicies', 'gold'), { spec: { folder: 'apart' } });
  expect((await made(2)).at(-1)).toMatchObject({ cause: 'spec', generation: 2 });
  await world.request('DELETE', pathOf('virtualmachinesetresourcepolicies', 'gold'));
  expect((await made(3)).at(-1)?.cause).toBe('deleted');
});

test('two VMs of one name in two namespaces are two', async () => {
  const name = newVm();
  await world.request('POST', resourcePath('v1', 'namespaces'), {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'other-team' },
  });
  await leading();
  const [here, there] = [
    await create(name),
    await world.request<Created>('POST', resourcePath(apiVersion, 'virtualmachines', { namespace: 'other-team' }), {
      apiVersion,
      kind: 'VirtualMachine',
      metadata: { name },
      spec: {},
    }),
  ];
  expect((await signalled(name, 1))[0]?.uid).toBe(here.metadata.uid);
  expect((await world.signalled(name, 1, 15_000, virtualMachineId('other-team', name)))[0]?.uid).toBe(
    there.metadata.uid,
  );
  await world.request('DELETE', resourcePath(apiVersion, 'virtualmachines', { namespace: 'other-team', name }));
});

test('a resync starts the run of a VM whose run was terminated, and leaves alone one that is reconciled', async () => {
  const [broken, reconciled] = [newVm(), newVm()];
  const bridge = await leading({ resyncMs: 300 });
  await create(reconciled);
  await signalled(reconciled, 1);
  await reconcile(reconciled);
  // Events of one kind come in order: once this one is signalled, the bridge knows that the other is reconciled.
  await create(broken);
  await signalled(broken, 1);
  const quiet = await signalsOf(reconciled);
  for (const name of [broken, reconciled]) await terminate(name);
  expect((await signalled(broken, 2)).at(-1)?.cause).toBe('resync');
  const { resyncs } = bridge.stats();
  await until('more resyncs', 15_000, () => bridge.stats().resyncs >= resyncs + 3 || 'not yet');
  expect(await signalsOf(reconciled)).toEqual(quiet);
});

test('switched off, none of it is watched', async () => {
  const name = newVm();
  const bridge = await leading({
    modes: { Eviction: 'act', Hypervisor: 'off', VirtualMachine: 'off', VirtualMachineSetResourcePolicy: 'off' },
  });
  await create(name);
  await world.create(name);
  await world.signalled(name, 1);
  expect(Object.keys(bridge.stats().reflectors)).toEqual(['Eviction']);
  expect(await signalsOf(name)).toEqual([]);
});
