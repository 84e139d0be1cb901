/** drover's own worker behind a gate. Arguments: the faultControl's URL, the name of a mutation if any. */
import { untilSignalled } from '../../starters/command/until-signalled.ts';
import { loadConfig } from '../../runtime/config/config.ts';
import { createLogger } from '../../runtime/telemetry/logging.ts';
import { startWorker } from '../../workers/main.ts';
import { gate } from './gate.ts';
import { openMutation } from './mutations.ts';

const [url, mutation] = process.argv.slice(2);
if (url === undefined) throw new Error('worker.ts <faultControl> [mutation]');
const { config } = loadConfig();
const interceptActivity = gate(url, mutation === undefined ? undefined : openMutation(mutation));
await untilSignalled(
  startWorker(config, createLogger({ level: config.logLevel, component: 'worker' }), { interceptActivity }),
);
