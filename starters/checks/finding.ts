import { explainError } from '../command/explain-error.ts';

/** What one check of `drover doctor` found; also an element of its `--json`. */
export interface Finding {
  /** What was checked. */
  check: string;
  status: 'ok' | 'warn' | 'fail';
  message: string;
  /** What to do about it; null where nothing is to be done. */
  advice: string | null;
}

export const ok = (check: string, message: string): Finding => ({ check, status: 'ok', message, advice: null });
export const warn = (check: string, message: string, advice: string): Finding => ({
  check,
  status: 'warn',
  message,
  advice,
});
export const fail = (check: string, message: string, advice: string): Finding => ({
  check,
  status: 'fail',
  message,
  advice,
});

/** Everything that one check may take. */
const checkTimeoutMs = 15_000;

/** Runs one check. What it throws is what it found. */
export async function examine(
  check: string,
  abort: AbortSignal,
  run: (signal: AbortSignal) => Promise<Finding | Finding[]>,
): Promise<Finding[]> {
  const limit = AbortSignal.timeout(checkTimeoutMs);
  try {
    return [await run(AbortSignal.any([abort, limit]))].flat();
  } catch (error) {
    abort.throwIfAborted();
    if (limit.aborted)
      return [
        fail(
          check,
          `no answer within ${String(checkTimeoutMs / 1000)} s`,
          'Check the network between here and there, and whether it is overloaded.',
        ),
      ];
    const { message, advice } = explainError(error);
    return [fail(check, message, advice ?? 'DROVER_DEBUG=1 shows more.')];
  }
}
