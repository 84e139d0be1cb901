import type { History } from '@temporalio/common/lib/proto-utils.js';
import { conductOf } from './conduct.ts';
import { safetyOf } from './read-machines.ts';
import type { ObservedRun } from './snapshot.ts';

type Described = Pick<ObservedRun, 'workflowId' | 'runId' | 'type' | 'status' | 'startedAtMs' | 'closedAtMs'>;

/** What the checks need of a run, from its description and its history. Pure. */
export function observedRunOf(described: Described, { events }: History): ObservedRun {
  const all = events ?? [];
  const activities: Record<string, number> = {};
  let [children, messages, failures, retries] = [0, 0, 0, 0];
  for (const event of all) {
    const name = event.activityTaskScheduledEventAttributes?.activityType?.name;
    if (name) activities[name] = (activities[name] ?? 0) + 1;
    if (event.startChildWorkflowExecutionInitiatedEventAttributes) children += 1;
    if (event.workflowExecutionSignaledEventAttributes ?? event.workflowExecutionUpdateAcceptedEventAttributes)
      messages += 1;
    retries += Math.max(0, (event.activityTaskStartedEventAttributes?.attempt ?? 1) - 1);
    const failed =
      event.activityTaskFailedEventAttributes ??
      event.activityTaskTimedOutEventAttributes ??
      event.activityTaskCanceledEventAttributes;
    if (failed ?? event.workflowTaskFailedEventAttributes ?? event.workflowTaskTimedOutEventAttributes) failures += 1;
  }
  const [argument] = all[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
  return {
    ...described,
    input: jsonOf(argument?.data),
    events: all.length,
    activities,
    children,
    messages,
    failures,
    retries,
    conduct: conductOf(described.type, all),
    safety: safetyOf({ events: all }),
  };
}

function jsonOf(data: Uint8Array | null | undefined): unknown {
  try {
    return JSON.parse(Buffer.from(data ?? '').toString('utf8')) as unknown;
  } catch {
    // Encoded, or nothing.
    return null;
  }
}
