import type { SafetyState } from './api-server-safety.ts';
import { notKnownYet } from './judge-api-servers.ts';
import { type SafetyRun, judgeFreeze } from './judge-freeze.ts';

const settings = { periodMs: 60_000, timeoutMs: 30_000 };
const now = Date.UTC(2026, 0, 31, 12);
const thawed: SafetyState = { frozen: false, reason: '', inactiveSinceMs: null, probedMs: now - 40_000 };
const frozen: SafetyState = { frozen: true, reason: 'no answer', inactiveSinceMs: now - 90_000, probedMs: now };
const failing: SafetyState = { ...thawed, reason: 'no answer', inactiveSinceMs: now - 5_000 };
const open: SafetyRun = { status: 'open', decided: thawed, beat: { atMs: now - 1_000, state: thawed, servers: null } };
const beat = (change: Partial<NonNullable<SafetyRun['beat']>>): SafetyRun => ({
  ...open,
  beat: { atMs: now - 1_000, state: thawed, servers: null, ...change },
});

test.each<[string, SafetyRun, string]>([
  ['all is well', open, 'thawed'],
  ['a probe period and a time-out have passed', beat({ state: { ...thawed, probedMs: now - 120_000 } }), 'thawed'],
  ['longer than that has passed', beat({ state: { ...thawed, probedMs: now - 120_001 } }), 'unknown'],
  ['the last heartbeat is old', beat({ atMs: now - 30_001 }), 'unknown'],
  ['the last heartbeat is just not old', beat({ atMs: now - 30_000 }), 'thawed'],
  ['there is no run', { ...open, status: 'missing' }, 'unknown'],
  ['the run has ended', { ...open, status: 'closed' }, 'unknown'],
  ['the run has no memo', { ...open, decided: null }, 'unknown'],
  ['nothing probes', { ...open, beat: null }, 'unknown'],
  ['the heartbeat says nothing', beat({ state: null }), 'unknown'],
  ['the last probe was not answered', beat({ state: failing }), 'unknown'],
  ['the run is frozen', { ...open, decided: frozen, beat: { atMs: now, state: frozen, servers: null } }, 'frozen'],
  ['the run is frozen, and its servers answer again', { ...open, decided: frozen }, 'frozen'],
  ['the run is frozen, and nothing probes', { ...open, decided: frozen, beat: null }, 'frozen'],
  [
    'the run is frozen, and its worker is gone',
    { ...open, decided: frozen, beat: { atMs: 0, state: frozen, servers: null } },
    'frozen',
  ],
  ['the run is about to freeze', beat({ state: frozen }), 'frozen'],
  ['the run has begun', { ...open, decided: notKnownYet, beat: null }, 'frozen'],
  ['the run has ended frozen', { ...open, status: 'closed', decided: frozen }, 'unknown'],
])('%s: %#', (_, run, expected) => {
  const freeze = judgeFreeze(run, settings, now);
  expect(freeze.state).toBe(expected);
  if (freeze.state !== 'thawed') expect(freeze.reason).not.toBe('');
});

test('the reason is that of the last probe', () => {
  const newer = { ...frozen, reason: 'still no answer' };
  expect(
    judgeFreeze({ ...open, decided: notKnownYet, beat: { atMs: now, state: newer, servers: null } }, settings, now),
  ).toEqual({
    state: 'frozen',
    sinceMs: now - 90_000,
    reason: 'still no answer',
  });
});
