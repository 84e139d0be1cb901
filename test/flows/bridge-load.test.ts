import { readFileSync } from 'node:fs';
import { editSteadily, mapConcurrently } from '../../bench/load/concurrency.ts';
import { type FaultProxy, openFaultProxy, type ProxiedCall, type ProxyFault } from '../faults/proxy.ts';
import { quickTimings } from './bridge-base.ts';
import { type LabBridgeWorld, openLabBridgeWorld } from './bridge-world.ts';
import { until } from './until.ts';

/** Many objects, a hot one, and a kube-apiserver that has too much to do. */

let world: LabBridgeWorld;
let proxy: FaultProxy;

beforeAll(async () => {
  world = await openLabBridgeWorld();
  const { server, caFile } = world.lab.handles.kubernetes;
  proxy = await openFaultProxy({ system: 'kubernetes', target: server, ca: readFileSync(caFile, 'utf8') });
}, 600_000);
afterEach(async () => {
  await world.clear();
  proxy.cure();
}, 600_000);
afterAll(async () => {
  await proxy?.close();
  await world?.close();
}, 600_000);

/** Every run of a test has hosts of its own: Temporal keeps runs. */
let hosts = 0;
const newHost = (): string => `node-${(hosts += 1)}`;

/** So that nothing but the reflector goes through the faults. */
const longLease = { durationMs: 120_000, renewDeadlineMs: 110_000, retryMs: 200 };
/** Nothing runs out on a busy machine, or it would be signalled again. */
const patient = { lease: longLease, deliveryTimeoutMs: 30_000 };
const { backOff } = quickTimings.reflector;

const refusal = (code: number, reason: string, headers: Record<string, string> = {}): ProxyFault => ({
  do: 'answer',
  status: code,
  headers,
  body: JSON.stringify({
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    code,
    reason,
    message: `${reason}, by the test`,
  }),
});
const isCollection = ({ method, path }: Pick<ProxiedCall, 'method' | 'path'>): boolean =>
  method === 'GET' && /\/evictions(\?|$)/u.test(path);
const isWatch = (call: Pick<ProxiedCall, 'method' | 'path'>): boolean =>
  isCollection(call) && call.path.includes('watch=true');
const isList = (call: Pick<ProxiedCall, 'method' | 'path'>): boolean => isCollection(call) && !isWatch(call);

/** Meets the calls that `concerns` selects with these, one after the other. */
const meet = (
  faults: readonly ProxyFault[],
  concerns: (call: Pick<ProxiedCall, 'method' | 'path'>) => boolean,
): void => {
  const left = [...faults];
  proxy.inject((call) => (concerns(call) ? (left.shift() ?? null) : null));
};

/** Each try waits for longer than the one before it. */
function expectPaced(calls: readonly ProxiedCall[]): void {
  const gapsMs = calls.slice(1).map(({ atMs }, index) => atMs - (calls[index]?.atMs ?? 0));
  for (const [index, gapMs] of gapsMs.entries())
    expect(gapMs).toBeGreaterThanOrEqual(Math.min(backOff.initialMs * backOff.factor ** index, backOff.maxMs) - 10);
}

const overloads = [
  refusal(429, 'TooManyRequests', { 'retry-after': '1' }),
  refusal(500, 'InternalError'),
  refusal(503, 'ServiceUnavailable'),
  refusal(504, 'Timeout'),
];

test('the first list is refused with 429 and 5xx, cut in half and garbled: retries back off, and then everything is signalled', async () => {
  const before = proxy.calls.length;
  meet([...overloads, { do: 'truncate' }, { do: 'malform' }], isList);
  const host = newHost();
  await world.create(host);
  await world.leadingBridge({ server: proxy.url, timings: patient });
  const [signal] = await world.signalled(host, 1);
  expect(signal?.cause).toBe('relist');
  const lists = proxy.calls.slice(before).filter(isList);
  expect(lists.map(({ outcome }) => outcome)).toEqual([
    'answer',
    'answer',
    'answer',
    'answer',
    'truncate',
    'malform',
    200,
  ]);
  expectPaced(lists);
  // The first one said for how long it wants to be left alone.
  expect((lists[1]?.atMs ?? 0) - (lists[0]?.atMs ?? 0)).toBeGreaterThanOrEqual(990);
}, 600_000);

