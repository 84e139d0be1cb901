import { parallelismOf } from '../../workflows/eviction/plan.ts';
import type { RunStep } from '../../workflows/eviction/plan-run.ts';
import type { EvictionState, TrackedInstance } from '../../workflows/eviction/state.ts';
import { realPlanners } from './simulate.ts';
import type { Planners } from './simulation.ts';

/** One rule of the planners broken on purpose, and the invariants of which one must catch it. */
export interface Mutation {
  what: string;
  caughtBy: string[];
  broken: Partial<Planners>;
}

const { planRun, planMove, planWindDown, share, endLook, unsaid } = realPlanners;

/** The plan for a state that is not quite the real one. */
const seeing = (change: (state: EvictionState) => Partial<EvictionState>): Partial<Planners> => ({ planRun: (state, facts, nowMs) => planRun({ ...state, ...change(state) }, facts, nowMs) });

/** Another step in the place of the planned one. */
const stepping = (change: (step: RunStep, state: EvictionState) => RunStep): Partial<Planners> => ({ planRun: (state, facts, nowMs) => change(planRun(state, facts, nowMs), state) });

const everybody = ({ instances }: EvictionState, change: (one: TrackedInstance) => TrackedInstance): Pick<EvictionState, 'instances'> => ({
  instances: Object.fromEntries(Object.entries(instances).map(([id, one]) => [id, change(one)])),
});

const succeeded: RunStep = { do: 'end', outcome: 'Succeeded', reason: 'Succeeded', message: 'done' };

export const mutations: Mutation[] = [
  { what: 'a stop is not heard', caughtBy: ['nothing starts after a stop'], broken: seeing(() => ({ stop: null })) },
  { what: 'a pause is not heard', caughtBy: ['nothing starts while paused'], broken: seeing(() => ({ paused: null })) },
  { what: 'one more than the window', caughtBy: ['the window'], broken: seeing((state) => ({ parallelism: parallelismOf(state) + 1, allowance: state.allowance && { ...state.allowance, allowance: state.allowance.allowance + 1 } })) },
  { what: 'the share is not asked for', caughtBy: ['the allowance of one'], broken: seeing(() => ({ allowance: { allowance: 64, limit: 64, consumers: 1, sequence: 1 } })) },
  { what: 'who is skipped is moved', caughtBy: ['who is skipped stays'], broken: seeing((state) => everybody(state, (one) => (one.state === 'skipped' ? { ...one, state: 'pending' } : one))) },
  { what: 'a whole server group at once', caughtBy: ['one of a group at a time'], broken: seeing((state) => everybody(state, (one) => ({ ...one, instance: { ...one.instance, serverGroups: [] } }))) },
  {
    what: 'moved before the host is disabled', caughtBy: ['disabled first'],
    broken: seeing(({ host }) => ({ host: host && { ...host, service: { ...host.service, status: 'disabled' } } })),
  },
  { what: 'empty once is enough', caughtBy: ['empty is seen twice', 'and some time apart'], broken: stepping((step) => (step.do === 'wait' && step.for.includes('second time') ? succeeded : step)) },
  { what: 'success without a look', caughtBy: ['succeeded means empty', 'empty is seen twice'], broken: stepping((step) => (step.do === 'look' ? succeeded : step)) },
  { what: 'an end with servers in flight', caughtBy: ['nothing is in flight at the end'], broken: stepping((step) => (step.do === 'wait' && step.for.includes('in flight') ? { ...succeeded, outcome: 'Failed' } : step)) },
  { what: 'looks without a pause', caughtBy: ['bounded steps'], broken: stepping((step) => (step.do === 'wait' && step.untilMs !== null ? { do: 'look', why: 'again' } : step)) },
  { what: 'waits without a deadline', caughtBy: ['a wait has a deadline'], broken: stepping((step) => (step.do === 'wait' ? { ...step, untilMs: null } : step)) },
  { what: 'a changed Eviction is not read', caughtBy: ['a deletion is heard'], broken: { planRun: (state, facts, nowMs) => planRun(state, { ...facts, readAtMs: null }, nowMs) } },
  { what: 'continued as new in flight', caughtBy: ['continued only when quiet'], broken: { planRun: (state, facts, nowMs) => planRun(state, { ...facts, inFlight: 0 }, nowMs) } },
  {
    what: 'a problem is told for ever', caughtBy: ['a problem that is over is forgotten'],
    broken: {
      planRun: (state, facts, nowMs) => {
        const step = planRun(state, facts, nowMs);
        return step.do === 'forget' ? planRun({ ...state, problem: null }, facts, nowMs) : step;
      },
    },
  },
  { what: 'observing acts', caughtBy: ['observing changes nothing'], broken: seeing(({ desired }) => ({ desired: { ...desired, mode: 'act' } })) },
  { what: 'attempts are not counted', caughtBy: ['bounded attempts', 'bounded moves'], broken: { planMove: (wish, progress) => planMove(wish, { ...progress, attempts: 0, stuckAttempts: 0 }) } },
  { what: 'nobody was asked for consent', caughtBy: ['nothing is forced without consent', 'no cold move without consent'], broken: { planMove: (wish, progress) => planMove({ ...wish, consent: ['cold-migrate', 'force-complete'] }, progress) } },
  {
    what: 'a stranger’s resize is confirmed', caughtBy: ['only drover’s own resizes are confirmed'],
    broken: { planMove: (wish, progress) => planMove({ ...wish, accepted: true }, progress) },
  },
  {
    what: 'nothing is aborted', caughtBy: ['no migration is left behind'],
    broken: {
      planWindDown: (wish, progress) => {
        const move = planWindDown(wish, progress);
        return move.do === 'abort' ? { do: 'end', outcome: 'stopped', message: null } : move;
      },
    },
  },
  {
    what: 'a cancelled cold move is not confirmed', caughtBy: ['drover’s own cold moves are confirmed', 'no migration is left behind'],
    broken: {
      planWindDown: (wish, progress) => {
        const move = planWindDown(wish, progress);
        return move.do === 'confirm' ? { do: 'end', outcome: 'moved', message: null } : move;
      },
    },
  },
  {
    what: 'one more than the region’s limit', caughtBy: ['the region’s limit'],
    broken: { share: (ledger, nowMs) => share(ledger.world === null ? ledger : { ...ledger, world: { ...ledger.world, limit: ledger.world.limit + 1 } }, nowMs) },
  },
  {
    what: 'an answer raised at once, before others have heard that theirs is lower', caughtBy: ['the region’s limit'],
    broken: { share: (ledger, nowMs) => share({ ...ledger, holders: ledger.holders.map((holder) => ({ ...holder, told: holder.told.slice(-1), using: 0 })) }, nowMs) },
  },
  {
    what: 'who leaves hears nothing more, though it may have to stay', caughtBy: ['every run ends'],
    broken: { onItsWay: (_before, after) => after, unsaid: (before, now) => unsaid(before, now.said === null ? before : now) },
  },
  {
    what: 'who could not leave goes by what it was granted before', caughtBy: ['every run ends', 'the region’s limit'],
    broken: { unsaid: (before, now) => ({ ...unsaid(before, now), ...(now.leaving === true && { heard: before.heard }) }) },
  },
  { what: 'nobody notices that a holder is closed', caughtBy: ['no allowance is leaked'], broken: { endLook: (ledger, world, _closed, nowMs) => endLook(ledger, world, [], nowMs) } },
];
