import type { History } from '@temporalio/common/lib/proto-utils.js';
import { migrationId, workflowTypes } from '../../contracts/ids.ts';
import { messages } from '../../contracts/messages.ts';
import { isEncrypted } from '../../runtime/temporal/payload-codec.ts';
import type { Check } from './objects.ts';

/** What the runs of an eviction do, against what users have told them and what limits they were given. */

type Events = NonNullable<History['events']>;
type HistoryEvent = Events[number];
type Payload = { data?: Uint8Array | null } | null | undefined;

/** 19: the runs of an eviction keep to what users have told them, and to the limits that they were given. */
export const runsHeed: Check = ({ runs }) =>
  runs.flatMap(({ workflowId, runId, conduct }) => conduct.map((what) => `${workflowId} (${runId}) ${what}`));

/** What does not hold of one history, a sentence each; nothing of one whose payloads are encrypted. Pure. */
export function conductOf(type: string, events: Events): string[] {
  // What people start by hand is plain, and what the run hears then is not.
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
  /** What activities have answered, to know which servers the run has heard of. */
  heard: string;
  isPaused: boolean;
  isStopped: boolean;
  /** By Temporal: it stops whatever the run serves. */
  isCancelled: boolean;
  isObserving: boolean;
  /** The Eviction was read; what it is told before is in what it reads. */
  isOpen: boolean;
  /** The Eviction has changed: told, and heard by a workflow task. */
  change: 'none' | 'told' | 'heard';
  skipped: Set<string>;
  /** Servers in flight, with the server groups that they are in. */
  inFlight: Map<string, readonly string[]>;
  left: Set<string>;
  /** Null: nobody has said. */
  asked: number | null;
  perSource: number;
  allowance: number;
  isDisabled: boolean;
  recheckMs: number;
  /** Looks since the last move, and what was on the host. */
  looks: { atMs: number; isEmpty: boolean }[];
}

function conductOfEviction(events: Events): string[] {
  const seen: Conduct = {
    scheduled: new Map(),
    heard: '',
    isPaused: false,
    isStopped: false,
    isCancelled: false,
    isObserving: false,
    isOpen: false,
    change: 'none',
    skipped: new Set(),
    inFlight: new Map(),
    left: new Set(),
    asked: null,
    perSource: Infinity,
    allowance: 0,
    isDisabled: false,
    recheckMs: 0,
    looks: [],
  };
  return events.flatMap((event) => take(seen, event));
}

/** Takes in one event; returns what does not hold of it. */
function take(seen: Conduct, event: HistoryEvent): string[] {
  const signal = event.workflowExecutionSignaledEventAttributes;
  const update = event.workflowExecutionUpdateAcceptedEventAttributes;
  if (signal) obey(seen, signal.signalName ?? '', firstOf(signal.input));
  else if (update) obey(seen, update.acceptedRequest?.input?.name ?? '', firstOf(update.acceptedRequest?.input?.args));
  else if (event.workflowExecutionCancelRequestedEventAttributes) seen.isStopped = seen.isCancelled = true;
  else if (event.activityTaskScheduledEventAttributes) ask(seen, event);
  else if (event.activityTaskCompletedEventAttributes) hear(seen, event);
  else if (event.startChildWorkflowExecutionInitiatedEventAttributes) return begin(seen, event);
  else if (event.workflowExecutionStartedEventAttributes) carryOn(seen, event);
  else if (event.workflowExecutionCompletedEventAttributes) return end(seen, event);
  else if (event.workflowExecutionContinuedAsNewEventAttributes) return leftInFlight(seen, 'continues as new');
  else if (event.workflowTaskStartedEventAttributes) seen.change = seen.change === 'none' ? 'none' : 'heard';
  else land(seen, event);
  return [];
}

interface Carried {
  host?: { service?: { status?: string } } | null;
  paused?: object | null;
  parallelism?: number | null;
  emptySinceMs?: number | null;
  instances?: Record<string, { state?: string }>;
}

