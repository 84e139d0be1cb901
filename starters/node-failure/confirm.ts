import type { Command } from 'commander';
import type { ConfirmOff } from '../../contracts/messages.ts';
import { messages } from '../../contracts/messages.ts';
import { parseId } from '../command/arguments.ts';
import { asOption, describedCommand, hostArgument } from '../command/command.ts';
import type { CommandContext } from '../command/context.ts';
import { CommandError } from '../command/error.ts';
import { exitCodes } from '../command/exit-codes.ts';
import type { FailureDescription } from './failure-run.ts';
import { describeFailureRun, noFailure, commandFailureRun } from './failure-run.ts';
import { interruptible } from '../command/interruption.ts';
import { oneLine } from '../render/table.ts';
import { withTemporal } from '../command/temporal-access.ts';
import { whoRuns } from '../command/who.ts';

export const confirmCommand = (context: CommandContext): Command =>
  describedCommand(
    'confirm',
    'Says on your word that a host which has failed is off, and stays off until you say otherwise. Its servers are then started elsewhere: if it still runs, two copies write to one disk. So it names the incident and the boot, which `drover describe` shows, counts for 15 min, once, and is refused while anything on the host shows life.',
    [
      ['drover confirm node-1', 'see what there is to confirm'],
      ['drover confirm node-1 --incident node-1/2026-01-31T03:00:00.000Z --boot-id 5c1e…', 'confirm it'],
    ],
  )
    .addArgument(hostArgument())
    .option('--incident <id>', 'the failure that is meant', parseId)
    .option('--boot-id <id>', 'the boot of the host that is over', parseId)
    .addOption(asOption())
    .action((host: string, { incident, bootId, as }: { incident?: string; bootId?: string; as?: string }) =>
      interruptible(context, (abort) =>
        withTemporal(context, abort, async (temporal) => {
          if (incident === undefined || bootId === undefined)
            throw whatToConfirm(host, await describeFailureRun(temporal, host));
          const confirmed = { incident, bootId, person: whoRuns(as, context.env) } satisfies ConfirmOff;
          context.terminal.print(await commandFailureRun(temporal, host, messages.confirmOff, confirmed));
        }),
      ),
    );

/** What a confirmation of the host would have to say, and what it would mean. Pure. */
export function whatToConfirm(host: string, failure: FailureDescription | null): CommandError {
  if (failure === null) return noFailure(host);
  const { progress } = failure;
  if (progress === null)
    return new CommandError(
      `No worker answers for ${failure.workflowId}. Nothing was confirmed.`,
      exitCodes.unreachable,
      '`drover doctor` shows which queue has no worker.',
    );
  const state = oneLine(progress.message);
  if (progress.confirm === null)
    return new CommandError(
      `There is nothing to confirm of ${host}: ${state}`,
      exitCodes.refused,
      `\`drover describe ${host}\` shows its state.`,
    );
  return new CommandError(
    `Nothing was confirmed: a confirmation names the incident and the boot. Of ${host} is known: ${state}`,
    exitCodes.usage,
    `Once you have made sure that it is off and stays off: ${progress.confirm}`,
  );
}
