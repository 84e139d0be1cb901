import { NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { workflowQueue } from '../../contracts/ids.ts';
import { stickyScheduleToStartTimeoutMs } from '../../contracts/policies.ts';
import { createLogger, temporalLogger } from '../../runtime/telemetry/logging.ts';
import { readTemporalSettings } from '../../runtime/temporal/temporal.ts';
import { bundleWorkflows } from '../../workers/bundle.ts';

/**
 * A worker of drover's workflows alone, in a process of its own so that its memory can be measured: their activities
 * stay in their queues. Started with the size of the cache; reports to its parent how many runs it has cached.
 */
const [maxCachedWorkflows] = process.argv.slice(2).map(Number);
const logger = temporalLogger(createLogger({ level: 'warn', component: 'cache-worker' }));
Runtime.install({ logger, shutdownSignals: [] });
const settings = readTemporalSettings();
const worker = await Worker.create({
  connection: await NativeConnection.connect(settings.connection),
  namespace: settings.namespace,
  taskQueue: workflowQueue(''),
  workflowBundle: await bundleWorkflows({ logger }),
  stickyQueueScheduleToStartTimeout: stickyScheduleToStartTimeoutMs,
  ...(maxCachedWorkflows !== undefined && { maxCachedWorkflows }),
});
process.on('message', () => process.send?.(worker.getStatus().numCachedWorkflows));
// The parent is gone, or has finished.
process.once('disconnect', () => worker.shutdown());
await worker.run();
