import type { Entry, VirtualClock } from '../clock.ts';
import type { Process } from '../process.ts';
import { runIn } from '../process.ts';
import type { ActivityTask, Run } from './run.ts';
import type { HistoryEvent } from './sdk.ts';

/** The state of the simulated Temporal server. What happens to it is in the modules beside. */
export interface Server {
  readonly clock: VirtualClock;
  readonly random: () => number;
  readonly seed: number;
  /** Events after which a run is told to continue as new. */
  readonly longHistory: number;
  /** By workflow id, the oldest run first. */
  readonly runs: Map<string, Run[]>;
  readonly onEvent: (run: Run, event: HistoryEvent) => void;
  /** The simulation itself is at fault, or the code in it: {@link Simulation.run} throws it. */
  readonly fail: (error: Error) => void;
  /** How many runs and updates there have been: their ids are made of that. */
  counts: { runs: number; updates: number; unhandledCommands: number };
  /** Set when the worker is composed. */
  worker: TaskQueues;
  /** The server is a process that is never killed; what happens in it happens whichever process caused it. */
  after(delayMs: number, action: () => unknown): Entry;
  soon(mostMs: number, action: () => unknown): Entry;
}

/** What the server has for workers. */
export interface TaskQueues {
  offerWorkflowTask(run: Run): void;
  offerActivityTask(activity: ActivityTask): void;
  /** The run has closed, or its workflow task has failed: the worker forgets it. */
  evict(run: Run): void;
}

/** Longest latencies, in milliseconds. */
export const latency = { task: 20, message: 40, heartbeat: 5, reply: 5 } as const;

const serverProcess: Process = { name: 'temporal', isAlive: true };

export function createServer(
  options: Pick<Server, 'clock' | 'random' | 'seed' | 'longHistory' | 'onEvent' | 'fail'>,
): Server {
  const { clock } = options;
  const unset = (): never => {
    throw new Error('the worker is not composed yet');
  };
  return {
    ...options,
    runs: new Map(),
    counts: { runs: 0, updates: 0, unhandledCommands: 0 },
    worker: { offerWorkflowTask: unset, offerActivityTask: unset, evict: unset },
    after: (delayMs, action) => runIn(serverProcess, () => clock.after(delayMs, action)),
    soon: (mostMs, action) => runIn(serverProcess, () => clock.after(1 + options.random() * mostMs, action)),
  };
}

export const allRuns = (server: Server): Run[] => [...server.runs.values()].flat();

/** The run of that id, or the last one of the workflow id. */
export const findRun = (server: Server, workflowId: string, runId?: string | null): Run | undefined =>
  runId ? server.runs.get(workflowId)?.find((run) => run.runId === runId) : server.runs.get(workflowId)?.at(-1);

export const isOpen = (run: Run): boolean => run.status === 'RUNNING';
