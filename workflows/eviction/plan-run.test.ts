import { moveBegan } from './answers.ts';
import type { RunFacts } from './plan-run.ts';
import { planRun } from './plan-run.ts';
import { evictionOf, hostWith, server, theOnly } from './sample.ts';
import type { EvictionState } from './state.ts';

const pending = (): EvictionState => evictionOf(hostWith(server('a')));
const moving = (): EvictionState => {
  const state = pending();
  moveBegan(theOnly(state), 900);
  return state;
};

const ailing = (): EvictionState => ({ ...pending(), problem: { reason: 'NovaUnavailable', message: 'Nova is away', failures: 1, retryAtMs: 2_000 } });

type Row = [why: string, state: EvictionState, facts: Partial<RunFacts>, step: object];
const rows: Row[] = [
  ['the eviction’s plan is followed', pending(), {}, { do: 'move' }],
  ['an Eviction that changed is read first', pending(), { readAtMs: 0 }, { do: 'refresh' }],
  ['also while a problem is waited out: it may be the deletion', ailing(), { readAtMs: 0 }, { do: 'refresh' }],
  ['where reading it failed, not before it is time', ailing(), { readAtMs: 1_500 }, { do: 'wait', untilMs: 1_500 }],
  ['nor is that time slept through', moving(), { readAtMs: 1_500, inFlight: 1 }, { do: 'wait', untilMs: 1_500 }],
  ['an old run continues as new', pending(), { old: true, readAtMs: 0 }, { do: 'continueAsNew' }],
  ['but not with a child in flight', moving(), { old: true, inFlight: 1 }, { do: 'wait' }],
  ['and starts none before', { ...moving(), parallelism: 2, ...twoMore() }, { old: true, inFlight: 1 }, { do: 'wait', for: expect.stringMatching(/continue as a new run/) as string }],
];

/** One in flight, one to go. */
function twoMore(): Pick<EvictionState, 'instances'> {
  const { instances } = evictionOf(hostWith(server('a'), server('b')));
  moveBegan(instances['a']!, 900);
  return { instances };
}

test.each(rows)('%s', (_why, state, facts, step) => {
  expect(planRun(state, { readAtMs: null, old: false, inFlight: 0, ...facts }, 1_000)).toMatchObject(step);
});
