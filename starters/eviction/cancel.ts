import type { Command } from 'commander';
import { evictionId } from '../../contracts/ids.ts';
import type { CancelEviction } from '../../contracts/messages.ts';
import { asSignal, messages } from '../../contracts/messages.ts';
import { asOption, describedCommand, hostArgument } from '../command/command.ts';
import type { CommandContext } from '../command/context.ts';
import { exitCodes } from '../command/exit-codes.ts';
import { explainError } from '../command/explain-error.ts';
import { commandRun } from '../command/give-command.ts';
import { interruptible } from '../command/interruption.ts';
import type { TemporalAccess } from '../command/temporal-access.ts';
import { answered, withTemporal } from '../command/temporal-access.ts';
import { whoRuns } from '../command/who.ts';

export const cancelCommand = (context: CommandContext): Command =>
  describedCommand(
    'cancel',
    'Stops an eviction in good order: nothing more starts, what is moving finishes, and the Eviction says how far it came. Nothing starts it again but `drover retry`.',
    [
      ['drover cancel node-1', 'let what is moving finish; the host stays disabled'],
      ['drover cancel node-1 --abort', 'abort the live migrations in flight: their instances stay'],
      ['drover cancel node-1 --re-enable', 'and give the host back to the scheduler'],
    ],
  )
    .addArgument(hostArgument())
    .option('--abort', 'abort live migrations in flight; cold migrations run to their end')
    .option('--re-enable', 'enable the host again, if it was drover that disabled it')
    .addOption(asOption())
    .action(
      (host: string, { abort = false, reEnable = false, as }: { abort?: boolean; reEnable?: boolean; as?: string }) =>
        interruptible(context, (interrupted) =>
          withTemporal(context, interrupted, async (access) => {
            const { terminal, env } = context;
            terminal.print(await cancelEviction(access, host, { abort, reEnable, by: whoRuns(as, env) }));
            terminal.remark(`Follow it to its end: drover watch ${host}`);
          }),
        ),
    );

/** The answer is only for the person: the cancel itself needs no worker. */
const answerMs = 5_000;

/**
 * Says how to stop and then cancels the run, so that it closes as cancelled. Both reach it whenever a worker comes.
 * @returns what the run answered, or what will be
 */
export async function cancelEviction(access: TemporalAccess, host: string, cancel: CancelEviction): Promise<string> {
  const handle = access.client.workflow.getHandle(evictionId(host, access.config.cluster));
  const answer = await commandRun(access, host, messages.cancelEviction, cancel, answerMs).catch(
    async (error: unknown) => {
      if (explainError(error).exitCode !== exitCodes.unreachable) throw error;
      // No worker answers now; a signal is kept for the one that comes.
      await answered(access, () => handle.signal(asSignal(messages.cancelEviction), cancel));
      return 'No worker answers now. The eviction stops as soon as one does.';
    },
  );
  await answered(access, () => handle.cancel()).catch((error: unknown) => {
    // It was quick, and has stopped already.
    if (explainError(error).exitCode !== exitCodes.notFound) throw error;
  });
  return answer;
}
