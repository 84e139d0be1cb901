import { activityInfo, cancelled, heartbeat, sleep } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';

/** What the sample workflows call. */
export interface SampleActivities {
  note(what: string): Promise<string>;
  wait(ms: number): Promise<string>;
  fail(times: number, how: string): Promise<number>;
  /**
   * Heartbeats the number of its attempt and is heard of no more, in so many attempts. Returns what the last one has
   * left behind.
   */
  fallSilent(attempts: number): Promise<unknown>;
}

/** @param noted what has been noted, in order */
export function createSampleActivities(noted: string[]): SampleActivities {
  return {
    async note(what) {
      noted.push(what);
      return what;
    },
    async wait(ms) {
      try {
        for (let waitedMs = 0; waitedMs < ms; waitedMs += 1_000) {
          heartbeat(waitedMs);
          await sleep(1_000);
        }
        return 'waited';
      } catch (error) {
        noted.push('cancelled');
        throw error;
      }
    },
    async fail(times, how) {
      const { attempt } = activityInfo();
      if (attempt > times) return attempt;
      throw ApplicationFailure.create({
        message: `attempt ${attempt}`,
        type: 'Tried',
        nonRetryable: how === 'final',
        ...(how === 'later' && { nextRetryDelay: 4_000 }),
      });
    },
    async fallSilent(attempts) {
      const { attempt, heartbeatDetails } = activityInfo();
      if (attempt > attempts) return heartbeatDetails as unknown;
      heartbeat({ attempt, before: (heartbeatDetails as unknown) ?? null });
      return await cancelled();
    },
  };
}
