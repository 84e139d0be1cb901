import { enums, messages, namespace } from '../sdk.ts';
import type { Service, ServiceOptions } from './calls.ts';
import { completeActivity } from '../activity-tasks.ts';
import { openRun } from './lookup.ts';
import { createReadCalls } from './read-calls.ts';
import { createStartCalls } from './start-calls.ts';
import { createUpdateCalls } from './update-calls.ts';

/** Temporal's API, as far as drover uses it. */

export function createService(options: ServiceOptions): Service {
  const { server, worker, schedules } = options;
  const starts = createStartCalls(server);
  return {
    ...starts.calls,
    ...createUpdateCalls(server, starts.start),
    ...createReadCalls(options),
    respondActivityTaskCompletedById: ({ workflowId, runId, activityId, result }) => {
      completeActivity(
        server,
        openRun(server, { workflowId: workflowId ?? null, runId: runId ?? null }),
        activityId ?? '',
        result?.payloads?.[0] ?? null,
      );
      return {};
    },

    createSchedule: ({ scheduleId, schedule, memo, searchAttributes, initialPatch }) =>
      schedules.create(
        {
          scheduleId: scheduleId ?? '',
          schedule: schedule ?? {},
          memo: memo ?? {},
          searchAttributes: searchAttributes ?? {},
        },
        initialPatch ?? {},
      ),
    describeSchedule: ({ scheduleId }) => schedules.describe(scheduleId ?? ''),
    listSchedules: () => schedules.list(),
    updateSchedule: ({ scheduleId, schedule }) => schedules.update(scheduleId ?? '', schedule ?? {}),
    patchSchedule: ({ scheduleId, patch }) => schedules.patch(scheduleId ?? '', patch ?? {}),
    deleteSchedule: ({ scheduleId }) => schedules.remove(scheduleId ?? ''),

    describeNamespace: () => ({
      namespaceInfo: { name: namespace, state: enums.NamespaceState.NAMESPACE_STATE_REGISTERED },
    }),
    getSystemInfo: () => ({ serverVersion: 'simulator', capabilities: {} }),
    describeTaskQueue: () => ({ pollers: worker.host.process.isAlive ? [{ identity: 'worker@simulator' }] : [] }),
  };
}

/** The answer as the connection gives it: an instance of its message, with `Long`s where the message has 64 bits. */
export function toResponse(method: string, answer: unknown): unknown {
  const name = `${method[0]?.toUpperCase() ?? ''}${method.slice(1)}Response`;
  const types = messages.workflowservice.v1 as unknown as Record<string, { fromObject(object: unknown): unknown }>;
  return types[name]?.fromObject(answer);
}
