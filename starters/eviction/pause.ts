import type { Command } from 'commander';
import { messages } from '../../contracts/messages.ts';
import { parseReason } from '../command/arguments.ts';
import { asOption, describedCommand, hostArgument } from '../command/command.ts';
import type { CommandContext } from '../command/context.ts';
import { giveCommand } from '../command/give-command.ts';
import { whoRuns } from '../command/who.ts';

export const pauseCommand = (context: CommandContext): Command =>
  describedCommand(
    'pause',
    'Starts no further moves of a running eviction. What is moving ends; the host stays disabled.',
    [
      ['drover pause node-1', 'hold it'],
      ['drover pause node-1 --reason "network work until noon"', 'and say why, for those who find it paused'],
      ['drover resume node-1', 'go on'],
    ],
  )
    .addArgument(hostArgument())
    .option('--reason <text>', 'why, for people', parseReason)
    .addOption(asOption())
    .action((host: string, { reason, as }: { reason?: string; as?: string }) =>
      giveCommand(context, host, messages.pause, {
        by: whoRuns(as, context.env),
        ...(reason !== undefined && { reason }),
      }),
    );
