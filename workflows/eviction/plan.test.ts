import type { Obstacle } from '../../contracts/eviction/eviction.ts';
import type { desired } from '../../test/fixtures/workflows/eviction.ts';
import { emptyHost, evictionOf, hostWith, server, theOnly } from '../../test/fixtures/workflows/eviction.ts';
import { commands } from './commands.ts';
import { type EvictionStep, needOf, pickNext, planEviction, planReEnable, planRun, type RunSituation } from './plan.ts';
import {
  enterState,
  blockByObstacles,
  type EvictionState,
  applyEnableFailure,
  applyMoveResult,
  applyMoveStart,
  type EvictionProblem,
  applyHost,
  tracked,
} from './state.ts';

const obstacle = (code: Obstacle['code'], instanceId: string | null = null): Obstacle => ({
  id: instanceId === null ? code : `${code}/${instanceId}`,
  code,
  instanceId,
  message: `${code} stands in the way`,
});
const wait = (text: string | RegExp, untilMs: number | null = null): object => ({
  kind: 'wait',
  message: typeof text === 'string' ? text : (expect.stringMatching(text) as string),
  untilMs,
});
const ends = (
  phase: 'Succeeded' | 'Failed' | 'Stopped' | 'Observed',
  message: RegExp,
  reason: string = phase,
): object => ({
  kind: 'done',
  outcome: phase === 'Succeeded' ? 'reconciled' : 'blocked',
  reason,
  message: expect.stringMatching(message) as string,
});
const does = (kind: EvictionStep['kind'], phase?: string): object => ({
  kind: 'execute',
  steps: [{ kind, ...(phase !== undefined && { phase }) }],
});
const moves = (...ids: string[]): object => ({
  kind: 'execute',
  steps: ids.map((id) => ({ kind: 'moveInstance', phase: 'Moving', background: id, instance: { instance: { id } } })),
});
const enabled = { ...emptyHost.service, status: 'enabled' as const, disabledReason: null };
const failToEnable = (state: EvictionState, times: number): void => {
  for (let time = 0; time < times; time += 1) applyEnableFailure(state);
};
const stop = { abort: false, reEnable: false, by: 'ann', atMs: 1_000, aborted: false };

const steered = (state: EvictionState): Parameters<typeof commands.retryInstance>[0] => ({
  state,
  events: [],
  unpublished: false,
  readDueMs: null,
  failedReports: null,
});
const one = (): EvictionState => evictionOf(hostWith(server('a')));
const three = (): EvictionState =>
  evictionOf(hostWith(server('a'), server('b', { memoryMiB: 1024 }), server('c', { memoryMiB: 2048 })));
const empty = (seenMs: number, lookedMs: number): EvictionState => {
  const state = evictionOf(emptyHost, seenMs);
  applyHost(state, emptyHost, lookedMs);
  state.nothingLeftSinceMs = seenMs;
  return state;
};
const also = (state: EvictionState, change: (state: EvictionState) => unknown): EvictionState => {
  change(state);
  return state;
};
const blocked = (state: EvictionState): EvictionState =>
  also(state, () => enterState(theOnly(state), 'blocked', 900, 'locked'));

const deadline = '2026-01-01T02:00:00Z';
const deadlineMs = Date.parse(deadline);
/** Its machine is taken away at the deadline. */
const bound = (state: EvictionState): void => void Object.assign(state.desired, { deadline, cause: 'termination' });
const down = (): EvictionState =>
  also(one(), (s) => (bound(s), (s.preflightAtMs = 500), (s.preflights = 1), s.obstacles.push(obstacle('HostDown'))));
const held = (): EvictionState =>
  also(
    three(),
    (s) => (
      enterState(s.instances['a']!, 'blocked', 900),
      (s.instances['a']!.inFlight = 7),
      (s.allowance!.allowance = 1)
    ),
  );

