import { hypervisorId, nodeMetadata } from '../../contracts/ids.ts';
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

/** Every test has hosts of its own: Temporal keeps runs. */
let hosts = 0;
const newHost = (): string => `host-${(hosts += 1)}`;

const isHypervisor = { [nodeMetadata.virtDriver]: 'libvirt' };
const bothOn: BridgeOptions['settings'] = {
  modes: { Eviction: 'act', Hypervisor: 'act', VirtualMachine: 'off', VirtualMachineSetResourcePolicy: 'off' },
};
const leading = (settings: BridgeOptions['settings'] = {}): Promise<TestBridge> =>
  world.leadingBridge({ settings: { ...bothOn, ...settings } });

interface Created {
  metadata: { uid: string; generation?: number; resourceVersion: string };
}

const nodePath = (name: string, subresource?: string): string =>
  resourcePath('v1', 'nodes', { name, ...(subresource !== undefined && { subresource }) });
const hypervisorPath = (name: string, subresource?: string): string =>
  resourcePath('kvm.cloud.sap/v1', 'hypervisors', { name, ...(subresource !== undefined && { subresource }) });
const createNode = (name: string, labels: Record<string, string> = isHypervisor): Promise<Created> =>
  world.request('POST', resourcePath('v1', 'nodes'), { apiVersion: 'v1', kind: 'Node', metadata: { name, labels } });
const createHypervisor = (name: string): Promise<Created> =>
  world.request('POST', resourcePath('kvm.cloud.sap/v1', 'hypervisors'), {
    apiVersion: 'kvm.cloud.sap/v1',
    kind: 'Hypervisor',
    metadata: { name },
    spec: {},
  });
const patchNode = (name: string, change: object): Promise<Created> => world.request('PATCH', nodePath(name), change);
const patchNodeStatus = (name: string, status: object): Promise<Created> =>
  world.request('PATCH', nodePath(name, 'status'), { status });
const patchHypervisor = (name: string, change: object): Promise<Created> =>
  world.request('PATCH', hypervisorPath(name), change);
/** As the field manager `manager`. */
const patchHypervisorStatus = (name: string, status: object, manager = 'kvm-node-agent'): Promise<Created> =>
  world.request('PATCH', hypervisorPath(name, 'status'), { status }, { fieldManager: manager });

const condition = (type: string, status: string, reason: string, more: object = {}) => ({
  type,
  status,
  reason,
  message: reason,
  lastTransitionTime: '2026-01-01T00:00:00Z',
  ...more,
});
const lifecycle = (status: string) => condition('Lifecycle', status, 'Active', { observedGeneration: 1 });
/** What the run would say of one that is where it should be. */
const reconcile = (name: string): Promise<Created> =>
  patchHypervisorStatus(name, { numInstances: 0, conditions: [lifecycle('True')] }, 'drover');

const signalsOf = (host: string): Promise<Signalled[]> => world.signals(host, hypervisorId(host));
const signalled = (host: string, count: number): Promise<Signalled[]> =>
  world.signalled(host, count, 15_000, hypervisorId(host));
const causes = (all: readonly Signalled[]): string[] => all.map(({ cause }) => cause);

/** Makes a change and waits until it is signalled. */
const expectNextSignal = async (host: string, change: () => Promise<unknown>, cause: string): Promise<void> => {
  const before = (await signalsOf(host)).length;
  await change();
  const all = await signalled(host, before + 1);
  expect(causes(all.slice(before))).toEqual([cause]);
};

test('a Node whose label makes it a hypervisor starts the run that the design names, readable in the Web UI', async () => {
  const host = newHost();
  await leading();
  const { metadata } = await createNode(host);
  const [signal] = await signalled(host, 1);
  expect(signal).toMatchObject({ uid: metadata.uid, cause: 'spec' });

  const handle = world.client.workflow.getHandle(hypervisorId(host));
  const description = await handle.describe();
  expect(description).toMatchObject({
    type: 'reconcileHypervisor',
    taskQueue: 'drover',
    memo: { startedBy: 'k8s-bridge' },
  });
  expect(
    Object.fromEntries(description.typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value])),
  ).toEqual({ DroverHost: host, DroverKind: 'Hypervisor', DroverObject: host });
  expect(await description.staticSummary()).toBe(`Drive hypervisor ${host}`);
  expect((await world.startOf(hypervisorId(host))).input).toEqual([{ hypervisor: host }]);
});

