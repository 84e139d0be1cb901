import { isGrpcServiceError, ServiceError } from '@temporalio/client';
import type { ApplicationFailure } from '@temporalio/common';
import type { ErrorCode } from '../../contracts/errors.ts';
import { droverFailure } from '../../runtime/failure.ts';

/** gRPC statuses with which Temporal says no for good; whatever else goes wrong may pass. */
const refusals = { invalidArgument: 3, permissionDenied: 7, unimplemented: 12, unauthenticated: 16 } as const;

/** The row of the error table for a call of Temporal that failed. */
export function temporalFailure(what: string, error: unknown): ApplicationFailure {
  const cause = error instanceof ServiceError && error.cause !== undefined ? error.cause : error;
  const words = isGrpcServiceError(cause)
    ? cause.details || cause.message
    : cause instanceof Error
      ? cause.message
      : String(cause);
  return droverFailure(codeOf(cause), `Temporal could not ${what}: ${words}`, { cause });
}

function codeOf(cause: unknown): ErrorCode {
  const refused = isGrpcServiceError(cause) && Object.values<number>(refusals).includes(cause.code);
  return refused ? 'RequestRefused' : 'TemporalUnavailable';
}
