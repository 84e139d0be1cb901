import { ApplicationFailure, workflowInfo } from '@temporalio/workflow';

/**
 * What an earlier run of the same chain left. Only that run can give it; typed by hand it would be believed, and a run that believes
 * nonsense fails at the same place for ever.
 *
 * @throws InvalidInput where the run continues none
 */
export function readCarried<State>(carried: State | null | undefined): State | null {
  if (carried === undefined || carried === null) return null;
  const { continuedFromExecutionRunId, workflowType } = workflowInfo();
  if (continuedFromExecutionRunId !== undefined) return carried;
  throw ApplicationFailure.create({
    type: 'InvalidInput',
    message: `${workflowType} was given a state of another run, and continues none. Nothing was started.`,
    nonRetryable: true,
  });
}