test('changes of a Node that decisions depend on are signalled, heartbeats and the rest are not', async () => {
  const host = newHost();
  await leading();
  await createNode(host);
  await signalled(host, 1);

  // What a kubelet reports all the time, and what drover does not read.
  const ready = (more: object) => ({ conditions: [condition('Ready', 'True', 'KubeletReady', more)] });
  await expectNextSignal(
    host,
    () => patchNodeStatus(host, ready({ lastHeartbeatTime: '2026-01-01T00:00:00Z' })),
    'status',
  );
  for (let minute = 10; minute < 20; minute += 1)
    await patchNodeStatus(host, ready({ lastHeartbeatTime: `2026-01-01T00:${minute}:00Z` }));
  await patchNodeStatus(host, { images: [{ names: ['a'] }], capacity: { cpu: '4' } });
  await patchNode(host, { metadata: { labels: { 'example.com/a': 'b' }, annotations: { 'example.com/a': 'b' } } });
  // Events of one object come in order: once this one is signalled, all before it have been processed.
  await expectNextSignal(host, () => patchNode(host, { spec: { unschedulable: true } }), 'spec');
  await expectNextSignal(host, () => patchNodeStatus(host, { nodeInfo: { bootID: 'boot-1' } }), 'status');
  await expectNextSignal(
    host,
    () => patchNodeStatus(host, { conditions: [condition('Terminating', 'True', 'ScaleDown')] }),
    'status',
  );
  await expectNextSignal(
    host,
    () => patchNode(host, { metadata: { annotations: { [nodeMetadata.aggregates]: 'a' } } }),
    'annotations',
  );
  await expectNextSignal(
    host,
    () => patchNode(host, { metadata: { labels: { [nodeMetadata.lifecycle]: '' } } }),
    'labels',
  );
  await expectNextSignal(
    host,
    () => patchNode(host, { metadata: { labels: { [nodeMetadata.virtDriver]: null } } }),
    'labels',
  );
  expect(new Set((await signalsOf(host)).map(({ runId }) => runId)).size).toBe(1);
});

test('a Node that is no hypervisor is ignored, until it has the label or a Hypervisor has its name', async () => {
  const [plain, becomes, namesake] = [newHost(), newHost(), newHost()];
  const bridge = await leading();
  for (const host of [plain, becomes, namesake]) await createNode(host, {});
  await until('the Nodes to be listed', 15_000, () => (bridge.stats().reflectors.Node?.objects ?? 0) >= 3 || 'not yet');
  await createHypervisor(namesake);
  await expectNextSignal(becomes, () => patchNode(becomes, { metadata: { labels: isHypervisor } }), 'labels');
  await signalled(namesake, 1);
  await patchNode(plain, { spec: { unschedulable: true } });
  await expectNextSignal(namesake, () => patchNode(namesake, { spec: { unschedulable: true } }), 'spec');
  expect(await signalsOf(plain)).toEqual([]);
  // The namesake twice, the other once: the plain one was not even read.
  expect(bridge.stats().deliveries).toMatchObject({ signalWithStart: 3, signalOpen: 0, nothing: 0 });
});

