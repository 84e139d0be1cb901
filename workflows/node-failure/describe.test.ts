import type { HypervisorOfHost } from '../../contracts/node-failure/activities.ts';
import { done, execute, wait } from '../lib/plan.ts';
import { cancelMessage, describeFailure, describeFailureRun, failureReport, isSaid } from './describe.ts';
import {
  candidate,
  confirmationAt,
  fencingOf,
  incident,
  observationOf,
  observedHypervisor,
  openedAtMs,
  proofAt,
  silentSigns,
  situationOf,
  verdictOf,
} from '../../test/fixtures/workflows/fencing.ts';
import { applyDiskConsents, applyEvacuation, applyServers, type FencingState } from './fencing-state.ts';

const runOf = (fencing: FencingState) => situationOf(fencing, openedAtMs);
const pending = wait('Fenced', 'WaitingForUser', 'it');
const command = 'drover confirm node-1 --incident node-1/1 --boot-id boot-1';

test('a suspect says what to type, and where it would be refused, it does not', () => {
  expect(describeFailure(runOf(fencingOf({ verdict: verdictOf('suspect', 'unknown') }))).confirm).toBe(command);
  const evidence = { by: 'person', confirmation: confirmationAt(openedAtMs), usedAtMs: openedAtMs } as const;
  for (const change of [
    { verdict: verdictOf('suspect', 'yes') },
    { verdict: verdictOf('watch', 'unknown') },
    { evidence },
  ])
    expect(describeFailure(runOf(fencingOf(change))).confirm).toBeNull();
  // The BMC that proved it off has fallen silent.
  const byPower = { by: 'power', proof: proofAt(openedAtMs) } as const;
  const suspect = { verdict: verdictOf('suspect', 'unknown'), evidence: byPower };
  const bmc = (power: 'Off' | 'Unknown') => ({ ...suspect, power: { host: 'node-1', power, atMs: openedAtMs } });
  expect(describeFailure(runOf(fencingOf(bmc('Off')))).confirm).toBeNull();
  expect(describeFailure(runOf(fencingOf(bmc('Unknown')))).confirm).toBe(command);
  const bootless = fencingOf({ incident: { ...incident, bootId: null }, verdict: verdictOf('suspect', 'unknown') });
  expect(describeFailure(runOf(bootless))).toMatchObject({
    bootId: 'unknown',
    confirm: 'drover confirm node-1 --incident node-1/1 --boot-id unknown',
  });
});

test('what each witness says is shown, and why drover does not fence a host that has power', () => {
  const silence = { fence: false, reason: 'NoQuorum', message: 'of 3 only 1', untilMs: null } as const;
  const witnesses = [{ kind: 'nova', says: 'silent', message: 'it is down', sinceMs: 0, atMs: openedAtMs } as const];
  const verdict = verdictOf('suspect', 'unknown', { reason: 'NoWitness' });
  const run = runOf(fencingOf({ verdict, silence, signs: { ...silentSigns, witnesses } }));
  expect(describeFailure(run)).toMatchObject({
    silence: 'NoQuorum: of 3 only 1',
    witnesses: [{ kind: 'nova', says: 'silent', message: 'it is down', since: '1970-01-01T00:00:00.000Z' }],
  });
  expect(describeFailureRun(run, pending)).toContain('- witnesses: nova silent since 1970-01-01T00:00:00.000Z');
  for (const change of [
    { mode: 'recommend' },
    { forcedDown: true },
    { silence: { ...silence, reason: 'SwitchedOff' } },
  ] as const)
    expect(describeFailure(runOf(fencingOf({ verdict, silence, ...change }))).silence).toBeNull();
});

test('servers are counted, and those that stay are named with the reason', () => {
  const state = applyEvacuation(
    applyServers(fencingOf({ forcedDown: true }), [candidate('a'), candidate('b', { vmState: 'building' })]),
    'a',
    { outcome: 'evacuated', why: null },
    openedAtMs,
  );
  const run = runOf(state);
  expect(describeFailure(run).servers).toEqual({
    total: 2,
    evacuated: 1,
    evacuating: 0,
    pending: 0,
    retrying: [],
    abandoned: [],
    left: [{ id: 'b', name: 'vm-b', why: 'Nova evacuates no server in the state building' }],
  });
  expect(describeFailureRun(run, pending)).toContain('- vm-b: Nova evacuates no server');
});

test('one that failed says which attempt that was, and when the next one is', () => {
  const begun = applyServers(fencingOf({ forcedDown: true }), [candidate('a')]);
  const failed = { outcome: 'failed', why: 'no host has room for it' } as const;
  const run = runOf(applyEvacuation(begun, 'a', failed, openedAtMs));
  expect(describeFailure(run).servers).toMatchObject({
    pending: 1,
    retrying: [{ id: 'a', attempts: 1, at: '1970-01-01T00:17:10.000Z', why: 'no host has room for it' }],
  });
  expect(describeFailureRun(run, pending)).toContain(
    '- vm-a: attempt 1 failed, again at 1970-01-01T00:17:10.000Z: no host has room for it',
  );
  expect(failureReport(run, pending)?.message).toContain('vm-a (no host has room for it; attempt 1 of 3)');
});

test('whose local disks were given up stays to be seen', () => {
  const listed = applyServers(fencingOf({ forcedDown: true }), [candidate('a', { localDiskGiB: 5 })]);
  const run = runOf(applyDiskConsents(listed, [{ id: 'a', person: 'jane', atMs: openedAtMs }]));
  expect(describeFailure(run).servers).toMatchObject({
    pending: 1,
    abandoned: [{ id: 'a', name: 'vm-a', person: 'jane' }],
  });
  expect(describeFailureRun(run, pending)).toContain('- vm-a: jane gave up its local disks');
});

