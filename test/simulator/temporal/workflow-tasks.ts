import { stickyScheduleToStartTimeoutMs } from '../../../contracts/policies.ts';
import { executeCommand, isClosing } from './commands.ts';
import { addCommands, inOrder, isToldOf } from './core.ts';
import { flushBuffered, record, startTask, wake, workerIdentity, writeTask } from './history.ts';
import { runIn } from '../process.ts';
import type { Run, WorkflowTask } from './run.ts';
import type { OnSink } from './sandbox.ts';
import { activateRun, evict, loadRun, NondeterminismError } from './sandbox.ts';
import type { Failure, WorkflowTaskFailedCause } from './sdk.ts';
import { enums, sdkVersion, toError, workflowTaskTimeoutMs } from './sdk.ts';
import type { Server } from './server.ts';
import { allRuns, isOpen, latency } from './server.ts';
import { isRejection } from './updates.ts';
import type { WorkerControl } from './worker-process.ts';
import { pollRetryMs } from './worker-process.ts';

/** Workflow tasks: from the queue through the worker's sandbox back to the server. */

const { TimeoutType, WorkflowTaskFailedCause: Cause } = enums;

/** Temporal tries a workflow task again for ever; a simulation shall not. */
const mostAttempts = 10;

/** How long the server remembers that a worker has polled. */
const pollerMemoryMs = 10_000;

export type WorkflowTaskFate = 'keep' | 'evict' | 'kill';
/** A workflow task that a worker has taken. `number` counts those of the run, from 1. */
export interface WorkflowTaskCall {
  workflowId: string;
  runId: string;
  type: string;
  number: number;
}

export interface WorkflowTaskOptions {
  server: Server;
  worker: WorkerControl;
  onWorkflowTask: (task: WorkflowTaskCall) => WorkflowTaskFate;
  onSink: OnSink;
  kill: () => void;
  counts: { workflowTasks: number; activationsReplayed: number };
}

export interface WorkflowTaskQueue {
  offer(run: Run): void;
  /** Runs `use` with the run in the cache, when nothing else is done with it. */
  withLoadedRun<Result>(run: Run, use: () => Promise<Result>): Promise<Result>;
}

