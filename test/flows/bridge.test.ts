import { evictionId } from '../../contracts/ids.ts';
import { type BridgeWorld, openBridgeWorld } from './bridge-world.ts';
import type { Signalled } from './read-signals.ts';
import { until } from './until.ts';

/** The bridge and the runs of Evictions. Its pages, its permissions and connections that break: bridge-faults. */

/** Nothing is late because the machine is busy. */
const isVirtual = process.env['DROVER_SIMULATED'] !== undefined;
let world: BridgeWorld;

beforeAll(async () => {
  world = await openBridgeWorld();
}, 180_000);
afterEach(() => world.clear());
afterAll(() => world?.close(), 60_000);

/** Every test has hosts of its own: Temporal keeps runs. */
let hosts = 0;
const newHost = (): string => `node-${(hosts += 1)}`;

const causes = (all: readonly Signalled[]): string[] => all.map(({ cause }) => cause);
const isHeld = { finalizers: ['drover.dev/eviction'] };
const conditionOf = async (name: string, type = 'Evicting') =>
  (await world.get(name)).status?.conditions?.find((condition) => condition.type === type);

test('a new Eviction starts the run that the design names, readable in the Web UI', async () => {
  const host = newHost();
  await world.leadingBridge();
  const { metadata } = await world.create(host, { name: `evict-${host}` });
  const [signal] = await world.signalled(host, 1);
  expect(signal).toMatchObject({
    uid: metadata.uid,
    generation: 1,
    resourceVersion: metadata.resourceVersion,
    cause: 'spec',
  });

  const description = await world.client.workflow.getHandle(evictionId(host)).describe();
  expect(description).toMatchObject({
    type: 'evictHypervisor',
    taskQueue: 'drover',
    memo: { startedBy: 'k8s-bridge' },
  });
  expect(
    Object.fromEntries(description.typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value])),
  ).toEqual({
    DroverHost: host,
    DroverKind: 'Eviction',
    DroverObject: `evict-${host}`,
  });
  expect(await description.staticSummary()).toBe(`Evict ${host}`);
  expect(await description.staticDetails()).toContain(`drover watch ${host}`);
  expect(await world.startOf(evictionId(host))).toEqual({ input: [{ hypervisor: host }], timeoutsSeconds: [0, 0] });
});

test('relevant changes are signalled, drover’s own writes are not', async () => {
  const host = newHost();
  await world.leadingBridge();
  await world.create(host);
  await world.signalled(host, 1);

  // What a worker writes: finalizer, notes, status; and fields that drover ignores.
  await world.patch(host, { metadata: { finalizers: ['drover.dev/eviction'] } });
  await world.annotate(host, { 'drover.dev/retry-handled': 'x', 'drover.dev/boot-id': 'y', 'example.com/z': 'z' });
  await world.patch(host, { metadata: { labels: { 'example.com/a': 'b' } } });
  for (let count = 0; count < 10; count += 1) {
    await world.report(host, 'True', 'Running');
    await world.patchStatus(host, { outstandingRamMb: count, outstandingInstances: [`vm-${count}`] });
  }
  // Events of one object come in order: once this one is signalled, all before it have been processed.
  await world.patch(host, { spec: { reason: 'another' } });
  expect(causes(await world.signalled(host, 2))).toEqual(['spec', 'spec']);

  await world.annotate(host, { 'drover.dev/deadline': '2030-01-01T00:00:00Z' });
  await world.signalled(host, 3);
  await world.annotate(host, { 'drover.dev/retry': 'now' });
  await world.signalled(host, 4);
  await world.patch(host, { metadata: { finalizers: ['drover.dev/eviction', 'example.com/other'] } });
  await world.signalled(host, 5);
  await world.remove(host);
  const all = await world.signalled(host, 6);
  expect(causes(all)).toEqual(['spec', 'spec', 'annotations', 'retry', 'finalizers', 'deleted']);
  expect(all.map(({ generation }) => generation)).toEqual([1, 2, 2, 2, 2, 3]);
  expect(new Set(all.map(({ runId }) => runId)).size).toBe(1);
});

test('a burst of edits becomes few signals, and the last one carries the last state', async () => {
  const host = newHost();
  const bridge = await world.leadingBridge();
  await world.create(host);
  await Promise.all(
    Array.from({ length: 50 }, (_, index) => world.patch(host, { spec: { reason: `reason ${index}` } })),
  );
  const { metadata } = await world.get(host);
  const all = await until('the last state to be signalled', 15_000, async () => {
    const signals = await world.signals(host);
    return signals.at(-1)?.resourceVersion === metadata.resourceVersion ? signals : `${signals.length} signals`;
  });
  expect(all.length).toBeLessThan(50);
  // One at once, then one each 200 ms: on real counterparts a signal may come late, and the next one not.
  const spanMs = (all.at(-1)?.atMs ?? 0) - (all[0]?.atMs ?? 0);
  if (isVirtual) expect(all.length).toBeLessThanOrEqual(2 + spanMs / 200);
  expect(all.at(-1)?.generation).toBe(metadata.generation);
  expect(bridge.stats().queue.inFlight).toBe(0);
});

