import type { ConditionUpdate } from '../../contracts/conditions.ts';
import { evictionConditions } from '../../contracts/eviction/conditions.ts';
import { runningState } from '../../contracts/eviction/running-state.ts';
import { evictionOf, hostWith, server } from '../../test/fixtures/workflows/eviction.ts';
import type { EvictionState } from './state.ts';
import { describeConditions } from './status.ts';

const conditionsAt: (state: EvictionState, waitingFor: string | null, nowMs: number) => readonly ConditionUpdate[] =
  describeConditions;

/** What metrics make of the condition must be what the run says in it. */
test.each<[what: string, change: (state: EvictionState) => unknown, state: string]>([
  ['that goes on', () => undefined, 'Running'],
  ['that is paused', (s) => (s.paused = { by: 'ann', reason: null, sinceMs: 0 }), 'Paused'],
  [
    'that waits out a failure',
    (s) => (s.problem = { reason: 'NovaUnavailable', message: 'no answer', failures: 1, retryAtMs: 0, kind: 'step' }),
    'NovaUnavailable',
  ],
])('metrics see an eviction %s', (_, change, expected) => {
  const state = evictionOf(hostWith(server('a'), server('b')));
  change(state);
  const said = conditionsAt(state, '1 in flight', 0).find(({ type }) => type === evictionConditions.evicting);
  expect(runningState(said?.reason ?? '', said?.message ?? '')).toBe(expected);
});
