import { CommandError } from './error.ts';
import type { CommandContext } from './context.ts';
import { exitCodes } from './exit-codes.ts';

/**
 * Runs a command that the person may leave with Ctrl-C: that ends its calls and its waits, and the command
 * ends as interrupted.
 */
export async function interruptible<Result>(
  { onInterrupt }: Pick<CommandContext, 'onInterrupt'>,
  action: (abort: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  const interrupted = new CommandError('Interrupted. What runs in Temporal goes on.', exitCodes.interrupted);
  const forget = onInterrupt(() => controller.abort(interrupted));
  try {
    return await action(controller.signal);
  } catch (error) {
    // Whatever a cut call says of itself, the person knows why it was cut.
    controller.signal.throwIfAborted();
    throw error;
  } finally {
    forget();
  }
}
