import { CancellationScope, condition, setCurrentDetails } from '@temporalio/workflow';
import type { EvictionOpened, EvictionReport } from '../../contracts/eviction/activities.ts';
import type { EvictionInput, EvictionPhase } from '../../contracts/eviction/eviction.ts';
import { kubernetes } from '../lib/activities.ts';
import { showAttributes } from '../lib/attributes.ts';
import { explain, type Problem } from '../lib/failures.ts';
import { retryAfterMs } from '../lib/retry.ts';
import { type Membership, noMembership } from '../limits/membership.ts';
import { retriedUntilDeadline } from './plan.ts';
import {
  applyEviction,
  beginEviction,
  type EvictionProblem,
  type EvictionState,
  outstanding,
  outstandingRamMiB,
  recordProblem,
  requestStop,
} from './state.ts';
import { describeConditions, describeDetails, describeProgress } from './status.ts';

/** What has come to the run, whichever Eviction it serves. */
export interface EvictionInbox {
  /** What serves the Eviction that is open; null while one is being opened. */
  run: EvictionRun | null;
  /** An object has changed since an Eviction was opened. */
  changed: boolean;
  cancelled: boolean;
  /** The last Eviction has ended and says so: nothing of it is waited for that a retry could end. */
  concluded: boolean;
  /** The run is about to end: commands that wait for an Eviction are refused. */
  ending: boolean;
  /** Rises with each message, and with all else that may change the plan. */
  wakeUps: number;
}

/** What a run holds besides its state: things that are not carried over when it continues as new. */
export interface EvictionRun {
  state: EvictionState;
  /** When it began to serve the Eviction, which an earlier run may have begun, in Unix ms. */
  beganAtMs: number;
  inbox: EvictionInbox;
  /** The moves in flight, by server id. `abort`: it is to end now. */
  moves: Map<string, { abort(): void }>;
  /** Its side of the region's allowance. */
  membership: Membership;
  /**
   * Its last reports to the allowance failed, so many in a row, and when the next is made, in Unix ms;
   * null: they arrive.
   */
  failedReports: { failures: number; retryAtMs: number } | null;
  /** What the run waits for now; null while it acts. */
  waiting: { message: string; untilMs: number | null } | null;
  /** What it waited for when the Eviction was last written. */
  saidWaiting: string | null;
  /** Something that the Eviction shows has changed since it was last written. */
  unpublished: boolean;
  /** When the Eviction, which has changed, is to be read again, in Unix ms; null: it has not changed. */
  readDueMs: number | null;
  /** Events that are not written yet. */
  events: EvictionReport['events'];
  /** Ends with the report that is under way; null: none is. */
  publishing: Promise<void> | null;
}

/** Makes the run plan again. */
export const wake = ({ inbox }: Pick<EvictionRun, 'inbox'>): void => void (inbox.wakeUps += 1);

/**
 * Waits before another try. Every message cuts it short: a cancel, a retry by a user, a change that may have put right
 * what failed.
 */
export async function backOff(inbox: EvictionInbox, failures: number, summary: string): Promise<void> {
  const { wakeUps } = inbox;
  await condition(() => inbox.wakeUps !== wakeUps, retryAfterMs(failures), { summary });
}

/** Tries again at once what it waits to try again. @returns what that is, as a sentence; null: there is no such thing */
export function tryNow(run: Pick<EvictionRun, 'state' | 'readDueMs' | 'failedReports'>, nowMs: number): string | null {
  const { problem } = run.state;
  const held = retriedUntilDeadline(run.state, nowMs);
  run.state.retryAsked = held !== null;
  if (problem === null) return held;
  run.state.problem = { ...problem, retryAtMs: nowMs };
  // Each of them waits for a time of its own.
  if (run.readDueMs !== null) run.readDueMs = nowMs;
  if (run.failedReports !== null) run.failedReports = { ...run.failedReports, retryAtMs: nowMs };
  return problem.message;
}

/** An event for users; written with the next report. */
export function addEvent(
  run: Pick<EvictionRun, 'events' | 'unpublished'>,
  type: 'Normal' | 'Warning',
  reason: string,
  message: string,
): void {
  run.events.push({ type, reason, message });
  run.unpublished = true;
}

