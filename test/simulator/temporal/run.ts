import type { Entry } from '../clock.ts';
import type { Process } from '../process.ts';
import type {
  Command,
  CommandOf,
  Failure,
  HistoryEvent,
  Job,
  Payload,
  Payloads,
  Sandbox,
  UserMetadata,
} from './sdk.ts';

/** `temporal.api.enums.v1.WorkflowExecutionStatus`, by its words. */
export type RunStatus =
  | 'RUNNING'
  | 'COMPLETED'
  | 'FAILED'
  | 'CANCELED'
  | 'TERMINATED'
  | 'CONTINUED_AS_NEW'
  | 'TIMED_OUT';

/** One run of a workflow: the server's record of it, and what its worker keeps in the cache. */
export interface Run {
  readonly workflowId: string;
  readonly runId: string;
  /** The first of the chain of runs that continue as new. */
  readonly firstRunId: string;
  readonly continuedFromRunId: string | null;
  readonly type: string;
  readonly taskQueue: string;
  readonly input: Payload[];
  /** Of the start: the current ones are below. */
  readonly startMemo: Payloads;
  readonly startAttributes: Payloads;
  readonly userMetadata: UserMetadata | null;
  readonly parent: { run: Run; initiatedEventId: number; seq: number } | null;
  readonly root: { workflowId: string; runId: string } | null;
  readonly startMs: number;
  memo: Payloads;
  attributes: Payloads;
  status: RunStatus;
  closeMs: number | null;
  /** Settles when it closes. */
  readonly closed: PromiseWithResolvers<void>;
  /** The run that continues it. */
  next: Run | null;
  cancelRequested: boolean;

  readonly events: HistoryEvent[];
  /** What has happened while a worker has the workflow task: the server writes it after the task's own events. */
  buffered: BufferedEvent[];
  /** What the next workflow task brings. */
  jobs: Job[];
  task: WorkflowTask | null;
  /** Something of several events is being written: a workflow task is scheduled after it. */
  inTransaction: boolean;
  /** There are events that a worker must see, whether or not they tell the run something. */
  hasNews: boolean;
  /** The worker process that has the run in its cache. */
  stickyTo: Process | null;
  /** A worker has completed a workflow task, and none has failed since. */
  isSticky: boolean;
  /** Attempts of the current workflow task; above 1, its events are written only if it completes. */
  taskAttempt: number;
  /** Why workflow tasks failed: errors of workflow code that Temporal tries again. */
  readonly taskFailures: Failure[];

  readonly timers: Map<number, Timer>;
  readonly activities: Map<number, ActivityTask>;
  readonly children: Map<number, Child>;
  readonly updates: Map<string, Update>;

  readonly cache: Cache;
}

export interface BufferedEvent {
  event: () => void;
  job: Job | null;
  firedTimer?: Timer;
  /** The end of an activity or a child: the server writes those last. */
  isEnd: boolean;
  isSilent: boolean;
}

export interface WorkflowTask {
  state: 'scheduled' | 'started';
  /**
   * `speculative`: for updates only, of which nothing is written if the run rejects them. `transient`: another attempt,
   * written if it completes.
   */
  kind: 'normal' | 'speculative' | 'transient';
  /** Its events are in the history. */
  isWritten: boolean;
  scheduledMs: number;
  startedMs: number;
  scheduledEventId: number;
  startedEventId: number;
  /** When the server gives it up. */
  timeout: Entry | null;
  jobs: Job[];
  /** The commands that go to the server when it completes. */
  commands: Command[];
  /** Activities and children whose end it has told the run. */
  resolved: (ActivityTask | Child)[];
  /** How many activations came before. */
  activationsBefore: number;
  /** Settles when it has completed, failed or was lost. */
  over: PromiseWithResolvers<void>;
}

export interface Timer {
  seq: number;
  entry: Entry;
  startedEventId: number;
}

export interface ActivityTask {
  readonly run: Run;
  readonly command: CommandOf<'scheduleActivity'>;
  readonly scheduledEventId: number;
  readonly scheduledMs: number;
  readonly retry: {
    initialMs: number;
    maximumMs: number;
    coefficient: number;
    attempts: number;
    nonRetryableTypes: readonly string[];
  };
  /** Number of the attempt that runs or comes next, from 1. */
  attempt: number;
  attemptScheduledMs: number;
  startedMs: number | null;
  /** The attempt that the server waits for; a later word of another one is refused. */
  token: object | null;
  heartbeatMs: number | null;
  heartbeat: Payload | null;
  cancelRequestedEventId: number | null;
  lastFailure: Failure | null;
  /** Time-outs of the activity, and those of the attempt. */
  entries: Entry[];
  attemptEntries: Entry[];
  isClosed: boolean;
  /** The workflow knows an end of it already, and gets no other. */
  isResolved: boolean;
}

export interface Child {
  readonly command: CommandOf<'startChildWorkflowExecution'>;
  readonly initiatedEventId: number;
  startedEventId: number;
  run: Run | null;
  isResolved: boolean;
}

export interface Update {
  readonly id: string;
  readonly name: string;
  readonly input: Payload[];
  acceptedEventId: number | null;
  isDelivered: boolean;
  /** Settle when the update is accepted or rejected, and when there is an outcome. */
  accepted: PromiseWithResolvers<void>;
  outcome: PromiseWithResolvers<UpdateOutcome>;
  result: UpdateOutcome | null;
}

export type UpdateOutcome = { success: Payload | null } | { failure: Failure };

/** What a worker knows of a run: gone when the run is evicted or the worker dies. */
export interface Cache {
  sandbox: Sandbox | null;
  /** Ends with the activation that is going on. */
  loading: Promise<void> | null;
  /** All activations so far, to replay them. */
  readonly activations: Activation[];
  readonly flags: Set<number>;
  /** Ids of all patches whose marker is in the history. */
  patches: string[];
}

/** One activation, as it is replayed. */
export interface Activation {
  atMs: number;
  historyLength: number;
  continueAsNewSuggested: boolean;
  jobs: Job[];
  flags: number[];
  patches: string[];
  commands: Command[];
}
