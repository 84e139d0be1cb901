import type { Command } from 'commander';
import { parseMaintainMode, parseReason } from '../command/arguments.ts';
import { asOption, describedCommand, hostArgument } from '../command/command.ts';
import type { SendOptions } from './command-hypervisor.ts';
import { sendHypervisor, timeoutOption, waitOption } from './command-hypervisor.ts';
import type { CommandContext } from '../command/context.ts';
import type { MaintainMode } from './hypervisor-objects.ts';
import { maintainModes } from './hypervisor-objects.ts';
import { planMaintain } from './plan-maintenance.ts';
import { whoRuns } from '../command/who.ts';

interface MaintainOptions extends SendOptions {
  reason: string;
  mode: MaintainMode;
}

export const maintainCommand = (context: CommandContext): Command =>
  describedCommand(
    'maintain',
    'Takes a host out of service for a while: disables it, empties it, and keeps it so until `drover activate`. The maintenance of another user is not overwritten.',
    [
      ['drover maintain node-1 --reason "new disks"', 'and see how it begins'],
      ['drover maintain node-1 --reason "kernel" --wait && ssh node-1 reboot', 'in a script'],
      ['drover maintain node-1 --reason "board" --mode ha', 'a host that is down: nothing is moved live'],
      ['drover activate node-1', 'give it back'],
    ],
  )
    .addArgument(hostArgument())
    .requiredOption('--reason <text>', 'why, for other users', parseReason)
    .option(
      '--mode <mode>',
      `${maintainModes.join(', ')}: whether obstacles stop its Eviction (manual) or are carried along (auto), or the host may be down (ha)`,
      parseMaintainMode,
      'manual' as const,
    )
    .addOption(waitOption('it is empty, and in maintenance'))
    .addOption(timeoutOption())
    .addOption(asOption())
    .action((host: string, { reason, mode, ...options }: MaintainOptions) => {
      const by = whoRuns(options.as, context.env);
      return sendHypervisor(
        context,
        host,
        options,
        by,
        { state: 'Maintenance', asked: (hypervisor) => (hypervisor?.maintenance === mode ? 'yes' : 'no') },
        (hypervisor) => planMaintain(hypervisor, { mode, reason, by }, context.clock.now()),
      );
    });
