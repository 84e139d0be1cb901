import type { Command } from 'commander';
import { agentPoolAnnotations } from '../../contracts/agent-pool/metadata.ts';
import { retryConflicts } from '../../runtime/kubernetes/retry-conflicts.ts';
import { describedCommand } from '../command/command.ts';
import type { CommandContext } from '../command/context.ts';
import { interruptible } from '../command/interruption.ts';
import { withKubernetes } from '../command/kubernetes-access.ts';
import { whyNothingHappens } from '../command/lifecycle-mode.ts';
import { fullName, namespaceOption, readReference } from '../command/object-reference.ts';
import { poolAccess } from './agent-pool-access.ts';

export const refreshIsoCommand = (context: CommandContext): Command =>
  describedCommand(
    'refresh-iso',
    'Has the discovery ISO of a pool downloaded and compared at once, whatever the server says of its age. It is uploaded where its content is another one. VMs that are there keep theirs.',
    [['drover pools refresh-iso team/gpu', 'of one pool']],
  )
    .argument('<pool>', 'NAMESPACE/NAME, or the name where only one pool has it')
    .addOption(namespaceOption('VsphereAgentPool'))
    .action((text: string, { namespace }: { namespace?: string }) =>
      interruptible(context, async (abort) => {
        const { terminal, clock, env } = context;
        const reference = readReference('pool', text, namespace ?? null);
        const loaded = await context.loadConfig();
        await withKubernetes({ context, config: loaded.config, abort }, async (kubernetes) => {
          const access = poolAccess(kubernetes, abort);
          const asked = { [agentPoolAnnotations.forceIsoRefresh]: new Date(clock.now()).toISOString() };
          const pool = await retryConflicts(async () => {
            const found = await access.read(reference, 'Nothing was changed.');
            await access.annotate(found, asked);
            return found;
          });
          const name = fullName(pool);
          const idle = whyNothingHappens('VsphereAgentPool', loaded, { name, observed: pool.observed }, env);
          terminal.print(`The discovery ISO of ${name} is downloaded again as soon as a run observes the pool.`);
          terminal.remark(
            idle ?? `\`drover describe pool ${name}\` shows when it was checked, and what is in the way.`,
          );
        });
      }),
    );
