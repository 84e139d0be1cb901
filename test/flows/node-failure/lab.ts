import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DefaultLogger, NativeConnection, Worker } from '@temporalio/worker';
import { workflowQueue } from '../../../contracts/ids.ts';
import type { Lab } from '../../../lab/lab.ts';
import { startLab } from '../../../lab/lab.ts';
import { openClient, readTemporalSettings } from '../../../runtime/temporal/temporal.ts';
import { bundleWorkflows } from '../../../workers/bundle.ts';
import { quietTemporal } from '../../quiet-temporal.ts';
import type { FailureBase, ServedActivities } from './base.ts';

const logger = new DefaultLogger('ERROR');

/** A real Temporal of its own, and workers in this process. */
export async function openLabBase(queues: readonly ServedActivities[]): Promise<FailureBase> {
  quietTemporal();
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'drover-failure-')));
  const lab: Lab<'temporal'> = await startLab({ dir: join(root, 'lab'), parts: ['temporal'] });
  const { address } = lab.handles.temporal;
  const workflowBundle = await bundleWorkflows({ logger });
  const client = openClient(readTemporalSettings({ TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: 'default' }));
  const connection = await NativeConnection.connect({ address });
  const workers = await Promise.all([
    Worker.create({ connection, taskQueue: workflowQueue(''), workflowBundle }),
    ...queues.map((queue) => Worker.create({ connection, ...queue })),
  ]);
  const running = workers.map((worker) => worker.run());
  return {
    client,
    replay: async (handle) =>
      Worker.runReplayHistory({ workflowBundle }, await handle.fetchHistory(), handle.workflowId),
    async close() {
      for (const worker of workers) worker.shutdown();
      await Promise.all(running);
      await connection.close();
      await client.connection.close();
      await lab.stop();
      rmSync(root, { recursive: true });
    },
  };
}
