import type { Run, Timer, WorkflowTask } from './run.ts';
import type { HistoryEvent, Job, UserMetadata } from './sdk.ts';
import { enums, msToTs, workflowTaskTimeoutMs } from './sdk.ts';
import type { Server } from './server.ts';

/** The name of an event as its attributes have it: `ActivityTaskScheduled`. */
type AttributesKey = Extract<keyof HistoryEvent, `${string}EventAttributes`>;
export type EventName = AttributesKey extends `${infer Name}EventAttributes` ? Capitalize<Name> : never;
type WireAttributes<Name extends EventName> = NonNullable<
  HistoryEvent[Extract<`${Uncapitalize<Name>}EventAttributes`, AttributesKey>]
>;
/** 64 bits are plain numbers here; {@link toHistory} makes of them what the wire has. */
export type Attributes<Name extends EventName> = {
  [Key in keyof WireAttributes<Name>]: NonNullable<WireAttributes<Name>[Key]> extends { toNumber(): number }
    ? number
    : WireAttributes<Name>[Key];
};

export interface RecordOptions {
  atMs?: number;
  userMetadata?: UserMetadata | null;
}

/** `ACTIVITY_TASK_SCHEDULED` of the enumeration as `ActivityTaskScheduled`. */
const nameByType = new Map<number, string>(
  Object.entries(enums.EventType).flatMap(([key, type]) =>
    typeof type === 'number'
      ? [
          [
            type,
            key
              .replace('EVENT_TYPE_', '')
              .toLowerCase()
              .replaceAll(/(?:^|_)([a-z])/gu, (_, letter: string) => letter.toUpperCase()),
          ] as const,
        ]
      : [],
  ),
);
const typeByName = new Map([...nameByType].map(([type, name]) => [name, type]));

/** Appends an event to the history of the run, and returns its id. */
export function record<Name extends EventName>(
  server: Server,
  run: Run,
  name: Name,
  attributes: Attributes<Name>,
  { atMs = server.clock.nowMs, userMetadata }: RecordOptions = {},
): number {
  const eventId = run.events.length + 1;
  const event = {
    eventId,
    eventTime: msToTs(Math.floor(atMs)),
    eventType: typeOf(name),
    ...(userMetadata && { userMetadata }),
    [`${name[0]?.toLowerCase() ?? ''}${name.slice(1)}EventAttributes`]: attributes,
  } as unknown as HistoryEvent;
  run.events.push(event);
  server.onEvent(run, event);
  return eventId;
}

function typeOf(name: string): number {
  const type = typeByName.get(name);
  if (type === undefined) throw new Error(`Temporal has no event ${name}`);
  return type;
}

/** `ActivityTaskScheduled`, of an event. */
export const nameOf = ({ eventType }: HistoryEvent): string => nameByType.get(eventType as number) ?? 'Unspecified';

/**
 * What happens to a run from outside of its workflow task: an event, and what the next workflow task brings
 * because of it.
 */
export interface Happening<Name extends EventName> {
  name: Name;
  /** Evaluated when the event is written, as it may name events that are not written yet. */
  attributes: () => Attributes<Name>;
  job?: Job;
  firedTimer?: Timer;
  /** It is the end of an activity or a child: the server writes those last. */
  isEnd?: boolean;
  /** No worker needs to know: no workflow task is scheduled for it. */
  isSilent?: boolean;
  written?: (eventId: number) => void;
}

/**
 * Writes an event and has the run told of it; while a worker has the run's workflow task, that waits for the
 * task's own events.
 */
