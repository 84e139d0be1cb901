import { droverFailure } from '../../runtime/failure.ts';
import { openVirtual } from '../../test/contracts/hosts/subject.ts';
import { createFakeHosts } from '../../test/fakes/hosts/hosts.ts';
import type { Guests } from '../../test/fakes/hosts/libvirt-domains.ts';
import { until } from '../../test/flows/until.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Domain } from './types.ts';
import { startGuestWatch, type GuestNotice, type GuestWatch, type GuestWatchTools } from './watch-guests.ts';

const patienceMs = 3_600_000;
const verifyAfterMs = 60_000;
const oneIsTrouble = { windowMs: 600_000, ioErrors: 3, failingGuests: 1 };
const noAccess = { certificate: null, credential: null };

interface Watching {
  watch: GuestWatch;
  guests: Guests;
  /** The daemon of the host. */
  service: ReturnType<ReturnType<typeof createFakeHosts>['add']>['libvirt']['service'];
  notices: GuestNotice[];
  /** UUIDs of the guests that Nova was asked about, and of those that it wants to run. */
  asked: string[];
  wanted: Set<string>;
  /** How long the watch waited each time, and how often it has connected. */
  sleeps: number[];
  opened: { times: number };
  vm1: Domain;
  vm2: Domain;
}

/** Watches a host with the guests vm-1 and vm-2, in virtual time. */
async function watching(
  change: Partial<GuestWatchTools>,
  body: (of: Watching) => Promise<unknown>,
  isDown = false,
): Promise<void> {
  const virtual = openVirtual();
  const hosts = createFakeHosts(virtual);
  const { libvirt } = hosts.add({ name: 'node-1' });
  const [notices, asked, sleeps, opened, wanted]: [GuestNotice[], string[], number[], { times: number }, Set<string>] =
    [[], [], [], { times: 0 }, new Set()];
  const clock: Clock = {
    ...virtual.clock,
    sleep(ms, signal) {
      sleeps.push(ms);
      return virtual.clock.sleep(ms, signal);
    },
  };
  await virtual.run(async () => {
    const [vm1, vm2] = [libvirt.guests.start({ name: 'vm-1' }), libvirt.guests.start({ name: 'vm-2' })];
    if (isDown) libvirt.service.kill();
    const watch = startGuestWatch({
      async open(signal) {
        opened.times += 1;
        return hosts.connectLibvirt(
          { transport: 'tcp', host: 'node-1', port: 16_509, uri: 'qemu:///system' },
          noAccess,
          {},
          signal,
        );
      },
      shouldRun: async ({ uuid }) => {
        asked.push(uuid);
        return wanted.has(uuid);
      },
      notice: (notice) => notices.push(notice),
      limits: { windowMs: 600_000, ioErrors: 3, failingGuests: 2 },
      verifyAfterMs,
      clock,
      random: virtual.random,
      ...change,
    });
    try {
      if (!isDown) await until('the connection', patienceMs, () => watch.isConnected || 'not yet');
      await body({
        watch,
        guests: libvirt.guests,
        service: libvirt.service,
        notices,
        asked,
        wanted,
        sleeps,
        opened,
        vm1,
        vm2,
      });
    } finally {
      await watch.stop();
    }
  });
  expect(libvirt.sessions).toBe(0);
}

test('two guests that crash are reported, each once, and are the host’s trouble', () =>
  watching({}, async ({ watch, guests, notices }) => {
    expect(watch.judge()).toBeNull();
    guests.crash('vm-1');
    guests.stop('vm-2', 'failed');
    await until('both', patienceMs, () => watch.judge() !== null || 'not yet');
    expect(notices.map(({ verdict, message }) => [verdict, message])).toEqual([
      ['evict', 'vm-1 has crashed'],
      ['evict', 'vm-2 has lost its QEMU'],
    ]);
  }));

const stops: [what: string, then: (guests: Guests) => void, wanted: boolean, isTrouble: boolean, asksNova: boolean][] =
  [
    ['runs again', (guests) => guests.start({ name: 'vm-1' }), true, false, false],
    ['is off, and Nova wants it to run', () => undefined, true, true, true],
    ['is off, as its owner wished', () => undefined, false, false, true],
    ['is gone from libvirt, and Nova wants it to run', (guests) => guests.remove('vm-1'), true, true, true],
    ['was deleted', (guests) => guests.remove('vm-1'), false, false, true],
    ['hangs paused', (guests) => (guests.start({ name: 'vm-1' }), guests.pause('vm-1', 'paused')), true, true, true],
  ];