test('a boot id that a shell would take apart is quoted', () => {
  expect(
    describeFailure(
      runOf(fencingOf({ incident: { ...incident, bootId: "it's; odd" }, verdict: verdictOf('suspect', 'unknown') })),
    ).confirm,
  ).toBe("drover confirm node-1 --incident node-1/1 --boot-id 'it'\\''s; odd'");
});

const rows: [state: FencingState, status: string, reason: string][] = [
  [fencingOf({ verdict: verdictOf('healthy', 'yes', { reason: 'Healthy' }) }), 'False', 'Healthy'],
  [fencingOf({ verdict: verdictOf('watch', 'unknown', { reason: 'Silent' }) }), 'Unknown', 'Silent'],
  [fencingOf({ verdict: verdictOf('suspect', 'unknown', { reason: 'NoWitness' }) }), 'True', 'NoWitness'],
  [
    fencingOf({ forcedDown: true, verdict: verdictOf('watch', 'unknown', { reason: 'NotObserved' }) }),
    'True',
    'Fenced',
  ],
];
test.each(rows)('%#: the condition says how it stands', (state, status, reason) => {
  expect(failureReport(runOf(state), pending)).toMatchObject({
    type: 'NodeFailure',
    status,
    reason,
    message: expect.stringContaining('Waiting for it'),
  });
});

const hypervisorOf = (condition: HypervisorOfHost['condition']): HypervisorOfHost => ({
  ...observedHypervisor,
  condition,
});

test('a clock that goes on is said from time to time only; other figures are said', () => {
  const report = (message: string) => ({ type: 'NodeFailure', status: 'True', reason: 'Fenced', message }) as const;
  const isSaidBy = (before: string | null, now: string): boolean =>
    isSaid(observationOf({ hypervisor: hypervisorOf(before === null ? null : report(before)) }), report(now));
  expect(isSaidBy('silent for 119 s', 'silent for 11 min')).toBe(true);
  expect(isSaidBy('silent for 4 min', 'silent for 14 min')).toBe(false);
  expect(isSaidBy('3 of 4 servers', '4 of 4 servers')).toBe(false);
  expect(isSaidBy(null, 'silent')).toBe(false);
});

const ends: [why: string, condition: HypervisorOfHost['condition'], reason: string, report: object | null][] = [
  ['a host that was not said to have failed has nothing to take back', null, 'Recovered', null],
  ['nor one of which that is taken back', { status: 'False', reason: 'Restored', message: '' }, 'Recovered', null],
  [
    'but that an earlier run was cancelled',
    { status: 'False', reason: 'Cancelled', message: '' },
    'Recovered',
    { status: 'False', reason: 'Recovered' },
  ],
  ['else it is taken back', { status: 'Unknown', reason: 'Silent', message: '' }, 'Recovered', { status: 'False' }],
  ['what is over is said', null, 'Restored', { status: 'False', reason: 'Restored' }],
  ['an Eviction empties it', null, 'HandedOver', { status: 'True', reason: 'HandedOver' }],
  ['it was cancelled', null, 'Cancelled', { status: 'False', reason: 'Cancelled' }],
  ['it has left Nova', null, 'LeftNova', { status: 'False', reason: 'LeftNova' }],
];
test.each(ends)('at the end: %s', (_why, condition, reason, report) => {
  const known = situationOf(fencingOf(), openedAtMs, { observed: { hypervisor: hypervisorOf(condition) } });
  const found = failureReport(known, done('reconciled', reason, 'it is over'));
  if (report === null) expect(found).toBeNull();
  else expect(found).toMatchObject(report);
});

test('nothing is said of a Hypervisor that could not be read, or before an incident is opened', () => {
  expect(failureReport(situationOf(fencingOf(), 0, { observed: { hypervisor: null } }), pending)).toBeNull();
  expect(failureReport(situationOf(null, 0), pending)).toBeNull();
  const left = done('gone', 'LeftNova', 'it has left');
  expect(failureReport(situationOf(null, 0), left)).toBeNull();
  const hypervisor = hypervisorOf({ status: 'True', reason: 'Fenced', message: '' });
  expect(failureReport(situationOf(null, 0, { observed: { hypervisor } }), left)).toMatchObject({ status: 'False' });
});

test('what is done is said with its verdict', () => {
  const step = {
    kind: 'powerOff',
    phase: 'Dead',
    summary: 'Power node-1 off by its BMC',
    cause: 'x',
    isSilent: false,
  } as const;
  expect(failureReport(runOf(fencingOf()), execute([step]))?.message).toMatch(
    /^node-1 is silent\. Power node-1 off by its BMC/u,
  );
});

test.each<[what: string, change: Partial<FencingState>, held: boolean, message: string]>([
  ['nothing', {}, false, 'The run was cancelled: nothing more is begun'],
  [
    'all of it',
    { forcedDown: true },
    true,
    'The run was cancelled: nothing more is begun, and node-1 stays forced down and held',
  ],
  [
    'what is restored',
    { forcedDown: true, restored: true },
    true,
    'The run was cancelled: nothing more is begun, and node-1 stays held',
  ],
])('a cancel says what stays: %s', (_what, change, held, message) => {
  expect(cancelMessage(situationOf(fencingOf(change), 0, { memory: { held } }))).toBe(message);
});