export function happen<Name extends EventName>(
  server: Server,
  run: Run,
  { name, attributes, job, firedTimer, isEnd = false, isSilent = false, written }: Happening<Name>,
): void {
  const atMs = server.clock.nowMs;
  const { task } = run;
  const event = (): void => {
    const eventId = record(server, run, name, attributes(), { atMs });
    written?.(eventId);
  };
  if (task?.state === 'started') {
    writeTask(server, run, task);
    run.buffered.push({ event, job: job ?? null, isEnd, isSilent, ...(firedTimer && { firedTimer }) });
    return;
  }
  event();
  if (task?.kind === 'speculative') writeTask(server, run, task);
  if (isSilent) return;
  if (job !== undefined) run.jobs.push(job);
  run.hasNews = true;
  wake(server, run);
}

/** Writes what has happened during a workflow task. */
export function flushBuffered(run: Run): void {
  const buffered = run.buffered.splice(0);
  for (const { event, job, isSilent } of [
    ...buffered.filter(({ isEnd }) => !isEnd),
    ...buffered.filter(({ isEnd }) => isEnd),
  ]) {
    event();
    if (!isSilent) run.hasNews = true;
    if (job !== null) run.jobs.push(job);
  }
}

/** Schedules a workflow task, where there is something to tell the run and none is scheduled. */
export function wake(server: Server, run: Run): void {
  if (run.status !== 'RUNNING' || run.task !== null || run.inTransaction) return;
  if (!run.hasNews && run.jobs.length === 0) return;
  const kind = run.taskAttempt > 1 ? 'transient' : run.hasNews ? 'normal' : 'speculative';
  const scheduledEventId = run.events.length + 1;
  run.task = {
    state: 'scheduled',
    kind,
    isWritten: false,
    scheduledMs: server.clock.nowMs,
    startedMs: 0,
    scheduledEventId,
    startedEventId: 0,
    timeout: null,
    jobs: [],
    commands: [],
    resolved: [],
    activationsBefore: run.cache.activations.length,
    over: Promise.withResolvers(),
  };
  if (kind === 'normal') writeTask(server, run, run.task);
  server.worker.offerWorkflowTask(run);
}

/** Schedules the workflow task only after all that `write` writes. */
export function transact(server: Server, run: Run, write: () => void): void {
  run.inTransaction = true;
  write();
  run.inTransaction = false;
  wake(server, run);
}

/** A worker takes the workflow task, with all that there is to tell. */
export function startTask(server: Server, run: Run, task: WorkflowTask): void {
  // What has come since an attempt failed makes it another task.
  if (task.kind === 'transient' && task.scheduledEventId !== run.events.length + 1) {
    run.taskAttempt = 1;
    writeTask(server, run, Object.assign(task, { kind: 'normal', scheduledMs: server.clock.nowMs }));
  }
  run.hasNews = false;
  Object.assign(task, {
    state: 'started',
    startedMs: server.clock.nowMs,
    startedEventId: run.events.length + (task.isWritten ? 1 : 2),
  });
  if (task.isWritten) recordStarted(server, run, task);
}

/** Writes the events of a workflow task, as far as it has come. */
export function writeTask(server: Server, run: Run, task: WorkflowTask): void {
  if (task.isWritten) return;
  task.isWritten = true;
  const attributes = {
    taskQueue: { name: run.taskQueue },
    startToCloseTimeout: msToTs(workflowTaskTimeoutMs),
    attempt: run.taskAttempt,
  };
  task.scheduledEventId = record(server, run, 'WorkflowTaskScheduled', attributes, { atMs: task.scheduledMs });
  if (task.state === 'started') recordStarted(server, run, task);
}

function recordStarted(server: Server, run: Run, task: WorkflowTask): void {
  const { scheduledEventId, startedMs: atMs } = task;
  const suggestContinueAsNew = run.events.length >= server.longHistory;
  task.startedEventId = record(
    server,
    run,
    'WorkflowTaskStarted',
    {
      scheduledEventId,
      identity: workerIdentity,
      requestId: `task-${scheduledEventId}`,
      suggestContinueAsNew,
    },
    { atMs },
  );
}

/** How the simulated worker calls itself. */
export const workerIdentity = 'worker@simulator';
