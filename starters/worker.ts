import type { Command } from 'commander';
import { loadConfig } from '../runtime/config/config.ts';
import { createLogger } from '../runtime/telemetry/logging.ts';
import { openTracing } from '../runtime/telemetry/tracing.ts';
import { startWorker } from '../workers/main.ts';
import { describedCommand } from './command/command.ts';
import { untilSignalled } from './command/until-signalled.ts';

export const workerCommand = (): Command =>
  describedCommand(
    'worker',
    'Runs a worker: it executes the workflows, and calls Nova, Placement and Kubernetes. Run as many as you like; any may die at any time.',
    [
      [
        'drover worker',
        'until Ctrl-C or SIGTERM; what is under way then has 30 s to finish, or goes to another worker',
      ],
      ['DROVER_MODE_EVICTION=observe drover worker', 'plan and publish, change nothing'],
    ],
  ).action(async () => {
    const { config, file } = loadConfig();
    const logger = createLogger({ level: config.logLevel, component: 'worker' });
    logger.info({ settings: file ?? 'defaults' }, 'Worker starts');
    const tracing = await openTracing('worker');
    try {
      await untilSignalled(startWorker(config, logger, { tracing }));
    } finally {
      await tracing?.close();
    }
    logger.info('Worker stopped');
  });
