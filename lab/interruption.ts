/** A signal that is aborted when a person or the system asks this program to end. A second request ends it at once, as it does everywhere. */
export function untilInterrupted(reason: Error): AbortSignal {
  const interrupted = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => interrupted.abort(reason));
  return interrupted.signal;
}