type Row = [why: string, state: EvictionState, nowMs: number, step: object];
const rows: Row[] = [
  ['before all else, a preflight', also(one(), (s) => (s.host = null)), 1_000, does('preflight', 'Preflight')],
  [
    'an obstacle refuses an admin’s eviction',
    also(one(), (s) => void s.obstacles.push(obstacle('CapacityShort'))),
    1_000,
    ends('Failed', /Refused: CapacityShort.*left disabled/, 'PreflightFailed'),
  ],
  [
    'and says so where nothing was changed',
    also(
      one(),
      (s) => (s.obstacles.push(obstacle('CapacityShort')), (s.host!.service = enabled), (s.phase = 'Preflight')),
    ),
    1_000,
    ends('Failed', /Nothing was changed/, 'PreflightFailed'),
  ],
  [
    'but not where disabling was asked for and no answer came',
    also(
      one(),
      (s) => (s.obstacles.push(obstacle('CapacityShort')), (s.host!.service = enabled), (s.phase = 'Disabling')),
    ),
    1_000,
    ends('Failed', /node-1 may be left disabled/, 'PreflightFailed'),
  ],
  [
    'all obstacles are counted',
    also(one(), (s) => void s.obstacles.push(obstacle('CapacityShort'), obstacle('Vgpu', 'a'))),
    1_000,
    ends('Failed', /and 1 more/, 'PreflightFailed'),
  ],
  [
    'so does one of a single server, which the preflight has blocked',
    also(three(), (s) => (s.obstacles.push(obstacle('InstanceLocked', 'a')), blockByObstacles(s, 900))),
    1_000,
    ends('Failed', /Refused: InstanceLocked/, 'PreflightFailed'),
  ],
  [
    'once moves have begun it does not',
    also(
      three(),
      (s) => (
        s.obstacles.push(obstacle('InstanceLocked', 'a')),
        blockByObstacles(s, 900),
        enterState(s.instances['b']!, 'moved', 900)
      ),
    ),
    1_000,
    moves('c'),
  ],
  ...[false, true].map((isRetried): Row => [
    `nor does a lock that is found when the first is to move${isRetried ? ', and is tried again' : ''}`,
    also(three(), (s) => {
      applyMoveStart(s.instances['a']!, 800);
      const locked = obstacle('InstanceLocked', 'a');
      const { message } = locked;
      const result = { outcome: 'nonMigratable', targetHost: null, attempts: 0, message, inFlight: null } as const;
      applyMoveResult(s, 'a', { ...result, obstacle: locked }, 900);
      if (isRetried) commands.retryInstance(steered(s), { instance: 'a' }, 950);
    }),
    1_000,
    moves(isRetried ? 'a' : 'b'),
  ]),
  [
    'an accepted one does not',
    also(one(), (s) => (s.obstacles.push(obstacle('CapacityShort')), s.accepted.push('CapacityShort'))),
    1_000,
    moves('a'),
  ],
  [
    'nor one accepted in the Eviction',
    also(one(), (s) => (s.obstacles.push(obstacle('Vgpu', 'a')), s.desired.acceptedObstacles.push('Vgpu/a'))),
    1_000,
    moves('a'),
  ],
  [
    'a rolling update carries obstacles along',
    also(one(), (s) => (s.obstacles.push(obstacle('CapacityShort')), (s.desired.cause = 'rolling-update'))),
    1_000,
    moves('a'),
  ],
  [
    'a termination too',
    also(one(), (s) => (s.obstacles.push(obstacle('CapacityShort')), (s.desired.cause = 'termination'))),
    1_000,
    moves('a'),
  ],
  [
    'nothing is moved live off a dead host, whatever the cause',
    also(one(), (s) => (s.obstacles.push(obstacle('HostDown')), (s.desired.cause = 'termination'))),
    1_000,
    ends('Failed', /HostDown/, 'PreflightFailed'),
  ],
  [
    'but until the deadline of one that goes at it, the host is waited for',
    down(),
    1_000,
    wait(/nova-compute on node-1 to come up.*until the deadline/, 30_500),
  ],
  ['which is looked at again', down(), 30_500, does('preflight')],
  [
    'less and less often',
    also(down(), (s) => ((s.preflights = 3), (s.preflightAtMs = 90_000))),
    91_000,
    wait(/nova-compute/, 210_000),
  ],
  [
    'with a last try before the deadline',
    also(down(), (s) => ((s.preflights = 9), (s.preflightAtMs = deadlineMs - 300_000))),
    deadlineMs - 299_000,
    wait(/nova-compute/, deadlineMs - 120_000),
  ],
  [
    'and then the end is clear',
    down(),
    deadlineMs,
    ends('Failed', /The deadline has passed \(2026-01-01T02:00:00Z\): 0 of 1 servers have left/, 'DeadlinePassed'),
  ],
  [
    'not before what is in flight has ended',
    also(down(), (s) => enterState(theOnly(s), 'moving', 900)),
    deadlineMs,
    wait(/1 in flight/),
  ],
  [
    'a deadline that had passed before is none',
    also(down(), (s) => (s.startedAtMs = deadlineMs + 1)),
    deadlineMs + 2,
    ends('Failed', /HostDown/, 'PreflightFailed'),
  ],
  [
    'a user’s own eviction is refused, deadline or not',
    also(down(), (s) => (s.desired.cause = 'admin')),
    1_000,
    ends('Failed', /HostDown/, 'PreflightFailed'),
  ],
  [
    'but where its cause is changed to that in the middle, what is in flight ends first',
    also(down(), (s) => ((s.desired.cause = 'admin'), enterState(theOnly(s), 'moving', 900))),
    1_000,
    wait(/1 in flight to end, and then it is refused: HostDown/),
  ],
  [
    'observe says what it would do',
    also(three(), (s) => ((s.desired.mode = 'observe'), (s.host!.service = enabled), (s.phase = 'Preflight'))),
    1_000,
    ends('Observed', /would be disabled and 3 servers moved, 1 at a time/),
  ],
  [
    'asked for in the middle, it waits for what is in flight',
    also(one(), (s) => ((s.desired.mode = 'observe'), enterState(theOnly(s), 'moving', 900))),
    1_000,
    wait(/1 in flight to end, and then only observe/),
  ],
  [
    'and does not claim to have changed nothing',
    also(one(), (s) => ((s.desired.mode = 'observe'), enterState(theOnly(s), 'moved', 900))),
    1_000,
    ends('Observed', /from here on: 1 of 1 servers have left/),
  ],
  [
    'scheduling stops first',
    also(one(), (s) => (s.host!.service = enabled)),
    1_000,
    does('disableService', 'Disabling'),
  ],
  [
    'an enable in the middle is repaired (H11)',
    also(three(), (s) => (enterState(s.instances['a']!, 'moved', 900), (s.host!.service = enabled))),
    1_000,
    does('disableService', 'Disabling'),
  ],

  ['the smallest moves first', three(), 1_000, moves('a')],
  [
    'with a deadline the largest',
    also(three(), (s) => (s.desired.deadline = '2026-01-01T00:00:00Z')),
    1_000,
    moves('c'),
  ],
  ['as many as the window has', also(three(), (s) => (s.parallelism = 2)), 1_000, moves('a', 'b')],
  [
    'no more than the region grants',
    also(three(), (s) => ((s.parallelism = 3), (s.allowance!.allowance = 2))),
    1_000,
    moves('a', 'b'),
  ],
  [
    'the update wins over the Eviction',
    also(three(), (s) => ((s.parallelism = 1), (s.desired.parallelism = 3))),
    1_000,
    moves('a'),
  ],
  [
    'without an allowance it waits for one',
    also(one(), (s) => (s.allowance = null)),
    1_000,
    wait(/allowance of the migrations/),
  ],
  [
    'those in flight are waited for',
    also(one(), (s) => enterState(theOnly(s), 'moving', 900)),
    1_000,
    wait(/1 in flight and 0 pending$/),
  ],
  [
    'it says how many Nova runs, where that is less than was asked for',
    also(three(), (s) => {
      enterState(tracked(s)[0]!, 'moving', 900);
      s.parallelism = 4;
      s.allowance = { ...s.allowance!, allowance: 1, novaRuns: 1 };
    }),
    1_000,
    wait(/1 in flight and 2 pending; Nova runs 1 at a time on node-1$/),
  ],
  [
    'and nothing where it is not',
    also(three(), (s) => {
      enterState(tracked(s)[0]!, 'moving', 900);
      s.allowance = { ...s.allowance!, allowance: 1, novaRuns: 1 };
    }),
    1_000,
    wait(/1 in flight and 2 pending$/),
  ],
  [
    'paused, nothing starts',
    also(one(), (s) => (s.paused = { by: 'ann', reason: null, sinceMs: 0 })),
    1_000,
    wait(/a user to resume it: paused by ann/),
  ],
  [
    'a migration that does not end holds a slot of the region, and keeps the rest from nothing else',
    also(
      three(),
      (s) => (
        enterState(s.instances['a']!, 'blocked', 900),
        (s.instances['a']!.inFlight = 7),
        (s.allowance!.allowance = 2)
      ),
    ),
    1_000,
    moves('b'),
  ],
  [
    'where it holds the only one, what holds it is said, and looked at again',
    held(),
    1_000,
    wait(/1 that Nova does not end hold theirs \(migration 7 of vm-a\)/, 31_000),
  ],
  ['at intervals', held(), 31_000, does('observeHost')],
  [
    'one that another run moves is waited for',
    also(one(), (s) => (enterState(theOnly(s), 'busy', 900), (theOnly(s).observeAgainAtMs = 5_000))),
    1_000,
    wait(/another run/, 5_000),
  ],
  [
    'and looked at again',
    also(one(), (s) => (enterState(theOnly(s), 'busy', 900), (theOnly(s).observeAgainAtMs = 5_000))),
    5_000,
    does('observeHost'),
  ],
  [
    'a failing system is waited for',
    also(
      one(),
      (s) =>
        (s.problem = {
          reason: 'NovaUnavailable',
          message: 'Nova is away',
          failures: 1,
          retryAtMs: 2_000,
          kind: 'step',
        }),
    ),
    1_000,
    wait('Nova is away', 2_000),
  ],
  [
    'until it is time to try again',
    also(
      one(),
      (s) =>
        (s.problem = {
          reason: 'NovaUnavailable',
          message: 'Nova is away',
          failures: 1,
          retryAtMs: 2_000,
          kind: 'step',
        }),
    ),
    2_000,
    moves('a'),
  ],

  [
    'after the last move the host is looked at (H9)',
    also(one(), (s) => enterState(theOnly(s), 'moved', 2_000)),
    2_000,
    does('observeHost'),
  ],
  [
    'what is blocked fails the eviction, never silently (H10)',
    blocked(one()),
    1_000,
    ends('Failed', /0 of 1 servers have left node-1; 1 not migratable/),
  ],
  [
    'until the deadline of one that goes at it, it is tried again',
    also(blocked(one()), bound),
    1_000,
    wait(/1 server to be tried again, until the deadline/, 30_900),
  ],
  ['at its time', also(blocked(one()), bound), 30_900, does('preflight')],
  [
    'or when a user asks for that',
    also(blocked(one()), (s) => (bound(s), commands.retryNow(steered(s), {}, 1_000))),
    1_000,
    does('preflight'),
  ],
  [
    'also while others move',
    also(
      three(),
      (s) => (
        bound(s),
        enterState(s.instances['a']!, 'blocked', 900),
        enterState(s.instances['b']!, 'moving', 900),
        enterState(s.instances['c']!, 'moving', 900)
      ),
    ),
    1_000,
    wait(/2 in flight/, 30_900),
  ],
  [
    'what is blocked then is what the end says',
    also(blocked(one()), bound),
    deadlineMs,
    ends('Failed', /The deadline has passed .*1 not migratable/, 'DeadlinePassed'),
  ],
  [
    'what a user has skipped is not tried again',
    also(one(), (s) => (bound(s), enterState(theOnly(s), 'skipped', 900))),
    1_000,
    ends('Failed', /1 skipped/),
  ],
  [
    'what can move goes on after the deadline: a guest that is saved is saved',
    also(one(), bound),
    deadlineMs,
    moves('a'),
  ],

  ['empty once is not enough', empty(1_000, 1_000), 1_000, wait(/second time/, 11_000)],
  ['then it is looked at again', empty(1_000, 1_000), 11_000, does('observeHost')],
  ['empty twice is empty', empty(1_000, 11_000), 11_000, ends('Succeeded', /0 of 0 servers/)],
  [
    'once is, long after it was disabled: nothing is on its way any more',
    also(empty(20_000, 20_000), (s) => (s.disabledSinceMs = 10_000)),
    20_000,
    ends('Succeeded', /0 of 0 servers/),
  ],
  [
    'not so shortly after',
    also(empty(20_000, 20_000), (s) => (s.disabledSinceMs = 10_001)),
    20_000,
    wait(/second time/, 30_000),
  ],
  [
    'Placement must show the host disabled',
    also(empty(1_000, 1_000), (s) => applyHost(s, { ...emptyHost, schedulingDisabled: false }, 1_000)),
    1_000,
    wait(/Placement does not show/, 11_000),
  ],
  [
    'allocations that stay fail it at the deadline',
    also(empty(1_000, 1_000), (s) => applyHost(s, { ...emptyHost, allocations: ['x'] }, 700_000)),
    700_000,
    ends('Failed', /1 allocation in Placement \(of x\)/, 'NotEmpty'),
  ],
  [
    'not by a look from before it: it may have gone while Nova was away',
    also(empty(1_000, 1_000), (s) => applyHost(s, { ...emptyHost, allocations: ['x'] }, 20_000)),
    700_000,
    does('observeHost', 'Verifying'),
  ],
  [
    'which counts from the last server that left',
    also(
      one(),
      (s) => (
        enterState(theOnly(s), 'moved', 650_000),
        applyHost(s, { ...emptyHost, allocations: ['x'] }, 650_000),
        (s.nothingLeftSinceMs = 1_000)
      ),
    ),
    650_000,
    wait(/1 allocation in Placement/, 660_000),
  ],

  ['a stop starts nothing more', also(one(), (s) => (s.stop = stop)), 1_000, ends('Stopped', /1 not moved/)],
  [
    'and lets what is in flight finish',
    also(one(), (s) => ((s.stop = stop), enterState(theOnly(s), 'moving', 900))),
    1_000,
    wait(/1 in flight to end/, 1_801_000),
  ],
  [
    'for a bounded time',
    also(one(), (s) => ((s.stop = stop), enterState(theOnly(s), 'moving', 900))),
    1_801_000,
    does('abortMoves'),
  ],
  [
    'or aborts it at once',
    also(one(), (s) => ((s.stop = { ...stop, abort: true }), enterState(theOnly(s), 'moving', 900))),
    1_000,
    does('abortMoves'),
  ],
  [
    'once',
    also(one(), (s) => ((s.stop = { ...stop, abort: true, aborted: true }), enterState(theOnly(s), 'moving', 900))),
    1_000,
    wait(/to be aborted/),
  ],
  [
    'the host stays disabled unless asked',
    also(one(), (s) => (s.stop = { ...stop, reEnable: true })),
    1_000,
    does('enableService'),
  ],
  [
    'where that failed, after a pause',
    also(
      one(),
      (s) => (
        (s.stop = { ...stop, reEnable: true }),
        (s.problem = {
          reason: 'NovaUnavailable',
          message: 'Nova is away',
          failures: 1,
          retryAtMs: 2_000,
          kind: 'step',
        })
      ),
    ),
    1_000,
    wait('Nova is away', 2_000),
  ],
  [
    'which is tried once',
    also(one(), (s) => ((s.stop = { ...stop, reEnable: true }), (s.reEnabled = false))),
    1_000,
    ends('Stopped', /1 not moved/),
  ],
  [
    'again where Nova refuses',
    also(one(), (s) => ((s.stop = { ...stop, reEnable: true }), failToEnable(s, 4))),
    1_000,
    does('enableService'),
  ],
  [
    'but not for ever: the stop comes to its end',
    also(one(), (s) => ((s.stop = { ...stop, reEnable: true }), failToEnable(s, 5))),
    1_000,
    ends('Stopped', /1 not moved/),
  ],
  [
    'a stop before the preflight ends at once',
    also(one(), (s) => ((s.stop = stop), (s.host = null), (s.instances = {}))),
    1_000,
    ends('Stopped', /./),
  ],
];

