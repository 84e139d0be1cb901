import { emptyHost, evictionOf, hostWith, server } from '../../test/fixtures/workflows/eviction.ts';
import { describeMargin, estimateMs, judgeMargin } from './deadline.ts';
import { applyHost, enterState, type EvictionState } from './state.ts';
import { describeConditions } from './status.ts';

const minuteMs = 60_000;
const deadline = '1970-01-01T02:00:00.000Z';
const halfMs = 60 * minuteMs;
const deadlineMs = 120 * minuteMs;

/** Two servers, with two hours for them. */
const bound = (change: (state: EvictionState) => unknown = () => undefined): EvictionState => {
  const made = evictionOf(hostWith(server('a'), server('b')));
  Object.assign(made.desired, { deadline, cause: 'termination' });
  change(made);
  return made;
};
/** The first took so long; the second is as large. */
const moved = (tookMs: number): EvictionState =>
  bound((s) => (enterState(s.instances['a']!, 'moved', tookMs), (s.instances['a']!.tookMs = tookMs)));
const empty = (atMs: number): EvictionState => bound((s) => ((s.emptySinceMs = null), applyHost(s, emptyHost, atMs)));

type Row = [why: string, state: EvictionState, nowMs: number, margin: object | null];
const rows: Row[] = [
  ['without a deadline there is none', evictionOf(hostWith(server('a'))), 1, null],
  ['where it only observes there is none', bound((s) => (s.desired.mode = 'observe')), 1, null],
  ['before anything has moved it is not known', bound(), minuteMs, { verdict: 'NotEstimated', changesAtMs: halfMs }],
  ['for half of the time', bound(), halfMs, { verdict: 'MarginShort', changesAtMs: deadlineMs }],
  [
    'at the pace so far there is enough, until a quarter more than the rest takes is left',
    moved(20 * minuteMs),
    30 * minuteMs,
    { verdict: 'Enough', changesAtMs: 95 * minuteMs },
  ],
  ['then it is short', moved(20 * minuteMs), 95 * minuteMs, { verdict: 'MarginShort' }],
  ['or at once, where it is slow', moved(100 * minuteMs), 100 * minuteMs, { verdict: 'MarginShort' }],
  [
    'what does not move is no pace: not known',
    bound((s) => enterState(s.instances['a']!, 'blocked', 1)),
    minuteMs,
    { verdict: 'NotEstimated' },
  ],
  [
    'and short, half of the time over',
    bound((s) => (enterState(s.instances['a']!, 'blocked', 1), enterState(s.instances['b']!, 'moved', 1))),
    halfMs,
    { verdict: 'MarginShort' },
  ],
  [
    'so is a host that is down',
    bound((s) => s.obstacles.push({ id: 'HostDown', code: 'HostDown', instanceId: null, message: 'is down' })),
    halfMs,
    { verdict: 'MarginShort' },
  ],
  ['it passes', moved(minuteMs), deadlineMs, { verdict: 'DeadlinePassed', changesAtMs: null }],
  ['not for a host that was empty before', empty(deadlineMs - 1), deadlineMs + 1, { verdict: 'Enough' }],
  ['but for one that was empty after', empty(deadlineMs + 1), deadlineMs + 2, { verdict: 'DeadlinePassed' }],
  [
    'an eviction that has ended before is no matter of time',
    bound((s) => (s.end = { phase: 'Stopped', reason: 'Stopped', message: '' })),
    halfMs,
    { verdict: 'Ended' },
  ],
];

test.each(rows)('%s', (_why, state, nowMs, margin) => {
  if (margin === null) expect(judgeMargin(state, nowMs)).toBeNull();
  else expect(judgeMargin(state, nowMs)).toMatchObject(margin);
});

test('a margin that is short says by when, what is left, the pace, and what a user does', () => {
  expect(describeMargin(moved(20 * minuteMs), 100 * minuteMs)?.message).toBe(
    'node-1 is to be empty by 1970-01-01T02:00:00.000Z, and that will hardly do: 1 server left; at the pace so far the last one leaves at about 1970-01-01T02:00:00.000Z. `drover parallelism node-1 N` moves more at once, where Nova and the network allow it',
  );
});

test('the condition has the verdict as its reason', () => {
  const of = (state: EvictionState, nowMs: number) =>
    describeConditions(state, null, nowMs).find(({ type }) => type === 'OnTime');
  expect(of(bound(), 1)).toMatchObject({ status: 'Unknown', reason: 'NotEstimated' });
  expect(of(bound(), halfMs)).toMatchObject({ status: 'False', reason: 'MarginShort' });
  expect(of(bound(), deadlineMs)).toMatchObject({ status: 'False', reason: 'DeadlinePassed' });
  expect(of(empty(1), 2)).toMatchObject({ status: 'True', reason: 'Enough' });
  expect(of(evictionOf(emptyHost), 1)).toBeUndefined();
});

test('the estimate goes by what has moved, in as many lanes as the window has', () => {
  const its = evictionOf(hostWith(server('a'), server('b')));
  expect(estimateMs(its, 1_000)).toBeNull();
  enterState(its.instances['a']!, 'moved', 5_000);
  its.instances['a']!.tookMs = 4_000;
  expect(estimateMs(its, 5_000)).toBe(4_000);
  enterState(its.instances['b']!, 'moving', 5_000);
  expect(estimateMs(its, 6_000)).toBe(3_000);
});
