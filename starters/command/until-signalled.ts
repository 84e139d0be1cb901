import { exitCodes } from './exit-codes.ts';

/** A process that serves until it is signalled to stop. */
export interface Serving {
  /** Finishes what it has begun. */
  stop(): Promise<unknown>;
  /** Rejects when it broke. */
  done: Promise<void>;
}

/** npm passes Ctrl-C on, which the terminal has sent already; a supervisor may send SIGTERM after it. */
const sameRequestMs = 1_000;

/**
 * Serves until SIGTERM or SIGINT, then stops in good order. One that has not started yet has begun nothing, and ends at
 * once. So does a second signal end the process: what was under way is taken up by the next one that starts.
 */
export async function untilSignalled(starting: Serving | Promise<Serving>): Promise<void> {
  const { promise: signalled, resolve } = Promise.withResolvers<'signalled'>();
  // Nothing is left to a signal's default action: process 1, as a container's is, gets no signal without a listener.
  let onSignal = (): void => process.exit(exitCodes.ok);
  const signal = (): void => onSignal();
  process.on('SIGTERM', signal);
  process.on('SIGINT', signal);
  try {
    const serving = await starting;
    onSignal = () => {
      const firstMs = performance.now();
      onSignal = () => {
        if (performance.now() - firstMs >= sameRequestMs) process.exit(exitCodes.interrupted);
      };
      resolve('signalled');
    };
    if ((await Promise.race([serving.done, signalled])) === 'signalled') await serving.stop();
  } finally {
    process.off('SIGTERM', signal);
    process.off('SIGINT', signal);
  }
}
