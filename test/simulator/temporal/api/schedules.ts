import type { temporal } from '@temporalio/proto';
import type { Entry } from '../../clock.ts';
import { grpcError, grpcStatus } from './grpc.ts';
import type { Run } from '../run.ts';
import { AlreadyStartedError, startRun } from '../runs.ts';
import type { Payloads } from '../sdk.ts';
import { enums, msToTs, optionalTsToMs, toPayload } from '../sdk.ts';
import type { Server } from '../server.ts';
import { isOpen } from '../server.ts';

/**
 * Schedules, as far as drover uses them: intervals, the overlap policies SKIP and ALLOW_ALL, pause, trigger. They fire
 * in virtual time.
 */

type Schedule = temporal.api.schedule.v1.ISchedule;
type Patch = temporal.api.schedule.v1.ISchedulePatch;

export interface NewSchedule {
  scheduleId: string;
  schedule: Schedule;
  memo: object;
  searchAttributes: object;
}

/** The calls of Temporal's API about schedules: each gives the fields of its response. */
export interface Schedules {
  create(request: NewSchedule, patch: Patch): object;
  describe(scheduleId: string): object;
  /** On one page. */
  list(): object;
  update(scheduleId: string, schedule: Schedule): object;
  patch(scheduleId: string, patch: Patch): object;
  remove(scheduleId: string): object;
}

interface ScheduleRecord extends NewSchedule {
  createdMs: number;
  updatedMs: number | null;
  entry: Entry | null;
  /** The last ones first. */
  actions: { scheduledMs: number; actualMs: number; run: Run }[];
  skipped: number;
}

const Overlap = enums.ScheduleOverlapPolicy;
const supportedPolicies: readonly number[] = [
  Overlap.SCHEDULE_OVERLAP_POLICY_UNSPECIFIED,
  Overlap.SCHEDULE_OVERLAP_POLICY_SKIP,
  Overlap.SCHEDULE_OVERLAP_POLICY_ALLOW_ALL,
];
const shownActions = 10;

