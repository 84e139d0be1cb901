/**
 * The one place that knows the inside of Temporal's SDK: the sandbox of workflows, the wrapper around an activity, the
 * protocol between Core and the language. `sdk.test.ts` pins the version of the SDK that this was written for, and says
 * what to look at when it changes.
 */
import { decompileRetryPolicy, defaultDataConverter, noopMetricMeter, TypedSearchAttributes } from '@temporalio/common';
import type { Logger } from '@temporalio/common';
import { msToTs, optionalTsToMs, tsToMs } from '@temporalio/common/lib/time.js';
// A CommonJS module whose names Node cannot see.
import proto from '@temporalio/proto';
import type { coresdk, temporal } from '@temporalio/proto';
import { Activity } from '@temporalio/worker/lib/activity.js';
import type { CancelReason } from '@temporalio/worker/lib/activity.js';
import { UnhandledRejectionError } from '@temporalio/worker/lib/errors.js';
import type { Workflow, WorkflowCreateOptions } from '@temporalio/worker/lib/workflow/interface.js';
import { ReusableVMWorkflowCreator } from '@temporalio/worker/lib/workflow/reusable-vm.js';
import { globalHandlers } from '@temporalio/worker/lib/workflow/vm-shared.js';
import type { Info } from '@temporalio/activity';

export { decompileRetryPolicy, msToTs, optionalTsToMs, tsToMs };
export type { CancelReason };

/** The version of the SDK that this file is written for. */
export const sdkVersion = '1.24.0';

/** A message as an instance of its class has it: lists and scalars are there. */
type Filled<Message> = {
  [Key in keyof Message]-?: NonNullable<Message[Key]> extends readonly (infer Item)[]
    ? Item[]
    : NonNullable<Message[Key]> extends object
      ? NonNullable<Message[Key]> | null
      : NonNullable<Message[Key]>;
};
type CommandFields = coresdk.workflow_commands.IWorkflowCommand;
export type Command = { [Name in keyof CommandFields]-?: Filled<NonNullable<CommandFields[Name]>> | null } & {
  variant?: string;
};
export type CommandOf<Name extends keyof CommandFields> = NonNullable<Command[Name]>;
export type Job = coresdk.workflow_activation.IWorkflowActivationJob;
export type Payload = temporal.api.common.v1.IPayload;
export type Payloads = Record<string, Payload>;
export type Failure = temporal.api.failure.v1.IFailure;
export type HistoryEvent = temporal.api.history.v1.IHistoryEvent;
export type UserMetadata = temporal.api.sdk.v1.IUserMetadata;
export type Resolution = coresdk.activity_result.IActivityResolution;
export type RetryState = temporal.api.enums.v1.RetryState;
export type TimeoutType = temporal.api.enums.v1.TimeoutType;
export type WorkflowTaskFailedCause = temporal.api.enums.v1.WorkflowTaskFailedCause;

export const enums = proto.temporal.api.enums.v1;
export const messages = proto.temporal.api;
/** What was made of events: one that is written does not change any more. */
const wireEvents = new WeakMap<HistoryEvent, HistoryEvent>();
function toWireEvent(event: HistoryEvent): HistoryEvent {
  const known = wireEvents.get(event) ?? messages.history.v1.HistoryEvent.fromObject(event);
  wireEvents.set(event, known);
  return known;
}
export const toHistory = (events: readonly HistoryEvent[]): temporal.api.history.v1.History =>
  messages.history.v1.History.create({ events: events.map(toWireEvent) });
export const { ActivityCancellationType } = proto.coresdk.workflow_commands;
export const { ChildWorkflowCancellationType, ParentClosePolicy, StartChildWorkflowExecutionFailedCause } =
  proto.coresdk.child_workflow;
/** `google.rpc.Status`, which carries the errors of several operations. */
export const encodeStatus = (status: {
  code: number;
  message: string;
  details: { type_url: string; value: Uint8Array }[];
}): Uint8Array => proto.google.rpc.Status.encode(status).finish();
export const encodeMultiOperationFailure = (
  statuses: { code: number; message: string; isAborted: boolean }[],
): Uint8Array =>
  proto.temporal.api.errordetails.v1.MultiOperationExecutionFailure.encode({
    statuses: statuses.map(({ code, message, isAborted }) => ({
      code,
      message,
      details: isAborted
        ? [
            {
              type_url: 'type.googleapis.com/temporal.api.failure.v1.MultiOperationExecutionAborted',
              value: new Uint8Array(),
            },
          ]
        : [],
    })),
  }).finish();

const { WorkflowActivation } = proto.coresdk.workflow_activation;
const { WorkflowActivationCompletion, Success } = proto.coresdk.workflow_completion;

export const namespace = 'default';
/** How long the server waits for a worker that has taken a workflow task. */
export const workflowTaskTimeoutMs = 10_000;

