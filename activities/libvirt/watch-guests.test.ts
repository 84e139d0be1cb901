import { droverFailure } from '../../runtime/failure.ts';
import { until } from '../../test/flows/until.ts';
import { systemClock, type Clock } from '../nova/wait.ts';
import { createEventStream, type EventStream } from './event-stream.ts';
import type { Domain, DomainEvent, DomainState, LibvirtConnection, ListedDomain } from './types.ts';
import { startGuestWatch, type GuestNotice, type GuestWatch, type GuestWatchTools } from './watch-guests.ts';

const vm1: Domain = { uuid: '8a3b1c5e-0000-4000-8000-000000000001', name: 'vm-1' };
const vm2: Domain = { uuid: '8a3b1c5e-0000-4000-8000-000000000002', name: 'vm-2' };
const patienceMs = 10_000;

let watch: GuestWatch | null = null;
afterEach(() => watch?.stop());

/** A host whose libvirt a test plays: what it opens, what its domains are, whom Nova wants to run. */
function host(change: Partial<GuestWatchTools> = {}, refuses = false) {
  const streams: EventStream[] = [];
  const sleeps: number[] = [];
  const notices: GuestNotice[] = [];
  const asked: string[] = [];
  const looked: string[] = [];
  const states = new Map<string, DomainState>();
  const wanted = new Set<string>();
  const listed: ListedDomain[] = [];
  const played = { opens: 0, closed: 0, refuses };
  const clock: Clock = {
    now: Date.now,
    sleep: (ms, signal) => {
      sleeps.push(ms);
      return systemClock.sleep(Math.min(ms, 10), signal);
    },
  };
  const open = async (): Promise<LibvirtConnection> => {
    played.opens += 1;
    if (played.refuses) throw droverFailure('LibvirtUnavailable', 'it is away');
    return {
      domainEvents: (signal: AbortSignal) => {
        const stream = createEventStream(() => undefined);
        signal.addEventListener('abort', () => stream.end(null));
        streams.push(stream);
        return Promise.resolve(stream.events);
      },
      domains: () => Promise.resolve(listed),
      domainState: async ({ uuid }: Domain) => {
        looked.push(uuid);
        const state = states.get(uuid);
        if (state === undefined) throw droverFailure('DomainNotFound', 'gone', { details: { libvirtCode: 42 } });
        return state;
      },
      close: async () => void (played.closed += 1),
    } as unknown as LibvirtConnection;
  };
  const tools: GuestWatchTools = {
    open,
    shouldRun: async ({ uuid }) => {
      asked.push(uuid);
      return wanted.has(uuid);
    },
    notice: (notice) => notices.push(notice),
    limits: { windowMs: 600_000, ioErrors: 3, failingGuests: 2 },
    verifyAfterMs: 60_000,
    clock,
    ...change,
  };
  watch = startGuestWatch(tools);
  const connected = (times = 1): Promise<unknown> => until('the connection', patienceMs, () => (streams.length >= times && watch?.isConnected === true) || 'not yet');
  return { watch, streams, sleeps, notices, asked, looked, states, wanted, listed, played, connected, say: (event: DomainEvent) => streams.at(-1)?.push(event) };
}

test('two guests that crash are told of, each once, and are the host’s trouble', async () => {
  const { watch, notices, connected, say } = host();
  await connected();
  expect(watch.judge()).toBeNull();
  say({ domain: vm1, type: 'crashed' });
  say({ domain: vm2, type: 'stopped', detail: 'failed' });
  await until('both', patienceMs, () => watch.judge() !== null || 'not yet');
  expect(notices.map(({ verdict, message }) => [verdict, message])).toEqual([['evict', 'vm-1 has crashed'], ['evict', 'vm-2 has lost its QEMU']]);
});

const stops: [what: string, state: DomainState | null, wanted: boolean, isTrouble: boolean, asksNova: boolean][] = [
  ['runs again', 'running', true, false, false],
  ['is off, and Nova wants it to run', 'shut-off', true, true, true],
  ['is off, as its owner wished', 'shut-off', false, false, true],
  ['is gone from libvirt, and Nova wants it to run', null, true, true, true],
  ['was deleted', null, false, false, true],
  ['hangs paused', 'paused', true, true, true],
];
test.each(stops)('a guest that stopped is looked at later: it %s', async (_what, state, isWanted, isTrouble, asksNova) => {
  const { watch, asked, looked, states, wanted, sleeps, connected, say } = host({ limits: { windowMs: 600_000, ioErrors: 3, failingGuests: 1 } });
  if (state !== null) states.set(vm1.uuid, state);
  if (isWanted) wanted.add(vm1.uuid);
  await connected();
  say({ domain: vm1, type: 'stopped', detail: 'shutdown' });
  // One that is looked at already is not looked at twice.
  say({ domain: vm1, type: 'rebooted' });
  await until('the look', patienceMs, () => looked.length > 0 || 'not yet');
  if (isTrouble) await until('the verdict', patienceMs, () => watch.judge() !== null || 'not yet');
  else if (asksNova) await until('Nova to be asked', patienceMs, () => asked.length > 0 || 'not yet');
  await watch.stop();
  expect(watch.judge() !== null).toBe(isTrouble);
  expect(asked).toEqual(asksNova ? [vm1.uuid] : []);
  expect(sleeps.filter((ms) => ms === 60_000)).toHaveLength(1);
});

