import {
  type Client,
  ScheduleAlreadyRunning,
  type ScheduleDescription,
  ScheduleNotFoundError,
  type ScheduleOptions,
  ScheduleOverlapPolicy,
  type ScheduleSummary,
} from '@temporalio/client';
import type { DriftInput } from '../contracts/hypervisor/drift.ts';
import { driftScheduleId, sweepScheduleId, workflowQueue, workflowTypes } from '../contracts/ids.ts';
import type { SweepRequest } from '../contracts/machine-safety/sweep.ts';
import type { Clock } from '../runtime/clock.ts';
import { isPayloadLost } from '../runtime/temporal/read-runs.ts';
import { limited } from '../runtime/temporal/temporal.ts';

/** A run that is started every so often. Its runs have the id of the Schedule and a time. */
export interface WantedSchedule {
  scheduleId: string;
  /** Whose workers run it. */
  cluster: string;
  everyMs: number;
  /** Each start is put off by a random part of it, so that those of many namespaces do not come at once. */
  jitterMs: number;
  workflowType: string;
  input: DriftInput | SweepRequest;
  summary: string;
}

export interface ScheduleTools {
  client: Client;
  clock: Clock;
  leaving: AbortSignal;
}

/** Compares a region's hosts with what their Hypervisors say. */
export const driftSchedule = (region: string, cluster: string, everyMs: number): WantedSchedule => ({
  scheduleId: driftScheduleId(region, cluster),
  cluster,
  everyMs,
  jitterMs: 0,
  workflowType: workflowTypes.findDrift,
  input: { region },
  summary: `Compare the hosts of ${region} with what their Hypervisors say`,
});

/** Requests the sweep of a namespace. */
export const sweepSchedule = (
  namespace: string,
  cluster: string,
  { periodMs, jitterMs }: { periodMs: number; jitterMs: number },
): WantedSchedule => ({
  scheduleId: sweepScheduleId(namespace, cluster),
  cluster,
  everyMs: periodMs,
  jitterMs,
  workflowType: workflowTypes.requestSweep,
  input: { namespace, cluster },
  summary: `Request a sweep of orphan VMs of ${namespace}`,
});

const callMs = 10_000;
const attempts = 6;
const firstPauseMs = 500;
const pageOf = 1_000;

/**
 * Creates or updates a Schedule, or deletes it where it is not wanted. Safe to repeat and for several workers at once;
 * a Schedule that a user has paused stays paused, one that is as wanted is left alone, and the interval is that of the
 * worker that asked last. One whose arguments were encrypted with a key that is lost is made anew: none of its runs
 * could read them. Tried again for a quarter of a minute.
 */
export const ensureSchedule = (tools: ScheduleTools, wanted: WantedSchedule, isWanted: boolean): Promise<void> =>
  again(tools, () => (isWanted ? ensureOnce(tools, wanted) : deleteOnce(tools, wanted)));

/**
 * Deletes the Schedules of drover's own that request sweeps of other namespaces than these: what the settings name no
 * more. Those of another cluster's prefix, and what another program has made under such an id, stay. Tried again as
 * {@link ensureSchedule} is.
 */
export async function deleteOtherSweepSchedules(
  tools: ScheduleTools,
  namespaces: readonly string[],
  cluster: string,
): Promise<void> {
  const wanted = new Set(namespaces.map((namespace) => sweepScheduleId(namespace, cluster)));
  const prefix = sweepScheduleId('', cluster);
  await again(tools, async () => {
    for (const { scheduleId, action } of await call(tools, () => listSchedules(tools.client))) {
      // Another cluster's prefix may begin alike; a namespace has no slash.
      const isOwn = scheduleId.startsWith(prefix) && !scheduleId.slice(prefix.length).includes('/');
      if (isOwn && action?.workflowType === workflowTypes.requestSweep && !wanted.has(scheduleId))
        await deleteOnce(tools, { scheduleId });
    }
  });
}

/** Without their arguments. */
async function listSchedules({ schedule }: Client): Promise<ScheduleSummary[]> {
  const found = [];
  for await (const one of schedule.list({ pageSize: pageOf })) found.push(one);
  return found;
}

/**
 * Temporal refuses concurrent reads of a Schedule that was just created, and workers start together. A worker that
 * shuts down gives up.
 */
async function again(tools: ScheduleTools, work: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === attempts) throw error;
      await tools.clock.sleep(firstPauseMs * 2 ** (attempt - 1), tools.leaving);
    }
  }
}

type Tools = Pick<ScheduleTools, 'client' | 'clock'>;

const call = <Result>({ client, clock }: Tools, calls: () => Promise<Result>): Promise<Result> =>
  limited(client, { timeoutMs: callMs, clock }, calls);

async function ensureOnce(tools: Tools, wanted: WantedSchedule): Promise<void> {
  const { schedule } = tools.client;
  const handle = schedule.getHandle(wanted.scheduleId);
  const options = scheduleOf(wanted);
  try {
    await call(tools, () => schedule.create(options));
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    try {
      if (comesAsWanted(await call(tools, () => handle.describe()), wanted)) return;
      await call(tools, () => handle.update(({ state }) => ({ ...options, state })));
    } catch (lost) {
      if (!isPayloadLost(lost)) throw lost;
      await makeAnew(tools, options);
    }
  }
}

/** No update reads less than the arguments. */
async function makeAnew(tools: Tools, options: ScheduleOptions): Promise<void> {
  const { scheduleId } = options;
  const all = await call(tools, () => listSchedules(tools.client));
  const { paused = false, note } = all.find((one) => one.scheduleId === scheduleId)?.state ?? {};
  await deleteOnce(tools, { scheduleId });
  await call(tools, () => tools.client.schedule.create({ ...options, state: { paused, ...(note && { note }) } }));
}

async function deleteOnce(tools: Tools, { scheduleId }: Pick<WantedSchedule, 'scheduleId'>): Promise<void> {
  try {
    await call(tools, () => tools.client.schedule.getHandle(scheduleId).delete());
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
  }
}

/** False, too, where it is another kind of Schedule by now. */
const comesAsWanted = (
  { spec }: Pick<ScheduleDescription, 'spec'>,
  { everyMs, jitterMs }: Pick<WantedSchedule, 'everyMs' | 'jitterMs'>,
): boolean => spec.intervals?.[0]?.every === everyMs && (spec.jitter ?? 0) === jitterMs;

/** Temporal's own least. */
const leastCatchupMs = 10_000;

/** One run at a time, and missed ones are skipped: the next observes the same. */
const scheduleOf = ({ scheduleId, cluster, everyMs, jitterMs, workflowType, input, summary }: WantedSchedule) =>
  ({
    scheduleId,
    spec: { intervals: [{ every: everyMs }], ...(jitterMs > 0 && { jitter: jitterMs }) },
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: Math.max(everyMs, leastCatchupMs) },
    action: {
      type: 'startWorkflow',
      workflowType,
      workflowId: scheduleId,
      taskQueue: workflowQueue(cluster),
      args: [input],
      staticSummary: summary,
    },
  }) satisfies ScheduleOptions;