export const { payloadConverter, failureConverter } = defaultDataConverter;
export const toPayload = (value: unknown): Payload => payloadConverter.toPayload(value) ?? {};
export const fromPayload = (payload: Payload | null | undefined): unknown =>
  !payload ? undefined : payloadConverter.fromPayload(payload);
export const toError = (failure: Failure): Error => failureConverter.failureToError(failure, payloadConverter);

/** Drover's workflow types, compiled once and shared by many simulations. */
export interface WorkflowBundle {
  /** As the bundler made it: Temporal's replayer takes it. */
  readonly code: string;
  readonly creator: ReusableVMWorkflowCreator;
}

/**
 * Evaluates the bundle in one V8 context for all runs, as drover's workers do. Left out are the SDK's hook on every
 * promise, which is for stack traces only, and its time-out for each call, which is a thread every time: together they
 * cost more than all the rest.
 */
export async function loadBundle(code: string): Promise<WorkflowBundle> {
  Object.assign(globalHandlers, { installed: true });
  // The simulation has a listener of its own, which ends the simulation instead of the process.
  Object.assign(ReusableVMWorkflowCreator, { unhandledRejectionHandlerHasBeenSet: true });
  const bundle = {
    code,
    filename: 'workflows.js',
    sourceMap: { version: 3, sources: [], names: [], mappings: '' } as never,
  };
  return { code, creator: await ReusableVMWorkflowCreator.create(bundle, undefined as never, anyActivity) };
}

/** Local activities may have any name: the command that asks for one is refused. */
const anyActivity = Object.assign(new Set<string>(), { has: () => true });

/** The run in whose sandbox a promise was made; null: in none. */
export function runOfPromise(promise: Promise<unknown>): string | null {
  const evaluate = (
    promise.constructor as unknown as { constructor: (code: string) => () => { info?: { runId?: string } } | undefined }
  ).constructor;
  return evaluate('return globalThis.__TEMPORAL_ACTIVATOR__')()?.info?.runId ?? null;
}

/** Fails the workflow task of the run, as the SDK does with a promise that its workflow code has forgotten. */
export function rejectSandbox(runId: string, error: unknown): boolean {
  const workflow = ReusableVMWorkflowCreator.workflowByRunId.get(runId);
  if (workflow === undefined) return false;
  workflow.setUnhandledRejection(new UnhandledRejectionError(`Unhandled Promise rejection: ${String(error)}`, error));
  return true;
}

/** What a sandbox is told of its run when it is made. */
export interface SandboxInfo {
  workflowId: string;
  runId: string;
  firstRunId: string;
  type: string;
  taskQueue: string;
  parent: { workflowId: string; runId: string } | null;
  root: { workflowId: string; runId: string } | null;
  continuedFromRunId: string | null;
  startMs: number;
  /** Of its first workflow task. */
  firstTaskMs: number;
}

export type Sandbox = Workflow;

export async function createSandbox({ creator }: WorkflowBundle, run: SandboxInfo): Promise<Sandbox> {
  const { workflowId, runId, firstRunId, type, taskQueue, parent, root, continuedFromRunId, startMs, firstTaskMs } =
    run;
  // As the worker makes it; the rest comes with the first activation.
  const info = {
    workflowId,
    runId,
    workflowType: type,
    searchAttributes: {},
    typedSearchAttributes: new TypedSearchAttributes(),
    parent: parent === null ? undefined : { namespace, ...parent },
    root: root ?? undefined,
    taskQueue,
    namespace,
    firstExecutionRunId: firstRunId,
    originalExecutionRunId: runId,
    continuedFromExecutionRunId: continuedFromRunId ?? undefined,
    startTime: new Date(startMs),
    runStartTime: new Date(firstTaskMs),
    taskTimeoutMs: workflowTaskTimeoutMs,
    attempt: 1,
    historyLength: 0,
    historySize: 0,
    continueAsNewSuggested: false,
    targetWorkerDeploymentVersionChanged: false,
    suggestedContinueAsNewReasons: [],
    currentBuildId: '',
    unsafe: { isReplaying: false, isReplayingHistoryEvents: false, random: () => 0.5 },
  };
  const randomnessSeed = [...randomnessSeedOf(runId)];
  return await creator.createWorkflow({
    info,
    randomnessSeed,
    now: firstTaskMs,
    showStackTraceSources: false,
  } as unknown as WorkflowCreateOptions);
}

export interface ActivationRequest {
  runId: string;
  atMs: number;
  isReplaying: boolean;
  historyLength: number;
  continueAsNewSuggested: boolean;
  flags: readonly number[];
  jobs: Job[];
}

export interface ActivationResult {
  commands: Command[];
  usedFlags: readonly number[];
  /** Set: the task failed. */
  failure: Failure | null;
  /** Calls of the workflow's sinks: logs, metrics. */
  sinkCalls: { name: string; args: unknown[] }[];
}

