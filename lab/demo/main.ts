/** `npm start`: a cloud's control plane on this machine; a new host is brought into service, another one is emptied. `-- --once` ends by itself, `-- --only vm` shows a virtual machine. */
import { LabError } from '../lab-error.ts';
import { hostsStory } from './hosts.ts';
import { readOptions } from './options.ts';
import { perform } from './story.ts';
import { vmStory } from './vm.ts';

const { once, only } = readOptions(process.argv.slice(2));
try {
  await (only === 'vm' ? perform(vmStory, { once }) : perform(hostsStory(only), { once }));
} catch (error) {
  if (!(error instanceof LabError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
