import type { Client } from '@temporalio/client';

/** `temporal.api.enums.v1.TaskQueueType`; the enum itself is in a package that drover does not depend on. */
type TaskQueueType = NonNullable<Parameters<Client['workflowService']['describeTaskQueue']>[0]['taskQueueType']>;
// oxlint-disable-next-line typescript/no-unsafe-enum-assignment
const types = { workflow: 1 as TaskQueueType, activity: 2 as TaskQueueType };

/** A queue, and which of its two kinds of task. */
export interface TaskQueue {
  name: string;
  of: keyof typeof types;
}

/** Who polls a queue, by the identities they gave Temporal; empty when no worker does. */
export async function readPollers(client: Client, { name, of }: TaskQueue): Promise<string[]> {
  const { pollers } = await client.workflowService.describeTaskQueue({
    namespace: client.options.namespace,
    taskQueue: { name },
    taskQueueType: types[of],
  });
  return [...new Set((pollers ?? []).map(({ identity }) => identity ?? 'unknown'))];
}
