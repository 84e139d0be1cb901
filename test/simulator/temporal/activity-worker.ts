import { asyncLocalStorage } from '@temporalio/activity';
import type { Info } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { recordHeartbeat, respond, startAttempt } from './activity-tasks.ts';
import type { Process } from '../process.ts';
import { runIn } from '../process.ts';
import { startHeartbeats } from './heartbeats.ts';
import type { ActivityTask } from './run.ts';
import type { CancelReason } from './sdk.ts';
import { createActivityExecution, decompileRetryPolicy, fromPayload, namespace, optionalTsToMs } from './sdk.ts';
import type { Server } from './server.ts';
import { latency } from './server.ts';
import type { WorkerControl } from './worker-process.ts';
import { pollRetryMs } from './worker-process.ts';

/**
 * The activities' side of the worker: it polls its task queues, runs attempts, reports what they come to,
 * and sends heartbeats.
 */

/**
 * What becomes of an attempt of an activity. `hang`: it does nothing, does not heartbeat and is not heard of again.
 * `kill…`: the worker's process dies before it begins, or when all its effects have happened and before it reports.
 */
export type ActivityFate = 'works' | 'failBefore' | 'failAfter' | 'hang' | 'killBefore' | 'killAfter';

/** An attempt that is about to begin. */
export interface ActivityCall {
  /**
   * Of the activity; counts from 1 over the simulation, in the order in which activities begin. The attempts of one
   * activity share it.
   */
  number: number;
  workflowId: string;
  runId: string;
  workflowType: string;
  activity: string;
  activityId: string;
  taskQueue: string;
  attempt: number;
  args: unknown[];
}

/** A task queue that the worker serves, as `composeQueues` gives it. */
export interface ServedQueue {
  taskQueue: string;
  activities: object;
  /** Default: no limit. */
  maxConcurrentActivityTaskExecutions?: number;
}

export interface ActivityWorkerOptions {
  server: Server;
  worker: WorkerControl;
  serve: () => readonly ServedQueue[];
  onActivity: (call: ActivityCall) => ActivityFate | Promise<ActivityFate>;
  kill: () => void;
  counts: { attempts: number };
}

interface Queue {
  served: ServedQueue | null;
  running: number;
  waiting: ActivityTask[];
}

interface Attempt {
  readonly activity: ActivityTask;
  readonly token: object;
  readonly process: Process;
  readonly queue: Queue;
}

export interface ActivityWorker {
  offer(activity: ActivityTask): void;
  /** Until the current process ends. */
  serve(queue: ServedQueue): void;
  /** Attempts that run in the current process. */
  running(): readonly ActivityTask[];
}

