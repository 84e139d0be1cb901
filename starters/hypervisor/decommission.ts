import type { Command } from 'commander';
import type { HypervisorConsent } from '../../contracts/hypervisor/hypervisor.ts';
import { collectHypervisorConsents, parseReason } from '../command/arguments.ts';
import { asOption, describedCommand, hostArgument } from '../command/command.ts';
import type { SendOptions } from './command-hypervisor.ts';
import { sendHypervisor, timeoutOption, waitOption } from './command-hypervisor.ts';
import type { CommandContext } from '../command/context.ts';
import { nodeTerminates } from './hypervisor-objects.ts';
import { planDecommission } from './plan-decommission.ts';
import { whoRuns } from '../command/who.ts';

interface DecommissionOptions extends SendOptions {
  reason: string;
  consent?: HypervisorConsent[];
}

export const decommissionCommand = (context: CommandContext): Command =>
  describedCommand(
    'decommission',
    'Takes a host out of Nova for good: empties it, then removes it from its aggregates, its compute service from Nova and its resource provider from Placement. The last two cannot be undone: the host would have to be onboarded anew.',
    [
      ['drover decommission node-1 --reason "lease ends"', 'and see how it begins'],
      ['drover decommission node-1 --reason "lease ends" --wait', 'until it is out of Nova'],
      [
        'drover decommission node-1 --reason "lost" --consent delete-allocations',
        'also with allocations that are never cleared, with your name',
      ],
      ['drover maintain node-1 --mode ha --reason "too early"', 'take it back; then drover activate node-1'],
    ],
  )
    .addArgument(hostArgument())
    .requiredOption('--reason <text>', 'why, for other users', parseReason)
    .option(
      '--consent <what>',
      'delete-allocations: delete allocations that the resource provider still has when the host is empty',
      collectHypervisorConsents,
    )
    .addOption(waitOption('it is out of Nova'))
    .addOption(timeoutOption())
    .addOption(asOption())
    .action((host: string, { reason, consent = [], ...options }: DecommissionOptions) => {
      const by = whoRuns(options.as, context.env);
      return sendHypervisor(
        context,
        host,
        options,
        by,
        {
          state: 'Decommissioned',
          asked: (hypervisor) =>
            hypervisor !== null && (hypervisor.maintenance === 'termination' || nodeTerminates(hypervisor))
              ? 'yes'
              : 'no',
        },
        (hypervisor) => planDecommission(hypervisor, { reason, consent, by }, context.clock.now()),
      );
    });
