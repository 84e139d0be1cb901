import { CommandError } from './command-error.ts';
import { exitCodes } from './exit-codes.ts';

/**
 * Runs a command that the person may leave with Ctrl-C: the signal ends its calls and its waits, and the command ends as interrupted.
 * A second Ctrl-C ends the process at once.
 */
export async function interruptible<Result>(action: (abort: AbortSignal) => Promise<Result>): Promise<Result> {
  const controller = new AbortController();
  const interrupt = (): void => controller.abort(new CommandError('Interrupted. What runs in Temporal goes on.', exitCodes.interrupted));
  process.once('SIGINT', interrupt);
  process.once('SIGTERM', interrupt);
  try {
    return await action(controller.signal);
  } catch (error) {
    // Whatever a cut call says of itself, the person knows why it was cut.
    controller.signal.throwIfAborted();
    throw error;
  } finally {
    process.off('SIGINT', interrupt);
    process.off('SIGTERM', interrupt);
  }
}
