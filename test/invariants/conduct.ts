import type { History } from '@temporalio/common/lib/proto-utils.js';
import { optionalTsToMs } from '@temporalio/common/lib/time.js';
import { migrationId, workflowTypes } from '../../contracts/ids.ts';
import { messages } from '../../contracts/messages.ts';
import { isEncrypted } from '../../runtime/temporal/payload-codec.ts';
import type { Check } from './objects.ts';

/** What the runs of an eviction do, compared with users' messages and the limits that they were given. */

type Events = NonNullable<History['events']>;
type HistoryEvent = Events[number];
type Payload = { data?: Uint8Array | null } | null | undefined;

/** 19: the runs of an eviction obey users' messages, and the limits that they were given. */
export const runsHeed: Check = ({ runs }) =>
  runs.flatMap(({ workflowId, runId, conduct }) => conduct.map((what) => `${workflowId} (${runId}) ${what}`));

/** What does not hold of one history, a sentence each; nothing of one whose payloads are encrypted. Pure. */
export function conductOf(type: string, events: Events): string[] {
  // The input of a run that a user starts by hand is plain, and the messages to it are not.
  if (events.flatMap(payloadsOf).some(isEncrypted)) return [];
  if (type === workflowTypes.evictHypervisor) return conductOfEviction(events);
  return type === workflowTypes.migrateInstance ? conductOfMove(events) : [];
}

const payloadsOf = (event: HistoryEvent) =>
  [
    event.workflowExecutionStartedEventAttributes?.input,
    event.workflowExecutionSignaledEventAttributes?.input,
    event.activityTaskCompletedEventAttributes?.result,
  ].flatMap((held) => held?.payloads ?? []);

interface Conduct {
  scheduled: Map<string, string>;
  /** What activities have answered, to know which servers the run knows. */
  results: string;
  isPaused: boolean;
  isStopped: boolean;
  /** By Temporal: it stops whatever the run serves. */
  isCancelled: boolean;
  isObserving: boolean;
  /** The Eviction was read; signals before that are in what it reads. */
  isOpen: boolean;
  /** The Eviction has changed: the run was signalled, and a workflow task has received it. */
  change: 'none' | 'signalled' | 'received';
  skipped: Set<string>;
  /** Servers in flight, with the server groups that they are in. */
  inFlight: Map<string, readonly string[]>;
  left: Set<string>;
  /** Null: none was set. */
  requestedParallelism: number | null;
  perSource: number;
  allowance: number;
  isDisabled: boolean;
  /** Since when, as far as the run knows; null: it is not. */
  disabledSinceMs: number | null;
  recheckMs: number;
  /** Observations since the last move, and whether the host was empty. */
  observations: { atMs: number; isEmpty: boolean }[];
}

function conductOfEviction(events: Events): string[] {
  const state: Conduct = {
    scheduled: new Map(),
    results: '',
    isPaused: false,
    isStopped: false,
    isCancelled: false,
    isObserving: false,
    isOpen: false,
    change: 'none',
    skipped: new Set(),
    inFlight: new Map(),
    left: new Set(),
    requestedParallelism: null,
    perSource: Infinity,
    allowance: 0,
    isDisabled: false,
    disabledSinceMs: null,
    recheckMs: 0,
    observations: [],
  };
  return events.flatMap((event) => applyEvent(state, event));
}

/** Takes in one event; returns what does not hold of it. */
function applyEvent(state: Conduct, event: HistoryEvent): string[] {
  const signal = event.workflowExecutionSignaledEventAttributes;
  const update = event.workflowExecutionUpdateAcceptedEventAttributes;
  if (signal) applyMessage(state, signal.signalName ?? '', firstOf(signal.input));
  else if (update)
    applyMessage(state, update.acceptedRequest?.input?.name ?? '', firstOf(update.acceptedRequest?.input?.args));
  else if (event.workflowExecutionCancelRequestedEventAttributes) state.isStopped = state.isCancelled = true;
  else if (event.activityTaskScheduledEventAttributes) recordScheduled(state, event);
  else if (event.activityTaskCompletedEventAttributes) applyResult(state, event);
  else if (event.startChildWorkflowExecutionInitiatedEventAttributes) return startMove(state, event);
  else if (event.workflowExecutionStartedEventAttributes) continueState(state, event);
  else if (event.workflowExecutionCompletedEventAttributes) return end(state, event);
  else if (event.workflowExecutionContinuedAsNewEventAttributes) return leftInFlight(state, 'continues as new');
  else if (event.workflowTaskStartedEventAttributes) state.change = state.change === 'none' ? 'none' : 'received';
  else endMove(state, event);
  return [];
}

interface ContinuedState {
  host?: { service?: { status?: string } } | null;
  paused?: object | null;
  parallelism?: number | null;
  emptySinceMs?: number | null;
  disabledSinceMs?: number | null;
  instances?: Record<string, { state?: string }>;
}

