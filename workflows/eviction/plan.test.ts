import type { Obstacle } from '../../contracts/eviction/eviction.ts';
import { blockByObstacles } from './answers.ts';
import { planEviction } from './plan.ts';
import { emptyHost, evictionOf, hostWith, server, theOnly } from '../../test/fixtures/workflows/eviction.ts';
import type { EvictionState } from './state.ts';
import { become, takeIn } from './state.ts';

const obstacle = (code: Obstacle['code'], instanceId: string | null = null): Obstacle => ({
  id: instanceId === null ? code : `${code}/${instanceId}`,
  code,
  instanceId,
  message: `${code} stands in the way`,
});
const wait = (text: string | RegExp, untilMs: number | null = null): object => ({
  do: 'wait',
  for: typeof text === 'string' ? text : expect.stringMatching(text),
  untilMs,
});
const ends = (outcome: string, message: RegExp, reason = outcome): object => ({
  do: 'end',
  outcome,
  reason,
  message: expect.stringMatching(message),
});
const moves = (...ids: string[]): object => ({
  do: 'move',
  instances: ids.map((id) => expect.objectContaining({ instance: expect.objectContaining({ id }) as object })),
});
const enabled = { ...emptyHost.service, status: 'enabled' as const, disabledReason: null };
const stop = { abort: false, reEnable: false, by: 'ann', atMs: 1_000, aborted: false };

const one = (): EvictionState => evictionOf(hostWith(server('a')));
const three = (): EvictionState =>
  evictionOf(hostWith(server('a'), server('b', { memoryMiB: 1024 }), server('c', { memoryMiB: 2048 })));
const empty = (seenMs: number, lookedMs: number): EvictionState => {
  const state = evictionOf(emptyHost, seenMs);
  takeIn(state, emptyHost, lookedMs);
  state.nothingLeftSinceMs = seenMs;
  return state;
};
const also = (state: EvictionState, change: (state: EvictionState) => unknown): EvictionState => {
  change(state);
  return state;
};
const blocked = (state: EvictionState): EvictionState =>
  also(state, () => become(theOnly(state), 'blocked', 900, 'locked'));