export function createActivityWorker({
  server,
  worker,
  serve,
  onActivity,
  kill,
  counts,
}: ActivityWorkerOptions): ActivityWorker {
  const { host } = worker;
  const queues = new Map<string, Queue>();
  const numbers = new WeakMap<ActivityTask, number>();
  let attempts = new Set<Attempt>();
  let activities = 0;

  host.onStart.push(() => {
    for (const one of runIn(host.process, serve)) take(one);
  });
  host.onKill.push(() => {
    attempts = new Set();
    for (const queue of queues.values()) Object.assign(queue, { served: null, running: 0 });
  });

  function take(served: ServedQueue): void {
    const queue = queueOf(served.taskQueue);
    queue.served = served;
    poll(queue);
  }

  function queueOf(name: string): Queue {
    const known = queues.get(name);
    if (known !== undefined) return known;
    const queue: Queue = { served: null, running: 0, waiting: [] };
    queues.set(name, queue);
    return queue;
  }

  function offer(activity: ActivityTask): void {
    const queue = queueOf(activity.command.taskQueue || activity.run.taskQueue);
    queue.waiting.push(activity);
    poll(queue);
  }

  function poll(queue: Queue): void {
    const { served } = queue;
    if (served === null) return;
    while (queue.running < (served.maxConcurrentActivityTaskExecutions ?? Infinity)) {
      const activity = queue.waiting.shift();
      if (activity === undefined) return;
      if (activity.isClosed) continue;
      queue.running += 1;
      server.soon(latency.message, () => {
        if (queue.served !== served) return offer(activity);
        if (host.isConnected()) return begin(queue, served, activity);
        queue.running -= 1;
        server.after(pollRetryMs, () => offer(activity));
      });
    }
  }

  function begin(queue: Queue, served: ServedQueue, activity: ActivityTask): void {
    const token = startAttempt(server, activity);
    if (token === null) return release(queue, host.process);
    const attempt: Attempt = {
      activity,
      token,
      process: host.process,
      queue,
    };
    attempts.add(attempt);
    counts.attempts += 1;
    const number = numbers.get(activity) ?? (activities += 1);
    numbers.set(activity, number);
    const { run, command } = activity;
    const call: ActivityCall = {
      number,
      workflowId: run.workflowId,
      runId: run.runId,
      workflowType: run.type,
      activity: command.activityType,
      activityId: command.activityId,
      taskQueue: served.taskQueue,
      attempt: activity.attempt,
      args: command.arguments.map(fromPayload),
    };
    void decideFate(attempt, served, call);
  }

  async function decideFate(attempt: Attempt, served: ServedQueue, call: ActivityCall): Promise<void> {
    const fate = await onActivity(call);
    if (!attempt.process.isAlive) return;
    if (fate === 'hang') return;
    if (fate === 'killBefore') return kill();
    void runIn(attempt.process, () => execute(attempt, served, call, fate));
  }

  async function execute(
    attempt: Attempt,
    { activities: known }: ServedQueue,
    { activity: name, args }: ActivityCall,
    fate: ActivityFate,
  ): Promise<void> {
    const functions = known as Record<string, ((...args: unknown[]) => unknown) | undefined>;
    const injected = (when: string): Error =>
      ApplicationFailure.retryable(`Injected: ${name} fails ${when} its effect`, 'InjectedFault');
    const body = async (...given: unknown[]): Promise<unknown> => {
      const activity = functions[name];
      if (typeof activity !== 'function') {
        throw ApplicationFailure.create({
          type: 'NotFoundError',
          message: `Activity function ${name} is not registered on this Worker, available activities: ${JSON.stringify(Object.keys(functions))}`,
          nonRetryable: false,
        });
      }
      if (fate === 'failBefore') throw injected('before');
      const result = await activity(...given);
      if (fate === 'failAfter') throw injected('after');
      return result;
    };
    const { process, activity, token } = attempt;
    const cancel = (reason: CancelReason): void => execution.cancel(reason);
    const heartbeats = startHeartbeats({ server, host, activity, token, cancel });
    const execution = createActivityExecution(infoOf(attempt), body, args, {
      heartbeat: (details) => heartbeats.record(details),
      sleep: (ms, signal) => server.clock.sleep(ms, signal),
    });
    const result = await execution.run();
    const unsent = heartbeats.stop();
    if (!process.isAlive) return;
    if (fate === 'killAfter') return kill();
    attempts.delete(attempt);
    host.report(() => {
      // A cancel cannot carry details, so they go ahead of it.
      if (result.cancelled && unsent !== null) recordHeartbeat(server, activity, token, unsent.details);
      respond(server, activity, token, result, heartbeats.last());
      release(attempt.queue, process);
    });
  }

  function release(queue: Queue, process: Process): void {
    if (process !== host.process) return;
    queue.running -= 1;
    poll(queue);
  }

  return { offer, serve: take, running: () => [...attempts].map(({ activity }) => activity) };
}

function infoOf({ activity }: Attempt): Info {
  const { run, command, attempt, scheduledMs, attemptScheduledMs, heartbeat } = activity;
  const { workflowId, runId, type } = run;
  const info: Omit<Info, 'activityNamespace'> = {
    taskToken: new Uint8Array(),
    base64TaskToken: '',
    activityId: command.activityId,
    activityType: command.activityType,
    attempt,
    isLocal: false,
    inWorkflow: true,
    workflowExecution: { workflowId, runId },
    workflowType: type,
    namespace,
    taskQueue: command.taskQueue || run.taskQueue,
    scheduledTimestampMs: Math.floor(scheduledMs),
    currentAttemptScheduledTimestampMs: Math.floor(attemptScheduledMs),
    heartbeatDetails: fromPayload(heartbeat),
    startToCloseTimeoutMs: optionalTsToMs(command.startToCloseTimeout) ?? 0,
    scheduleToCloseTimeoutMs: optionalTsToMs(command.scheduleToCloseTimeout) ?? 0,
    ...(optionalTsToMs(command.heartbeatTimeout) !== undefined && {
      heartbeatTimeoutMs: optionalTsToMs(command.heartbeatTimeout) as number,
    }),
    ...(command.retryPolicy && {
      retryPolicy: decompileRetryPolicy(command.retryPolicy) as NonNullable<Info['retryPolicy']>,
    }),
  }; // The SDK's type wants a field that is deprecated.
  return info as Info;
}

/** The activity in whose context the caller runs; null outside of one. */
export function currentActivity(): {
  workflowId: string;
  runId: string;
  activityId: string;
  activity: string;
  attempt: number;
} | null {
  const info = asyncLocalStorage.getStore()?.info;
  if (info?.workflowExecution === undefined) return null;
  const {
    workflowExecution: { workflowId, runId },
    activityId,
    activityType,
    attempt,
  } = info;
  return { workflowId, runId, activityId, activity: activityType, attempt };
}
