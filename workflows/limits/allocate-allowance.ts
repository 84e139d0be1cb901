import {
  ApplicationFailure,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  defineUpdate,
  getExternalWorkflowHandle,
  isCancellation,
  log,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { AllowanceObservation, SharedLimit, SlotAnswer } from '../../contracts/allowance.ts';
import { allowanceId } from '../../contracts/ids.ts';
import { messages } from '../../contracts/messages.ts';
import { searchAttributes } from '../../contracts/search-attributes.ts';
import { inputOf, objectOf, placeOf, readSharedLimit } from '../../contracts/allowance.ts';
import { nova, slots, temporal } from '../lib/activities.ts';
import { showAttributes } from '../lib/attributes.ts';
import { readCarried } from '../lib/input.ts';
import { explain } from '../lib/failures.ts';
import { deadlineTimer } from '../lib/timer.ts';
import type { AllowancePhase, AllowanceProgress } from './describe.ts';
import { describeProgress, progressOf } from './describe.ts';
import { type Answer, hear, inUseOf, type Ledger, missed, newLedger, readReport, share } from './ledger.ts';
import { beginLook, endLook } from './observe.ts';

/** What is shared: `{"region": "RegionOne"}`, or `{"kind": "creates", "vcenter": "prod"}`. */
export type AllocateAllowanceInput = ReturnType<typeof inputOf> & {
  /** Prefix of workflow ids; empty by default. */
  cluster?: string;
  /** An earlier run was lost, and with it whose turn it was: nothing is granted before all that it granted shows in the world. */
  recovers?: boolean;
  /** What an earlier run of the same chain knew. */
  carried?: Ledger;
};

export type AllocateAllowanceResult = ReturnType<typeof inputOf> & {
  /** How often a consumer was told a new allowance. */
  answersGiven: number;
};

/** How long an unused run waits for somebody to come, at most. */
const lingerMs = 2_000;
/** How long who asks for a turn waits for the first look at vCenter; then it is told later. */
const firstLookMs = 4_000;
/** A run this old continues as new, so that it does not live through many releases. */
const longestRunMs = 24 * 60 * 60 * 1_000;

/**
 * Shares out how many migrations a region may have at once, or how many VMs of a vCenter may be made, or destroyed (design section 5,
 * "Limits across runs"). Consumers signal what they want and use; each is told its allowance when that changes. It looks at the outside
 * world and at the consumers' runs at intervals, and ends when unused: a consumer's next report starts it again, and it grants nothing
 * until it has read what is in progress. To cancel or terminate it stops nobody's work.
 */
export async function allocateAllowance(input: AllocateAllowanceInput): Promise<AllocateAllowanceResult> {
  const { cluster = '', recovers = false, carried } = Object(input) as AllocateAllowanceInput;
  const shared = refuseWrongId(readSharedLimit(input), cluster);
  let ledger = readCarried(carried) ?? { ...newLedger(Date.now()), recreated: recovers };
  let dirty = false;
  let looking = false;
  /** Run ids of those who are told with the answer to their question. */
  const asking = new Set<string>();
  const timer = deadlineTimer(
    `Until the next look at ${shared.kind === 'migrations' ? 'Nova' : 'vCenter'} and the consumers`,
  );
  const show = phaseDisplay(shared);

  setHandler(defineSignal<[unknown]>(messages.allowanceRequested), (value) => {
    const report = readReport(value);
    if (report === null) return log.warn('A signal allowanceRequested that is no report was left aside');
    ledger = hear(ledger, report, Date.now());
    dirty = true;
  });
  setHandler(defineUpdate<SlotAnswer, [unknown]>(messages.acquireSlot), async (value) => {
    const report = readReport(value);
    if (report === null)
      throw ApplicationFailure.nonRetryable(
        'acquireSlot needs a report, as the signal allowanceRequested has it',
        'InvalidInput',
      );
    ledger = hear(ledger, report, Date.now());
    dirty = true;
    asking.add(report.runId);
    try {
      if (ledger.world === null) await condition(() => ledger.world !== null, firstLookMs);
      await condition(() => !dirty);
    } finally {
      asking.delete(report.runId);
    }
    return answerTo(ledger, report.runId);
  });
  setHandler(defineQuery<AllowanceProgress>(messages.progress), () => progressOf(shared, ledger, Date.now()));

  async function look(): Promise<void> {
    looking = true;
    ledger = beginLook(ledger);
    const [world, closed] = await Promise.all([readWorld(shared), findClosed(ledger)]);
    ledger = endLook(ledger, world, closed, Date.now());
    looking = false;
    dirty = true;
  }

  async function tell(answer: Answer): Promise<void> {
    try {
      await getExternalWorkflowHandle(answer.consumer, answer.runId).signal(
        messages.allowanceGranted,
        shared.kind === 'migrations' ? answer.granted : { ...answer.granted, kind: shared.kind },
      );
    } catch (error) {
      if (isCancellation(error)) throw error;
      ledger = missed(ledger, answer, Date.now());
    }
  }

  for (;;) {
    dirty = false;
    const endsMs = unusedUntilMs(ledger);
    // Nothing is awaited between the last look at the signals and this, so none that came can be lost.
    if (endsMs !== null && endsMs <= Date.now()) return { ...inputOf(shared), answersGiven: ledger.answersGiven };
    if (isLongRun() && asking.size === 0)
      await continueAsNew<typeof allocateAllowance>({
        ...inputOf(shared),
        cluster,
        carried: interrupted(ledger, looking),
      });

    if (endsMs === null && !looking && ledger.nextLookMs <= Date.now()) void look().catch(ignoreCancellation);
    const divided = share(ledger, Date.now());
    ledger = divided.ledger;
    show(progressOf(shared, ledger, Date.now()));
    // Reports that arrive while answers are on their way are taken together in the next pass.
    await Promise.all(divided.answers.filter(({ runId }) => !asking.has(runId)).map(tell));

    if (!looking || endsMs !== null) timer.set(unusedUntilMs(ledger) ?? ledger.nextLookMs);
    await condition(() => dirty || (timer.due() && (!looking || ledger.unusedSinceMs !== null)));
  }
}

/** Two ledgers for one limit would give it away twice. */
function refuseWrongId(shared: SharedLimit | null, cluster: string): SharedLimit {
  const { workflowId } = workflowInfo();
  if (shared === null)
    throw ApplicationFailure.nonRetryable(
      'The input needs a region, as in {"region": "RegionOne"}, or a vCenter, as in {"kind": "creates", "vcenter": "prod"}. Nothing was started.',
      'InvalidInput',
    );
  const right = allowanceId(shared, cluster);
  if (workflowId !== right)
    throw ApplicationFailure.nonRetryable(
      `This run must have the workflow id ${right}, not ${workflowId}. Nothing was started.`,
      'InvalidInput',
    );
  return shared;
}

/** When the run ends if nobody comes; null while somebody takes part. */
function unusedUntilMs({ unusedSinceMs, world }: Ledger): number | null {
  return unusedSinceMs === null ? null : unusedSinceMs + Math.min(lingerMs, world?.checkMs ?? lingerMs);
}

/** A look in progress is lost to the next run, which begins with one of its own. */
function interrupted(ledger: Ledger, looking: boolean): Ledger {
  return looking ? { ...ledger, covering: null, nextLookMs: Date.now() } : ledger;
}

function isLongRun(): boolean {
  const { continueAsNewSuggested, runStartTime } = workflowInfo();
  return continueAsNewSuggested || Date.now() - runStartTime.getTime() > longestRunMs;
}

/** Null where it cannot be read now; the next look tries again. */
async function readWorld(shared: SharedLimit): Promise<AllowanceObservation | null> {
  try {
    if (shared.kind !== 'migrations')
      return await slots(
        shared.vcenter,
        `Read the limit of ${shared.kind}, and those that vCenter ${shared.vcenter} has in progress`,
      ).observeSlots({ kind: shared.kind });
    const { region } = shared;
    return await nova(region, `Read the limit and the migrations in progress of ${region}`).observeAllowance({
      region,
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

/** What it was told last, and how things stand. */
function answerTo(ledger: Ledger, runId: string): SlotAnswer {
  const holder = ledger.holders.find((one) => one.runId === runId);
  const { sequence, allowance } = holder?.told.at(-1) ?? { sequence: 0, allowance: 0 };
  return { sequence, allowance, limit: ledger.world?.limit ?? null, inUse: inUseOf(ledger) };
}

async function findClosed({ holders }: Ledger): Promise<string[]> {
  // Who has just spoken is open; at the start of a run that is everybody.
  const doubtful = holders.filter(({ closed, lastRequestMs }) => !closed && lastRequestMs < Date.now());
  const open = doubtful.map(({ consumer, runId }) => ({ consumer, runId }));
  if (open.length === 0) return [];
  try {
    return await temporal(`Find which of ${open.length} consumers are closed`).findClosedConsumers(open);
  } catch (error) {
    if (isCancellation(error)) throw error;
    log.warn('The consumers cannot be looked up', { reason: explain(error).message });
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
  const isMarked = started(searchAttributes.kind) !== undefined;
  let shown = started(searchAttributes.phase);
  if (!isMarked) showAttributes({ kind: 'Allowance', object: objectOf(shared) });
  return (progress) => {
    setCurrentDetails(describeProgress(progress));
    if (progress.phase === shown || progress.phase === 'Unused') return;
    shown = progress.phase satisfies AllowancePhase;
    showAttributes({ phase: progress.phase });
  };
}
