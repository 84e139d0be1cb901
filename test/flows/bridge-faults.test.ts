import { rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  compactEtcd,
  freezeKubeApiserver,
  killKubeApiserver,
  restartKubeApiserver,
  thawKubeApiserver,
} from '../../lab/parts/kubernetes-faults.ts';
import { killTemporal, restartTemporal } from '../../lab/parts/temporal-faults.ts';
import { describePages } from './bridge/pages.ts';
import { describeServiceAccounts } from './bridge/service-accounts.ts';
import { quickTimings } from './bridge-base.ts';
import { type LabBridgeWorld, openLabBridgeWorld } from './bridge-world.ts';
import type { Signalled } from './read-signals.ts';
import { until } from './until.ts';

/**
 * Faults that only a real kube-apiserver and a real Temporal have. Which changes it signals:
 * bridge, bridge-hypervisor, bridge-virtual-machine.
 */

let world: LabBridgeWorld;

beforeAll(async () => {
  world = await openLabBridgeWorld();
}, 600_000);
afterEach(() => world.clear(), 600_000);
afterAll(() => world?.close(), 600_000);

describePages(() => world);

describeServiceAccounts(() => world);

let hosts = 0;
const newHost = (): string => `node-${(hosts += 1)}`;
const causes = (all: readonly Signalled[]): string[] => all.map(({ cause }) => cause);

/** A Lease that outlives the gap, so that only the watch can report what happened in it. */
const longLease = { durationMs: 120_000, renewDeadlineMs: 110_000, retryMs: 200 };
/** Where signals are counted: one that is late, or comes after another lease, would be sent again. */
const patient = { lease: longLease, deliveryTimeoutMs: 30_000 };

/** A host whose run was signalled for its new Eviction. */
const signalledHost = async (): Promise<string> => {
  const host = newHost();
  await world.create(host);
  await world.signalled(host, 1);
  return host;
};

/** What a bridge must have made of a time in which it saw nothing. */
interface Gap {
  unchanged: string;
  changed: string;
  annotated: string;
  created: string;
  gone: string;
  recreated: string;
}

const enterGap = async (): Promise<Gap> => {
  const [unchanged, changed, annotated, gone, recreated] = await Promise.all([
    signalledHost(),
    signalledHost(),
    signalledHost(),
    signalledHost(),
    signalledHost(),
  ]);
  return { unchanged, changed, annotated, gone, recreated, created: newHost() };
};

/** What happens while the watch is interrupted; more than once, as only the last counts. */
const fillGap = async ({ changed, annotated, created, gone, recreated }: Gap): Promise<void> => {
  await world.patch(changed, { spec: { reason: 'first' } });
  await world.patch(changed, { spec: { reason: 'second' } });
  await world.annotate(annotated, { 'drover.dev/deadline': '2030-01-01T00:00:00Z' });
  await world.create(created);
  await world.remove(gone);
  await world.remove(recreated);
  await world.create(recreated);
};

/**
 * Nothing lost: each run knows the last state. Whether the changes between were signalled one by one depends on how the
 * bridge caught up.
 */
const expectNothingLost = async ({ unchanged, changed, annotated, created, gone, recreated }: Gap): Promise<void> => {
  await until('the last spec to be signalled', 30_000, async () =>
    (await world.signals(changed)).at(-1)?.generation === 3 ? {} : 'not yet',
  );
  expect(causes(await world.signalled(annotated, 2))).toEqual(['spec', 'annotations']);
  expect((await world.signalled(created, 1)).length).toBe(1);
  expect(causes(await world.signalled(gone, 2))).toEqual(['spec', 'deleted']);
  const both = await world.signalled(recreated, 3);
  expect(new Set(both.map(({ uid }) => uid)).size).toBe(2);
  expect((await world.signals(unchanged)).length).toBe(1);
};

test('the connection is cut: the watch goes on from where it was', async () => {
  const bridge = await world.leadingBridge({ throughProxy: true, timings: patient });
  const gap = await enterGap();
  bridge.proxy?.cut();
  await fillGap(gap);
  await until('the bridge to notice', 15_000, () => bridge.stats().reflectors.Eviction?.error !== null || 'no error');
  bridge.proxy?.restore();
  await expectNothingLost(gap);
  expect(bridge.stats().reflectors.Eviction?.lists).toBe(1);
}, 600_000);

test('the connection is there and nothing comes: the watchdog notices', async () => {
  const reflector = { ...quickTimings.reflector, idleMs: 1_500 };
  const bridge = await world.leadingBridge({ throughProxy: true, timings: { reflector, ...patient } });
  const gap = await enterGap();
  bridge.proxy?.freezeOpen();
  await fillGap(gap);
  await expectNothingLost(gap);
}, 600_000);

test('kube-apiserver hangs and comes back', async () => {
  const reflector = { ...quickTimings.reflector, idleMs: 1_500 };
  const bridge = await world.leadingBridge({ timings: { reflector } });
  const gap = await enterGap();
  freezeKubeApiserver(world.lab.handles.kubernetes);
  try {
    await until('the lease to be given up', 20_000, () => !bridge.stats().leading || 'still held');
  } finally {
    thawKubeApiserver(world.lab.handles.kubernetes);
  }
  await fillGap(gap);
  await until('the last spec to be signalled', 30_000, async () =>
    (await world.signals(gap.changed)).at(-1)?.generation === 3 ? {} : 'not yet',
  );
  await world.signalled(gap.created, 1);
}, 600_000);

