/** drover's own worker behind a gate. Arguments: the switchboard's URL, a file with the workflow bundle, the name of a mutation if any. */
import { untilSignalled } from '../../starters/until-signalled.ts';
import { loadConfig } from '../../runtime/config.ts';
import { createLogger } from '../../runtime/logging.ts';
import { startWorker } from '../../workers/main.ts';
import { gate } from './gate.ts';
import { openMutation } from './mutations.ts';

const [url, bundle, mutation] = process.argv.slice(2);
if (url === undefined || bundle === undefined) throw new Error('worker.ts <switchboard> <bundle> [mutation]');
const { config } = loadConfig();
const interceptActivity = gate(url, mutation === undefined ? undefined : await openMutation(mutation));
await untilSignalled(await startWorker(config, createLogger({ level: config.logLevel, component: 'worker' }), { interceptActivity, workflowBundle: { codePath: bundle } }));
