import type { SafetyState } from '../../contracts/machine-safety/api-server-safety.ts';
import { notKnownYet } from '../../contracts/machine-safety/judge-api-servers.ts';
import type { SafetyRun } from '../../contracts/machine-safety/judge-freeze.ts';
import { plain } from '../render/paint.ts';
import { renderSafety } from '../render/safety.ts';
import { describeSafety } from './listed-safety.ts';

const settings = { periodMs: 60_000, timeoutMs: 30_000 };
const now = Date.UTC(2026, 0, 31, 12);
const thawed: SafetyState = { frozen: false, reason: '', inactiveSinceMs: null, probedMs: now - 20_000 };
const frozen: SafetyState = {
  frozen: true,
  reason: 'The target API server is not known to be well: no answer.',
  inactiveSinceMs: now - 900_000,
  probedMs: now - 5_000,
};
const run = (state: SafetyState, control: boolean, target: boolean | null): SafetyRun => ({
  status: 'open',
  decided: state,
  beat: { atMs: now, state, servers: { control, target } },
});
const missing: SafetyRun = { status: 'missing', decided: null, beat: null };
const sets = ['a', 'b'].map((name) => ({
  apiVersion: 'machine.sapcloud.io/v1alpha1' as const,
  kind: 'MachineSet' as const,
  metadata: {
    name,
    uid: name,
    resourceVersion: '1',
    generation: 1,
    creationTimestamp: '2026-01-01T00:00:00Z',
    labels: name === 'b' ? { freeze: 'True' } : {},
  },
}));

const listed = [
  describeSafety('well', run(thawed, true, null), [], settings, now),
  describeSafety('away', run(frozen, true, false), sets, settings, now),
  describeSafety('none', missing, null, settings, now),
  describeSafety('new', { status: 'open', decided: notKnownYet, beat: null }, [], settings, now),
];

test('a namespace is described with what is known', () => {
  expect(listed[0]).toEqual({
    namespace: 'well',
    state: 'thawed',
    since: null,
    reason: null,
    lastProbe: '2026-01-31T11:59:40Z',
    control: true,
    target: null,
    frozenMachineSets: [],
  });
  expect(listed[1]).toMatchObject({
    state: 'frozen',
    since: '2026-01-31T11:45:00Z',
    target: false,
    frozenMachineSets: ['b'],
  });
  expect(listed[2]).toMatchObject({ state: 'unknown', lastProbe: null, control: null, frozenMachineSets: null });
  expect(listed[3]).toMatchObject({ state: 'frozen', since: null, lastProbe: null });
});

test('a line for each namespace', () => {
  expect(renderSafety(listed, now, plain, 100)).toEqual([
    'NAMESPACE  STATE    SINCE  LAST PROBE  CONTROL  TARGET  FROZEN MACHINESETS  WHY',
    'well       thawed   -      20s         up       -       -',
    'away       frozen   15m    5s          up       down    b                   The target API server i…',
    'none       unknown  -      -           -        -       not known           No run of API-server sa…',
    'new        frozen   -      -           -        -       -                   Not known yet: this run…',
  ]);
});
