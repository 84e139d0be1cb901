import type { LoadedDataConverter, Payload } from '@temporalio/common';
import { optionalTsToMs } from '@temporalio/common/lib/time.js';
import type { temporal } from '@temporalio/proto';

export type HistoryEvent = temporal.api.history.v1.IHistoryEvent;
/** An activity that is about to run, runs, or is to run again. */
export type PendingActivity = temporal.api.workflow.v1.IPendingActivityInfo;
type Failure = temporal.api.failure.v1.IFailure;
type Timestamp = NonNullable<HistoryEvent['eventTime']>;

/** One call that a run has made, as its history records it. Times are RFC 3339. */
export interface RunStep {
  /** What it is for, in the words of the run; where they cannot be read, the name of the activity. */
  summary: string;
  activity: string;
  at: string;
  endedAt: string | null;
  /** Null: it is under way. */
  end: 'done' | 'failed' | 'timed out' | 'cancelled' | null;
  attempts: number;
  /** Why it failed, or failed last. */
  message: string | null;
}

/** The text of a payload; null where it is none, or its key is missing. */
export type ReadPayload = (payload: Payload) => Promise<unknown>;

export const payloadReader =
  ({ payloadConverter, payloadCodecs }: LoadedDataConverter): ReadPayload =>
  async (payload) => {
    try {
      let decoded = [payload];
      for (const codec of payloadCodecs.toReversed()) decoded = await codec.decode(decoded);
      const [plain] = decoded;
      return plain === undefined ? null : payloadConverter.fromPayload(plain);
    } catch {
      return null;
    }
  };

/**
 * The calls of a run, the first one first.
 *
 * @param events in any order; a call whose beginning is not among them is left out
 */
export async function readSteps(
  events: readonly HistoryEvent[],
  pending: readonly PendingActivity[],
  read: ReadPayload,
): Promise<RunStep[]> {
  const began = events
    .filter(({ activityTaskScheduledEventAttributes }) => activityTaskScheduledEventAttributes)
    .sort((a, b) => Number(a.eventId) - Number(b.eventId));
  const ends = new Map(events.flatMap((event) => endOf(event) ?? []).map((end) => [end.of, end]));
  const attempts = new Map(
    events.flatMap(({ activityTaskStartedEventAttributes: started }) =>
      started ? [[Number(started.scheduledEventId), started.attempt ?? 1] as const] : [],
    ),
  );
  const waiting = new Map(pending.map((activity) => [activity.activityId, activity]));
  return await Promise.all(
    began.map(async ({ eventId, eventTime, userMetadata, activityTaskScheduledEventAttributes: scheduled }) => {
      const activity = scheduled?.activityType?.name ?? '';
      const end = ends.get(Number(eventId));
      const open = end === undefined ? waiting.get(scheduled?.activityId) : undefined;
      const words = userMetadata?.summary ? await read(userMetadata.summary) : null;
      return {
        summary: typeof words === 'string' && words !== '' ? words : activity,
        activity,
        at: timeOf(eventTime),
        endedAt: end === undefined ? null : timeOf(end.time),
        end: end?.how ?? null,
        attempts: open?.attempt ?? attempts.get(Number(eventId)) ?? 1,
        message: await wordsOf(end === undefined ? open?.lastFailure : end.failure, read),
      };
    }),
  );
}

interface End {
  /** Event that began it. */
  of: number;
  how: NonNullable<RunStep['end']>;
  time: Timestamp | null | undefined;
  failure: Failure | null | undefined;
}

function endOf({ eventTime: time, ...event }: HistoryEvent): End | null {
  const {
    activityTaskCompletedEventAttributes: done,
    activityTaskFailedEventAttributes: failed,
    activityTaskTimedOutEventAttributes: late,
    activityTaskCanceledEventAttributes: cancelled,
  } = event;
  if (done) return { of: Number(done.scheduledEventId), how: 'done', time, failure: null };
  if (failed) return { of: Number(failed.scheduledEventId), how: 'failed', time, failure: failed.failure };
  if (late) return { of: Number(late.scheduledEventId), how: 'timed out', time, failure: late.failure };
  return cancelled ? { of: Number(cancelled.scheduledEventId), how: 'cancelled', time, failure: null } : null;
}

/** With keys, the words of a failure are in a payload (runtime/temporal/failure-converter.ts). */
async function wordsOf(failure: Failure | null | undefined, read: ReadPayload): Promise<string | null> {
  if (!failure) return null;
  const hidden = failure.encodedAttributes
    ? ((await read(failure.encodedAttributes)) as { message?: unknown } | null)
    : null;
  const words = typeof hidden?.message === 'string' ? hidden.message : (failure.message ?? '');
  return words === '' ? null : words;
}

const timeOf = (time: Timestamp | null | undefined): string => new Date(optionalTsToMs(time) ?? 0).toISOString();
