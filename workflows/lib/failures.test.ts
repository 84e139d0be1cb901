import { ActivityFailure, ApplicationFailure, RetryState, TimeoutFailure } from '@temporalio/common';
import { wasTakenUp } from './failures.ts';

const failedWith = (cause: Error): ActivityFailure =>
  new ActivityFailure('Activity task failed', 'startEvacuation', 'a', RetryState.TIMEOUT, 'worker', cause);

test.each<[cause: Error, isTakenUp: boolean]>([
  [new TimeoutFailure(undefined, undefined, 'SCHEDULE_TO_START'), false],
  [new TimeoutFailure(undefined, undefined, 'START_TO_CLOSE'), true],
  [new TimeoutFailure(undefined, undefined, 'HEARTBEAT'), true],
  [ApplicationFailure.create({ type: 'NovaUnavailable' }), true],
])('%#: whether a worker took an activity up', (cause, isTakenUp) => {
  expect(wasTakenUp(failedWith(cause))).toBe(isTakenUp);
});