test('deleted and created again under one name, both objects are signalled', async () => {
  const host = newHost();
  await world.leadingBridge();
  const first = await world.create(host);
  await world.signalled(host, 1);
  await world.remove(host);
  const second = await world.create(host);
  const all = await world.signalled(host, 3);
  const causesOf = (uid: string) => all.filter((signal) => signal.uid === uid).map(({ cause }) => cause);
  expect(causesOf(first.metadata.uid)).toEqual(['spec', 'deleted']);
  expect(causesOf(second.metadata.uid)).toEqual(['spec']);
});

test('when the bridge starts, it signals what is not reconciled and leaves the rest alone', async () => {
  const [reconciled, inProgress, changed, held] = [newHost(), newHost(), newHost(), newHost()];
  await Promise.all([reconciled, inProgress, changed].map((host) => world.create(host)));
  await world.report(reconciled, 'False', 'Succeeded');
  await world.report(inProgress, 'True', 'Running');
  await world.report(changed, 'False', 'Succeeded');
  await world.patch(changed, { spec: { reason: 'again' } });
  await world.create(held, isHeld);
  await world.report(held, 'False', 'Succeeded');
  await world.remove(held);
  await world.leadingBridge();
  for (const host of [inProgress, changed, held]) expect(causes(await world.signalled(host, 1))).toEqual(['relist']);
  expect(await world.signals(reconciled)).toEqual([]);
});

test('a change of a reconciled object starts no run', async () => {
  const [reconciled, fence] = [newHost(), newHost()];
  await world.create(reconciled);
  await world.report(reconciled, 'False', 'Succeeded');
  await world.leadingBridge();
  await world.annotate(reconciled, { 'drover.dev/deadline': '2030-01-01T00:00:00Z' });
  await world.remove(reconciled);
  await world.create(fence);
  await world.signalled(fence, 1);
  expect(await world.signals(reconciled)).toEqual([]);
});

test('a kind that is switched off is not routed', async () => {
  const host = newHost();
  const bridge = await world.bridge({
    settings: {
      modes: { Eviction: 'off', Hypervisor: 'off', VirtualMachine: 'off', VirtualMachineSetResourcePolicy: 'off' },
    },
  });
  await world.create(host);
  await until('the lease', 15_000, () => bridge.stats().leading || 'not held');
  expect(bridge.stats().reflectors).toEqual({});
  expect(await world.signals(host)).toEqual([]);
});

describe('a user’s stop is final', () => {
  const stopRun = (host: string, how: 'terminate' | 'cancel'): Promise<unknown> => {
    const handle = world.client.workflow.getHandle(evictionId(host));
    return how === 'terminate' ? handle.terminate('too risky today') : handle.cancel();
  };

  /** An Eviction whose run was terminated, and which says so. */
  const stopped = async (options?: { finalizers: string[] }): Promise<string> => {
    const host = newHost();
    await world.create(host, options);
    await world.signalled(host, 1);
    await stopRun(host, 'terminate');
    await until('the condition', 15_000, async () => ((await conditionOf(host))?.reason === 'Stopped' ? {} : 'none'));
    return host;
  };

  test('a terminated run is not started again; the Eviction says who stopped it and how to go on', async () => {
    await world.leadingBridge({ settings: { resyncMs: 300 } });
    const host = await stopped();
    const condition = await conditionOf(host);
    expect(condition).toMatchObject({ status: 'False', reason: 'Stopped', observedGeneration: 1 });
    expect(condition?.message).toMatch(
      new RegExp(`terminated by .+ at \\d{4}-.+ \\(too risky today\\).+drover retry ${host}`, 'u'),
    );
    // Several resyncs later nothing has moved; another object shows that they go on.
    const fence = newHost();
    await world.create(fence);
    await world.signalled(fence, 1);
    await world.annotate(host, { 'drover.dev/deadline': '2030-01-01T00:00:00Z' });
    await world.client.workflow.getHandle(evictionId(fence)).terminate();
    await until('the fence', 15_000, async () => ((await conditionOf(fence))?.reason === 'Stopped' ? {} : 'none'));
    expect((await world.signals(host)).length).toBe(1);
  });

  test('terminated while no bridge was there, it is not started either', async () => {
    const bridge = await world.leadingBridge();
    const host = newHost();
    await world.create(host);
    await world.signalled(host, 1);
    await bridge.stop();
    await stopRun(host, 'terminate');
    await world.leadingBridge();
    await until('the condition', 15_000, async () => ((await conditionOf(host))?.reason === 'Stopped' ? {} : 'none'));
    expect((await world.signals(host)).length).toBe(1);
  });

  test.each([
    ['a retry', (host: string) => world.annotate(host, { 'drover.dev/retry': '1' }), 'retry'],
    ['a changed spec', (host: string) => world.patch(host, { spec: { reason: 'now it is safe' } }), 'spec'],
  ])('%s starts it again', async (_why, act, cause) => {
    await world.leadingBridge({ settings: { resyncMs: 300 } });
    const host = await stopped();
    await act(host);
    const all = await world.signalled(host, 2);
    expect(causes(all)).toEqual(['spec', cause]);
    expect(new Set(all.map(({ runId }) => runId)).size).toBe(2);
  });

  test.each([
    ['a retry', (host: string) => world.annotate(host, { 'drover.dev/retry': '1' })],
    ['a changed spec', (host: string) => world.patch(host, { spec: { reason: 'now it is safe' } })],
  ])('%s while no bridge was there starts it again', async (_why, act) => {
    const bridge = await world.leadingBridge({ settings: { resyncMs: 300 } });
    const host = await stopped();
    await bridge.stop();
    await act(host);
    await world.leadingBridge();
    expect(causes(await world.signalled(host, 2))).toEqual(['spec', 'relist']);
  });

  test('deleting it starts a run, so that the finalizer is released', async () => {
    await world.leadingBridge({ settings: { resyncMs: 300 } });
    const host = await stopped(isHeld);
    await world.remove(host);
    expect(causes(await world.signalled(host, 2))).toEqual(['spec', 'deleted']);
    // And once more if a user terminates that run too.
    await stopRun(host, 'terminate');
    expect(causes(await world.signalled(host, 3))).toEqual(['spec', 'deleted', 'resync']);
  });

  test('a new object under the same name starts a run', async () => {
    await world.leadingBridge({ settings: { resyncMs: 300 } });
    const host = await stopped();
    await world.remove(host);
    const { metadata } = await world.create(host);
    // The end of the old one may reach the new run as well: they are two objects, signalled side by side.
    await until(
      'the new object to be signalled',
      15_000,
      async () =>
        (await world.signals(host)).find(({ uid, cause }) => uid === metadata.uid && cause === 'spec') ?? 'not yet',
    );
  });
});