export function createSchedules(server: Server): Schedules {
  const records = new Map<string, ScheduleRecord>();

  const known = (scheduleId: string): ScheduleRecord => {
    const record = records.get(scheduleId);
    if (record === undefined) throw grpcError(grpcStatus.notFound, `schedule "${scheduleId}" not found`);
    return record;
  };

  function plan(record: ScheduleRecord): void {
    server.clock.cancel(record.entry);
    const [nextMs] = nextTimes(record.schedule, server.clock.nowMs, 1);
    record.entry =
      nextMs === undefined
        ? null
        : server.after(nextMs - server.clock.nowMs, () => {
            if (record.schedule.state?.paused !== true)
              act(record, nextMs, record.schedule.policies?.overlapPolicy ?? 0);
            plan(record);
          });
  }

  function act(record: ScheduleRecord, scheduledMs: number, overlapPolicy: number): void {
    const { startWorkflow } = record.schedule.action ?? {};
    if (!startWorkflow) return;
    if (
      overlapPolicy !== (Overlap.SCHEDULE_OVERLAP_POLICY_ALLOW_ALL as number) &&
      record.actions.some(({ run }) => isOpen(run))
    ) {
      record.skipped += 1;
      return;
    }
    const { workflowId, workflowType, taskQueue, input, memo, searchAttributes, userMetadata } = startWorkflow;
    const time = new Date(scheduledMs).toISOString().replace(/\.\d+Z$/u, 'Z');
    const keyword = toPayload(record.scheduleId);
    const scheduledBy: Payloads = {
      TemporalScheduledById: {
        metadata: { ...keyword.metadata, type: Buffer.from('Keyword') },
        data: keyword.data ?? null,
      },
    };
    try {
      const { run } = startRun(server, {
        workflowId: `${workflowId ?? ''}-${time}`,
        type: workflowType?.name ?? '',
        taskQueue: taskQueue?.name ?? '',
        input: input?.payloads ?? [],
        memo: memo?.fields ?? {},
        attributes: { ...(searchAttributes?.indexedFields as Payloads | undefined), ...scheduledBy },
        userMetadata: userMetadata ?? null,
      });
      record.actions = [{ scheduledMs, actualMs: server.clock.nowMs, run }, ...record.actions].slice(0, shownActions);
    } catch (error) {
      // Two of one second have one id: the server drops the later one.
      if (!(error instanceof AlreadyStartedError)) throw error;
    }
  }

  function applyPatch(record: ScheduleRecord, { triggerImmediately, pause, unpause, backfillRequest }: Patch): void {
    if (backfillRequest?.length) throw unsupported(record.scheduleId, 'backfills');
    const { state } = record.schedule;
    if (pause) record.schedule = { ...record.schedule, state: { ...state, paused: true, notes: pause } };
    if (unpause) record.schedule = { ...record.schedule, state: { ...state, paused: false, notes: unpause } };
    if (triggerImmediately)
      act(record, server.clock.nowMs, triggerImmediately.overlapPolicy || record.schedule.policies?.overlapPolicy || 0);
  }

  return {
    create(request, patch) {
      if (records.has(request.scheduleId))
        throw grpcError(grpcStatus.alreadyExists, 'schedule with this ID is already registered');
      validate(request.scheduleId, request.schedule);
      const record: ScheduleRecord = {
        ...request,
        createdMs: server.clock.nowMs,
        updatedMs: null,
        entry: null,
        actions: [],
        skipped: 0,
      };
      records.set(request.scheduleId, record);
      applyPatch(record, patch);
      plan(record);
      return { conflictToken: new Uint8Array() };
    },
    describe(scheduleId) {
      const { schedule, memo, searchAttributes, createdMs, updatedMs, actions, skipped } = known(scheduleId);
      const policies = {
        ...schedule.policies,
        overlapPolicy: schedule.policies?.overlapPolicy || Overlap.SCHEDULE_OVERLAP_POLICY_SKIP,
      };
      return {
        schedule: { ...schedule, policies },
        memo,
        searchAttributes,
        conflictToken: new Uint8Array(),
        info: {
          actionCount: actions.length,
          overlapSkipped: skipped,
          createTime: msToTs(Math.floor(createdMs)),
          ...(updatedMs !== null && { updateTime: msToTs(Math.floor(updatedMs)) }),
          runningWorkflows: actions
            .filter(({ run }) => isOpen(run))
            .map(({ run }) => ({ workflowId: run.workflowId, runId: run.runId })),
          recentActions: actions.toReversed().map(({ scheduledMs, actualMs, run }) => ({
            scheduleTime: msToTs(Math.floor(scheduledMs)),
            actualTime: msToTs(Math.floor(actualMs)),
            startWorkflowResult: { workflowId: run.workflowId, runId: run.runId },
          })),
          futureActionTimes: nextTimes(schedule, server.clock.nowMs, shownActions).map((ms) => msToTs(ms)),
        },
      };
    },
    list: () => ({
      schedules: [...records.values()].map(({ scheduleId, schedule, memo, searchAttributes }) => ({
        scheduleId,
        memo,
        searchAttributes,
        info: {
          spec: schedule.spec,
          workflowType: schedule.action?.startWorkflow?.workflowType,
          notes: schedule.state?.notes ?? '',
          paused: schedule.state?.paused ?? false,
        },
      })),
    }),
    update(scheduleId, schedule) {
      const record = known(scheduleId);
      validate(scheduleId, schedule);
      Object.assign(record, { schedule, updatedMs: server.clock.nowMs });
      plan(record);
      return {};
    },
    patch(scheduleId, patch) {
      applyPatch(known(scheduleId), patch);
      return {};
    },
    remove(scheduleId) {
      server.clock.cancel(known(scheduleId).entry);
      records.delete(scheduleId);
      return {};
    },
  };
}

const unsupported = (scheduleId: string, what: string): Error =>
  grpcError(grpcStatus.invalidArgument, `the simulator does not support ${what} of a schedule (${scheduleId})`);

function validate(scheduleId: string, { spec, policies, action }: Schedule): void {
  if (!supportedPolicies.includes(policies?.overlapPolicy ?? 0))
    throw unsupported(scheduleId, `the overlap policy ${Overlap[policies?.overlapPolicy ?? 0] ?? ''}`);
  const calendars = [...(spec?.structuredCalendar ?? []), ...(spec?.calendar ?? []), ...(spec?.cronString ?? [])];
  if (calendars.length > 0) throw unsupported(scheduleId, 'calendars');
  if (!action?.startWorkflow) throw unsupported(scheduleId, 'an action that starts no workflow');
}

/** Intervals count from the epoch, as Temporal has it. */
function nextTimes({ spec }: Schedule, nowMs: number, many: number): number[] {
  const times = (spec?.interval ?? []).flatMap(({ interval, phase }) => {
    const everyMs = optionalTsToMs(interval) ?? 0;
    if (everyMs === 0) return [];
    const phaseMs = optionalTsToMs(phase) ?? 0;
    const firstMs = (Math.floor((nowMs - phaseMs) / everyMs) + 1) * everyMs + phaseMs;
    return Array.from({ length: many }, (_, index) => firstMs + index * everyMs);
  });
  return times.toSorted((a, b) => a - b).slice(0, many);
}
