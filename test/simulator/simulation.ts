import type { Client } from '@temporalio/client';
import type { temporal } from '@temporalio/proto';
import type { ActivityCall, ActivityFate, ServedQueue } from './temporal/activity-worker.ts';
import { createActivityWorker, currentActivity } from './temporal/activity-worker.ts';
import { createClient } from './temporal/api/client.ts';
import type { VirtualClock } from './clock.ts';
import { createVirtualClock } from './clock.ts';
import { guard } from './guard.ts';
import { nameOf } from './temporal/history.ts';
import type { CallFate, Network, NetworkCall } from './network.ts';
import { createNetwork } from './network.ts';
import { randomOf } from '../faults/random.ts';
import type { Run, RunStatus } from './temporal/run.ts';
import { endProcess } from './process.ts';
import { evict } from './temporal/sandbox.ts';
import type { Failure, HistoryEvent, Payloads, WorkflowBundle } from './temporal/sdk.ts';
import { fromPayload, toHistory } from './temporal/sdk.ts';
import { createSchedules } from './temporal/api/schedules.ts';
import { allRuns, createServer, isOpen } from './temporal/server.ts';
import { createService } from './temporal/api/service.ts';
import { createWorkerHost } from './temporal/worker-process.ts';
import type { WorkflowTaskCall, WorkflowTaskFate } from './temporal/workflow-tasks.ts';
import { createWorkflowTaskQueue } from './temporal/workflow-tasks.ts';

export type { ActivityCall, ActivityFate, ServedQueue, WorkflowTaskCall, WorkflowTaskFate };
export type { WorkflowBundle };

/**
 * Drover's real workflows and activities with a Temporal server and a worker in one process, on a virtual clock,
 * from a seed.
 */

export interface SimulationOptions {
  bundle: WorkflowBundle;
  /** Decides every latency, the order of what happens at once, ids. */
  seed: number;
  /** Milliseconds since the epoch. Default: noon of 31 January 2026, UTC. */
  startMs?: number;
  /**
   * Composes the worker's activities: called for each start of the worker's process, inside that process, so that
   * nothing in memory survives a kill.
   */
  serve: (simulation: Simulation) => readonly ServedQueue[];
  /**
   * Decides what becomes of each attempt of an activity. Default: all work. The attempt is held until a
   * promise is resolved.
   */
  onActivity?: (call: ActivityCall) => ActivityFate | Promise<ActivityFate>;
  /** Decides what becomes of each call of an outside system. Default: all work. */
  onCall?: (call: NetworkCall) => CallFate;
  /**
   * Decides, before each workflow task: `evict`: the run is replayed first, by a worker that does not know it; `kill`:
   * the worker dies with it.
   */
  onWorkflowTask?: (task: WorkflowTaskCall) => WorkflowTaskFate;
  /** Events after which runs continue as new. Default: the server's 4,096. */
  longHistory?: number;
  /** Every event of every history as it is written. */
  onEvent?: (event: { workflowId: string; runId: string; name: string; event: HistoryEvent; atMs: number }) => void;
  /** What runs log and measure: once, and not when they are replayed. */
  onSink?: (call: { workflowId: string; runId: string; name: string; args: unknown[] }) => void;
  /** How long the worker is away when something of the above kills it. Default: 2 s. */
  downMs?: number;
}

/** A run, open or closed. */
export interface RunRecord {
  workflowId: string;
  runId: string;
  type: string;
  status: RunStatus;
  startMs: number;
  closeMs: number | null;
  /** How many its history has. */
  events: number;
  memo: Record<string, unknown>;
  attributes: Record<string, unknown>;
  /** What it has returned; undefined where it has not. */
  result: unknown;
  /** Null: it has not failed. */
  failure: Failure | null;
  /** Names of the activities that it has asked for, in order. */
  activities: string[];
  /** Why its workflow tasks failed: what Temporal tries again for ever. */
  taskFailures: readonly Failure[];
}

export interface Simulation {
  readonly clock: VirtualClock;
  readonly random: () => number;
  readonly network: Network;
  /**
   * The SDK's own. Calls from a simulated process go through the network; those of the test happen at once, and are
   * answered as soon as the server can.
   */
  readonly client: Client;
  readonly counts: {
    steps: number;
    workflowTasks: number;
    activationsReplayed: number;
    attempts: number;
    unhandledCommands: number;
  };
  /**
   * Lets virtual time pass until `until` is settled; without it, until nothing is left to happen.
   *
   * @throws what `until` throws; Error when it does not settle; whatever simulated code has
   * left unhandled; NondeterminismError
   */
  run<Result>(until?: Promise<Result>, forAtMostMs?: number): Promise<Result | undefined>;
  /** The worker that runs serves this queue too; the one after it does not. */
  serve(queue: ServedQueue): void;
  /** kill -9 of the worker, and a new process after `downMs`. */
  killWorker(downMs?: number): void;
  /** Lets the worker's process end, and a new one start with other workflow code: open runs are replayed with it. */
  deploy(bundle: WorkflowBundle): void;
  /**
   * Makes every run again from all that it was told, its last task included.
   *
   * @throws NondeterminismError where one does something else
   */
  replay(): Promise<void>;
  /** Ids of the workflows that have an open run. */
  openRuns(): string[];
  /** The oldest first. */
  runs(): readonly RunRecord[];
  /** As Temporal's replayer takes them. */
  histories(): { workflowId: string; runId: string; history: temporal.api.history.v1.History }[];
  /** Ends the worker's process, and lets go of all sandboxes. */
  close(): void;
}

const defaultStartMs = Date.UTC(2026, 0, 31, 12);
const day = 24 * 3_600_000;

