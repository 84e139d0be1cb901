import type { SafetyState } from './api-server-safety.ts';
import {
  type ApiServerProbe,
  type ProbeAnswer,
  judgeApiServers,
  notKnownYet,
  readSafetyState,
} from './judge-api-servers.ts';

const settings = { periodMs: 60_000, timeoutMs: 30_000 };
const now = Date.UTC(2026, 0, 31, 12);
const up: ProbeAnswer = { isUp: true };
const down: ProbeAnswer = { isUp: false, why: 'no answer.' };

const probes = {
  'both up': { control: up, target: up },
  'control down': { control: down, target: up },
  'target down': { control: up, target: down },
  'both down': { control: down, target: down },
} satisfies Record<string, ApiServerProbe>;
const begins = { zero: null, within: now - 20_000, past: now - 30_001 };
type Row = [
  frozen: boolean,
  probe: keyof typeof probes,
  inactiveSince: keyof typeof begins,
  becomes: {
    frozen: boolean;
    inactiveSince: keyof typeof begins | 'now';
    probeAfterMs: number;
    transition: string | null;
  },
];

const well = { frozen: false, inactiveSince: 'zero', probeAfterMs: 60_000, transition: null } as const;
const timing = (inactiveSince: Row[3]['inactiveSince']) =>
  ({ frozen: false, inactiveSince, probeAfterMs: 6_000, transition: null }) as const;
const freezes = { frozen: true, inactiveSince: 'past', probeAfterMs: 6_000, transition: 'freeze' } as const;
const stays = (inactiveSince: Row[3]['inactiveSince']) =>
  ({ frozen: true, inactiveSince, probeAfterMs: 60_000, transition: null }) as const;
const thaws = { frozen: false, inactiveSince: 'zero', probeAfterMs: 60_000, transition: 'thaw' } as const;

/** Those of the replaced manager; where it is not frozen and both are up, it leaves the timer as it is. */
const rows: Row[] = [
  [false, 'both up', 'zero', well],
  [false, 'both up', 'within', well],
  [false, 'both up', 'past', well],
  [false, 'control down', 'zero', timing('now')],
  [false, 'control down', 'within', timing('within')],
  [false, 'control down', 'past', freezes],
  [false, 'target down', 'zero', timing('now')],
  [false, 'target down', 'within', timing('within')],
  [false, 'target down', 'past', freezes],
  [false, 'both down', 'zero', timing('now')],
  [false, 'both down', 'within', timing('within')],
  [false, 'both down', 'past', freezes],
  [true, 'both up', 'zero', thaws],
  [true, 'both up', 'within', thaws],
  [true, 'both up', 'past', thaws],
  [true, 'control down', 'zero', stays('now')],
  [true, 'control down', 'within', stays('within')],
  [true, 'control down', 'past', stays('past')],
  [true, 'target down', 'zero', stays('now')],
  [true, 'target down', 'within', stays('within')],
  [true, 'target down', 'past', stays('past')],
  [true, 'both down', 'zero', stays('now')],
  [true, 'both down', 'within', stays('within')],
  [true, 'both down', 'past', stays('past')],
];

test('the table has every combination', () => {
  expect(new Set(rows.map(([frozen, probe, since]) => `${frozen} ${probe} ${since}`)).size).toBe(24);
});

test.each(rows)('frozen %s, %s, inactive since: %s', (frozen, probe, since, becomes) => {
  const before: SafetyState = { frozen, reason: frozen ? 'because' : '', inactiveSinceMs: begins[since], probedMs: 0 };
  const { state, probeAfterMs, transition } = judgeApiServers(before, probes[probe], settings, now);
  expect({ frozen: state.frozen, inactiveSinceMs: state.inactiveSinceMs, probeAfterMs, transition }).toEqual({
    frozen: becomes.frozen,
    inactiveSinceMs: becomes.inactiveSince === 'now' ? now : begins[becomes.inactiveSince],
    probeAfterMs: becomes.probeAfterMs,
    transition: becomes.transition,
  });
  expect(state.probedMs).toBe(now);
  expect(state.reason === '').toBe(probe === 'both up');
});

test('exactly the time-out is not past it', () => {
  const before = { frozen: false, reason: '', inactiveSinceMs: now - 30_000, probedMs: 0 };
  expect(judgeApiServers(before, probes['both down'], settings, now).transition).toBeNull();
});

test('where there is no target cluster, the control API server decides', () => {
  expect(judgeApiServers(notKnownYet, { control: up, target: null }, settings, now).transition).toBe('thaw');
  expect(judgeApiServers(notKnownYet, { control: down, target: null }, settings, now).state.frozen).toBe(true);
});

test('two outages that are shorter than the time-out do not add up', () => {
  let state: SafetyState = judgeApiServers(notKnownYet, probes['both up'], settings, now).state;
  for (const [afterMs, probe] of [
    [0, 'control down'],
    [25_000, 'control down'],
    [30_000, 'both up'],
    [50_000, 'target down'],
    [79_000, 'target down'],
  ] as const) {
    const verdict = judgeApiServers(state, probes[probe], settings, now + afterMs);
    expect(verdict.transition).toBeNull();
    ({ state } = verdict);
  }
  expect(state.inactiveSinceMs).toBe(now + 50_000);
});

test('a state says which API server it is, and since when', () => {
  const { state } = judgeApiServers(notKnownYet, probes['target down'], settings, now);
  expect(state.reason).toBe(
    'The target API server is not known to be well: no answer. Not all API servers have answered since 2026-01-31T12:00:00.000Z.',
  );
});

test.each<[string, unknown, boolean]>([
  ['a state', notKnownYet, true],
  ['nothing', undefined, false],
  ['null', null, false],
  ['an empty object', {}, false],
  ['without a verdict', { ...notKnownYet, frozen: 'no' }, false],
  ['with another time', { ...notKnownYet, probedMs: '12' }, false],
  ['with half a time', { ...notKnownYet, inactiveSinceMs: undefined }, false],
  ['a text', 'thawed', false],
])('%s: is a state %#', (_, value, isState) => {
  expect(readSafetyState(value) !== null).toBe(isState);
});
