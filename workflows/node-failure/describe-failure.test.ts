import { beginFailureState } from './failure-run.ts';
import { describeFailure, describeFailureRun, failureCondition, reportKey } from './describe-failure.ts';
import {
  candidate,
  confirmationAt,
  fencingOf,
  incident,
  openedAtMs,
  verdictOf,
} from '../../test/fixtures/workflows/fencing.ts';
import { beginEvacuations, consentToLoss, endEvacuation, takeServers, type FencingState } from './fencing-state.ts';

const runOf = (fencing: FencingState) => ({
  name: 'node-1',
  state: { ...beginFailureState(), fencing },
  seen: null,
  waiting: { for: 'a person', untilMs: openedAtMs },
  message: 'Waiting for a person',
});
const command = 'drover confirm node-1 --incident node-1/1 --boot-id boot-1';

test('a suspect says what to type, and where it would be refused, it does not', () => {
  expect(describeFailure(runOf(fencingOf({ verdict: verdictOf('suspect', 'unknown') }))).confirm).toBe(command);
  const evidence = { by: 'person', confirmation: confirmationAt(openedAtMs), usedAtMs: openedAtMs } as const;
  for (const change of [
    { verdict: verdictOf('suspect', 'yes') },
    { verdict: verdictOf('watch', 'unknown') },
    { evidence },
    { incident: { ...incident, bootId: null } },
  ])
    expect(describeFailure(runOf(fencingOf(change))).confirm).toBeNull();
});

test('servers are counted, and those that stay are named with the reason', () => {
  const state = endEvacuation(
    takeServers(fencingOf({ forcedDown: true }), [candidate('a'), candidate('b', { vmState: 'building' })]),
    'a',
    'evacuated',
    null,
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
  expect(describeFailureRun(run)).toContain('- vm-b: Nova evacuates no server');
});

test('one that failed says which attempt that was, and when the next one is', () => {
  const begun = beginEvacuations(takeServers(fencingOf({ forcedDown: true }), [candidate('a')]), ['a']);
  const run = runOf(endEvacuation(begun, 'a', 'failed', 'no host has room for it', openedAtMs));
  expect(describeFailure(run).servers).toMatchObject({
    pending: 1,
    retrying: [{ id: 'a', attempts: 1, at: '1970-01-01T00:17:10.000Z', why: 'no host has room for it' }],
  });
  expect(describeFailureRun(run)).toContain(
    '- vm-a: attempt 1 failed, again at 1970-01-01T00:17:10.000Z: no host has room for it',
  );
  expect(failureCondition(run.state.fencing, { do: 'wait', for: 'it', untilMs: null }).message).toContain(
    'vm-a (no host has room for it; attempt 1 of 3)',
  );
});

test('whose local disks were given up stays to be seen', () => {
  const listed = takeServers(fencingOf({ forcedDown: true }), [candidate('a', { localDiskGiB: 5 })]);
  const run = runOf(consentToLoss(listed, [{ id: 'a', person: 'jane', atMs: openedAtMs }]));
  expect(describeFailure(run).servers).toMatchObject({
    pending: 1,
    abandoned: [{ id: 'a', name: 'vm-a', person: 'jane' }],
  });
  expect(describeFailureRun(run)).toContain('- vm-a: jane gave up its local disks');
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
  expect(failureCondition(state, { do: 'wait', for: 'it', untilMs: null })).toMatchObject({
    type: 'NodeFailure',
    status,
    reason,
    message: expect.stringContaining('Waiting for it'),
  });
});

test('a clock that goes on is no news; other figures are', () => {
  const said = (message: string) => reportKey({ type: 'NodeFailure', status: 'True', reason: 'Fenced', message });
  expect(said('silent for 3 min')).toBe(said('silent for 14 min'));
  expect(said('3 of 4 servers')).not.toBe(said('4 of 4 servers'));
});
