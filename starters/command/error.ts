import type { ErrorCode } from '../../contracts/errors.ts';
import { errors } from '../../contracts/errors.ts';
import type { ExitCode } from './exit-codes.ts';
import { exitCodeOf, exitCodes } from './exit-codes.ts';

/** What a command shows when it cannot do what it was asked: what happened, what to do, and the exit code. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: ExitCode;
  /** A sentence that says what to do; null where the message says it already. */
  readonly advice: string | null;

  constructor(message: string, exitCode: ExitCode, advice: string | null = null, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause });
    this.exitCode = exitCode;
    this.advice = advice;
  }
}

/** Input that is wrong by itself: nothing was started. */
export const usageError = (message: string, advice: string | null = null): CommandError =>
  new CommandError(message, exitCodes.usage, advice);

/** A row of the error table, reported by the command line itself. */
export const tableError = (code: ErrorCode, message: string, cause?: unknown): CommandError =>
  new CommandError(message, exitCodeOf(code), errors[code].advice, cause);
