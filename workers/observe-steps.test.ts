import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { queuedFailure } from '../contracts/allowance.ts';
import { waitingFailure } from '../contracts/policies.ts';
import { droverFailure } from '../runtime/failure.ts';
import { outcomeOf } from './observe-steps.ts';

test.each([
  ['a failure of the table is told by its code', droverFailure('NovaUnavailable', 'away'), false, 'NovaUnavailable'],
  ['a cancelled step is cancelled, whatever it threw', new Error('aborted'), true, 'cancelled'],
  ['as is one that says so', new CancelledFailure('stop'), false, 'cancelled'],
  ['a failure of another type is no label', ApplicationFailure.create({ type: 'server-4711' }), false, 'Unexpected'],
  ['one in a queue is queued', ApplicationFailure.create({ type: queuedFailure }), false, 'queued'],
  [
    'a look of a wait that is not over is waiting',
    ApplicationFailure.create({ type: waitingFailure }),
    false,
    'waiting',
  ],
  ['nor is anything else', 'words', false, 'Unexpected'],
])('%s', (_why, error, isCancelled, outcome) => {
  expect(outcomeOf(error, isCancelled)).toBe(outcome);
});
