import { moveBegan } from './answers.ts';
import type { RunFacts } from './plan-run.ts';
import { planRun } from './plan-run.ts';
import { evictionOf, hostWith, server, theOnly } from '../../test/fixtures/workflows/eviction.ts';
import type { EvictionState, StandingProblem } from './state.ts';

const pending = (): EvictionState => evictionOf(hostWith(server('a')));
const moving = (): EvictionState => {
  const state = pending();
  moveBegan(theOnly(state), 900);
  return state;
};

const problem: StandingProblem = {
  reason: 'NovaUnavailable',
  message: 'Nova is away',
  failures: 1,
  retryAtMs: 2_000,
  of: 'step',
};
const ailing = (): EvictionState => ({ ...pending(), problem });
/** It was time to try again before now, which is 1,000. */
const overdue = (state: EvictionState, over: Partial<StandingProblem> = {}): EvictionState => ({
  ...state,
  problem: { ...problem, retryAtMs: 950, ...over },
});
const paused = { paused: { by: 'ann', reason: null, sinceMs: 0 } };

type Row = [why: string, state: EvictionState, facts: Partial<RunFacts>, step: object];
const rows: Row[] = [
  ['the eviction’s plan is followed', pending(), {}, { do: 'move' }],
  ['an Eviction that changed is read first', pending(), { readAtMs: 0 }, { do: 'refresh' }],
  ['also while a problem is waited out: it may be the deletion', ailing(), { readAtMs: 0 }, { do: 'refresh' }],
  ['where reading it failed, not before it is time', ailing(), { readAtMs: 1_500 }, { do: 'wait', untilMs: 1_500 }],
  ['nor is that time slept through', moving(), { readAtMs: 1_500, inFlight: 1 }, { do: 'wait', untilMs: 1_500 }],
  ['an old run continues as new', pending(), { old: true, readAtMs: 0 }, { do: 'continueAsNew' }],
  ['but not with a child in flight', moving(), { old: true, inFlight: 1 }, { do: 'wait' }],
  [
    'and starts none before',
    { ...moving(), parallelism: 2, ...twoMore() },
    { old: true, inFlight: 1 },
    { do: 'wait', for: expect.stringMatching(/continue as a new run/) as string },
  ],

  ['what failed is tried again at its time', overdue(pending()), {}, { do: 'move' }],
  [
    'where it is not, because the run is paused, it is told no more',
    overdue({ ...pending(), ...paused }),
    {},
    { do: 'forget' },
  ],
  ['nor while a share is waited for', overdue({ ...pending(), allowance: null }), {}, { do: 'forget' }],
  ['nor for as long as an earlier move takes', overdue(moving()), { inFlight: 1 }, { do: 'forget' }],
  ['the end of a later one will tell', overdue(moving(), { retryAtMs: 900 }), { inFlight: 1 }, { do: 'wait' }],
  ['before its time it is told', { ...ailing(), ...paused }, {}, { do: 'wait', for: 'Nova is away', untilMs: 2_000 }],
  [
    'an Eviction that was read again is no problem any more',
    overdue(pending(), { of: 'read', retryAtMs: 2_000 }),
    {},
    { do: 'forget' },
  ],
  [
    'one that is to be read again is',
    overdue({ ...pending(), ...paused }, { of: 'read' }),
    { readAtMs: 2_000 },
    { do: 'wait', untilMs: 2_000 },
  ],
  [
    'a report that has arrived is no problem any more',
    overdue(pending(), { of: 'report', retryAtMs: 2_000 }),
    {},
    { do: 'forget' },
  ],
  [
    'one that has not is, also while paused',
    overdue({ ...pending(), ...paused }, { of: 'report' }),
    { unheard: true },
    { do: 'wait' },
  ],
];

/** One in flight, one to go. */
function twoMore(): Pick<EvictionState, 'instances'> {
  const { instances } = evictionOf(hostWith(server('a'), server('b')));
  moveBegan(instances['a']!, 900);
  return { instances };
}

test.each(rows)('%s', (_why, state, facts, step) => {
  expect(planRun(state, { readAtMs: null, unheard: false, old: false, inFlight: 0, ...facts }, 1_000)).toMatchObject(
    step,
  );
});