test.each(rows)('%s', (_why, state, nowMs, plan) => {
  expect(planEviction(state, nowMs)).toMatchObject(plan);
});

const pending = (): EvictionState => evictionOf(hostWith(server('a')));
const moving = (): EvictionState => {
  const state = pending();
  applyMoveStart(theOnly(state), 900);
  return state;
};

const problem: EvictionProblem = {
  reason: 'NovaUnavailable',
  message: 'Nova is away',
  failures: 1,
  retryAtMs: 2_000,
  kind: 'step',
};
const ailing = (): EvictionState => ({ ...pending(), problem });
/** It was time to try again before now, which is 1,000. */
const overdue = (state: EvictionState, over: Partial<EvictionProblem> = {}): EvictionState => ({
  ...state,
  problem: { ...problem, retryAtMs: 950, ...over },
});
const paused = { paused: { by: 'ann', reason: null, sinceMs: 0 } };

type RunRow = [why: string, state: EvictionState, facts: Partial<RunSituation>, step: object];
const runRows: RunRow[] = [
  ['the eviction’s plan is followed', pending(), {}, { kind: 'execute', steps: [{ kind: 'moveInstance' }] }],
  ['an Eviction that changed is read first', pending(), { readDueMs: 0 }, does('readEviction')],
  ['also while a problem is waited out: it may be the deletion', ailing(), { readDueMs: 0 }, does('readEviction')],
  ['where reading it failed, not before it is time', ailing(), { readDueMs: 1_500 }, { kind: 'wait', untilMs: 1_500 }],
  [
    'nor is the time slept through at which the margin to the deadline becomes short',
    moving(),
    { marginDueMs: 1_800, inFlight: 1 },
    { kind: 'wait', untilMs: 1_800 },
  ],
  ['nor is that time slept through', moving(), { readDueMs: 1_500, inFlight: 1 }, { kind: 'wait', untilMs: 1_500 }],
  ['an old run continues as new', pending(), { isOld: true, readDueMs: 0 }, does('continueAsNew')],
  ['but not with a child in flight', moving(), { isOld: true, inFlight: 1 }, { kind: 'wait' }],
  [
    'and starts none before',
    { ...moving(), parallelism: 2, ...twoMore() },
    { isOld: true, inFlight: 1 },
    { kind: 'wait', message: expect.stringMatching(/continue as a new run/) as string },
  ],

  [
    'what failed is tried again at its time',
    overdue(pending()),
    {},
    { kind: 'execute', steps: [{ kind: 'moveInstance' }] },
  ],
  [
    'where it is not, because the run is paused, it is reported no more',
    overdue({ ...pending(), ...paused }),
    {},
    does('clearProblem'),
  ],
  ['nor while an allowance is waited for', overdue({ ...pending(), allowance: null }), {}, does('clearProblem')],
  ['nor for as long as an earlier move takes', overdue(moving()), { inFlight: 1 }, does('clearProblem')],
  ['the end of a later one will tell', overdue(moving(), { retryAtMs: 900 }), { inFlight: 1 }, { kind: 'wait' }],
  [
    'before its time it is reported',
    { ...ailing(), ...paused },
    {},
    { kind: 'wait', message: 'Nova is away', untilMs: 2_000 },
  ],
  [
    'an Eviction that was read again is no problem any more',
    overdue(pending(), { kind: 'read', retryAtMs: 2_000 }),
    {},
    does('clearProblem'),
  ],
  [
    'one that is to be read again is',
    overdue({ ...pending(), ...paused }, { kind: 'read' }),
    { readDueMs: 2_000 },
    { kind: 'wait', untilMs: 2_000 },
  ],
  [
    'a report that has arrived is no problem any more',
    overdue(pending(), { kind: 'report', retryAtMs: 2_000 }),
    {},
    does('clearProblem'),
  ],
  [
    'one that has not is, also while paused',
    overdue({ ...pending(), ...paused }, { kind: 'report' }),
    { isReportFailing: true },
    { kind: 'wait' },
  ],
];