export function createWorkflowTaskQueue({
  server,
  worker,
  onWorkflowTask,
  onSink,
  kill,
  counts,
}: WorkflowTaskOptions): WorkflowTaskQueue {
  const { host } = worker;
  const waiting = new Set<Run>();
  const numbers = new WeakMap<Run, number>();
  const recordedFlags = new WeakMap<Run, ReadonlySet<number>>();

  host.onStart.push(() => {
    const runs = [...waiting];
    waiting.clear();
    for (const run of runs) enqueue(run, run.task);
  });
  host.onKill.push(() => {
    for (const run of allRuns(server)) evict(run);
  });

  function offer(run: Run): void {
    const { stickyTo, task } = run;
    if (stickyTo === null || task === null) return enqueue(run, task);
    const killedMs = host.killedMs(stickyTo);
    if (killedMs !== null && server.clock.nowMs - killedMs > pollerMemoryMs) {
      run.stickyTo = null;
      return enqueue(run, task);
    }
    if (stickyTo.isAlive) enqueue(run, task);
    // Kept for the worker that has the run in its cache.
    task.timeout = server.after(stickyScheduleToStartTimeoutMs, () => {
      if (run.task !== task || task.state === 'started') return;
      const timeoutType = TimeoutType.TIMEOUT_TYPE_SCHEDULE_TO_START;
      if (task.isWritten)
        record(server, run, 'WorkflowTaskTimedOut', {
          scheduledEventId: task.scheduledEventId,
          startedEventId: 0,
          timeoutType,
        });
      Object.assign(run, { stickyTo: null, isSticky: false });
      run.task = null;
      task.over.resolve();
      wake(server, run);
    });
  }

  function enqueue(run: Run, task: WorkflowTask | null): void {
    const { stickyTo } = run;
    server.soon(latency.task, () => {
      if (task === null || run.task !== task || task.state === 'started') return;
      if (stickyTo !== null && !stickyTo.isAlive) return;
      if (!host.process.isAlive) return void waiting.add(run);
      if (!host.isConnected()) return void server.after(pollRetryMs, () => enqueue(run, task));
      return take(run, task);
    });
  }

  async function take(run: Run, task: WorkflowTask): Promise<void> {
    server.clock.cancel(task.timeout);
    startTask(server, run, task);
    task.jobs = inOrder(run.jobs.splice(0));
    task.timeout = server.after(workflowTaskTimeoutMs, () => retryTask(run, task, () => timedOut(run, task)));
    run.stickyTo = host.process;
    counts.workflowTasks += 1;
    const number = (numbers.get(run) ?? 0) + 1;
    numbers.set(run, number);
    const fate = onWorkflowTask({ workflowId: run.workflowId, runId: run.runId, type: run.type, number });
    if (fate === 'kill') return kill();
    if (fate === 'evict') evict(run);
    const { process } = host;
    const failure = await withLoadedRun(run, () =>
      process.isAlive && run.task === task ? activateAll(run, task) : Promise.resolve(null),
    );
    if (!process.isAlive || run.task !== task) return;
    const end = (): void => (failure === null ? completeTask(run, task) : failTask(run, task, failure));
    runIn(process, () => host.report(end));
  }

  async function activateAll(run: Run, task: WorkflowTask): Promise<Failure | null> {
    let jobs = task.jobs.filter((job) => isToldOf(run, task, job));
    while (jobs.length > 0 && !task.commands.some(isClosing)) {
      const historyLength = task.startedEventId;
      const activation = {
        atMs: Math.floor(task.startedMs),
        historyLength,
        continueAsNewSuggested: historyLength > server.longHistory,
        jobs,
        flags: [...run.cache.flags],
        patches: [],
        commands: [],
      };
      const { commands, failure } = await activateRun(run, activation, onSink);
      if (failure !== null) return failure;
      jobs = addCommands(run, task, commands);
    }
    return null;
  }

  async function withLoadedRun<Result>(run: Run, use: () => Promise<Result>): Promise<Result> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const before = run.cache.loading;
    run.cache.loading = promise;
    try {
      await before;
      counts.activationsReplayed += await loadRun(host.bundle, run, server.clock.nowMs);
      return await use();
    } catch (error) {
      if (error instanceof NondeterminismError) server.fail(error);
      throw error;
    } finally {
      if (run.cache.loading === promise) run.cache.loading = null;
      resolve();
    }
  }

  function completeTask(run: Run, task: WorkflowTask): void {
    if (run.task !== task) return;
    const closing = task.commands.find(isClosing);
    // The server refuses to close a run that has not been told all, and has it do the task again.
    if (closing !== undefined && run.buffered.length + run.jobs.length > 0) {
      server.counts.unhandledCommands += 1;
      return retryTask(run, task, () => recordFailed(run, task, Cause.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND));
    }
    server.clock.cancel(task.timeout);
    const isVoid =
      task.kind === 'speculative' && !task.isWritten && task.commands.every((command) => isRejection(run, command));
    if (!isVoid) writeTask(server, run, task);
    const { scheduledEventId, startedEventId } = task;
    const completedEventId = isVoid
      ? 0
      : record(server, run, 'WorkflowTaskCompleted', {
          scheduledEventId,
          startedEventId,
          identity: workerIdentity,
          sdkMetadata: metadataOf(run),
        });
    Object.assign(run, { task: null, taskAttempt: 1, isSticky: true, inTransaction: true });
    for (const command of [...task.commands.filter((command) => !isClosing(command)), ...(closing ? [closing] : [])]) {
      executeCommand({ server, run, completedEventId, scheduledEventId }, command);
    }
    flushBuffered(run);
    run.inTransaction = false;
    task.over.resolve();
    wake(server, run);
  }

  /** Flags that a replay must know, each when it is used first. */
  function metadataOf(run: Run): object {
    const known = recordedFlags.get(run);
    recordedFlags.set(run, new Set(run.cache.flags));
    const langUsedFlags = [...run.cache.flags].filter((flag) => !known?.has(flag));
    return {
      langUsedFlags,
      ...(known === undefined && { coreUsedFlags: [1, 2, 3], sdkName: 'temporal-typescript', sdkVersion }),
    };
  }

  /** Core says so of the first attempt; the others run into their time-out. */
  function failTask(run: Run, task: WorkflowTask, failure: Failure): void {
    if (run.task !== task) return;
    run.taskFailures.push(failure);
    if (run.taskAttempt >= mostAttempts)
      server.fail(
        new Error(`The workflow task of ${run.type} ${run.workflowId} fails each time`, { cause: toError(failure) }),
      );
    evict(run);
    if (run.taskAttempt === 1)
      retryTask(run, task, () =>
        recordFailed(run, task, Cause.WORKFLOW_TASK_FAILED_CAUSE_WORKFLOW_WORKER_UNHANDLED_FAILURE, failure),
      );
  }

  function recordFailed(run: Run, task: WorkflowTask, cause: WorkflowTaskFailedCause, failure?: Failure): void {
    const { scheduledEventId, startedEventId } = task;
    if (task.isWritten)
      record(server, run, 'WorkflowTaskFailed', {
        scheduledEventId,
        startedEventId,
        cause,
        identity: workerIdentity,
        ...(failure && { failure }),
      });
  }

  function timedOut(run: Run, task: WorkflowTask): void {
    const { scheduledEventId, startedEventId } = task;
    if (task.isWritten)
      record(server, run, 'WorkflowTaskTimedOut', {
        scheduledEventId,
        startedEventId,
        timeoutType: TimeoutType.TIMEOUT_TYPE_START_TO_CLOSE,
      });
    run.stickyTo = null;
  }

  /** What it brought comes again, with what has happened since. */
  function retryTask(run: Run, task: WorkflowTask, recordEnd: () => void): void {
    if (run.task !== task || !isOpen(run)) return;
    server.clock.cancel(task.timeout);
    evict(run);
    run.cache.activations.length = task.activationsBefore;
    for (const subject of task.resolved) subject.isResolved = false;
    run.jobs.unshift(...task.jobs);
    recordEnd();
    // A task that brings something else is another task, and so is that of the normal queue after the sticky one.
    const isAnother = run.buffered.length > 0 || run.isSticky;
    Object.assign(run, { taskAttempt: isAnother ? 1 : run.taskAttempt + 1, isSticky: false });
    if (isAnother) run.hasNews = true;
    flushBuffered(run);
    run.task = null;
    task.over.resolve();
    wake(server, run);
  }

  return { offer, withLoadedRun };
}
