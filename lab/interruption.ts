const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** One Ctrl-C arrives twice under npm: from the terminal, and forwarded by npm. */
const SAME_REQUEST_MS = 1_000;
const PARENT_POLL_MS = 1_000;

/**
 * A signal that is aborted when the user or the system asks this program to end. A second request ends it at once, as
 * it does everywhere. Under npm, the end of npm counts as a request: a CI agent that kills npm cannot
 * reach this program.
 */
export function untilInterrupted(reason: Error): AbortSignal {
  const interrupted = new AbortController();
  let requestedMs = 0;
  const request = (): void => {
    requestedMs = performance.now();
    interrupted.abort(reason);
  };
  for (const name of SIGNALS) {
    const handle = (): void => {
      if (!interrupted.signal.aborted) return request();
      if (performance.now() - requestedMs < SAME_REQUEST_MS) return;
      process.off(name, handle);
      process.kill(process.pid, name);
    };
    process.on(name, handle);
  }
  if (process.env['npm_lifecycle_event'] !== undefined) {
    const parent = process.ppid;
    const poll = setInterval(() => {
      if (process.ppid === parent) return;
      clearInterval(poll);
      request();
    }, PARENT_POLL_MS);
    poll.unref();
  }
  return interrupted.signal;
}