/** What a run was told, and has done, stands in the history of the one that it continues. */
function carryOn(seen: Conduct, { workflowExecutionStartedEventAttributes: started }: HistoryEvent): void {
  const carried = jsonOf(started?.input?.payloads?.[1]) as Carried | null;
  if (!started?.continuedExecutionRunId || carried === null) return;
  const { host, paused, parallelism, emptySinceMs, instances = {} } = carried;
  seen.isDisabled = host?.service?.status === 'disabled';
  seen.isPaused = (paused ?? null) !== null;
  seen.asked = parallelism ?? null;
  seen.heard = JSON.stringify(instances);
  for (const [id, { state }] of Object.entries(instances)) {
    if (state === 'skipped') seen.skipped.add(id);
    if (state === 'moved' || state === 'gone') seen.left.add(id);
  }
  if (typeof emptySinceMs === 'number') seen.looks.push({ atMs: emptySinceMs, isEmpty: true });
}

function ask(seen: Conduct, { eventId, activityTaskScheduledEventAttributes: asked }: HistoryEvent): void {
  const name = asked?.activityType?.name ?? '';
  seen.scheduled.set(String(eventId), name);
  if (name !== 'openEviction') return;
  seen.change = 'none';
  // The one that it serves is not looked for, but read again.
  const isNext = jsonOf(asked?.input?.payloads?.[1]) === null;
  const fresh = { isOpen: false, isPaused: false, isStopped: seen.isCancelled, skipped: new Set(), asked: null };
  // What was told to a run that had ended its last Eviction was refused.
  if (isNext) Object.assign(seen, fresh);
}

interface Told {
  instance?: string;
  parallelism?: number;
  allowance?: number;
}

function obey(seen: Conduct, name: string, told: Told | null): void {
  // Such as a number, which is refused.
  if (typeof told !== 'object') return;
  const { instance = '', parallelism = 0, allowance } = told ?? {};
  if (name === messages.objectChanged.name) seen.change = seen.isOpen && seen.change === 'none' ? 'told' : seen.change;
  else if (name === messages.pause.name) seen.isPaused = true;
  else if (name === messages.resume.name) seen.isPaused = false;
  else if (name === messages.cancelEviction.name) seen.isStopped = true;
  else if (name === messages.retryInstance.name) seen.skipped.delete(instance);
  else if (name === messages.setParallelism.name && parallelism >= 1 && parallelism <= 64) seen.asked = parallelism;
  else if (name === messages.allowanceGranted.name && allowance !== undefined) seen.allowance = allowance;
  else if (name === messages.skipInstance.name) {
    // Of one that is on its way, has left, or is not known, it is refused.
    const isHere = seen.heard.includes(instance) && !seen.inFlight.has(instance) && !seen.left.has(instance);
    if (isHere) seen.skipped.add(instance);
  }
}

interface Opened {
  desired?: { parallelism?: number | null; mode?: string };
  settings?: { perSource?: number; emptyRecheckMs?: number };
}
interface Looked {
  service?: { status?: string };
  host?: Looked;
  instances?: unknown[];
  allocations?: unknown[];
}

function hear(seen: Conduct, { activityTaskCompletedEventAttributes: completed, eventTime }: HistoryEvent): void {
  const name = seen.scheduled.get(String(completed?.scheduledEventId));
  const payload = completed?.result?.payloads?.[0];
  if (name === 'openEviction') {
    const { desired, settings } = (jsonOf(payload) ?? {}) as Opened;
    seen.perSource = desired?.parallelism ?? settings?.perSource ?? seen.perSource;
    seen.recheckMs = settings?.emptyRecheckMs ?? seen.recheckMs;
    seen.isObserving = desired?.mode === 'observe';
    seen.isOpen = true;
  } else if (name === 'ensureServiceDisabled') seen.isDisabled = true;
  else if (name === 'observeHost' || name === 'preflightEviction') {
    seen.heard += textOf(payload);
    const answer = (jsonOf(payload) ?? {}) as Looked;
    const host = answer.host !== undefined && typeof answer.host === 'object' ? answer.host : answer;
    seen.isDisabled = host.service?.status === 'disabled';
    const isEmpty = host.instances?.length === 0 && host.allocations?.length === 0;
    seen.looks.push({ atMs: Number(eventTime?.seconds ?? 0) * 1_000 + (eventTime?.nanos ?? 0) / 1e6, isEmpty });
  }
}