test('changes of a Hypervisor by others are signalled, drover’s own writes are not', async () => {
  const host = newHost();
  await leading();
  const { metadata } = await createHypervisor(host);
  expect((await signalled(host, 1))[0]).toMatchObject({ uid: metadata.uid, generation: 1, cause: 'spec' });

  await expectNextSignal(host, () => patchHypervisor(host, { spec: { maintenance: 'auto' } }), 'spec');
  await patchHypervisor(host, {
    metadata: {
      annotations: { 'drover.dev/from-node': 'x', 'drover.dev/retry-handled': 'y' },
      labels: { 'kubernetes.io/hostname': host },
    },
  });
  const own = [
    lifecycle('Unknown'),
    condition('HaEnabled', 'False', 'Onboarding'),
    condition('Evicting', 'True', 'Running'),
    condition('Onboarding', 'True', 'Testing'),
  ];
  await patchHypervisorStatus(
    host,
    { numInstances: 0, libVirtVersion: '10.0.0', evicted: false, traits: ['A'], conditions: own },
    'drover',
  );
  const connected = condition('LibVirtConnection', 'True', 'Connected');
  await expectNextSignal(host, () => patchHypervisorStatus(host, { conditions: [...own, connected] }), 'status');
  // drover keeps what others wrote, removes one of its own, and changes another.
  const turned = [
    lifecycle('False'),
    condition('HaEnabled', 'True', 'Succeeded'),
    condition('Onboarding', 'False', 'Aborted'),
  ];
  await patchHypervisorStatus(host, { evicted: true, conditions: [...turned, connected] }, 'drover');
  await expectNextSignal(host, () => patchHypervisorStatus(host, { libVirtVersion: '10.1.0' }), 'status');
  await expectNextSignal(
    host,
    () => patchHypervisorStatus(host, { numInstances: 1, instances: [{ id: 'a', name: 'a', active: true }] }),
    'status',
  );
  await patchHypervisorStatus(host, { numInstances: 2, capacity: { cpu: '4' } });
  await expectNextSignal(
    host,
    () =>
      patchHypervisorStatus(
        host,
        { conditions: [lifecycle('False'), condition('HaEnabled', 'False', 'Evicted'), turned[2], connected] },
        'kvm-ha-service',
      ),
    'status',
  );
  await expectNextSignal(
    host,
    () => patchHypervisorStatus(host, { conditions: [lifecycle('False'), connected] }, 'kubectl-edit'),
    'status',
  );
  await expectNextSignal(
    host,
    () => patchHypervisor(host, { metadata: { annotations: { 'drover.dev/retry': '1' } } }),
    'retry',
  );
  await expectNextSignal(host, () => world.request('DELETE', hypervisorPath(host)), 'deleted');
});

test('an Eviction concerns its own run and that of its host, as long as there is a Hypervisor', async () => {
  const [host, stranger] = [newHost(), newHost()];
  await leading();
  await createHypervisor(host);
  await signalled(host, 1);
  await reconcile(host);
  const name = `evict-${host}`;
  let uid = '';
  await expectNextSignal(host, async () => void ({ uid } = (await world.create(host, { name })).metadata), 'spec');
  expect(causes(await world.signalled(host, 1))).toEqual(['spec']);
  await expectNextSignal(host, () => world.report(name, 'True', 'Running'), 'status');
  await world.patchStatus(name, { outstandingRamMb: 1, outstandingInstances: ['vm-1'] });
  await expectNextSignal(host, () => world.report(name, 'False', 'Succeeded'), 'status');
  // Its own run wrote that.
  expect(causes(await world.signals(host))).toEqual(['spec']);
  await expectNextSignal(host, () => world.remove(name), 'deleted');
  expect((await signalsOf(host)).at(-1)).toMatchObject({ uid });

  await world.create(stranger);
  expect(causes(await world.signalled(stranger, 1))).toEqual(['spec']);
  expect(await signalsOf(stranger)).toEqual([]);
});

test('a change starts a run for a Hypervisor that is reconciled', async () => {
  const host = newHost();
  await leading();
  await createHypervisor(host);
  await signalled(host, 1);
  await reconcile(host);
  await world.client.workflow.getHandle(hypervisorId(host)).terminate();
  await createNode(host);
  const all = await signalled(host, 2);
  expect(new Set(all.map(({ runId }) => runId)).size).toBe(2);
});

