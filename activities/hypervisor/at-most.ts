/** Lets so many run at once; the others wait for their turn, in order. One whose signal is aborted meanwhile is not begun. */
export function atMost(limit: number): <Result>(work: () => Promise<Result>, signal: AbortSignal) => Promise<Result> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work, signal) => {
    if (running >= limit) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      signal.throwIfAborted();
      return await work();
    } finally {
      // Its turn goes to the next one as it is.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