/** The last problem says why. */
export function addNotReEnabled(run: EvictionRun): void {
  const { desired, problem } = run.state;
  const why = problem?.message ?? 'see the log';
  addEvent(run, 'Warning', 'NotReEnabled', `${desired.hypervisor} could not be enabled again: ${why}`);
}

export function reportProblem(run: EvictionRun, problem: Problem, kind: EvictionProblem['kind']): void {
  if (run.state.problem?.reason !== problem.reason) addEvent(run, 'Warning', problem.reason, problem.message);
  recordProblem(run.state, problem, kind, Date.now());
  run.unpublished = true;
}

/**
 * Waits for `activity`, but no longer than until the run is asked to stop, its Eviction has changed (which may ask for
 * that too), or is to be read: then the activity is cancelled and the answer is undefined.
 */
export async function whileWanted<Result>(
  run: EvictionRun,
  activity: () => Promise<Result>,
): Promise<Result | undefined> {
  const dueMs = run.readDueMs;
  const isUnwanted = (): boolean => run.state.stop !== null || run.readDueMs !== dueMs;
  // A read that failed is due later: until then it is no reason not to wait.
  const leftMs = dueMs === null ? null : dueMs - Date.now();
  if (run.state.stop !== null || (leftMs !== null && leftMs <= 0)) return undefined;
  const scope = new CancellationScope();
  const result = scope.run(activity);
  const end = scope.run<unknown>(() => (leftMs === null ? condition(isUnwanted) : condition(isUnwanted, leftMs)));
  try {
    return await Promise.race([result, end.then(() => undefined)]);
  } finally {
    scope.cancel();
    // Cancelled because nothing waits for them any more.
    result.catch(() => undefined);
    end.catch(() => undefined);
  }
}

/** Finds or makes the Eviction of the host and reads what it asks for. */
export const openEviction = (input: EvictionInput, servingUid: string | null): Promise<EvictionOpened> =>
  kubernetes(servingUid === null ? 'Find the Eviction and validate it' : 'Read the Eviction again').openEviction(
    input,
    servingUid,
  );

export function beginRun(
  opened: Extract<EvictionOpened, { kind: 'run' }>,
  carried: EvictionState | null,
  inbox: EvictionInbox,
): EvictionRun {
  const nowMs = Date.now();
  const { desired, settings, bootId, retry } = opened;
  const state: EvictionState =
    carried === null
      ? beginEviction(desired, settings, bootId, nowMs)
      : { ...carried, desired, settings, allowance: null };
  if (desired.deleting) requestStop(state, 'the deletion of the Eviction', nowMs);
  const run: EvictionRun = {
    state,
    beganAtMs: nowMs,
    inbox,
    moves: new Map(),
    membership: noMembership,
    failedReports: null,
    waiting: null,
    saidWaiting: null,
    unpublished: true,
    readDueMs: null,
    events: [],
    publishing: null,
  };
  applyRetry(run, retry, nowMs);
  return run;
}

/** The same value asks once, as long as the annotation may stand there. */
function applyRetry(run: EvictionRun, retry: string | undefined, nowMs: number): void {
  if (retry === undefined || retry === run.state.retry) return;
  run.state.retry = retry;
  tryNow(run, nowMs);
}

/** Applies a change of the Eviction while the run serves it. */
export async function readEviction(run: EvictionRun): Promise<void> {
  const { state } = run;
  run.readDueMs = null;
  try {
    const opened = await openEviction({ hypervisor: state.desired.hypervisor }, state.desired.uid);
    if (opened.kind === 'run') {
      applyEviction(state, opened.desired, Date.now());
      applyRetry(run, opened.retry, Date.now());
    }
    if (opened.kind === 'nothing') requestStop(state, 'the deletion of the Eviction', Date.now());
    run.unpublished = true;
  } catch (error) {
    const problem = explain(error);
    // What it asked for before still holds: a bad edit must not end an eviction in the middle.
    if (problem.code === 'InvalidObject') return addEvent(run, 'Warning', problem.reason, problem.message);
    reportProblem(run, problem, 'read');
    run.readDueMs = state.problem?.retryAtMs ?? 0;
  }
}

