import {
  allHandlersFinished,
  condition,
  continueAsNew,
  getExternalWorkflowHandle,
  isCancellation,
  log,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type {
  AllowanceObservation,
  AllowancePhase,
  AllowanceProgress,
  SharedLimit,
  SlotAnswer,
  SlotGrant,
} from '../../contracts/allowance.ts';
import { allowanceId } from '../../contracts/ids.ts';
import { messages, progressQuery } from '../../contracts/messages.ts';
import { searchAttributes } from '../../contracts/search-attributes.ts';
import { inputOf, objectOf, placeOf, readSharedLimit, systemOf } from '../../contracts/allowance.ts';
import { nova, slots, temporal } from '../lib/activities.ts';
import { showAttributes } from '../lib/attributes.ts';
import { readCarried } from '../lib/input.ts';
import { explain, invalidInput } from '../lib/failures.ts';
import { deadlineTimer } from '../lib/timer.ts';
import { describeProgress, progressOf } from './describe.ts';
import {
  allocate,
  type Answer,
  applyFailedDelivery,
  applyRequest,
  applyReturned,
  inUseOf,
  type Ledger,
  limitOf,
  newLedger,
  readRequest,
} from './ledger.ts';
import { beginObservation, endObservation } from './observe.ts';

/**
 * The limit: `{"region": "RegionOne"}`, `{"kind": "creates", "vcenter": "prod"}`, or
 * `{"kind": "clones", "driver": "rbd.csi.ceph.com"}`.
 */
type AllocateAllowanceInput = ReturnType<typeof inputOf> & {
  /** Prefix of workflow ids; empty by default. */
  cluster?: string;
  /**
   * An earlier run was lost, and with it what it had granted: nothing is granted before all that it granted shows in
   * the world.
   */
  recovers?: boolean;
  /** What an earlier run of the same chain knew. */
  carried?: Ledger;
};

type AllocateAllowanceResult = ReturnType<typeof inputOf> & {
  /** How many grants were sent. */
  answersGiven: number;
};

/** How long an unused run waits for a consumer, at most. */
const lingerMs = 2_000;
/** How long a request for a slot waits for the first observation of vCenter; after that the answer is a signal. */
const firstObservationMs = 4_000;
/** A run this old continues as new, so that it does not live through many releases. */
const longestRunMs = 24 * 60 * 60 * 1_000;

/**
 * Allocates the migrations that a region may have at once, the slots of a vCenter to create, or destroy, VMs, or those
 * of a CSI driver to clone volumes. Consumers signal what they want and use; each is sent its allowance when that
 * changes. The outside world and the consumers' runs are observed at intervals. The run ends when unused: a consumer's
 * next request starts it again, and it grants nothing until it has read what is in progress. To cancel or terminate it
 * stops no work.
 */
export async function allocateAllowance(input: AllocateAllowanceInput): Promise<AllocateAllowanceResult> {
  const { cluster = '', recovers = false, carried } = Object(input) as AllocateAllowanceInput;
  const shared = refuseWrongId(readSharedLimit(input), cluster);
  let ledger = readCarried(carried) ?? { ...newLedger(Date.now()), recreated: recovers };
  let dirty = false;
  let observing = false;
  /** Slots that are granted to runs in the queue, and not on their way yet; null: nothing is on its way. */
  let granting: Answer[] | null = null;
  /** Run ids of those whose request is answered by an update. */
  const asking = new Set<string>();
  const timer = deadlineTimer(`Until the next observation of ${systemOf(shared)} and the consumers`);
  const show = phaseDisplay(shared);

  setHandler(messages.allowanceRequested, (value) => {
    const report = readRequest(value);
    if (report === null) return log.warn('A signal allowanceRequested was ignored: its argument is no request');
    ledger = applyRequest(ledger, report, Date.now());
    dirty = true;
  });
  setHandler(messages.acquireSlots, async (value) => {
    const reports = Array.isArray(value) ? value.map(readRequest).filter((report) => report !== null) : [];
    if (reports.length === 0 || reports.length < value.length)
      throw invalidInput('acquireSlots needs a list of requests, each as the signal allowanceRequested takes it');
    for (const report of reports) {
      ledger = applyRequest(ledger, report, Date.now());
      asking.add(report.runId);
    }
    dirty = true;
    try {
      if (ledger.world === null) await condition(() => ledger.world !== null, firstObservationMs);
      await condition(() => !dirty);
    } finally {
      for (const { runId } of reports) asking.delete(runId);
    }
    return reports.map(({ runId }) => answerTo(ledger, runId));
  });
  setHandler(progressQuery<AllowanceProgress>(), () => progressOf(shared, ledger, Date.now()));

  async function observe(): Promise<void> {
    observing = true;
    ledger = beginObservation(ledger);
    const [world, closed] = await Promise.all([readWorld(shared, ledger), findClosed(ledger)]);
    ledger = endObservation(ledger, world, closed, Date.now());
    observing = false;
    dirty = true;
  }

  async function send(answer: Answer): Promise<void> {
    try {
      await getExternalWorkflowHandle(answer.consumer, answer.runId).signal(messages.allowanceGranted, answer.granted);
    } catch (error) {
      if (isCancellation(error)) throw error;
      ledger = applyFailedDelivery(ledger, answer, Date.now());
    }
  }

  /** What comes while some are on their way goes together afterwards. */
  async function grant(answers: readonly Answer[]): Promise<void> {
    if (granting !== null) return void granting.push(...answers);
    granting = [...answers];
    while (granting.length > 0) {
      const batch: Answer[] = granting;
      granting = [];
      const lost = await grantSlots(shared, ledger, batch);
      if (lost.length > 0) dirty = true;
      for (const answer of lost) ledger = applyFailedDelivery(ledger, answer, Date.now());
    }
    granting = null;
  }
  const isQuiet = (): boolean => allHandlersFinished() && granting === null;

  for (;;) {
    dirty = false;
    const endsMs = unusedUntilMs(ledger);
    // Nothing is awaited between the last signals and this, so none that came can be lost.
    const ends = endsMs !== null && endsMs <= Date.now();
    if (ends && isQuiet()) return { ...inputOf(shared), answersGiven: ledger.answersGiven };
    if (ends) {
      await condition(isQuiet);
      continue;
    }
    if (isLongRun() && isQuiet())
      await continueAsNew<typeof allocateAllowance>({
        ...inputOf(shared),
        cluster,
        carried: interrupted(ledger, observing),
      });

    if (endsMs === null && !observing && ledger.nextObservationMs <= Date.now())
      void observe().catch(ignoreCancellation);
    const divided = allocate(ledger, Date.now());
    const returned = divided.answers.filter(({ runId }) => asking.has(runId));
    const sent = divided.answers.filter((answer) => !returned.includes(answer));
    ledger = applyReturned(divided.ledger, returned);
    show(progressOf(shared, ledger, Date.now()));
    // Reports that arrive while answers are on their way are taken together in the next pass.
    if (shared.kind === 'migrations') await Promise.all(sent.map(send));
    else {
      // A slot that is held is not taken back: there is nothing to say.
      const granted = sent.filter(({ granted: { allowance } }) => allowance > 0);
      if (granted.length > 0) void grant(granted).catch(ignoreCancellation);
    }

    if (!observing || endsMs !== null) timer.set(unusedUntilMs(ledger) ?? ledger.nextObservationMs);
    await condition(() => dirty || (timer.due() && (!observing || ledger.unusedSinceMs !== null)));
  }
}

/** Two ledgers for one limit would give it away twice. */
function refuseWrongId(shared: SharedLimit | null, cluster: string): SharedLimit {
  const { workflowId } = workflowInfo();
  if (shared === null)
    throw invalidInput(
      'The input needs a region, as in {"region": "RegionOne"}, or a vCenter, as in {"kind": "creates", "vcenter": "prod"}, or a CSI driver, as in {"kind": "clones", "driver": "rbd.csi.ceph.com"}. Nothing was started.',
    );
  const right = allowanceId(shared, cluster);
  if (workflowId !== right)
    throw invalidInput(`This run must have the workflow id ${right}, not ${workflowId}. Nothing was started.`);
  return shared;
}

/** When the run ends if no consumer comes; null while there is one. */
function unusedUntilMs({ unusedSinceMs, world }: Ledger): number | null {
  return unusedSinceMs === null ? null : unusedSinceMs + Math.min(lingerMs, world?.checkMs ?? lingerMs);
}

/** An observation in progress is lost to the next run, which begins with one of its own. */
function interrupted(ledger: Ledger, observing: boolean): Ledger {
  return observing ? { ...ledger, covering: null, nextObservationMs: Date.now() } : ledger;
}

function isLongRun(): boolean {
  const { continueAsNewSuggested, runStartTime } = workflowInfo();
  return continueAsNewSuggested || Date.now() - runStartTime.getTime() > longestRunMs;
}

/** Null where it cannot be read now; the next observation tries again. */
async function readWorld(shared: SharedLimit, ledger: Ledger): Promise<AllowanceObservation | null> {
  try {
    if (shared.kind !== 'migrations')
      return await slots(
        shared,
        `Read the limit of ${shared.kind}, and those that ${placeOf(shared)} has in progress`,
      ).observeSlots(shared);
    const { region } = shared;
    return await nova(region, `Read the limit and the migrations in progress of ${region}`).observeAllowance({
      region,
      limitInForce: ledger.world === null ? null : limitOf(ledger),
    });
  } catch (error) {
    if (isCancellation(error)) throw error;
    log.warn(`The ${shared.kind} in progress cannot be read`, {
      place: placeOf(shared),
      reason: explain(error).message,
    });
    return null;
  }
}

/** Completes the activities by which runs wait for their slots. @returns what was not delivered */
async function grantSlots(shared: SharedLimit, ledger: Ledger, answers: readonly Answer[]): Promise<Answer[]> {
  const inUse = inUseOf(ledger);
  const grants = answers.flatMap(({ consumer, runId, activity, granted }): SlotGrant[] => {
    const { sequence, allowance, limit } = granted;
    return activity === undefined
      ? []
      : [{ consumer, runId, activity, answer: { sequence, allowance, limit, inUse, wasQueued: true } }];
  });
  try {
    const lost =
      grants.length === 0
        ? []
        : await temporal(`Grant ${grants.length} slots of the ${shared.kind} of ${placeOf(shared)}`).grantSlots(grants);
    return answers.filter(({ runId, activity }) => activity === undefined || lost.includes(runId));
  } catch (error) {
    if (isCancellation(error)) throw error;
    log.warn('Runs in the queue cannot be granted their slots', { reason: explain(error).message });
    return [...answers];
  }
}

/** What it was granted last, and how much is in use. */
function answerTo(ledger: Ledger, runId: string): SlotAnswer {
  const holder = ledger.holders.find((one) => one.runId === runId);
  const { sequence, allowance } = holder?.answers.at(-1) ?? { sequence: 0, allowance: 0 };
  return { sequence, allowance, limit: ledger.world?.limit ?? null, inUse: inUseOf(ledger) };
}

async function findClosed({ holders }: Ledger): Promise<string[]> {
  // A consumer that has just reported is open; at the start of a run that is each of them.
  const doubtful = holders.filter(({ closed, lastRequestMs }) => !closed && lastRequestMs < Date.now());
  const open = doubtful.map(({ consumer, runId }) => ({ consumer, runId }));
  if (open.length === 0) return [];
  try {
    return await temporal(`Find which of ${open.length} consumers are closed`).findClosedConsumers(open);
  } catch (error) {
    if (isCancellation(error)) throw error;
    log.warn('The runs of the consumers cannot be described', { reason: explain(error).message });
    return [];
  }
}

/** A cancelled run ends by the await of its main loop. */
function ignoreCancellation(error: unknown): void {
  if (!isCancellation(error)) throw error;
}

/** Current details cost nothing; a search attribute is an event, so it is written only when the phase changes. */
function phaseDisplay(shared: SharedLimit): (progress: AllowanceProgress) => void {
  const attributes = workflowInfo().typedSearchAttributes.getAll();
  const started = (name: string): unknown => attributes.find(({ key }) => key.name === name)?.value;
  const hasAttributes = started(searchAttributes.kind) !== undefined;
  let shown = started(searchAttributes.phase);
  if (!hasAttributes) showAttributes({ kind: 'Allowance', object: objectOf(shared) });
  return (progress) => {
    setCurrentDetails(describeProgress(progress));
    if (progress.phase === shown || progress.phase === 'Unused') return;
    shown = progress.phase satisfies AllowancePhase;
    showAttributes({ phase: progress.phase });
  };
}
