import type { Command } from 'commander';
import { asOption, describedCommand, hostArgument } from '../command/command.ts';
import type { SendOptions } from './command-hypervisor.ts';
import { sendHypervisor, timeoutOption, waitOption } from './command-hypervisor.ts';
import type { CommandContext } from '../command/context.ts';
import { planActivate } from './plan-maintenance.ts';
import { whoRuns } from '../command/who.ts';

export const activateCommand = (context: CommandContext): Command =>
  describedCommand(
    'activate',
    'Brings a host back from maintenance: the checks run again, then its service is enabled, if it still carries the reason of that maintenance.',
    [
      ['drover activate node-1', 'and see how it begins'],
      ['drover activate node-1 --wait', 'until it is in service'],
    ],
  )
    .addArgument(hostArgument())
    .addOption(waitOption('it is in service'))
    .addOption(timeoutOption())
    .addOption(asOption())
    .action((host: string, options: SendOptions) =>
      sendHypervisor(
        context,
        host,
        options,
        whoRuns(options.as, context.env),
        { state: 'Active', asked: (hypervisor) => (hypervisor?.maintenance === '' ? 'yes' : 'no') },
        planActivate,
      ),
    );
