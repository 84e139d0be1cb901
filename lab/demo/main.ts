/**
 * `npm start`: a cloud's control plane on this machine; a new host is brought into service, another one is emptied.
 * `-- --once` ends by itself, `-- --only vm` shows a virtual machine, `-- --only sweep` orphans, `-- --only pool` a
 * NodePool that grows and shrinks, `-- --only clone` clones of a volume.
 */
import { LabError } from '../lab-error.ts';
import { cloneStory } from './clone.ts';
import { hostsStory } from './hosts.ts';
import { readOptions } from './options.ts';
import { poolStory } from './pool.ts';
import { perform } from './story.ts';
import { sweepStory } from './sweep.ts';
import { vmStory } from './vm.ts';

const { once, only } = readOptions(process.argv.slice(2));
try {
  if (only === 'vm') await perform(vmStory, { once });
  else if (only === 'sweep') await perform(sweepStory, { once });
  else if (only === 'pool') await perform(poolStory, { once });
  else if (only === 'clone') await perform(cloneStory, { once });
  else await perform(hostsStory(only), { once });
} catch (error) {
  if (!(error instanceof LabError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
