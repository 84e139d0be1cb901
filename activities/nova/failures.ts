import { ApplicationFailure } from '@temporalio/common';

import { isErrorCode, type ErrorCode } from '../../contracts/errors.ts';
import { serviceWords } from '../openstack/faults.ts';

/** The row of the error table that was thrown; null for anything else. */
export const codeOf = (error: unknown): ErrorCode | null =>
  error instanceof ApplicationFailure && isErrorCode(error.type) ? error.type : null;

/** What the service itself said, without drover's advice; the whole message where it said nothing. */
export const wordsOf = (error: unknown): string =>
  serviceWords(error) ?? (error instanceof Error ? error.message : String(error));
