import { defaultDataConverter, defaultPayloadConverter } from '@temporalio/common';
import { msToTs } from '@temporalio/common/lib/time.js';
import type { HistoryEvent, PendingActivity, RunStep } from './run-steps.ts';
import { payloadReader, readSteps } from './run-steps.ts';

const read = payloadReader(defaultDataConverter);
const text = (words: unknown) => defaultPayloadConverter.toPayload(words);

/** What the SDK hands over, as far as it is read; ids come as Long. */
const event = (id: number, seconds: number, facts: object): HistoryEvent =>
  ({
    eventId: { toString: () => String(id) },
    eventTime: msToTs((1_769_860_800 + seconds) * 1_000 + 250),
    ...facts,
  }) as unknown as HistoryEvent;
const of = (id: number) => ({ scheduledEventId: { toString: () => String(id) } });

const began = (id: number, name: string, summary: string | null, seconds = 0): HistoryEvent =>
  event(id, seconds, {
    activityTaskScheduledEventAttributes: { activityId: `a-${String(id)}`, activityType: { name } },
    ...(summary !== null && { userMetadata: { summary: text(summary) } }),
  });
const started = (id: number, begin: number, attempt: number): HistoryEvent =>
  event(id, 0, { activityTaskStartedEventAttributes: { ...of(begin), attempt } });
const completed = (id: number, begin: number, seconds: number): HistoryEvent =>
  event(id, seconds, { activityTaskCompletedEventAttributes: of(begin) });

test.each<[why: string, events: HistoryEvent[], pending: PendingActivity[], steps: Partial<RunStep>[]]>([
  ['nothing yet', [event(1, 0, { workflowExecutionStartedEventAttributes: {} })], [], []],
  [
    'one that is done, at the second attempt, newest first',
    [completed(7, 5, 3), started(6, 5, 2), began(5, 'submitPower', 'Power web on')],
    [],
    [
      {
        summary: 'Power web on',
        activity: 'submitPower',
        at: '2026-01-31T12:00:00.250Z',
        endedAt: '2026-01-31T12:00:03.250Z',
        end: 'done',
        attempts: 2,
        message: null,
      },
    ],
  ],
  [
    'one without words',
    [began(5, 'submitPower', null)],
    [],
    [{ summary: 'submitPower', end: null, endedAt: null, attempts: 1 }],
  ],
  [
    'one that failed',
    [
      event(7, 1, { activityTaskFailedEventAttributes: { ...of(5), failure: { message: 'no room' } } }),
      began(5, 'x', 'y'),
    ],
    [],
    [{ end: 'failed', message: 'no room' }],
  ],
  [
    'its words in a payload',
    [
      event(7, 1, {
        activityTaskFailedEventAttributes: {
          ...of(5),
          failure: { message: 'Encoded failure', encodedAttributes: text({ message: 'no room', stack_trace: '' }) },
        },
      }),
      began(5, 'x', 'y'),
    ],
    [],
    [{ end: 'failed', message: 'no room' }],
  ],
  [
    'one that ran out of time',
    [
      event(7, 1, { activityTaskTimedOutEventAttributes: { ...of(5), failure: { message: 'late' } } }),
      began(5, 'x', 'y'),
    ],
    [],
    [{ end: 'timed out', message: 'late' }],
  ],
  [
    'one that was cancelled',
    [event(7, 1, { activityTaskCanceledEventAttributes: of(5) }), began(5, 'x', 'y')],
    [],
    [{ end: 'cancelled', message: null }],
  ],
  [
    'one that is tried again',
    [began(5, 'x', 'y')],
    [{ activityId: 'a-5', attempt: 4, lastFailure: { message: 'no answer' } }],
    [{ end: null, attempts: 4, message: 'no answer' }],
  ],
  [
    'the first one first',
    [began(9, 'x', 'second', 9), completed(7, 5, 3), began(5, 'x', 'first')],
    [],
    [
      { summary: 'first', end: 'done' },
      { summary: 'second', end: null },
    ],
  ],
  ['an end whose beginning is further back', [completed(7, 5, 3)], [], []],
])('%s', async (_why, events, pending, steps) => {
  expect(await readSteps(events, pending, read)).toEqual(steps.map((step) => expect.objectContaining(step)));
});

test('words that are encrypted with a key that is missing are left', async () => {
  const locked = payloadReader({
    ...defaultDataConverter,
    payloadCodecs: [{ encode: async (payloads) => payloads, decode: () => Promise.reject(new Error('no key')) }],
  });
  expect(await readSteps([began(5, 'submitPower', 'Power web on')], [], locked)).toEqual([
    expect.objectContaining({ summary: 'submitPower' }),
  ]);
});
