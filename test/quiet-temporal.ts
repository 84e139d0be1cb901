import { DefaultLogger, Runtime } from '@temporalio/worker';

/** One for a process, and so for all its test files. */
let isInstalled = false;

/** Temporal's SDK says errors only. To be called before what makes a worker or a connection of it. */
export function quietTemporal(): void {
  if (isInstalled) return;
  isInstalled = true;
  Runtime.install({ logger: new DefaultLogger('ERROR'), telemetryOptions: { logging: { filter: 'ERROR' } } });
}
