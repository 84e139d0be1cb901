import { judgeEvent, judgeVerified, type EventVerdict, type VerifiedDomain } from './judge-event.ts';
import { ioErrorActions, stopDetails, suspendDetails, watchdogActions, type DomainEvent } from './types.ts';

const domain = { uuid: '8a3b1c5e-0000-4000-8000-000000000001', name: 'vm-1' };
const limits = { restarts: 1, ioErrors: 3 };
const none = { watchdogs: 0, ioErrors: 0 };
const ioError = {
  domain,
  type: 'io-error',
  action: 'pause',
  device: 'virtio-disk0',
  sourcePath: 'vms/a',
  reason: '',
} as const;
const watchdog = { domain, type: 'watchdog', action: 'reset' } as const;

type Row = [what: string, event: DomainEvent, earlier: typeof none, verdict: EventVerdict];
const rows: Row[] = [
  ['the guest panicked', { domain, type: 'crashed' }, none, 'evict'],
  ['the hypervisor’s process ended', { domain, type: 'stopped', detail: 'failed' }, none, 'evict'],
  ['the guest crashed', { domain, type: 'stopped', detail: 'crashed' }, none, 'evict'],
  ['it shut down', { domain, type: 'stopped', detail: 'shutdown' }, none, 'verify'],
  ['it was destroyed', { domain, type: 'stopped', detail: 'destroyed' }, none, 'verify'],
  ['it stopped for a reason of newer libvirts', { domain, type: 'stopped', detail: 'unknown' }, none, 'verify'],
  ['it was migrated away', { domain, type: 'stopped', detail: 'migrated' }, none, 'none'],
  ['it was saved', { domain, type: 'stopped', detail: 'saved' }, none, 'none'],
  ['a snapshot was loaded', { domain, type: 'stopped', detail: 'from-snapshot' }, none, 'none'],
  ['it rebooted', { domain, type: 'rebooted' }, none, 'verify'],
  ['the first watchdog', watchdog, none, 'restart'],
  ['another watchdog after the restart', watchdog, { watchdogs: 1, ioErrors: 0 }, 'migrate'],
  ['the first I/O error', ioError, none, 'notify'],
  ['the second', ioError, { watchdogs: 0, ioErrors: 1 }, 'notify'],
  ['a persistent one', ioError, { watchdogs: 0, ioErrors: 2 }, 'migrate'],
  ['paused for an I/O error, which has its own event', { domain, type: 'suspended', detail: 'io-error' }, none, 'none'],
  ['a failed post-copy migration', { domain, type: 'suspended', detail: 'post-copy-failed' }, none, 'verify'],
  ['it was paused', { domain, type: 'suspended', detail: 'paused' }, none, 'none'],
  ['it was defined', { domain, type: 'defined' }, none, 'none'],
  ['it was undefined', { domain, type: 'undefined' }, none, 'none'],
  ['it started', { domain, type: 'started' }, none, 'none'],
  ['it was resumed', { domain, type: 'resumed' }, none, 'none'],
  ['it is shutting down', { domain, type: 'shutting-down' }, none, 'none'],
  ['the guest suspended itself', { domain, type: 'suspended-by-guest' }, none, 'none'],
  ['something of newer libvirts', { domain, type: 'unknown' }, none, 'none'],
];

test.each(rows)('%s', (_, event, earlier, verdict) => expect(judgeEvent(event, earlier, limits)).toBe(verdict));

test('every action of a watchdog and of an I/O error is judged alike', () => {
  for (const action of [...watchdogActions, 'unknown'] as const)
    expect(judgeEvent({ ...watchdog, action }, none, limits)).toBe('restart');
  for (const action of [...ioErrorActions, 'unknown'] as const)
    expect(judgeEvent({ ...ioError, action }, none, limits)).toBe('notify');
});

test('every detail has a verdict', () => {
  for (const detail of [...stopDetails, 'unknown'] as const)
    expect(judgeEvent({ domain, type: 'stopped', detail }, none, limits)).toEqual(expect.any(String));
  for (const detail of [...suspendDetails, 'unknown'] as const)
    expect(judgeEvent({ domain, type: 'suspended', detail }, none, limits)).toEqual(expect.any(String));
});

test.each<[string, VerifiedDomain, EventVerdict]>([
  ['it runs again', { state: 'running', shouldRun: true }, 'none'],
  ['it waits for its processor', { state: 'blocked', shouldRun: true }, 'none'],
  ['it should run and does not', { state: 'shut-off', shouldRun: true }, 'evict'],
  ['it should run and crashed', { state: 'crashed', shouldRun: true }, 'evict'],
  ['it should run and is paused', { state: 'paused', shouldRun: true }, 'evict'],
  ['it should run and is gone', { state: null, shouldRun: true }, 'evict'],
  ['a user stopped it', { state: 'shut-off', shouldRun: false }, 'none'],
  ['a user deleted it', { state: null, shouldRun: false }, 'none'],
])('verified: %s', (_, found, verdict) => expect(judgeVerified(found)).toBe(verdict));
