import type { Clock } from '../../runtime/clock.ts';

/**
 * Gives up after `limitMs` of the clock's time: the signal that `work` gets is aborted then, or with the caller's.
 *
 * @throws what `work` throws; `expired()`; the caller's signal's reason
 */
export async function within<Answer>(
  clock: Clock,
  limitMs: number,
  expired: () => Error,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<Answer>,
): Promise<Answer> {
  signal.throwIfAborted();
  const bound = new AbortController();
  const abort = (): void => bound.abort(signal.reason);
  const cancel = clock.schedule(() => bound.abort(expired()), limitMs);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await work(bound.signal);
  } finally {
    cancel();
    signal.removeEventListener('abort', abort);
  }
}
