import { ApplicationFailure } from '@temporalio/common';

import { errors, isErrorCode, type ErrorCode } from '../contracts/errors.ts';
import { isError } from './is-error.ts';
import { redact, redactText } from './redaction.ts';

export interface FailureOptions {
  /** What was caught. Only its redacted text is kept: it goes into history. */
  cause?: unknown;
  /** Plain JSON for programs, such as an HTTP status; redacted. */
  details?: unknown;
}

/**
 * A failure of the one table (contracts/errors.ts), as Temporal carries it: its type is the code, its message the
 * detail followed by the row's advice. Nothing secret survives in it.
 *
 * @param detail what happened, as a sentence: which object, which request, whose words
 */
export function droverFailure(code: ErrorCode, detail: string, options: FailureOptions = {}): ApplicationFailure {
  const row = errors[code];
  return ApplicationFailure.create({
    type: code,
    nonRetryable: !row.retryable,
    message: `${sentence(redactText(detail))} ${row.advice}`.trim(),
    ...(options.cause === undefined ? {} : { cause: plainCause(options.cause) }),
    ...(options.details === undefined ? {} : { details: [redact(options.details)] }),
  });
}

/** The row of the error table that a caught failure is; null for anything else. */
export const failureCode = (error: unknown): ErrorCode | null =>
  error instanceof ApplicationFailure && isErrorCode(error.type) ? error.type : null;

/** No further attempt of the same activity would mend it. */
export const isNonRetryable = (error: unknown): error is ApplicationFailure =>
  error instanceof ApplicationFailure && error.nonRetryable === true;

/** What a failure of the table says happened, without the advice that follows it. */
export function failureDetail(error: ApplicationFailure): string {
  const advice = isErrorCode(error.type) ? errors[error.type].advice : '';
  return advice !== '' && error.message.endsWith(advice)
    ? error.message.slice(0, -advice.length).trim()
    : error.message;
}

/** A failure goes into history and into a condition, and the text of another system may be of any length. */
const longestDetail = 4_000;

const shortened = (text: string): string => (text.length <= longestDetail ? text : `${text.slice(0, longestDetail)} …`);

/** One line that ends like a sentence, so that the advice can follow it. */
function sentence(detail: string): string {
  const line = shortened(detail.replaceAll(/\s+/gu, ' ').trim());
  return line === '' || /[.!?…]["'’”)]?$/u.test(line) ? line : `${line}.`;
}

/**
 * The cause's text alone: stacks and fields of caught errors hold addresses, headers and bodies that are not redacted.
 */
function plainCause(cause: unknown): Error {
  const plain = new Error(shortened(redactText(isError(cause) ? cause.message : String(cause))));
  plain.name = isError(cause) ? cause.name : 'Error';
  delete plain.stack;
  return plain;
}