/** Enters a phase; the search attribute follows. */
export function enterPhase(run: EvictionRun, phase: EvictionPhase, reason?: string): void {
  const { state } = run;
  if (state.phase === phase) return;
  state.phase = phase;
  state.phaseSinceMs = Date.now();
  run.unpublished = true;
  showAttributes({
    kind: 'Eviction',
    object: state.desired.name,
    host: state.desired.hypervisor,
    phase,
    ...(reason === undefined ? {} : { reason }),
  });
}

/** Shows the run as it is now in the Web UI. Costs no event. */
export function showDetails({ state, waiting }: EvictionRun): void {
  setCurrentDetails(describeDetails(describeProgress(state, waiting, Date.now()), state.end?.message ?? null));
}

/**
 * Writes the Eviction once, after the report that is under way, and applies how far the migrations have come.
 *
 * @throws what the activity fails with
 */
export async function publishNow(run: EvictionRun, options: { releaseFinalizer: boolean }): Promise<void> {
  // A report that takes long would be written over a newer one, and be what the Eviction says for as long as it waits.
  while (run.publishing !== null) await run.publishing;
  const report = writeReport(run, options);
  run.publishing = report.catch(() => undefined);
  try {
    await report;
  } finally {
    run.publishing = null;
  }
}

async function writeReport(run: EvictionRun, options: { releaseFinalizer: boolean }): Promise<void> {
  const { state } = run;
  const { name, uid } = state.desired;
  run.unpublished = false;
  run.saidWaiting = run.waiting?.message ?? null;
  const events = run.events.splice(0);
  try {
    const { migrations, gone } = await kubernetes(`Write the status of Eviction ${name}`).publishEviction({
      name,
      uid,
      conditions: describeConditions(state, run.waiting?.message ?? null, Date.now()),
      hypervisorId: state.host?.hypervisorId ?? null,
      outstandingInstances: state.host === null ? null : outstanding(state).map(({ instance }) => instance.id),
      outstandingRamMb: outstandingRamMiB(state),
      events,
      releaseFinalizer: options.releaseFinalizer,
    });
    for (const [id, shown] of Object.entries(migrations)) {
      const one = state.instances[id];
      if (one?.state === 'moving') Object.assign(one, shown);
    }
    if (gone && state.stop === null && state.end === null) {
      requestStop(state, 'the Eviction being gone', Date.now());
      wake(run);
    }
  } catch (error) {
    run.events.unshift(...events);
    run.unpublished = true;
    throw error;
  }
}

/** Half of the run's age: early reports are fresh, and a long eviction does not fill its history with them. */
const publishIntervalMs = (
  ageMs: number,
  { publishMinMs, publishMaxMs }: { publishMinMs: number; publishMaxMs: number },
): number => Math.min(publishMaxMs, Math.max(publishMinMs, ageMs / 2));

/**
 * Publishes beside the actions: at most one report is under way, and reports come no faster than {@link
 * publishIntervalMs}. A report that fails is not the eviction's problem: the next one says the same.
 */
export function statusPublisher(run: EvictionRun): {
  publishWhenDue(): void;
  nextMs(): number | null;
  idle(): Promise<void>;
} {
  let lastMs = 0;
  let current: Promise<void> | null = null;
  const dueMs = (): number => lastMs + publishIntervalMs(lastMs - run.beganAtMs, run.state.settings);
  return {
    publishWhenDue() {
      if (!run.unpublished || current !== null || Date.now() < dueMs()) return;
      lastMs = Date.now();
      current = publishNow(run, { releaseFinalizer: false })
        .catch((error: unknown) => void explain(error))
        .finally(() => {
          current = null;
          // What changed meanwhile is not in this report, and nothing else may come for long.
          if (run.unpublished) wake(run);
        });
    },
    /** When a report that waits is due at the latest. */
    nextMs: () => (run.unpublished && current === null ? lastMs + run.state.settings.publishMaxMs : null),
    idle: () => current ?? Promise.resolve(),
  };
}
