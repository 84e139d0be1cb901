import { beginFailureState } from './failure-run.ts';
import { describeFailure, describeFailureRun, failureCondition, reportKey } from './describe-failure.ts';
import { candidate, confirmationAt, fencingOf, incident, openedAtMs, verdictOf } from './fencing-sample.ts';
import { endEvacuation, takeServers, type FencingState } from './fencing-state.ts';

const workflowId = 'node-failure/node-1';
const runOf = (fencing: FencingState) => ({ name: 'node-1', state: { ...beginFailureState(), fencing }, seen: null, waiting: { for: 'a person', untilMs: openedAtMs }, message: 'Waiting for a person' });
const command = `temporal workflow update execute --workflow-id ${workflowId} --name confirmOff --input '${JSON.stringify({ incident: incident.id, bootId: 'boot-1', person: 'YOUR NAME' })}'`;

test('a suspect says what to type, and where it would be refused, it does not', () => {
  expect(describeFailure(runOf(fencingOf({ verdict: verdictOf('suspect', 'unknown') })), workflowId).confirm).toBe(command);
  const evidence = { by: 'person', confirmation: confirmationAt(openedAtMs), usedAtMs: openedAtMs } as const;
  for (const change of [{ verdict: verdictOf('suspect', 'yes') }, { verdict: verdictOf('watch', 'unknown') }, { evidence }, { incident: { ...incident, bootId: null } }]) expect(describeFailure(runOf(fencingOf(change)), workflowId).confirm).toBeNull();
});

test('servers are counted, and those that stay are named with the reason', () => {
  const state = endEvacuation(takeServers(fencingOf({ forcedDown: true }), [candidate('a'), candidate('b', { vmState: 'building' })]), 'a', 'evacuated');
  const run = runOf(state);
  expect(describeFailure(run, workflowId).servers).toEqual({ total: 2, evacuated: 1, evacuating: 0, pending: 0, left: [{ id: 'b', name: 'vm-b', why: 'Nova evacuates no server in the state building' }] });
  expect(describeFailureRun(run, workflowId)).toContain('- vm-b: Nova evacuates no server');
});

const rows: [state: FencingState, status: string, reason: string][] = [
  [fencingOf({ verdict: verdictOf('healthy', 'yes', { reason: 'Healthy' }) }), 'False', 'Healthy'],
  [fencingOf({ verdict: verdictOf('watch', 'unknown', { reason: 'Silent' }) }), 'Unknown', 'Silent'],
  [fencingOf({ verdict: verdictOf('suspect', 'unknown', { reason: 'NoWitness' }) }), 'True', 'NoWitness'],
  [fencingOf({ forcedDown: true, verdict: verdictOf('watch', 'unknown', { reason: 'NotObserved' }) }), 'True', 'Fenced'],
];
test.each(rows)('%#: the condition says how it stands', (state, status, reason) => {
  expect(failureCondition(state, { do: 'wait', for: 'it', untilMs: null }, workflowId)).toMatchObject({ type: 'NodeFailure', status, reason, message: expect.stringContaining('Waiting for it') });
});

test('a clock that goes on is no news; other figures are', () => {
  const said = (message: string) => reportKey({ type: 'NodeFailure', status: 'True', reason: 'Fenced', message });
  expect(said('silent for 3 min')).toBe(said('silent for 14 min'));
  expect(said('3 of 4 servers')).not.toBe(said('4 of 4 servers'));
});