/** The messages and moves so far are in the history of the run that this one continues. */
function continueState(state: Conduct, { workflowExecutionStartedEventAttributes: started }: HistoryEvent): void {
  const continued = jsonOf(started?.input?.payloads?.[1]) as ContinuedState | null;
  if (!started?.continuedExecutionRunId || continued === null) return;
  const { host, paused, parallelism, emptySinceMs, disabledSinceMs, instances = {} } = continued;
  state.isDisabled = host?.service?.status === 'disabled';
  state.disabledSinceMs = disabledSinceMs ?? null;
  state.isPaused = (paused ?? null) !== null;
  state.requestedParallelism = parallelism ?? null;
  state.results = JSON.stringify(instances);
  for (const [id, { state: outcome }] of Object.entries(instances)) {
    if (outcome === 'skipped') state.skipped.add(id);
    if (outcome === 'moved' || outcome === 'gone') state.left.add(id);
  }
  if (typeof emptySinceMs === 'number') state.observations.push({ atMs: emptySinceMs, isEmpty: true });
}

function recordScheduled(
  state: Conduct,
  { eventId, activityTaskScheduledEventAttributes: requestedParallelism }: HistoryEvent,
): void {
  const name = requestedParallelism?.activityType?.name ?? '';
  state.scheduled.set(String(eventId), name);
  if (name !== 'openEviction') return;
  state.change = 'none';
  // The Eviction that it serves is not searched, but read again.
  const isNext = jsonOf(requestedParallelism?.input?.payloads?.[1]) === null;
  const fresh = {
    isOpen: false,
    isPaused: false,
    isStopped: state.isCancelled,
    skipped: new Set(),
    requestedParallelism: null,
  };
  // Messages to a run that had ended its last Eviction were refused.
  if (isNext) Object.assign(state, fresh);
}

interface MessageContent {
  instance?: string;
  parallelism?: number;
  allowance?: number;
}

function applyMessage(state: Conduct, name: string, content: MessageContent | null): void {
  // Such as a number, which is refused.
  if (typeof content !== 'object') return;
  const { instance = '', parallelism = 0, allowance } = content ?? {};
  if (name === messages.objectChanged.name)
    state.change = state.isOpen && state.change === 'none' ? 'signalled' : state.change;
  else if (name === messages.pause.name) state.isPaused = true;
  else if (name === messages.resume.name) state.isPaused = false;
  else if (name === messages.cancelEviction.name) state.isStopped = true;
  else if (name === messages.retryInstance.name) state.skipped.delete(instance);
  else if (name === messages.setParallelism.name && parallelism >= 1 && parallelism <= 64)
    state.requestedParallelism = parallelism;
  else if (name === messages.allowanceGranted.name && allowance !== undefined) state.allowance = allowance;
  else if (name === messages.skipInstance.name) {
    // Of one that is on its way, has left, or is not known, it is refused.
    const isHere = state.results.includes(instance) && !state.inFlight.has(instance) && !state.left.has(instance);
    if (isHere) state.skipped.add(instance);
  }
}

interface Opened {
  desired?: { parallelism?: number | null; mode?: string };
  settings?: { perSource?: number; emptyRecheckMs?: number };
}
interface ObservedHost {
  service?: { status?: string };
  host?: ObservedHost;
  instances?: unknown[];
  allocations?: unknown[];
}

function applyResult(
  state: Conduct,
  { activityTaskCompletedEventAttributes: completed, eventTime }: HistoryEvent,
): void {
  const name = state.scheduled.get(String(completed?.scheduledEventId));
  const payload = completed?.result?.payloads?.[0];
  const atMs = optionalTsToMs(eventTime) ?? 0;
  if (name === 'openEviction') {
    const { desired, settings } = (jsonOf(payload) ?? {}) as Opened;
    state.perSource = desired?.parallelism ?? settings?.perSource ?? state.perSource;
    state.recheckMs = settings?.emptyRecheckMs ?? state.recheckMs;
    state.isObserving = desired?.mode === 'observe';
    state.isOpen = true;
  } else if (name === 'ensureServiceDisabled') {
    state.isDisabled = true;
    state.disabledSinceMs ??= atMs;
  } else if (name === 'observeHost' || name === 'preflightEviction') {
    state.results += textOf(payload);
    const answer = (jsonOf(payload) ?? {}) as ObservedHost;
    const host = answer.host !== undefined && typeof answer.host === 'object' ? answer.host : answer;
    state.isDisabled = host.service?.status === 'disabled';
    state.disabledSinceMs = state.isDisabled ? (state.disabledSinceMs ?? atMs) : null;
    const isEmpty = host.instances?.length === 0 && host.allocations?.length === 0;
    state.observations.push({ atMs, isEmpty });
  }
}

