/** A process that serves until it is signalled to stop. */
export interface Serving {
  /** Finishes what it has begun. */
  stop(): Promise<unknown>;
  /** Rejects when it broke. */
  done: Promise<void>;
}

/**
 * Serves until SIGTERM or SIGINT, then stops in good order. A second signal ends the process at once, as it does
 * everywhere: what was under way is taken up by the next one that starts.
 */
export async function untilSignalled(serving: Serving): Promise<void> {
  const { promise: signalled, resolve } = Promise.withResolvers<'signalled'>();
  const signal = (): void => resolve('signalled');
  process.once('SIGTERM', signal);
  process.once('SIGINT', signal);
  try {
    if ((await Promise.race([serving.done, signalled])) === 'signalled') await serving.stop();
  } finally {
    process.off('SIGTERM', signal);
    process.off('SIGINT', signal);
  }
}