/** One in flight, one to go. */
function twoMore(): Pick<EvictionState, 'instances'> {
  const { instances } = evictionOf(hostWith(server('a'), server('b')));
  applyMoveStart(instances['a']!, 900);
  return { instances };
}

test.each(runRows)('%s', (_why, state, facts, plan) => {
  expect(
    planRun(
      state,
      { readDueMs: null, marginDueMs: null, isReportFailing: false, isOld: false, inFlight: 0, ...facts },
      1_000,
    ),
  ).toMatchObject(plan);
});

const ids = (picked: ReturnType<typeof pickNext>): string[] => picked.map(({ instance }) => instance.id);

describe('which go next', () => {
  test('members of one server group move one at a time', () => {
    const state = evictionOf(
      hostWith(server('a', { serverGroups: ['g'] }), server('b', { serverGroups: ['g'] }), server('c')),
    );
    const all = Object.values(state.instances);
    expect(ids(pickNext(all, [], 3, false))).toEqual(['a', 'c']);
    expect(ids(pickNext(all.slice(1), all.slice(0, 1), 3, false))).toEqual(['c']);
  });
  test('control planes move last, whatever their size, and one at a time', () => {
    const state = evictionOf(
      hostWith(
        server('a', { movesLast: true, memoryMiB: 1 }),
        server('b', { movesLast: true }),
        server('c', { memoryMiB: 9_000 }),
      ),
    );
    const [a, b, c] = ['a', 'b', 'c'].map((id) => state.instances[id]!);
    expect(ids(pickNext([a!, b!, c!], [], 3, false))).toEqual(['c', 'a']);
    expect(ids(pickNext([a!, b!, c!], [], 3, true))).toEqual(['c', 'b']);
    expect(ids(pickNext([b!], [a!], 3, false))).toEqual([]);
    c!.attempts = 2;
    expect(ids(pickNext([a!, c!], [], 1, false))).toEqual(['c']);
  });
  test('one that failed before lets the others pass (H4)', () => {
    const state = evictionOf(hostWith(server('a'), server('b', { memoryMiB: 4096 })));
    state.instances['a']!.attempts = 1;
    expect(ids(pickNext(Object.values(state.instances), [], 1, false))).toEqual(['b']);
  });
});

describe('whether the host is enabled again', () => {
  type Row = [cause: typeof desired.cause, reEnable: boolean | null, plan: string];
  const rows: Row[] = [
    ['admin', null, 'leave'],
    ['admin', true, 'now'],
    ['admin', false, 'leave'],
    ['decommission', null, 'leave'],
    ['decommission', true, 'now'],
    ['termination', null, 'leave'],
    ['node-failure', null, 'leave'],
    ['rolling-update', null, 'afterReboot'],
    ['rolling-update', true, 'afterReboot'],
    ['rolling-update', false, 'leave'],
  ];
  test.each(rows)('%s, asked %s: %s', (cause, reEnable, plan) => {
    expect(planReEnable({ cause, reEnable })).toBe(plan);
  });
});

describe('what is wanted of the region', () => {
  test('as many as may move, and what does not end', () => {
    expect(needOf(three())).toEqual({ want: 1, using: 0 });
    expect(needOf(held())).toEqual({ want: 2, using: 1 });
  });
  test('nothing more while nothing can be begun', () => {
    expect(needOf(down())).toEqual({ want: 0, using: 0 });
    expect(needOf(also(held(), (s) => (s.stop = stop)))).toEqual({ want: 1, using: 1 });
  });
});
