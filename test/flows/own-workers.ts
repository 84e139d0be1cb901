import type { Client } from '@temporalio/client';
import type { WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { NativeConnection, Worker } from '@temporalio/worker';
import { createTemporalActivities } from '../../activities/temporal/activities.ts';
import { workflowQueue } from '../../contracts/ids.ts';
import { systemClock } from '../../runtime/clock.ts';
import { openClient, readTemporalSettings } from '../../runtime/temporal.ts';

/** Workers within the test's own process, and a client, on the Temporal at that address. */
export interface OwnWorkers {
  client: Client;
  /** How many there are. */
  count(): number;
  start(options: Parameters<typeof Worker.create>[0]): Promise<void>;
  close(): Promise<void>;
}

/** The first one runs the workflows of the bundle, with drover's activities on Temporal itself. */
export async function openOwnWorkers(address: string, workflowBundle: WorkflowBundleWithSourceMap): Promise<OwnWorkers> {
  const client = openClient(readTemporalSettings({ TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: 'default' }));
  const connection = await NativeConnection.connect({ address });
  const running: { worker: Worker; done: Promise<void> }[] = [];
  const start = async (options: Parameters<typeof Worker.create>[0]): Promise<void> => {
    const worker = await Worker.create({ connection, ...options });
    running.push({ worker, done: worker.run() });
  };
  await start({ taskQueue: workflowQueue, workflowBundle, activities: createTemporalActivities({ client, cluster: '', clock: systemClock, random: Math.random }) });
  return {
    client,
    count: () => running.length,
    start,
    async close() {
      for (const { worker } of running) worker.shutdown();
      await Promise.all(running.map(({ done }) => done));
      await connection.close();
      await client.connection.close();
    },
  };
}
