import type { Command } from 'commander';
import { messages } from '../../contracts/messages.ts';
import { parseParallelism } from '../command/arguments.ts';
import { asOption, describedCommand, hostArgument } from '../command/command.ts';
import type { CommandContext } from '../command/context.ts';
import { giveCommand } from '../command/give-command.ts';
import { whoRuns } from '../command/who.ts';

export const parallelismCommand = (context: CommandContext): Command =>
  describedCommand(
    'parallelism',
    'Sets how many instances of the host may move at once. What moves already is never aborted for it.',
    [
      ['drover parallelism node-1 4', 'four at once, as far as the region allows'],
      ['drover parallelism node-1 1', 'one after the other'],
    ],
  )
    .addArgument(hostArgument())
    .argument('<number>', '1 to 64', parseParallelism)
    .addOption(asOption())
    .action((host: string, parallelism: number, { as }: { as?: string }) =>
      giveCommand(context, host, messages.setParallelism, {
        parallelism,
        by: whoRuns(as, context.env),
      }),
    );