function startMove(
  state: Conduct,
  { startChildWorkflowExecutionInitiatedEventAttributes: child }: HistoryEvent,
): string[] {
  const id = (child?.workflowId ?? '').split(migrationId('')).at(-1) ?? '';
  const input = jsonOf(child?.input?.payloads?.[0]) as { instance?: { serverGroups?: string[] } } | null;
  const groups = input?.instance?.serverGroups ?? [];
  const most = state.requestedParallelism ?? state.perSource;
  const together = groups.filter((group) => [...state.inFlight.values()].some((others) => others.includes(group)));
  state.inFlight.set(id, groups);
  state.observations = [];
  const moving = state.inFlight.size;
  return [
    ...(state.isStopped ? [`moves ${id} after it was stopped`] : []),
    ...(state.isPaused ? [`moves ${id} while it is paused`] : []),
    ...(state.isObserving ? [`moves ${id}, and was to observe only`] : []),
    ...(state.change === 'received' ? [`moves ${id}, and has not read the Eviction, which has changed`] : []),
    ...(state.skipped.has(id) ? [`moves ${id}, which a user has skipped`] : []),
    ...(state.isDisabled ? [] : [`moves ${id} before the host is disabled`]),
    ...(moving > most ? [`moves ${moving} at once, and may move ${most}`] : []),
    ...(moving > state.allowance ? [`moves ${moving} at once, and the region grants it ${state.allowance}`] : []),
    ...(together.length > 0 ? [`moves ${id} beside another one of server group ${together.join(', ')}`] : []),
  ];
}

/** A child has ended. */
function endMove(state: Conduct, event: HistoryEvent): void {
  const completed = event.childWorkflowExecutionCompletedEventAttributes;
  const ended =
    completed ??
    event.childWorkflowExecutionFailedEventAttributes ??
    event.childWorkflowExecutionCanceledEventAttributes ??
    event.childWorkflowExecutionTerminatedEventAttributes ??
    event.childWorkflowExecutionTimedOutEventAttributes;
  const { workflowId } = ended?.workflowExecution ?? event.startChildWorkflowExecutionFailedEventAttributes ?? {};
  if (workflowId === undefined || workflowId === null) return;
  const id = workflowId.split(migrationId('')).at(-1) ?? '';
  state.inFlight.delete(id);
  const result = jsonOf(completed?.result?.payloads?.[0]) as { outcome?: string } | null;
  if (result?.outcome === 'moved' || result?.outcome === 'gone') state.left.add(id);
}

function end(state: Conduct, { workflowExecutionCompletedEventAttributes: completed }: HistoryEvent): string[] {
  const result = jsonOf(completed?.result?.payloads?.[0]) as { outcome?: string } | null;
  const inFlight = leftInFlight(state, 'ends');
  if (result?.outcome !== 'reconciled') return inFlight;
  const [before, last] = [state.observations.at(-2), state.observations.at(-1)];
  const isTwice = before?.isEmpty === true && last?.isEmpty === true;
  // A tenth less, as a worker's clock and the server's are not the same.
  const leastMs = state.recheckMs * 0.9;
  const isApart = isTwice && last.atMs - before.atMs >= leastMs;
  // Long after the host was disabled nothing is on its way to it, and once is enough.
  const isLate = last?.isEmpty === true && last.atMs - (state.disabledSinceMs ?? Infinity) >= leastMs;
  return [
    ...inFlight,
    ...(isApart || isLate
      ? []
      : ['has succeeded, and did not see the host empty twice, or long after it was disabled']),
  ];
}

const leftInFlight = ({ inFlight }: Conduct, what: string): string[] =>
  inFlight.size === 0 ? [] : [`${what} with ${[...inFlight.keys()].join(', ')} in flight`];

/** A move does what its input has consent for. */
function conductOfMove(events: Events): string[] {
  const input = jsonOf(events[0]?.workflowExecutionStartedEventAttributes?.input?.payloads?.[0]);
  const { consent = [], instance } = (input ?? {}) as { consent?: string[]; instance?: { vmState?: string } };
  const names = events.flatMap((event) => event.activityTaskScheduledEventAttributes?.activityType?.name ?? []);
  const isForced = names.includes('forceCompleteMigration') && !consent.includes('force-complete');
  const mayBeCold = consent.includes('cold-migrate') || instance?.vmState !== 'active';
  const isCold = names.includes('startColdMigration') && !mayBeCold;
  return [
    ...(isForced ? ['forces a migration without consent'] : []),
    ...(isCold ? ['moves a running server cold without consent'] : []),
  ];
}

const firstOf = (payloads: { payloads?: readonly Payload[] | null } | null | undefined): MessageContent | null =>
  jsonOf(payloads?.payloads?.[0]) as MessageContent | null;

const textOf = (payload: Payload): string => Buffer.from(payload?.data ?? '').toString('utf8');

/** Null: nothing, or a codec's. */
function jsonOf(payload: Payload): unknown {
  try {
    return JSON.parse(textOf(payload)) as unknown;
  } catch {
    return null;
  }
}