/** Gives the sandbox jobs, and takes the commands that it makes of them. */
export async function activate(
  sandbox: Sandbox,
  { runId, atMs, isReplaying, historyLength, continueAsNewSuggested, flags, jobs }: ActivationRequest,
): Promise<ActivationResult> {
  const activation = {
    runId,
    timestamp: msToTs(atMs),
    isReplaying,
    historyLength,
    historySizeBytes: 0,
    continueAsNewSuggested,
    availableInternalFlags: [...flags],
    jobs,
  };
  const completion = await sandbox.activate(WorkflowActivation.fromObject(activation));
  // As it goes to Core: what is in it is of the sandbox's own types.
  const { successful, failed } = WorkflowActivationCompletion.decode(
    WorkflowActivationCompletion.encode(completion).finish(),
  );
  // They heap up until they are fetched.
  const calls = await sandbox.getAndResetSinkCalls();
  return {
    commands: (successful?.commands ?? []) as unknown as Command[],
    usedFlags: successful?.usedInternalFlags ?? [],
    failure: failed?.failure ?? null,
    sinkCalls: calls.map(({ ifaceName, fnName, args }) => ({ name: `${ifaceName}.${fnName}`, args })),
  };
}

/** The bytes of commands as they go over the wire, to compare them. */
export const encodeCommands = (commands: readonly Command[]): Uint8Array =>
  Success.encode({ commands: commands as never }).finish();

/**
 * What Core makes of a run's id: SipHash-1-3 with keys of zero over the bytes and 0xff, as Rust hashes a string;
 * big-endian, as the worker writes it.
 */
export function randomnessSeedOf(runId: string): Uint8Array {
  const mask = (1n << 64n) - 1n;
  const rotate = (value: bigint, by: bigint): bigint => ((value << by) | (value >> (64n - by))) & mask;
  let [v0, v1, v2, v3] = [0x736f6d6570736575n, 0x646f72616e646f6dn, 0x6c7967656e657261n, 0x7465646279746573n];
  const round = (): void => {
    v0 = (v0 + v1) & mask;
    v1 = rotate(v1, 13n) ^ v0;
    v0 = rotate(v0, 32n);
    v2 = (v2 + v3) & mask;
    v3 = rotate(v3, 16n) ^ v2;
    v0 = (v0 + v3) & mask;
    v3 = rotate(v3, 21n) ^ v0;
    v2 = (v2 + v1) & mask;
    v1 = rotate(v1, 17n) ^ v2;
    v2 = rotate(v2, 32n);
  };
  const bytes = Buffer.concat([Buffer.from(runId), Buffer.of(0xff)]);
  const padded = Buffer.alloc(8 * (Math.floor(bytes.length / 8) + 1));
  bytes.copy(padded);
  padded[padded.length - 1] = bytes.length & 0xff;
  for (let offset = 0; offset < padded.length; offset += 8) {
    const word = padded.readBigUInt64LE(offset);
    v3 ^= word;
    round();
    v0 ^= word;
  }
  v2 ^= 0xffn;
  for (let last = 0; last < 3; last += 1) round();
  const seed = Buffer.alloc(8);
  seed.writeBigUInt64BE(v0 ^ v1 ^ v2 ^ v3);
  return seed;
}

const silent = (): void => undefined;
const noLog: Logger = { log: silent, trace: silent, debug: silent, info: silent, warn: silent, error: silent };

/** What an attempt of an activity comes to. */
export type ActivityResult = coresdk.activity_result.IActivityExecutionResult;

export interface ActivityExecution {
  run: () => Promise<ActivityResult>;
  cancel: (reason: CancelReason) => void;
}

/** What an attempt does beside its result. */
export interface ActivityPorts {
  heartbeat: (details: Payload | null) => void;
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** One attempt, within the SDK's own wrapper: its `Context`, what it makes of results, failures and cancels. */
export function createActivityExecution(
  info: Info,
  activity: (...args: unknown[]) => unknown,
  args: unknown[],
  { heartbeat, sleep }: ActivityPorts,
): ActivityExecution {
  const { workflowExecution, activityId } = info;
  const context = {
    type: 'activity',
    namespace,
    workflowId: workflowExecution?.workflowId ?? '',
    activityId,
    isLocal: false,
  };
  const beat = (details?: unknown): void => heartbeat(details === undefined ? null : toPayload(details));
  const fn = activity as never;
  const execution = new Activity(
    info,
    fn,
    defaultDataConverter,
    context as never,
    undefined,
    beat,
    undefined,
    noLog,
    noopMetricMeter,
    [],
  );
  const { cancellationSignal: signal } = execution.context;
  Object.assign(execution.context, { sleep: (ms: number) => sleep(ms, signal) });
  return {
    run: () => execution.run({ args, headers: {} }),
    cancel: (reason) => execution.cancel(reason, cancellationDetails(reason) as never),
  };
}

const cancellationDetails = (reason: CancelReason): object => ({
  cancelRequested: reason === 'CANCELLED',
  notFound: reason === 'NOT_FOUND' || reason === 'TIMED_OUT',
  timedOut: reason === 'TIMED_OUT',
  workerShutdown: reason === 'WORKER_SHUTDOWN',
});