function begin(seen: Conduct, { startChildWorkflowExecutionInitiatedEventAttributes: child }: HistoryEvent): string[] {
  const id = (child?.workflowId ?? '').split(migrationId('')).at(-1) ?? '';
  const input = jsonOf(child?.input?.payloads?.[0]) as { instance?: { serverGroups?: string[] } } | null;
  const groups = input?.instance?.serverGroups ?? [];
  const most = seen.asked ?? seen.perSource;
  const together = groups.filter((group) => [...seen.inFlight.values()].some((others) => others.includes(group)));
  seen.inFlight.set(id, groups);
  seen.looks = [];
  const moving = seen.inFlight.size;
  return [
    ...(seen.isStopped ? [`moves ${id} after it was stopped`] : []),
    ...(seen.isPaused ? [`moves ${id} while it is paused`] : []),
    ...(seen.isObserving ? [`moves ${id}, and was to observe only`] : []),
    ...(seen.change === 'heard' ? [`moves ${id}, and has not read the Eviction, which has changed`] : []),
    ...(seen.skipped.has(id) ? [`moves ${id}, which a user has skipped`] : []),
    ...(seen.isDisabled ? [] : [`moves ${id} before the host is disabled`]),
    ...(moving > most ? [`moves ${moving} at once, and may move ${most}`] : []),
    ...(moving > seen.allowance ? [`moves ${moving} at once, and the region grants it ${seen.allowance}`] : []),
    ...(together.length > 0 ? [`moves ${id} beside another one of server group ${together.join(', ')}`] : []),
  ];
}

/** A child has ended. */
function land(seen: Conduct, event: HistoryEvent): void {
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
  seen.inFlight.delete(id);
  const result = jsonOf(completed?.result?.payloads?.[0]) as { outcome?: string } | null;
  if (result?.outcome === 'moved' || result?.outcome === 'gone') seen.left.add(id);
}

function end(seen: Conduct, { workflowExecutionCompletedEventAttributes: completed }: HistoryEvent): string[] {
  const result = jsonOf(completed?.result?.payloads?.[0]) as { outcome?: string } | null;
  const inFlight = leftInFlight(seen, 'ends');
  if (result?.outcome !== 'reconciled') return inFlight;
  const [before, last] = [seen.looks.at(-2), seen.looks.at(-1)];
  const isTwice = before?.isEmpty === true && last?.isEmpty === true;
  // A tenth less, as a worker's clock and the server's are not the same.
  const isApart = isTwice && last.atMs - before.atMs >= seen.recheckMs * 0.9;
  return [...inFlight, ...(isApart ? [] : ['has succeeded, and did not see the host empty twice, some time apart'])];
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
    ...(isForced ? ['forces a migration, and nobody has consented'] : []),
    ...(isCold ? ['moves a running server cold, and nobody has consented'] : []),
  ];
}

const firstOf = (payloads: { payloads?: readonly Payload[] | null } | null | undefined): Told | null =>
  jsonOf(payloads?.payloads?.[0]) as Told | null;

const textOf = (payload: Payload): string => Buffer.from(payload?.data ?? '').toString('utf8');

/** Null: nothing, or a codec's. */
function jsonOf(payload: Payload): unknown {
  try {
    return JSON.parse(textOf(payload)) as unknown;
  } catch {
    return null;
  }
}