test('kube-apiserver is killed and started again', async () => {
  const bridge = await world.leadingBridge();
  const gap = await enterGap();
  await killKubeApiserver(world.lab.handles.kubernetes);
  try {
    await until('the bridge to notice', 15_000, () => bridge.stats().reflectors.Eviction?.error !== null || 'no error');
    expect(await bridge.health()).toMatchObject({
      ok: false,
      reasons: expect.arrayContaining([expect.stringMatching(/^Eviction is not followed: /u)]),
    });
  } finally {
    await restartKubeApiserver(world.lab.handles.kubernetes);
  }
  await fillGap(gap);
  await until('the last spec to be signalled', 30_000, async () =>
    (await world.signals(gap.changed)).at(-1)?.generation === 3 ? {} : 'not yet',
  );
  await world.signalled(gap.created, 1);
  await until('the bridge to be well', 15_000, async () =>
    (await bridge.health()).ok ? {} : JSON.stringify(await bridge.health()),
  );
}, 600_000);

test('410 Gone: what etcd has compacted is listed anew, and compared', async () => {
  const bridge = await world.leadingBridge({ throughProxy: true, timings: patient });
  const gap = await enterGap();
  bridge.proxy?.cut();
  await fillGap(gap);
  const { kubernetes } = world.lab.handles;
  // With its watch cache gone too, the server cannot serve what lies between.
  await killKubeApiserver(kubernetes);
  await compactEtcd(kubernetes);
  await restartKubeApiserver(kubernetes);
  bridge.proxy?.restore();
  await expectNothingLost(gap);
  expect(bridge.stats().reflectors.Eviction?.lists).toBe(2);
  expect(causes(await world.signals(gap.created))).toEqual(['relist']);
}, 600_000);

test('a list in pages is whole', async () => {
  const all = Array.from({ length: 7 }, newHost);
  await Promise.all(all.map((host) => world.create(host)));
  const bridge = await world.leadingBridge({
    timings: { ...patient, reflector: { ...quickTimings.reflector, pageSize: 2 } },
  });
  for (const host of all) expect(causes(await world.signalled(host, 1))).toEqual(['relist']);
  expect(bridge.stats().reflectors.Eviction?.objects).toBe(7);
}, 600_000);

test('Temporal is away for a while: the queue keeps the latest of each object', async () => {
  const bridge = await world.leadingBridge({ timings: { lease: longLease } });
  const [busy, gone] = [await signalledHost(), await signalledHost()];
  const created = [newHost(), newHost(), newHost()];
  await killTemporal(world.lab.handles.temporal);
  await Promise.all(created.map((host) => world.create(host)));
  for (let count = 0; count < 10; count += 1) await world.patch(busy, { spec: { reason: `reason ${count}` } });
  await world.remove(gone);
  await until('deliveries to fail', 15_000, () => bridge.stats().queue.failed >= 5 || 'not yet');
  expect(await bridge.health()).toMatchObject({
    ok: false,
    reasons: [
      expect.stringMatching(/^Temporal at .+ cannot be reached/u),
      expect.stringMatching(/^\d changes are not delivered yet; Eviction node-\d+: /u),
    ],
  });
  await restartTemporal(world.lab.handles.temporal);

  // Which of the two depends on whether the watch was quiet for too long meanwhile.
  for (const host of created)
    expect(['spec', 'relist']).toContain(causes(await world.signalled(host, 1, 30_000)).join());
  const all = await world.signalled(busy, 2);
  expect(all.length).toBe(2);
  expect(all.at(-1)?.generation).toBe(11);
  expect(causes(await world.signalled(gone, 2))).toEqual(['spec', 'deleted']);
  await until('the bridge to be well', 15_000, async () =>
    (await bridge.health()).ok ? {} : JSON.stringify(await bridge.health()),
  );
}, 600_000);

test('Temporal’s database is lost: a resync starts a run for every object that is not reconciled', async () => {
  await world.leadingBridge({ settings: { resyncMs: 500 }, timings: { lease: longLease } });
  const [running, other, reconciled] = [await signalledHost(), await signalledHost(), await signalledHost()];
  await world.report(running, 'True', 'Running');
  await world.report(reconciled, 'False', 'Succeeded');
  const { temporal } = world.lab.handles;
  await killTemporal(temporal);
  for (const suffix of ['', '-wal', '-shm']) rmSync(join(temporal.dir, `temporal.sqlite${suffix}`), { force: true });
  await restartTemporal(temporal);
  for (const host of [running, other]) expect(causes(await world.signalled(host, 1, 30_000))).toEqual(['resync']);
  expect(await world.signals(reconciled)).toEqual([]);
}, 600_000);

test('two bridges, and the one that delivers loses its connection: the other takes over, nothing is lost', async () => {
  const first = await world.leadingBridge({ throughProxy: true });
  const second = await world.bridge();
  const gap = await enterGap();
  first.proxy?.cut();
  await fillGap(gap);
  await until('the second to lead', 20_000, () => second.stats().leading || 'not yet');
  expect(first.stats().leading).toBe(false);
  await until('the last spec to be signalled', 30_000, async () =>
    (await world.signals(gap.changed)).at(-1)?.generation === 3 ? {} : 'not yet',
  );
  await world.signalled(gap.created, 1);
  expect(new Set((await world.signalled(gap.recreated, 2)).map(({ uid }) => uid)).size).toBe(2);
  first.proxy?.restore();
  await until('the first to be well, and to wait', 20_000, async () =>
    (await first.health()).ok ? {} : JSON.stringify(await first.health()),
  );
  expect([first.stats().leading, second.stats().leading]).toEqual([false, true]);
}, 600_000);