type Row = [why: string, state: EvictionState, nowMs: number, step: object];
const rows: Row[] = [
  ['before all else, a preflight', also(one(), (s) => (s.host = null)), 1_000, { do: 'preflight' }],
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
        become(s.instances['b']!, 'moved', 900)
      ),
    ),
    1_000,
    moves('c'),
  ],
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
    'observe says what it would do',
    also(three(), (s) => ((s.desired.mode = 'observe'), (s.host!.service = enabled), (s.phase = 'Preflight'))),
    1_000,
    ends('Observed', /would be disabled and 3 servers moved, 1 at a time/),
  ],
  [
    'asked for in the middle, it waits for what is in flight',
    also(one(), (s) => ((s.desired.mode = 'observe'), become(theOnly(s), 'moving', 900))),
    1_000,
    wait(/1 in flight to end, and then only observe/),
  ],
  [
    'and does not claim to have changed nothing',
    also(one(), (s) => ((s.desired.mode = 'observe'), become(theOnly(s), 'moved', 900))),
    1_000,
    ends('Observed', /from here on: 1 of 1 servers have left/),
  ],
  ['scheduling stops first', also(one(), (s) => (s.host!.service = enabled)), 1_000, { do: 'disable' }],
  [
    'an enable in the middle is repaired (H11)',
    also(three(), (s) => (become(s.instances['a']!, 'moved', 900), (s.host!.service = enabled))),
    1_000,
    { do: 'disable' },
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
    'without a share it waits for one',
    also(one(), (s) => (s.allowance = null)),
    1_000,
    wait(/share of the migrations/),
  ],
  [
    'those in flight are waited for',
    also(one(), (s) => become(theOnly(s), 'moving', 900)),
    1_000,
    wait(/1 in flight and 0 pending/),
  ],
  [
    'paused, nothing starts',
    also(one(), (s) => (s.paused = { by: 'ann', reason: null, sinceMs: 0 })),
    1_000,
    wait(/somebody to resume: paused by ann/),
  ],
  [
    'one that another run moves is waited for',
    also(one(), (s) => (become(theOnly(s), 'busy', 900), (theOnly(s).lookAgainAtMs = 5_000))),
    1_000,
    wait(/another run/, 5_000),
  ],
  [
    'and looked at again',
    also(one(), (s) => (become(theOnly(s), 'busy', 900), (theOnly(s).lookAgainAtMs = 5_000))),
    5_000,
    { do: 'look', why: expect.any(String) as string },
  ],
  [
    'a failing system is waited for',
    also(
      one(),
      (s) =>
        (s.problem = { reason: 'NovaUnavailable', message: 'Nova is away', failures: 1, retryAtMs: 2_000, of: 'step' }),
    ),
    1_000,
    wait('Nova is away', 2_000),
  ],
  [
    'until it is time to try again',
    also(
      one(),
      (s) =>
        (s.problem = { reason: 'NovaUnavailable', message: 'Nova is away', failures: 1, retryAtMs: 2_000, of: 'step' }),
    ),
    2_000,
    moves('a'),
  ],

  [
    'after the last move the host is looked at (H9)',
    also(one(), (s) => become(theOnly(s), 'moved', 2_000)),
    2_000,
    { do: 'look', why: expect.any(String) as string },
  ],
  [
    'what is blocked fails the eviction, never silently (H10)',
    blocked(one()),
    1_000,
    ends('Failed', /0 of 1 servers have left node-1; 1 not migratable/),
  ],
  ['empty once is not enough', empty(1_000, 1_000), 1_000, wait(/second time/, 11_000)],
  ['then it is looked at again', empty(1_000, 1_000), 11_000, { do: 'look', why: expect.any(String) as string }],
  ['empty twice is empty', empty(1_000, 11_000), 11_000, ends('Succeeded', /0 of 0 servers/)],
  [
    'Placement must show the host disabled',
    also(empty(1_000, 1_000), (s) => takeIn(s, { ...emptyHost, schedulingDisabled: false }, 1_000)),
    1_000,
    wait(/Placement does not show/, 11_000),
  ],
  [
    'allocations that stay fail it at the deadline',
    also(empty(1_000, 1_000), (s) => takeIn(s, { ...emptyHost, allocations: ['x'] }, 700_000)),
    700_000,
    ends('Failed', /1 allocation in Placement \(of x\)/, 'NotEmpty'),
  ],

  ['a stop starts nothing more', also(one(), (s) => (s.stop = stop)), 1_000, ends('Stopped', /1 not moved/)],
  [
    'and lets what is in flight finish',
    also(one(), (s) => ((s.stop = stop), become(theOnly(s), 'moving', 900))),
    1_000,
    wait(/1 in flight to end/, 1_801_000),
  ],
  [
    'for a bounded time',
    also(one(), (s) => ((s.stop = stop), become(theOnly(s), 'moving', 900))),
    1_801_000,
    { do: 'abort' },
  ],
  [
    'or aborts it at once',
    also(one(), (s) => ((s.stop = { ...stop, abort: true }), become(theOnly(s), 'moving', 900))),
    1_000,
    { do: 'abort' },
  ],
  [
    'once',
    also(one(), (s) => ((s.stop = { ...stop, abort: true, aborted: true }), become(theOnly(s), 'moving', 900))),
    1_000,
    wait(/to be aborted/),
  ],
  [
    'the host stays disabled unless asked',
    also(one(), (s) => (s.stop = { ...stop, reEnable: true })),
    1_000,
    { do: 'reEnable' },
  ],
  [
    'where that failed, after a pause',
    also(
      one(),
      (s) => (
        (s.stop = { ...stop, reEnable: true }),
        (s.problem = { reason: 'NovaUnavailable', message: 'Nova is away', failures: 1, retryAtMs: 2_000, of: 'step' })
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
    'a stop before the preflight ends at once',
    also(one(), (s) => ((s.stop = stop), (s.host = null), (s.instances = {}))),
    1_000,
    ends('Stopped', /./),
  ],
];

test.each(rows)('%s', (_why, state, nowMs, step) => {
  expect(planEviction(state, nowMs)).toEqual(step);
});
