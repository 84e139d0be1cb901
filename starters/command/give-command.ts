import { evictionId } from '../../contracts/ids.ts';
import type { Command } from '../../contracts/messages.ts';
import type { CommandContext } from './context.ts';
import { CommandError } from './error.ts';
import { exitCodes } from './exit-codes.ts';
import { explainError } from './explain-error.ts';
import { interruptible } from './interruption.ts';
import type { TemporalAccess } from './temporal-access.ts';
import { answered, withTemporal } from './temporal-access.ts';

/** A worker takes part in the answer, and it may be busy. */
const updateTimeoutMs = 15_000;

/** Gives the run that empties `host` a command and prints what it answers: all that most commands do. */
export const giveCommand = <Argument>(
  context: CommandContext,
  host: string,
  command: Command<Argument>,
  argument: Argument,
): Promise<void> =>
  interruptible(context, (abort) =>
    withTemporal(context, abort, async (access) => {
      context.terminal.print(await commandRun(access, host, command, argument));
    }),
  );

/**
 * Gives the run that empties `host` a command and returns the sentence it answers with.
 *
 * @throws CommandError: notFound when no eviction of the host runs, refused with the run's own words, unreachable when
 * no worker answers
 */
export const commandRun = <Argument>(
  access: TemporalAccess,
  host: string,
  command: Command<Argument>,
  argument: Argument,
): Promise<string> =>
  commandRunOf(access, host, {
    workflowId: evictionId(host, access.config.cluster),
    command,
    argument,
    timeoutMs: updateTimeoutMs,
    absent: notRunning,
  });

export interface RunCommand<Argument> {
  workflowId: string;
  /** Absent: whichever is open. */
  runId?: string;
  command: Command<Argument>;
  argument: Argument;
  timeoutMs: number;
  /** What is said where no such run is open. */
  absent: (host: string, cause: unknown) => CommandError;
}

/** As {@link commandRun}, of any run about the host. */
export async function commandRunOf<Argument>(
  access: TemporalAccess,
  host: string,
  { workflowId, runId, command, argument, timeoutMs, absent }: RunCommand<Argument>,
): Promise<string> {
  try {
    return await updateRun(access, workflowId, command, argument, timeoutMs, runId);
  } catch (error) {
    access.abort.throwIfAborted();
    const explained = explainError(error);
    if (explained.exitCode === exitCodes.notFound) throw absent(host, error);
    // The run refuses as bad input what cannot be done now: it was good input to a run in another state.
    if (explained.exitCode === exitCodes.usage)
      throw new CommandError(
        explained.message,
        exitCodes.refused,
        `\`drover describe ${host}\` shows its state.`,
        error,
      );
    throw explained;
  }
}

/** Gives any run a command and returns the sentence it answers with. */
export const updateRun = <Argument>(
  access: TemporalAccess,
  workflowId: string,
  command: Command<Argument>,
  argument: Argument,
  timeoutMs = updateTimeoutMs,
  runId?: string,
): Promise<string> =>
  answered(
    access,
    () => access.client.workflow.getHandle(workflowId, runId).executeUpdate(command, { args: [argument] }),
    timeoutMs,
  );

export const notRunning = (host: string, cause?: unknown): CommandError =>
  new CommandError(
    `No eviction of ${host} is running.`,
    exitCodes.notFound,
    `\`drover describe ${host}\` shows what was; \`drover ls\` what is.`,
    cause,
  );
