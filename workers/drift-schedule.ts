import {
  type Client,
  ScheduleAlreadyRunning,
  type ScheduleDescription,
  ScheduleNotFoundError,
  type ScheduleOptions,
  type ScheduleOptionsStartWorkflowAction,
  ScheduleOverlapPolicy,
} from '@temporalio/client';
import type { DriftFindings, DriftInput } from '../contracts/hypervisor/drift.ts';
import { driftScheduleId, workflowQueue, workflowTypes } from '../contracts/ids.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Mode } from '../contracts/kinds/kind.ts';
import { limited } from '../runtime/temporal/temporal.ts';

export interface DriftSchedule {
  /** Of the kind Hypervisor: only where drover acts is anything repaired. */
  mode: Mode;
  region: string;
  /** Prefix of ids; empty by default. */
  cluster: string;
  /** Interval between two observations. */
  driftMs: number;
}

const callMs = 10_000;
const attempts = 6;
const firstPauseMs = 500;

/**
 * Creates, updates or deletes the Schedule that starts the drift detection. Safe to repeat and for several workers at once; a Schedule that a person
 * has paused stays paused, and the interval is that of the worker that started last. Tried again for a quarter of a minute: Temporal
 * refuses concurrent reads of a Schedule that was just created, and workers start together. A worker that shuts down gives up.
 */
export async function ensureDriftSchedule(
  { client, clock, leaving }: { client: Client; clock: Clock; leaving: AbortSignal },
  wanted: DriftSchedule,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await ensureOnce({ client, clock }, wanted);
    } catch (error) {
      if (attempt === attempts) throw error;
      await clock.sleep(firstPauseMs * 2 ** (attempt - 1), leaving);
    }
  }
}

async function ensureOnce({ client, clock }: { client: Client; clock: Clock }, wanted: DriftSchedule): Promise<void> {
  const { mode, region, cluster } = wanted;
  const handle = client.schedule.getHandle(driftScheduleId(region, cluster));
  const call = <Result>(calls: () => Promise<Result>): Promise<Result> =>
    limited(client, { timeoutMs: callMs, clock }, calls);
  if (mode !== 'act') return await call(() => handle.delete()).catch(unlessNotFound);
  const options = scheduleOf(wanted);
  try {
    await call(() => client.schedule.create(options));
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    if (looksEvery(await call(() => handle.describe())) === wanted.driftMs) return;
    await call(() => handle.update(({ state }) => ({ ...options, state })));
  }
}

function unlessNotFound(error: unknown): void {
  if (!(error instanceof ScheduleNotFoundError)) throw error;
}

/** Milliseconds; null where it is another kind of Schedule by now. */
const looksEvery = ({ spec }: Pick<ScheduleDescription, 'spec'>): number | null => spec.intervals?.[0]?.every ?? null;

/** One run at a time, and missed ones are skipped: the next observes the same. */
export function scheduleOf({ region, cluster, driftMs }: Pick<DriftSchedule, 'region' | 'cluster' | 'driftMs'>) {
  const id = driftScheduleId(region, cluster);
  return {
    scheduleId: id,
    spec: { intervals: [{ every: driftMs }] },
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: Math.max(driftMs, leastCatchupMs) },
    action: {
      type: 'startWorkflow',
      workflowType: workflowTypes.findDrift,
      workflowId: id,
      taskQueue: workflowQueue,
      args: [{ region }],
      staticSummary: `Compare the hosts of ${region} with what their Hypervisors say`,
    },
  } satisfies ScheduleOptions<ScheduleOptionsStartWorkflowAction<(input: DriftInput) => Promise<DriftFindings>>>;
}

/** Temporal's own least. */
const leastCatchupMs = 10_000;
