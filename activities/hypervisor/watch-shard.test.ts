import type { Hypervisor } from '../../contracts/crds/hypervisor.ts';
import { guestWordEveryMs } from '../../contracts/guest-watch.ts';
import { droverFailure } from '../../runtime/failure.ts';
import { hypervisorConfig } from '../../runtime/hypervisor-config.ts';
import { nodeFailureConfig } from '../../runtime/node-failure-config.ts';
import { until } from '../../test/flows/until.ts';
import { lifecycleEvent, startScriptedLibvirtd, type ScriptedLibvirtd } from '../../test/scripted-libvirtd.ts';
import type { NewEvent } from '../kubernetes/create-event.ts';
import { sampleHypervisor } from '../kubernetes/sample-hypervisor.ts';
import { systemClock } from '../nova/wait.ts';
import { isShared, shardOf, watchShard, type ShardTools } from './watch-shard.ts';

const patienceMs = 10_000;
const vm = (digit: number) => ({ uuid: `8a3b1c5e-0000-4000-8000-00000000000${digit}`, name: `vm-${digit}` });
const stopped = 5;
const failed = 5;

let daemon: ScriptedLibvirtd;
beforeEach(async () => {
  daemon = await startScriptedLibvirtd(({ name }) => (name === 'connectListAllDomains' ? { result: { domains: [], count: 0 } } : undefined));
});
afterEach(() => daemon.close());

