import type { Command } from 'commander';
import { messages } from '../../contracts/messages.ts';
import { asOption, describedCommand, hostArgument } from '../command/command.ts';
import type { CommandContext } from '../command/context.ts';
import { giveCommand } from '../command/give-command.ts';
import { whoRuns } from '../command/who.ts';

export const resumeCommand = (context: CommandContext): Command =>
  describedCommand('resume', 'Lets a paused eviction go on.', [['drover resume node-1', 'go on']])
    .addArgument(hostArgument())
    .addOption(asOption())
    .action((host: string, { as }: { as?: string }) =>
      giveCommand(context, host, messages.resume, { by: whoRuns(as, context.env) }),
    );
