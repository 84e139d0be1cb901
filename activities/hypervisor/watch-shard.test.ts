import type { Hypervisor } from '../../contracts/crds/hypervisor.ts';
import { guestSignalEveryMs } from '../../contracts/node-failure/guest-watch.ts';
import { hypervisorConfig } from '../../runtime/config/hypervisor-config.ts';
import { nodeFailureConfig } from '../../runtime/config/node-failure-config.ts';
import { droverFailure } from '../../runtime/failure.ts';
import { openVirtual } from '../../test/contracts/hosts/subject.ts';
import { type FakeHost, createFakeHosts } from '../../test/fakes/hosts/hosts.ts';
import { sampleHypervisor } from '../../test/fixtures/activities/hypervisor.ts';
import { until } from '../../test/flows/until.ts';
import type { EventClient } from '../kubernetes/lib/write-event.ts';
import { type ShardTools, isShared, shardOf, watchShard } from './watch-shard.ts';

interface WrittenEvent {
  metadata: { name: string };
  regarding: { name: string };
  type: string;
  reason: string;
  note: string;
}

const patienceMs = 600_000;
const windowMs = 600_000;
const listedWithinMs = 90_000;
const libvirt = hypervisorConfig.parse({ libvirt: { connectUri: 'qemu+tcp://{host}/system' } }).libvirt;

const hypervisorOf = (name: string, change: { ha?: string; annotations?: Record<string, string> } = {}): Hypervisor => {
  const { metadata, ...rest } = sampleHypervisor({ annotations: change.annotations ?? {} });
  const conditions = [
    {
      type: 'HaEnabled',
      status: change.ha ?? 'True',
      reason: 'Succeeded',
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    },
  ];
  return {
    ...rest,
    metadata: { ...metadata, name, uid: `uid-${name}` },
    status: { internalIp: name, conditions },
  } as Hypervisor;
};

interface Watched {
  signalled: string[];
  warnings: string[];
  events: WrittenEvent[];
  beats: { withheld: number }[];
  /** What is in Kubernetes. */
  world: { hypervisors: Hypervisor[] };
  work: ReturnType<typeof watchShard>;
  host: (name: string) => FakeHost;
  sleep: (ms: number) => Promise<void>;
  /** So many hosts are listened to. */
  listening: (hosts: number) => Promise<unknown>;
}

/** Watches the shard of these hypervisors in virtual time; each has the guests vm-1 to vm-3. */
async function watching(
  body: (of: Watched) => Promise<unknown>,
  {
    hypervisors = [hypervisorOf('node-1')],
    change = {},
    settings = {},
    turnMs = Infinity,
  }: { hypervisors?: Hypervisor[]; change?: Partial<ShardTools>; settings?: object; turnMs?: number } = {},
): Promise<void> {
  const virtual = openVirtual();
  const { clock, random } = virtual;
  const hosts = createFakeHosts(virtual);
  for (const name of ['node-0', 'node-1', 'node-2', 'node-3', 'node-4', 'node-5']) {
    const { libvirt: daemon } = hosts.add({ name });
    for (const guest of ['vm-1', 'vm-2', 'vm-3']) daemon.guests.start({ name: guest });
  }
  const [signalled, warnings, events, beats]: [string[], string[], WrittenEvent[], { withheld: number }[]] = [
    [],
    [],
    [],
    [],
  ];
  const aborter = new AbortController();
  const world = { hypervisors };
  await virtual.run(async () => {
    const work = watchShard(
      {
        listHypervisors: () => Promise.resolve(world.hypervisors),
        nova: { server: () => Promise.resolve(null) },
        events: {
          create: async (_: unknown, event: unknown) => events.push(event as WrittenEvent),
        } as unknown as EventClient,
        signalGuestsFailing: async (hypervisor, message) => void signalled.push(`${hypervisor}: ${message}`),
        settings: nodeFailureConfig.parse({ guestEvents: settings }).guestEvents,
        libvirt,
        scope: {
          signal: aborter.signal,
          deadlineMs: clock.now() + turnMs,
          heartbeatDetails: undefined,
          run: null,
          heartbeat: (details) => void beats.push(details as { withheld: number }),
          scheduledMs: 0,
          waitedMs: 0,
          warn: (message) => void warnings.push(message),
        },
        clock,
        random,
        ports: hosts.ports,
        ...change,
      },
      { shard: 0 },
    );
    // It is read at the end.
    work.catch(() => undefined);
    const listening = (count: number): Promise<unknown> =>
      until(
        `${count} hosts to be listened to`,
        patienceMs,
        () => hosts.all.filter(({ libvirt: daemon }) => daemon.listeners > 0).length === count || 'not yet',
      );
    await body({
      signalled,
      warnings,
      events,
      beats,
      world,
      work,
      host: hosts.host,
      sleep: (ms) => clock.sleep(ms),
      listening,
    });
    aborter.abort(new Error('enough'));
    if (turnMs === Infinity) await expect(work).rejects.toThrow(/abort|enough/u);
  });
  expect(hosts.all.map(({ libvirt: daemon }) => daemon.sessions)).toEqual([0, 0, 0, 0, 0, 0]);
}

const crash = ({ libvirt: { guests } }: FakeHost, ...names: string[]): void =>
  names.forEach((name) => guests.stop(name, 'failed'));

