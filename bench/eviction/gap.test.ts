import type { ApiCall } from '../../lab/openstack/journal.ts';
import { explainGap, gapPartNames, meanGap } from './gap.ts';
import type { HistoryEvent } from './run-history.ts';

const at = (ms: number, eventId: number, attributes: object): HistoryEvent =>
  ({ eventId, eventTime: { seconds: 0, nanos: ms * 1e6 }, ...attributes }) as unknown as HistoryEvent;
const activity = (
  type: string,
  id: number,
  [scheduledMs, startedMs, doneMs]: [number, number, number],
): HistoryEvent[] => [
  at(scheduledMs, id, { activityTaskScheduledEventAttributes: { activityType: { name: type } } }),
  at(startedMs, id + 1, { activityTaskStartedEventAttributes: { scheduledEventId: id } }),
  at(doneMs, id + 2, { activityTaskCompletedEventAttributes: { scheduledEventId: id } }),
];
const read = (instance: string, timeMs: number): ApiCall =>
  ({ method: 'GET', path: `/v2.1/servers/${instance}`, query: '', timeMs, durationMs: 5 }) as ApiCall;

const left = { instance: 'a', postMs: 0, endMs: 100 };
const next = { instance: 'b', postMs: 240, endMs: 400 };
const calls = [read('a', 2), read('a', 136), read('a', 130), read('b', 120), read('a', 200)];
const parent = [at(160, 5, { startChildWorkflowExecutionInitiatedEventAttributes: { workflowId: 'migration/b' } })];
const children = new Map([
  [
    'a',
    [
      ...activity('startLiveMigration', 5, [1, 2, 3]),
      ...activity('awaitMigration', 11, [4, 6, 140]),
      at(150, 17, { workflowExecutionCompletedEventAttributes: {} }),
    ],
  ],
  ['b', activity('startLiveMigration', 5, [180, 190, 300])],
]);

test('the parts of a gap add up to it', () => {
  const gap = explainGap({ left, next }, calls, parent, children);
  expect(gap).toEqual({
    pollMs: 30,
    concludeMs: 10,
    childEndMs: 10,
    parentMs: 10,
    childStartMs: 20,
    dispatchMs: 10,
    readsMs: 50,
  });
  expect(gapPartNames.reduce((sum, name) => sum + (gap?.[name] ?? 0), 0)).toBe(next.postMs - left.endMs);
});

test.each([
  ['no read of the server', calls.slice(3), parent, children],
  ['no child that waited', calls, parent, new Map([['b', children.get('b') ?? []]])],
  ['no next child', calls, [], children],
])('with %s there is no explanation', (_, someCalls, someParent, someChildren) => {
  expect(explainGap({ left, next }, someCalls, someParent, someChildren)).toBeNull();
});

test('of several gaps the mean counts', () => {
  const gap = { pollMs: 10, concludeMs: 0, childEndMs: 0, parentMs: 0, childStartMs: 0, dispatchMs: 0, readsMs: 1 };
  expect(meanGap([gap, { ...gap, pollMs: 30 }])).toEqual({ ...gap, pollMs: 20 });
  expect(meanGap([])).toBeNull();
});
