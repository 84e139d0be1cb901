import { encodeMultiOperationFailure, encodeStatus } from '../sdk.ts';

/** Errors of Temporal's API, as the SDK's connection throws them. */

export const grpcStatus = {
  cancelled: 1,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  alreadyExists: 6,
  resourceExhausted: 8,
  failedPrecondition: 9,
  aborted: 10,
  unimplemented: 12,
  unavailable: 14,
} as const;

const names: Readonly<Record<number, string>> = {
  1: 'CANCELLED',
  3: 'INVALID_ARGUMENT',
  4: 'DEADLINE_EXCEEDED',
  5: 'NOT_FOUND',
  6: 'ALREADY_EXISTS',
  8: 'RESOURCE_EXHAUSTED',
  9: 'FAILED_PRECONDITION',
  10: 'ABORTED',
  12: 'UNIMPLEMENTED',
  14: 'UNAVAILABLE',
};

/** What the SDK takes for an error of gRPC. */
export interface GrpcError extends Error {
  code: number;
  details: string;
}

export function grpcError(code: number, details: string, statusDetails: Uint8Array | null = null): GrpcError {
  const metadata = {
    get: (key: string) =>
      key === 'grpc-status-details-bin' && statusDetails !== null ? [Buffer.from(statusDetails)] : [],
  };
  return Object.assign(new Error(`${code} ${names[code] ?? ''}: ${details}`), { code, details, metadata });
}

export const isGrpcError = (error: unknown): error is GrpcError =>
  error instanceof Error && 'code' in error && 'metadata' in error;

/** Of a start and an update in one call, where one of them failed: the other was not done. */
export function multiOperationError(failed: 'start' | 'update', { code, details }: GrpcError): GrpcError {
  const aborted = { code: grpcStatus.aborted, message: 'Operation was aborted.', isAborted: true };
  const own = { code, message: details, isAborted: false };
  const value = encodeMultiOperationFailure(failed === 'start' ? [own, aborted] : [aborted, own]);
  const message = failed === 'start' ? 'Update-with-Start could not be executed.' : details;
  return grpcError(
    code,
    message,
    encodeStatus({
      code,
      message,
      details: [{ type_url: 'type.googleapis.com/temporal.api.errordetails.v1.MultiOperationExecutionFailure', value }],
    }),
  );
}

export function refuse(code: number, details: string): never {
  throw grpcError(code, details);
}