test('guests that fail are reported at once, again while that lasts, and no more when it is over', () =>
  watching(async ({ signalled, events, host, sleep, listening }) => {
    await listening(1);
    crash(host('node-1'), 'vm-1', 'vm-2');
    await until('the signal', patienceMs, () => signalled.length === 1 || `${signalled.length}`);
    expect(signalled[0]).toMatch(/^node-1: 2 guests failed within 10 min: vm-1 .*, vm-2/u);
    expect(events[0]).toMatchObject({
      regarding: { kind: 'Hypervisor', name: 'node-1', uid: 'uid-node-1' },
      type: 'Warning',
      reason: 'GuestStopped',
      note: 'vm-1 has lost its QEMU',
    });
    await sleep(guestSignalEveryMs);
    await until('the signal again', patienceMs, () => signalled.length === 2 || `${signalled.length}`);
    await sleep(windowMs);
    const { length } = signalled;
    crash(host('node-1'), 'vm-3');
    await until('another guest', patienceMs, () => events.length === 3 || 'not yet');
    await sleep(guestSignalEveryMs);
    expect(signalled).toHaveLength(length);
  }));

test('a guest that troubles the host again and again makes one event in that time', () =>
  watching(async ({ events, host, listening }) => {
    await listening(1);
    for (let times = 0; times < 5; times += 1) {
      crash(host('node-1'), 'vm-1');
      host('node-1').libvirt.guests.start({ name: 'vm-1' });
    }
    crash(host('node-1'), 'vm-2');
    await until('both', patienceMs, () => events.length >= 2 || 'not yet');
    expect(events.map(({ note }) => note)).toEqual(['vm-1 has lost its QEMU', 'vm-2 has lost its QEMU']);
  }));

test('only hosts whose failures drover handles are watched; one that comes or goes is taken in or let go', () =>
  watching(
    async ({ world, host, sleep, listening }) => {
      await listening(1);
      await sleep(listedWithinMs);
      expect(['node-1', 'node-2', 'node-3'].map((name) => host(name).libvirt.sessions)).toEqual([1, 0, 0]);
      world.hypervisors = [hypervisorOf('node-4'), hypervisorOf('node-5')];
      await listening(2);
      expect(['node-1', 'node-4', 'node-5'].map((name) => host(name).libvirt.sessions)).toEqual([0, 1, 1]);
    },
    {
      hypervisors: [
        hypervisorOf('node-1'),
        hypervisorOf('node-2', { ha: 'False' }),
        hypervisorOf('node-3', { annotations: { 'drover.dev/mode': 'observe' } }),
      ],
    },
  ));

test('more hosts than may be are left out, and counted', () =>
  watching(
    async ({ work, listening }) => {
      await listening(3);
      expect(await work).toMatchObject({ wanted: true, hosts: 3, left: 2, signalled: 0 });
    },
    {
      hypervisors: Array.from({ length: 5 }, (_, index) => hypervisorOf(`node-${index}`)),
      settings: { mostHosts: 3 },
      turnMs: 120_000,
    },
  ));

test('while kube-apiserver or Temporal is away it goes on, says so, and does it later', () => {
  let isAway = true;
  const sent: string[] = [];
  const signalGuestsFailing = async (hypervisor: string): Promise<void> => {
    if (isAway) throw droverFailure('TemporalUnavailable', 'Temporal is away');
    sent.push(hypervisor);
  };
  return watching(
    async ({ warnings, world, host, listening }) => {
      await listening(1);
      crash(host('node-1'), 'vm-1', 'vm-2');
      await until(
        'the complaint',
        patienceMs,
        () => warnings.some((one) => one.includes('Temporal is away')) || 'not yet',
      );
      isAway = false;
      await until('the signal', patienceMs, () => sent.length === 1 || 'not yet');
      world.hypervisors = undefined as never;
      await until(
        'the other complaint',
        patienceMs,
        () => warnings.some((one) => one.startsWith('Hypervisors cannot be listed')) || 'not yet',
      );
      expect(host('node-1').libvirt.sessions).toBe(1);
    },
    { change: { signalGuestsFailing } },
  );
});

const unwanted: [what: string, change: Partial<ShardTools>, input: number][] = [
  ['it is not asked for', { settings: null }, 0],
  ['it is not said how libvirt is reached', { libvirt: null }, 0],
  ['there are fewer shards by now', {}, 1],
];
test.each(unwanted)('it is over where %s', async (_what, change, input) => {
  const tools = {
    settings: nodeFailureConfig.parse({ guestEvents: {} }).guestEvents,
    libvirt,
    ...change,
  } as ShardTools;
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
])('%i of %i hosts that fail at once: shared %s', (failing, watched, shared) =>
  expect(isShared(failing, watched, { mostFailingHosts: 2 })).toBe(shared),
);

test('where all hosts fail at once none is reported: what they share has failed', () =>
  watching(
    async ({ signalled, events, beats, host, listening }) => {
      await listening(2);
      for (const name of ['node-1', 'node-2']) crash(host(name), 'vm-1', 'vm-2');
      await until('the events of both', patienceMs, () => events.length === 4 || `${events.length}`);
      await until('it to be withheld', patienceMs, () => (beats.at(-1)?.withheld ?? 0) > 0 || 'not yet');
      expect(signalled).toEqual([]);
    },
    { hypervisors: [hypervisorOf('node-1'), hypervisorOf('node-2')] },
  ));

test('every host has one shard, and no shard has them all', () => {
  const hosts = Array.from({ length: 1_000 }, (_, index) => shardOf(`node-${index}`, 4));
  const sizes = [0, 1, 2, 3].map((shardNumber) => hosts.filter((one) => one === shardNumber).length);
  expect(sizes.reduce((sum, size) => sum + size)).toBe(1_000);
  for (const size of sizes) expect(size).toBeGreaterThan(150);
  expect(shardOf('node-1', 1)).toBe(0);
});
