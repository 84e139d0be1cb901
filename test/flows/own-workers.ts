import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NativeConnection, Worker } from '@temporalio/worker';
import type { WorkflowBundle } from '@temporalio/worker';
import { createTemporalActivities } from '../../activities/temporal/activities.ts';
import { SlotRequests } from '../../activities/temporal/allowance.ts';
import { workflowQueue } from '../../contracts/ids.ts';
import { startLab } from '../../lab/lab.ts';
import { systemClock } from '../../runtime/clock.ts';
import { openClient, readTemporalSettings } from '../../runtime/temporal/temporal.ts';
import { bundleTestWorkflows } from '../bundle-workflows.ts';
import { quietTemporal } from '../quiet-temporal.ts';
import { openDevServer } from './dev-server.ts';
import { noObjects, type OwnWorkers } from './own-workers-base.ts';

export interface OwnWorkersOptions {
  /** Module that exports the workflow types: its own, and drover's. */
  workflowsPath: string;
  /** Events after which runs continue as new. Default: the server's own. */
  longHistory?: number;
}

/** The first worker runs the workflows of the module, with drover's activities on Temporal itself. */
export async function openOwnWorkers({ workflowsPath, longHistory }: OwnWorkersOptions): Promise<OwnWorkers> {
  quietTemporal();
  const bundle = { code: await bundleTestWorkflows(workflowsPath, ['workflows', 'contracts']) };
  if (process.env['DROVER_SIMULATED'] === undefined) return openRealWorkers(bundle, longHistory);
  const { openSimulatedWorkers } = await import('../simulator/own-workers.ts');
  return openSimulatedWorkers(bundle, longHistory);
}

async function openRealWorkers(workflowBundle: WorkflowBundle, longHistory?: number): Promise<OwnWorkers> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'drover-own-workers-')));
  const lab = await startLab({ dir: join(root, 'lab'), parts: ['temporal'] });
  const { temporal } = lab.handles;
  // The lab's own server is shared, and has no settings of a test.
  const other =
    longHistory === undefined
      ? null
      : await openDevServer(temporal.program, { 'limit.historyCount.suggestContinueAsNew': longHistory });
  const address = other?.address ?? temporal.address;
  const client = openClient(readTemporalSettings({ TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: 'default' }));
  const connection = await NativeConnection.connect({ address });
  const running: { worker: Worker; done: Promise<void> }[] = [];
  const start = async (options: Parameters<typeof Worker.create>[0]): Promise<void> => {
    const worker = await Worker.create({ connection, ...options });
    running.push({ worker, done: worker.run() });
  };
  await start({
    taskQueue: workflowQueue(''),
    workflowBundle,
    activities: createTemporalActivities({
      client,
      cluster: '',
      clock: systemClock,
      slotRequests: new SlotRequests({ client, cluster: '', clock: systemClock, random: Math.random }),
      publishQueued: noObjects,
    }),
  });
  return {
    client,
    start: (taskQueue, activities) => start({ taskQueue, activities, maxConcurrentActivityTaskExecutions: 100 }),
    async historyOf(handle) {
      const history = await handle.fetchHistory();
      await Worker.runReplayHistory({ workflowBundle }, history, handle.workflowId);
      return history;
    },
    async close() {
      for (const { worker } of running) worker.shutdown();
      await Promise.all(running.map(({ done }) => done));
      await connection.close();
      await client.connection.close();
      await other?.stop();
      await lab.stop();
      rmSync(root, { recursive: true });
    },
  };
}
