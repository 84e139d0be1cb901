import { canceledResolution } from './activity-ends.ts';
import type { ActivityTask, Child, Run, WorkflowTask } from './run.ts';
import type { Command, CommandOf, Job } from './sdk.ts';
import { ActivityCancellationType, ChildWorkflowCancellationType as ChildCancel, enums, namespace } from './sdk.ts';

/**
 * What Core, the native part of the SDK, does between the server and the sandbox: its state machines drop what is
 * cancelled before it was sent, answer cancels that do not wait for what is cancelled, and keep back what comes after
 * that (crates/sdk-core/src/worker/workflow/machines in the SDK's sources).
 */

/** As Core sorts the jobs of an activation. */
export function inOrder(jobs: readonly Job[]): Job[] {
  const rank = ({ initializeWorkflow, signalWorkflow, doUpdate }: Job): number =>
    initializeWorkflow ? 0 : signalWorkflow ? 1 : doUpdate ? 2 : 3;
  return jobs.toSorted((a, b) => rank(a) - rank(b));
}

/** Whether the run is to be told. Nothing is told of what the run has turned away from. */
export function isToldOf(
  run: Run,
  task: WorkflowTask,
  { resolveActivity, resolveChildWorkflowExecution, resolveChildWorkflowExecutionStart: start }: Job,
): boolean {
  const subject = resolveActivity
    ? run.activities.get(resolveActivity.seq ?? 0)
    : run.children.get((resolveChildWorkflowExecution ?? start)?.seq ?? 0);
  if (subject?.isResolved === true) return false;
  if (subject !== undefined && (!start || start.failed)) resolve(task, subject);
  return true;
}

function resolve(task: WorkflowTask, subject: ActivityTask | Child): void {
  subject.isResolved = true;
  task.resolved.push(subject);
}

/**
 * Adds the commands of an activation to those that go to the server with the task, and returns what Core
 * answers by itself.
 */
export function addCommands(run: Run, task: WorkflowTask, commands: readonly Command[]): Job[] {
  const answers: Job[] = [];
  for (const command of commands) {
    const { cancelTimer, requestCancelActivity, cancelChildWorkflowExecution, cancelSignalWorkflow } = command;
    if (cancelTimer) {
      if (takeUnsent(task, ({ startTimer }) => startTimer?.seq === cancelTimer.seq) || hasFired(run, cancelTimer.seq))
        continue;
    } else if (cancelSignalWorkflow) {
      answers.push(...cancelSignal(task, cancelSignalWorkflow));
      continue;
    } else if (requestCancelActivity) {
      const { isSent, answer } = cancelActivity(run, task, requestCancelActivity);
      answers.push(...answer);
      if (!isSent) continue;
    } else if (cancelChildWorkflowExecution) {
      const { isSent, answer } = cancelChild(run, task, cancelChildWorkflowExecution);
      answers.push(...answer);
      if (!isSent) continue;
    }
    task.commands.push(command);
  }
  return answers;
}

const hasFired = (run: Run, seq: number): boolean =>
  !run.timers.has(seq) && run.buffered.every(({ firedTimer }) => firedTimer?.seq !== seq);

/** A command that has not left the worker yet. */
function takeUnsent(task: WorkflowTask, is: (command: Command) => boolean): Command | undefined {
  const index = task.commands.findIndex(is);
  return index < 0 ? undefined : task.commands.splice(index, 1)[0];
}

/** One that was sent goes its way. */
function cancelSignal(task: WorkflowTask, { seq }: CommandOf<'cancelSignalWorkflow'>): Job[] {
  if (!takeUnsent(task, ({ signalExternalWorkflowExecution }) => signalExternalWorkflowExecution?.seq === seq))
    return [];
  return [
    {
      resolveSignalExternalWorkflow: {
        seq,
        failure: { message: 'Signal was cancelled before being sent', canceledFailureInfo: {} },
      },
    },
  ];
}

interface Cancelled {
  /** It goes to the server. */
  isSent: boolean;
  answer: Job[];
}

function cancelActivity(run: Run, task: WorkflowTask, { seq }: CommandOf<'requestCancelActivity'>): Cancelled {
  const answer = (command: CommandOf<'scheduleActivity'>): Job[] => [
    { resolveActivity: { seq, result: canceledResolution(command) } },
  ];
  const unsent = takeUnsent(task, ({ scheduleActivity }) => scheduleActivity?.seq === seq)?.scheduleActivity;
  if (unsent) return { isSent: false, answer: answer(unsent) };
  const activity = run.activities.get(seq);
  if (activity === undefined || activity.isResolved) return { isSent: false, answer: [] };
  const { cancellationType } = activity.command;
  if (cancellationType === ActivityCancellationType.WAIT_CANCELLATION_COMPLETED) return { isSent: true, answer: [] };
  resolve(task, activity);
  return { isSent: cancellationType !== ActivityCancellationType.ABANDON, answer: answer(activity.command) };
}

/** WAIT_CANCELLATION_REQUESTED is to Core the same as …_COMPLETED. */
function cancelChild(
  run: Run,
  task: WorkflowTask,
  { childWorkflowSeq: seq, reason }: CommandOf<'cancelChildWorkflowExecution'>,
): Cancelled {
  const unsent = takeUnsent(
    task,
    ({ startChildWorkflowExecution }) => startChildWorkflowExecution?.seq === seq,
  )?.startChildWorkflowExecution;
  if (unsent)
    return {
      isSent: false,
      answer: [
        {
          resolveChildWorkflowExecutionStart: {
            seq,
            cancelled: {
              failure: childCancelled(unsent, '', `Child Workflow Execution cancelled before scheduled: ${reason}`),
            },
          },
        },
      ],
    };
  const child = run.children.get(seq);
  if (child === undefined || child.isResolved) return { isSent: false, answer: [] };
  const { cancellationType } = child.command;
  if (cancellationType !== ChildCancel.ABANDON && cancellationType !== ChildCancel.TRY_CANCEL)
    return { isSent: true, answer: [] };
  resolve(task, child);
  const failure = childCancelled(child.command, child.run?.runId ?? '', 'Child Workflow execution cancelled');
  return {
    isSent: cancellationType !== ChildCancel.ABANDON,
    answer: [{ resolveChildWorkflowExecution: { seq, result: { cancelled: { failure } } } }],
  };
}

const childCancelled = (
  { workflowId, workflowType }: CommandOf<'startChildWorkflowExecution'>,
  runId: string,
  message: string,
) => ({
  message,
  cause: { canceledFailureInfo: {} },
  childWorkflowExecutionFailureInfo: {
    namespace,
    workflowExecution: { workflowId, runId },
    workflowType: { name: workflowType },
    retryState: enums.RetryState.RETRY_STATE_NON_RETRYABLE_FAILURE,
  },
});
