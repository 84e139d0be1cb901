import type { Command } from 'commander';
import { messages } from '../../contracts/messages.ts';
import { parseInstance, parseReason } from '../command/arguments.ts';
import { asOption, describedCommand, hostArgument } from '../command/command.ts';
import type { CommandContext } from '../command/context.ts';
import { giveCommand } from '../command/give-command.ts';
import { whoRuns } from '../command/who.ts';

export const skipCommand = (context: CommandContext): Command =>
  describedCommand(
    'skip',
    'Leaves one instance where it is. The host then does not count as empty; `drover retry` takes it up again.',
    [
      ['drover skip node-1 web-3', 'go on without it'],
      ['drover skip node-1 web-3 --reason "its owner moves it"', 'and say why'],
    ],
  )
    .addArgument(hostArgument())
    .argument('<instance>', 'name or id of the server', parseInstance)
    .option('--reason <text>', 'why, for people', parseReason)
    .addOption(asOption())
    .action((host: string, instance: string, { reason, as }: { reason?: string; as?: string }) =>
      giveCommand(context, host, messages.skipInstance, {
        instance,
        by: whoRuns(as, context.env),
        ...(reason !== undefined && { reason }),
      }),
    );