test('the deletion of a Node is signalled while its Hypervisor is there, and not after that', async () => {
  const host = newHost();
  const bridge = await leading();
  await createNode(host);
  await createHypervisor(host);
  await until('both to be signalled', 15_000, async () =>
    new Set((await signalsOf(host)).map(({ uid }) => uid)).size === 2 ? {} : 'not yet',
  );
  await world.client.workflow.getHandle(hypervisorId(host)).terminate();
  await expectNextSignal(host, () => world.request('DELETE', nodePath(host)), 'deleted');
  await world.client.workflow.getHandle(hypervisorId(host)).terminate();
  const before = bridge.stats().deliveries.signalOpen;
  await world.request('DELETE', hypervisorPath(host));
  await until('the end to be delivered', 15_000, () => bridge.stats().deliveries.signalOpen > before || 'not yet');
  expect(causes(await signalsOf(host)).filter((cause) => cause === 'deleted')).toHaveLength(1);
});

describe('comparisons', () => {
  const stop = (host: string) => world.client.workflow.getHandle(hypervisorId(host)).terminate('by mistake');

  test('a resync starts the run of a Hypervisor whose run was terminated, and leaves alone what is reconciled', async () => {
    const [broken, reconciled, orphan, owned] = [newHost(), newHost(), newHost(), newHost()];
    const bridge = await leading({ resyncMs: 300 });
    for (const host of [reconciled, owned]) {
      await createHypervisor(host);
      await signalled(host, 1);
      await reconcile(host);
    }
    // Events of one kind come in order: once this one is signalled, the bridge knows that the others are reconciled.
    await createHypervisor(broken);
    await signalled(broken, 1);
    for (const host of [orphan, owned]) await createNode(host);
    const [quiet, ownedBefore] = [await signalled(reconciled, 1), await signalled(owned, 2)];
    for (const host of [reconciled, owned]) await stop(host);
    for (const host of [broken, orphan]) {
      await signalled(host, 1);
      await stop(host);
      const all = await signalled(host, 2);
      expect(all.at(-1)?.cause).toBe('resync');
      expect(new Set(all.map(({ runId }) => runId)).size).toBe(2);
    }
    const { resyncs } = bridge.stats();
    await until('more resyncs', 15_000, () => bridge.stats().resyncs >= resyncs + 3 || 'not yet');
    expect(await signalsOf(reconciled)).toEqual(quiet);
    expect(await signalsOf(owned)).toEqual(ownedBefore);
    // Open runs are not signalled again and again either.
    expect(causes(await signalsOf(orphan)).filter((cause) => cause === 'resync')).toHaveLength(1);
  });

  test('at the start every Hypervisor is signalled once, because earlier changes of its Node are recorded nowhere', async () => {
    const [reconciled, withNode, orphan, plain] = [newHost(), newHost(), newHost(), newHost()];
    for (const host of [reconciled, withNode]) {
      await createHypervisor(host);
      await reconcile(host);
    }
    for (const host of [withNode, orphan]) await createNode(host);
    await createNode(plain, {});
    await world.create(reconciled);
    await world.report(reconciled, 'False', 'Succeeded');
    const bridge = await leading();
    for (const host of [reconciled, withNode, orphan]) expect(causes(await signalled(host, 1))).toEqual(['relist']);
    expect(await signalsOf(plain)).toEqual([]);
    expect(bridge.stats().deliveries).toMatchObject({ signalWithStart: 3, signalOpen: 0, nothing: 0 });
  });
});

test('switched off, neither Hypervisors nor Nodes are watched, and Evictions concern their own runs alone', async () => {
  const host = newHost();
  const bridge = await leading({
    modes: { Eviction: 'act', Hypervisor: 'off', VirtualMachine: 'off', VirtualMachineSetResourcePolicy: 'off' },
  });
  await createNode(host);
  await createHypervisor(host);
  await world.create(host);
  expect(causes(await world.signalled(host, 1))).toEqual(['spec']);
  expect(Object.keys(bridge.stats().reflectors)).toEqual(['Eviction']);
  expect(await signalsOf(host)).toEqual([]);
});

test('with Evictions switched off, they still concern their hosts', async () => {
  const host = newHost();
  await leading({
    modes: { Eviction: 'off', Hypervisor: 'act', VirtualMachine: 'off', VirtualMachineSetResourcePolicy: 'off' },
  });
  await createHypervisor(host);
  await signalled(host, 1);
  await expectNextSignal(host, () => world.create(host), 'spec');
  expect(await world.signals(host)).toEqual([]);
});
