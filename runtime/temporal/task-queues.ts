import type { Client } from '@temporalio/client';
import { optionalTsToMs } from '@temporalio/common/lib/time.js';

/** `temporal.api.enums.v1.TaskQueueType`; the enum itself is in a package that drover does not depend on. */
type TaskQueueType = NonNullable<Parameters<Client['workflowService']['describeTaskQueue']>[0]['taskQueueType']>;
// oxlint-disable-next-line typescript/no-unsafe-enum-assignment
const types = { workflow: 1 as TaskQueueType, activity: 2 as TaskQueueType };

/** A queue, and which of its two kinds of task. */
export interface TaskQueue {
  name: string;
  of: keyof typeof types;
}

/** By the identity that it gave Temporal. */
export interface Poller {
  identity: string;
  /** When it polled last, by Temporal's clock, in Unix ms; null where Temporal does not say. A poll waits for 60 s. */
  polledAtMs: number | null;
}

/**
 * Who polls a queue, those that polled last first; empty when no worker does. Temporal names a worker that is gone for
 * five minutes more.
 */
export async function readPollers(client: Client, { name, of }: TaskQueue): Promise<Poller[]> {
  const { pollers } = await client.workflowService.describeTaskQueue({
    namespace: client.options.namespace,
    taskQueue: { name },
    taskQueueType: types[of],
  });
  const found = (pollers ?? []).map(({ identity, lastAccessTime }) => ({
    identity: identity ?? 'unknown',
    polledAtMs: optionalTsToMs(lastAccessTime) ?? null,
  }));
  const lastFirst = found.toSorted((a, b) => (b.polledAtMs ?? Infinity) - (a.polledAtMs ?? Infinity));
  return lastFirst.filter(({ identity }, index) => lastFirst.findIndex((one) => one.identity === identity) === index);
}

/** Those that have polled since. */
export const polledSince = (pollers: readonly Poller[], sinceMs: number): Poller[] =>
  pollers.filter(({ polledAtMs }) => polledAtMs === null || polledAtMs >= sinceMs);
