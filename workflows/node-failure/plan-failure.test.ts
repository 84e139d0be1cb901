import { candidate, fencingOf, openedAtMs, proofAt } from '../../test/fixtures/workflows/fencing.ts';
import { takeServers, type FencingState } from './fencing-state.ts';
import { planFailure } from './plan-failure.ts';

const nowMs = openedAtMs + 20_000;
const evidence = { by: 'power', proof: proofAt(openedAtMs) } as const;
const power = { host: 'node-1', power: 'Off', atMs: nowMs } as const;
const novaOf = (forcedDown: boolean) =>
  ({
    nova: { host: 'node-1', service: { status: 'disabled', state: 'down', disabledReason: 'drover: x', forcedDown } },
  }) as const;
const fenced = (change: Partial<FencingState> = {}): FencingState => ({
  ...takeServers(fencingOf({ forcedDown: true, evidence, fencedBootId: 'boot-1', power }), [candidate('a')]),
  ...change,
});

const rows: [why: string, state: FencingState, isForcedDown: boolean, step: object][] = [
  ['it is as drover left it', fenced(), true, { do: 'evacuate' }],
  ['somebody took it back: nothing more is begun', fenced(), false, { do: 'loseEvidence' }],
  [
    'and what is in flight ends',
    fenced({
      evidence: null,
      servers: [{ ...candidate('a'), state: 'evacuating', attempts: 1, why: null, retryAtMs: null }],
    }),
    false,
    { do: 'wait' },
  ],
  ['and then it is theirs', fenced({ evidence: null }), false, { do: 'end', outcome: 'TakenOver' }],
  [
    'drover has taken it back itself',
    fenced({ evidence: null, restored: true }),
    false,
    { do: 'end', outcome: 'Restored' },
  ],
  ['it is not forced down yet', fencingOf({ evidence, power }), false, { do: 'forceDown' }],
];
test.each(rows)('%s', (_why, state, isForcedDown, step) => {
  expect(planFailure(state, novaOf(isForcedDown), nowMs)).toMatchObject(step);
});

test('where Nova does not answer, nobody has taken anything back', () => {
  expect(planFailure(fenced({ evidence: null }), { nova: null }, nowMs)).not.toMatchObject({ do: 'end' });
});