test.each(stops)('a guest that stopped is looked at later: it %s', (_what, then, isWanted, isTrouble, asksNova) =>
  watching({ limits: oneIsTrouble }, async ({ watch, guests, asked, wanted, sleeps, vm1 }) => {
    if (isWanted) wanted.add(vm1.uuid);
    guests.stop('vm-1', 'shutdown');
    // One that is looked at already is not looked at twice.
    guests.reboot('vm-1');
    then(guests);
    await until('the wait', patienceMs, () => sleeps.includes(verifyAfterMs) || 'not yet');
    if (isTrouble) await until('the verdict', patienceMs, () => watch.judge() !== null || 'not yet');
    else if (asksNova) await until('Nova to be asked', patienceMs, () => asked.length > 0 || 'not yet');
    await watch.stop();
    expect(watch.judge() !== null).toBe(isTrouble);
    expect(asked).toEqual(asksNova ? [vm1.uuid] : []);
    expect(sleeps.filter((ms) => ms === verifyAfterMs)).toHaveLength(1);
  }),
);

const leftovers: [
  what: string,
  happens: (guests: Guests) => void,
  verdict: GuestNotice['verdict'],
  isTrouble: boolean,
][] = [
  ['an I/O error that paused it', (guests) => guests.failDisk('vm-1', { action: 'pause' }), 'notify', true],
  [
    'an I/O error that was only reported',
    (guests) => guests.failDisk('vm-1', { action: 'report', reason: '' }),
    'notify',
    false,
  ],
  ['a watchdog that paused it', (guests) => guests.fireWatchdog('vm-1', 'pause'), 'restart', true],
  ['a watchdog that reset it', (guests) => guests.fireWatchdog('vm-1', 'reset'), 'restart', false],
];
test.each(leftovers)('%s is reported, and what it has left is looked at', (_what, happens, verdict, isTrouble) =>
  watching({ limits: oneIsTrouble }, async ({ watch, guests, notices, wanted, sleeps, vm1 }) => {
    wanted.add(vm1.uuid);
    happens(guests);
    await until('the wait', patienceMs, () => sleeps.includes(verifyAfterMs) || 'not yet');
    if (isTrouble) await until('the verdict', patienceMs, () => watch.judge() !== null || 'not yet');
    await watch.stop();
    expect(watch.judge() !== null).toBe(isTrouble);
    expect(notices.map((notice) => notice.verdict)).toEqual([verdict, ...(isTrouble ? ['evict'] : [])]);
  }),
);

test('what cannot be found out counts as nothing', () => {
  let asked = 0;
  const shouldRun = (): Promise<boolean> => {
    asked += 1;
    return Promise.reject(droverFailure('NovaUnavailable', 'away'));
  };
  return watching({ shouldRun, limits: oneIsTrouble }, async ({ watch, guests }) => {
    guests.stop('vm-1', 'shutdown');
    await until('Nova to be asked', patienceMs, () => asked > 0 || 'not yet');
    await watch.stop();
    expect(watch.judge()).toBeNull();
  });
});

test('a connection that is lost is opened again, after longer and longer; what lies crashed meanwhile is observed', () =>
  watching({ limits: oneIsTrouble }, async ({ watch, guests, service, wanted, sleeps, opened, vm1 }) => {
    wanted.add(vm1.uuid);
    service.kill();
    guests.crash('vm-1');
    await until('five tries', patienceMs, () => opened.times >= 6 || `${opened.times}`);
    expect(watch.isConnected).toBe(false);
    service.start();
    await until('the verdict', patienceMs, () => watch.judge()?.includes('vm-1') || 'not yet');
    expect(watch.isConnected).toBe(true);
    for (const [index, ms] of sleeps.slice(0, 5).entries()) {
      expect(ms).toBeGreaterThanOrEqual(500 * 2 ** index);
      expect(ms).toBeLessThanOrEqual(1_000 * 2 ** index);
    }
  }));

test('the pause has an end', () =>
  watching(
    {},
    async ({ sleeps, opened }) => {
      await until('many tries', 10 * patienceMs, () => opened.times > 20 || `${opened.times}`);
      expect(Math.max(...sleeps)).toBeLessThanOrEqual(300_000);
      expect(sleeps.at(-1)).toBeGreaterThanOrEqual(150_000);
    },
    true,
  ));