const leftovers: [what: string, event: DomainEvent, state: DomainState, isTrouble: boolean][] = [
  ['an I/O error that paused it', { domain: vm1, type: 'io-error', action: 'pause', device: 'virtio-disk0', sourcePath: 'vms/a', reason: 'enospc' }, 'paused', true],
  ['an I/O error that was only reported', { domain: vm1, type: 'io-error', action: 'report', device: 'virtio-disk0', sourcePath: 'vms/a', reason: '' }, 'running', false],
  ['a watchdog that paused it', { domain: vm1, type: 'watchdog', action: 'pause' }, 'paused', true],
  ['a watchdog that reset it', { domain: vm1, type: 'watchdog', action: 'reset' }, 'running', false],
];
test.each(leftovers)('%s is told of, and what it has left is looked at', async (_what, event, state, isTrouble) => {
  const { watch, notices, looked, states, wanted, connected, say } = host({ limits: { windowMs: 600_000, ioErrors: 3, failingGuests: 1 } });
  states.set(vm1.uuid, state);
  wanted.add(vm1.uuid);
  await connected();
  say(event);
  await until('the look', patienceMs, () => looked.length > 0 || 'not yet');
  if (isTrouble) await until('the verdict', patienceMs, () => watch.judge() !== null || 'not yet');
  await watch.stop();
  expect(watch.judge() !== null).toBe(isTrouble);
  expect(notices.map(({ verdict }) => verdict)).toEqual([event.type === 'watchdog' ? 'restart' : 'notify', ...(isTrouble ? ['evict'] : [])]);
});

test('what cannot be found out counts as nothing', async () => {
  const { watch, states, sleeps, connected, say } = host({ shouldRun: () => Promise.reject(droverFailure('NovaUnavailable', 'away')), limits: { windowMs: 600_000, ioErrors: 3, failingGuests: 1 } });
  states.set(vm1.uuid, 'shut-off');
  await connected();
  say({ domain: vm1, type: 'stopped', detail: 'shutdown' });
  await until('the look', patienceMs, () => sleeps.includes(60_000) || 'not yet');
  await watch.stop();
  expect(watch.judge()).toBeNull();
});

test('a connection that is lost is opened again, after longer and longer; what lies crashed meanwhile is seen', async () => {
  const { watch, streams, sleeps, listed, states, wanted, played, connected } = host({ limits: { windowMs: 600_000, ioErrors: 3, failingGuests: 1 } });
  await connected();
  listed.push({ ...vm1, state: 'crashed' }, { ...vm2, state: 'running' });
  states.set(vm1.uuid, 'crashed');
  wanted.add(vm1.uuid);
  played.refuses = true;
  streams[0]?.end(droverFailure('LibvirtUnavailable', 'cut'));
  await until('five tries', patienceMs, () => played.opens >= 6 || `${played.opens}`);
  expect(watch.isConnected).toBe(false);
  played.refuses = false;
  await connected(2);
  await until('the verdict', patienceMs, () => watch.judge()?.includes('vm-1') || 'not yet');
  const pauses = sleeps.filter((ms) => ms !== 60_000);
  for (const [index, ms] of pauses.slice(0, 5).entries()) {
    expect(ms).toBeGreaterThanOrEqual(500 * 2 ** index);
    expect(ms).toBeLessThanOrEqual(1_000 * 2 ** index);
  }
  await watch.stop();
  expect(played.closed).toBe(2);
});

test('the pause has an end', async () => {
  const { sleeps, played } = host({}, true);
  await until('many tries', patienceMs, () => played.opens > 20 || `${played.opens}`);
  expect(Math.max(...sleeps)).toBeLessThanOrEqual(300_000);
  expect(sleeps.at(-1)).toBeGreaterThanOrEqual(150_000);
});