const hostOf = (name: string, change: { ha?: string; annotations?: Record<string, string> } = {}): Hypervisor => {
  const { metadata, ...rest } = sampleHypervisor({ annotations: change.annotations ?? {} });
  const conditions = [{ type: 'HaEnabled', status: change.ha ?? 'True', reason: 'Succeeded', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' }];
  return { ...rest, metadata: { ...metadata, name, uid: `uid-${name}` }, status: { internalIp: '127.0.0.1', conditions } } as Hypervisor;
};

function shard(change: Partial<ShardTools> = {}, hypervisors: Hypervisor[] = [hostOf('node-1')], settings: object = {}) {
  const told: string[] = [];
  const warnings: string[] = [];
  const events: NewEvent[] = [];
  const aborter = new AbortController();
  const world = { hypervisors, clockMs: Date.now(), beats: [] as unknown[] };
  const tools: ShardTools = {
    listHypervisors: () => Promise.resolve(world.hypervisors),
    nova: { server: () => Promise.resolve(null) },
    createEvent: async (event) => void events.push(event),
    tell: async (hypervisor, message) => void told.push(`${hypervisor}: ${message}`),
    settings: nodeFailureConfig.parse({ guestEvents: settings }).guestEvents,
    libvirt: hypervisorConfig.parse({ libvirt: { connectUri: `qemu+tcp://{host}:${daemon.port}/system` } }).libvirt,
    scope: { signal: aborter.signal, deadlineMs: Infinity, heartbeatDetails: undefined, run: null, heartbeat: (details) => void world.beats.push(details), scheduledMs: 0, warn: (message) => void warnings.push(message) },
    clock: { now: () => world.clockMs, sleep: (ms, signal) => systemClock.sleep(Math.min(ms, 10), signal) },
    ...change,
  };
  const work = watchShard(tools, { shard: 0 });
  // It is looked at at the end.
  work.catch(() => undefined);
  const opened = (times: number): Promise<unknown> => until(`${times} connections`, patienceMs, () => daemon.received.filter(({ name }) => name === 'connectListAllDomains').length >= times || 'not yet');
  const end = async (): Promise<void> => {
    aborter.abort(new Error('enough'));
    await expect(work).rejects.toThrow(/abort|enough/u);
  };
  return { told, warnings, events, world, work, opened, end, aborter };
}

const crash = (digit: number): void => daemon.say(lifecycleEvent(vm(digit), stopped, failed));

test('guests that fail are told of at once, again while that lasts, and no more when it is over', async () => {
  const { told, events, world, opened, end } = shard();
  await opened(1);
  crash(1);
  crash(2);
  await until('the word', patienceMs, () => told.length === 1 || `${told.length}`);
  expect(told[0]).toMatch(/^node-1: 2 guests failed within 10 min: vm-1 .*, vm-2/u);
  await until('the events', patienceMs, () => events.length === 2 || 'not yet');
  expect(events[0]).toMatchObject({ regarding: { kind: 'Hypervisor', name: 'node-1', uid: 'uid-node-1' }, type: 'Warning', reason: 'GuestStopped', message: 'vm-1 has lost its QEMU' });
  world.clockMs += guestWordEveryMs;
  await until('the word again', patienceMs, () => told.length === 2 || `${told.length}`);
  world.clockMs += 600_000;
  crash(3);
  await until('another guest', patienceMs, () => events.length === 3 || 'not yet');
  expect(told).toHaveLength(2);
  await end();
});

test('a guest that troubles the host again and again makes one event in that time', async () => {
  const { events, opened, end } = shard();
  await opened(1);
  for (let times = 0; times < 5; times += 1) {
    crash(1);
    daemon.say(lifecycleEvent(vm(1), 2, 0));
  }
  crash(2);
  await until('both', patienceMs, () => events.length >= 2 || 'not yet');
  expect(events.map(({ message }) => message)).toEqual(['vm-1 has lost its QEMU', 'vm-2 has lost its QEMU']);
  await end();
});

test('only hosts whose failures drover handles are watched; one that comes or goes is taken in or let go', async () => {
  const { world, opened, end } = shard({}, [hostOf('node-1'), hostOf('node-2', { ha: 'False' }), hostOf('node-3', { annotations: { 'drover.dev/mode': 'observe' } })]);
  await opened(1);
  expect(daemon.received.filter(({ name }) => name === 'connectOpen')).toHaveLength(1);
  world.hypervisors = [hostOf('node-4'), hostOf('node-5')];
  world.clockMs += 60_000;
  await opened(3);
  await until('the first to be let go', patienceMs, () => daemon.received.filter(({ name }) => name === 'connectClose').length === 1 || 'not yet');
  await end();
  expect(daemon.received.filter(({ name }) => name === 'connectClose')).toHaveLength(3);
});

test('more hosts than may be are left out, and counted', async () => {
  const all = Array.from({ length: 5 }, (_, index) => hostOf(`node-${index}`));
  const { work, opened, world } = shard({ scope: { signal: new AbortController().signal, deadlineMs: Date.now() + 60_000, heartbeatDetails: undefined, run: null, heartbeat: () => undefined, scheduledMs: 0, warn: () => undefined } }, all, { mostHosts: 3 });
  await opened(3);
  world.clockMs += 120_000;
  expect(await work).toMatchObject({ wanted: true, hosts: 3, left: 2, told: 0 });
});

test('while kube-apiserver or Temporal is away it goes on, says so, and does it later', async () => {
  let isAway = true;
  const said: string[] = [];
  const { warnings, world, opened, end } = shard({
    tell: async (hypervisor) => {
      if (isAway) throw droverFailure('TemporalUnavailable', 'Temporal is away');
      said.push(hypervisor);
    },
  });
  await opened(1);
  crash(1);
  crash(2);
  await until('the complaint', patienceMs, () => warnings.some((one) => one.includes('Temporal is away')) || 'not yet');
  isAway = false;
  await until('the word', patienceMs, () => said.length === 1 || 'not yet');
  world.hypervisors = undefined as never;
  world.clockMs += 60_000;
  await until('the other complaint', patienceMs, () => warnings.some((one) => one.startsWith('Hypervisors cannot be listed')) || 'not yet');
  expect(daemon.received.filter(({ name }) => name === 'connectClose')).toEqual([]);
  await end();
});

const unwanted: [what: string, change: Partial<ShardTools>, input: number][] = [
  ['nobody asks for it', { settings: null }, 0],
  ['nobody says how libvirt is reached', { libvirt: null }, 0],
  ['there are fewer shards by now', {}, 1],
];
test.each(unwanted)('it is over where %s', async (_what, change, input) => {
  const { end } = shard();
  await end();
  const tools = { settings: nodeFailureConfig.parse({ guestEvents: {} }).guestEvents, libvirt: hypervisorConfig.parse({ libvirt: { connectUri: 'qemu+tcp://{host}/system' } }).libvirt, ...change } as ShardTools;
  expect(await watchShard(tools, { shard: input })).toMatchObject({ wanted: false });
});

test.each<[failing: number, watched: number, shared: boolean]>([
  [0, 0, false],
  [1, 1, false],
  [1, 2, false],
  [2, 2, true],
  [2, 4, true],
  [2, 5, false],
  [3, 500, true],
])('%i of %i hosts that fail at once: shared %s', (failing, watched, shared) => expect(isShared(failing, watched, { mostFailingHosts: 2 })).toBe(shared));

test('where all hosts fail at once none is told of: what they share has failed', async () => {
  const { told, events, world, opened, end } = shard({}, [hostOf('node-1'), hostOf('node-2')]);
  await opened(2);
  // Both connections tell it.
  crash(1);
  crash(2);
  await until('the events of both', patienceMs, () => events.length === 4 || `${events.length}`);
  const { beats } = world;
  await until('a look that withheld it', patienceMs, () => (beats.at(-1) as { withheld: number }).withheld > 0 || 'not yet');
  expect(told).toEqual([]);
  await end();
});

test('every host has one shard, and no shard has them all', () => {
  const hosts = Array.from({ length: 1_000 }, (_, index) => shardOf(`node-${index}`, 4));
  const sizes = [0, 1, 2, 3].map((shardNumber) => hosts.filter((one) => one === shardNumber).length);
  expect(sizes.reduce((sum, size) => sum + size)).toBe(1_000);
  for (const size of sizes) expect(size).toBeGreaterThan(150);
  expect(shardOf('node-1', 1)).toBe(0);
});