test('a list whose second page is refused begins anew, and is whole', async () => {
  const all = Array.from({ length: 5 }, newHost);
  await mapConcurrently(all, 5, (host) => world.create(host));
  meet(overloads, (call) => isList(call) && call.path.includes('continue='));
  const bridge = await world.leadingBridge({
    server: proxy.url,
    timings: { ...patient, reflector: { ...quickTimings.reflector, pageSize: 2 } },
  });
  for (const host of all) expect((await world.signalled(host, 1)).map(({ cause }) => cause)).toEqual(['relist']);
  expect(bridge.stats().reflectors.Eviction).toMatchObject({ objects: all.length, lists: 1, error: null });
}, 600_000);

test.each([
  ['429 and 503 go on from where the watch was', [overloads[0]!, overloads[2]!, overloads[0]!], 0],
  ['500 and 504 list anew', [overloads[1]!, overloads[3]!], 2],
])(
  'the watch is refused: %s, and nothing is lost',
  async (_what, faults, lists) => {
    const [host, created, gone] = [newHost(), newHost(), newHost()];
    const bridge = await world.leadingBridge({ server: proxy.url, timings: patient });
    await Promise.all([world.create(host), world.create(gone)]);
    await Promise.all([world.signalled(host, 1), world.signalled(gone, 1)]);
    const [before, listed] = [proxy.calls.length, bridge.stats().reflectors.Eviction?.lists ?? 0];
    proxy.partition();
    await Promise.all([
      world.patch(host, { spec: { reason: 'while it was refused' } }),
      world.create(created),
      world.remove(gone),
    ]);
    proxy.cure();
    meet(faults, isWatch);
    expect((await world.signalled(host, 2)).at(-1)).toMatchObject({ generation: 2, cause: 'spec' });
    expect((await world.signalled(created, 1)).length).toBe(1);
    expect((await world.signalled(gone, 2)).at(-1)?.cause).toBe('deleted');
    const outcomes = await until('a watch that lasts', 15_000, () => {
      const signals = proxy.calls
        .slice(before)
        .filter(isWatch)
        .map(({ outcome }) => outcome);
      return signals.at(-1) === 200 ? signals.filter((outcome) => outcome !== 'partition') : signals.join(', ');
    });
    expect(outcomes).toEqual([...faults.map(() => 'answer'), 200]);
    expect((bridge.stats().reflectors.Eviction?.lists ?? 0) - listed).toBe(lists);
    await until('the bridge to be well', 15_000, async () =>
      (await bridge.health()).ok ? {} : JSON.stringify(await bridge.health()),
    );
  },
  600_000,
);

test('500 objects at the start: what is not reconciled is signalled once, the rest not at all', async () => {
  const all = Array.from({ length: 500 }, newHost);
  const open = all.filter((_, index) => index % 20 === 0);
  await mapConcurrently(all, 16, async (host) => {
    await world.create(host);
    if (!open.includes(host)) await world.report(host, 'False', 'Succeeded');
  });
  const bridge = await world.leadingBridge({ timings: patient });
  await until(
    'all that is open to be signalled',
    60_000,
    () => bridge.stats().queue.delivered >= open.length || JSON.stringify(bridge.stats()),
  );
  const delivered = await mapConcurrently(open, 8, (host) => world.signalled(host, 1));
  expect(delivered.map((signals) => signals.map(({ cause }) => cause))).toEqual(open.map(() => ['relist']));
  expect(bridge.stats()).toMatchObject({
    queue: { delivered: open.length, failed: 0 },
    deliveries: { signalWithStart: open.length },
    reflectors: { Eviction: { objects: all.length, lists: 1 } },
  });
}, 600_000);

// At most 5 a second: test/simulator/bridge.test.ts, where time is exact.
test('one object is edited 100 times a second: few signals, and the last state is signalled', async () => {
  await world.leadingBridge();
  const hot = newHost();
  await world.create(hot);
  await editSteadily(300, 10, (count) => world.patch(hot, { spec: { reason: `edit ${count}` } }));
  const { metadata } = await world.get(hot);
  const signals = await until('the last state to be signalled', 15_000, async () => {
    const signals = await world.signals(hot);
    return signals.at(-1)?.resourceVersion === metadata.resourceVersion ? signals : `${signals.length} signals`;
  });
  expect(metadata.generation).toBe(301);
  expect(signals.at(-1)?.generation).toBe(301);
  // It is the rate that is held, not the signals.
  expect(signals.length).toBeGreaterThan(5);
  expect(signals.length).toBeLessThan(100);
}, 600_000);