export function createSimulation(options: SimulationOptions): Simulation {
  const {
    bundle,
    seed,
    startMs = defaultStartMs,
    serve,
    onActivity = () => 'works',
    onCall,
    onWorkflowTask = () => 'keep',
    longHistory = 4_096,
    onEvent,
    onSink,
    downMs: usualDownMs = 2_000,
  } = options;
  const random = randomOf(seed);
  const clock = createVirtualClock(startMs, random);
  const network = createNetwork({ clock, random, currentActivity, ...(onCall && { onCall }) });
  const counts = { steps: 0, workflowTasks: 0, activationsReplayed: 0, attempts: 0 };
  let fault: Error | null = null;
  /** Work of the server that takes several rounds of promises. */
  const inProgress = new Set<object>();

  const fail = (error: Error): void => void (fault ??= error);
  const server = createServer({
    clock,
    random,
    seed,
    longHistory,
    fail,
    onEvent: (run, event) =>
      onEvent?.({ workflowId: run.workflowId, runId: run.runId, name: nameOf(event), event, atMs: clock.nowMs }),
  });
  const worker = createWorkerHost({
    clock,
    bundle,
    after: (delayMs, action) => server.after(delayMs, action),
    isConnected: () => !network.isAway('temporal'),
  });
  const killWorker = (downMs = usualDownMs): void => worker.kill(downMs);
  const workflowTasks = createWorkflowTaskQueue({
    server,
    worker,
    onWorkflowTask,
    counts,
    kill: () => killWorker(),
    onSink: ({ workflowId, runId }, name, args) => onSink?.({ workflowId, runId, name, args }),
  });
  const activities = createActivityWorker({
    server,
    worker,
    counts,
    serve: () => serve(simulation),
    onActivity,
    kill: () => killWorker(),
  });
  server.worker = {
    offerWorkflowTask: (run) => workflowTasks.offer(run),
    offerActivityTask: (activity) => activities.offer(activity),
    evict,
  };
  const busy = async <Result>(work: Promise<Result>): Promise<Result> => {
    inProgress.add(work);
    try {
      return await work;
    } finally {
      inProgress.delete(work);
    }
  };
  const service = createService({ server, worker, workflowTasks, schedules: createSchedules(server), busy });
  const client = createClient({ clock, network, service });

  /** All promises are settled that can be without time passing. */
  const settle = async (): Promise<void> => {
    do await new Promise(setImmediate);
    while (inProgress.size > 0);
    if (fault !== null) throw fault;
  };

  async function pass<Result>(until: Promise<Result> | undefined, forAtMostMs: number): Promise<Result | undefined> {
    const awaited = { isSettled: false };
    const settled = (): void => void (awaited.isSettled = true);
    until?.then(settled, settled);
    await settle();
    const lastMs = clock.nowMs + forAtMostMs;
    while (!awaited.isSettled && (await clock.step(lastMs))) {
      counts.steps += 1;
      await settle();
    }
    if (awaited.isSettled || until === undefined) return await until;
    throw new Error(`What is waited for has not come by ${new Date(clock.nowMs).toISOString()}. ${describeOpen()}`);
  }

  const describeOpen = (): string => {
    const attempts = activities
      .running()
      .map(({ command, run: { workflowId } }) => `${command.activityType} of ${workflowId}`);
    const [open, running] = [openRuns(), attempts].map((names) => names.join(', ') || 'none');
    return `Open runs: ${open}; activities that run: ${running}`;
  };

  const openRuns = (): string[] =>
    allRuns(server)
      .filter(isOpen)
      .map(({ workflowId }) => workflowId);
  const simulation: Simulation = {
    clock,
    random,
    network,
    client,
    get counts() {
      return { ...counts, unhandledCommands: server.counts.unhandledCommands };
    },
    run: (until, forAtMostMs = 30 * day) => guard(fail, () => pass(until, forAtMostMs)),
    serve: (queue) => activities.serve(queue),
    killWorker,
    async replay() {
      for (const run of allRuns(server)) {
        evict(run);
        await workflowTasks.withLoadedRun(run, async () => undefined);
        if (!isOpen(run)) evict(run);
      }
    },
    openRuns,
    deploy(next) {
      worker.host.bundle = next;
      worker.kill(0);
    },
    runs: () => allRuns(server).map(recordOf),
    histories: () =>
      allRuns(server).map(({ workflowId, runId, events }) => ({ workflowId, runId, history: toHistory(events) })),
    close() {
      endProcess(worker.host.process);
      allRuns(server).forEach(evict);
      // Time-outs of the machine's own may hold the clock for a minute, and it would hold all that waits for it.
      clock.stop();
    },
  };
  worker.start();
  return simulation;
}

function recordOf({
  workflowId,
  runId,
  type,
  status,
  startMs,
  closeMs,
  events,
  memo,
  attributes,
  taskFailures,
}: Run): RunRecord {
  const last = events.at(-1);
  const values = (payloads: Payloads): Record<string, unknown> =>
    Object.fromEntries(Object.entries(payloads).map(([name, payload]) => [name, fromPayload(payload)]));
  return {
    workflowId,
    runId,
    type,
    status,
    startMs,
    closeMs,
    events: events.length,
    memo: values(memo),
    attributes: values(attributes),
    taskFailures,
    result: fromPayload(last?.workflowExecutionCompletedEventAttributes?.result?.payloads?.[0]),
    failure: last?.workflowExecutionFailedEventAttributes?.failure ?? null,
    activities: events.flatMap(
      ({ activityTaskScheduledEventAttributes }) => activityTaskScheduledEventAttributes?.activityType?.name ?? [],
    ),
  };
}