test('two bridges: one delivers, and when it stops the other goes on at once', async () => {
  const first = await world.leadingBridge();
  const second = await world.bridge();
  await until('the second to be ready', 15_000, async () =>
    (await second.health()).ok ? {} : JSON.stringify(await second.health()),
  );
  const hostOf = async (): Promise<string> => {
    const host = newHost();
    await world.create(host);
    return host;
  };
  const before = await Promise.all(Array.from({ length: 5 }, hostOf));
  for (const host of before) expect(causes(await world.signalled(host, 1))).toEqual(['spec']);
  expect([first.stats().deliveries.signalWithStart, second.stats().deliveries.signalWithStart]).toEqual([5, 0]);

  const changing = before[0]!;
  await Promise.all([first.stop(), world.patch(changing, { spec: { reason: 'while they change over' } })]);
  const { generation } = (await world.get(changing)).metadata;
  await until('the second to lead', isVirtual ? 2_000 : 60_000, () => second.stats().leading || 'not yet');
  await until('the change to be signalled', 15_000, async () =>
    (await world.signals(changing)).some((signal) => signal.generation === generation) ? {} : 'not yet',
  );
  const after = await hostOf();
  expect(causes(await world.signalled(after, 1))).toEqual(['spec']);
});

test('a stop delivers what is queued, releases the Lease and can be repeated', async () => {
  const bridge = await world.leadingBridge();
  const all = Array.from({ length: 20 }, newHost);
  const signals = until(
    'the watch to have received all',
    15_000,
    () => (bridge.stats().reflectors.Eviction?.objects ?? 0) >= all.length || 'not yet',
  );
  await Promise.all(all.map((host) => world.create(host)));
  await signals;
  const [left, again] = await Promise.all([bridge.stop(), bridge.stop()]);
  expect([left, again]).toEqual([0, 0]);
  for (const host of all) expect(causes(await world.signalled(host, 1))).toEqual(['spec']);
  const lease = await world.request<{ spec: { holderIdentity: string } }>(
    'GET',
    '/apis/coordination.k8s.io/v1/namespaces/drover-system/leases/drover-bridge',
  );
  expect(lease.spec.holderIdentity).toBe('');
});

test('a bridge that starts while Temporal is away signals when it is back', async () => {
  const host = newHost();
  await world.create(host);
  await world.temporal.kill();
  try {
    const bridge = await world.bridge();
    await until('the bridge to try', 15_000, async () => {
      const { reasons } = await bridge.health();
      return reasons.some((reason) => /is not known yet|not delivered yet/u.test(reason)) || 'not yet';
    });
  } finally {
    await world.temporal.restart();
  }
  expect(causes(await world.signalled(host, 1, 30_000))).toEqual(['relist']);
});

test('a stop while Temporal is away reports what is left; the next start signals it', async () => {
  const bridge = await world.leadingBridge();
  const [host, other] = [newHost(), newHost()];
  await world.temporal.kill();
  try {
    await world.create(host);
    await world.create(other);
    await until('deliveries to fail', 15_000, () => bridge.stats().queue.failed >= 2 || 'not yet');
    expect(await bridge.stop()).toBe(2);
  } finally {
    await world.temporal.restart();
  }
  await world.leadingBridge();
  for (const one of [host, other]) expect(causes(await world.signalled(one, 1, 30_000))).toEqual(['relist']);
});
