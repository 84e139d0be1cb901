import { errors, isErrorCode } from '../../contracts/errors.ts';
import { CommandError } from './error.ts';
import { exitCodeOf, exitCodes } from './exit-codes.ts';

/** gRPC status codes, as far as their meaning differs for a person (https://grpc.io/docs/guides/status-codes). */
export const grpc = {
  cancelled: 1,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  permissionDenied: 7,
  exhausted: 8,
  unavailable: 14,
  unauthenticated: 16,
};

const temporalAdvice =
  'Check TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE and the profile (TEMPORAL_PROFILE) with `drover doctor`.';
const doctorAdvice = 'Try again; `drover doctor` shows which system does not answer.';
const workerAdvice =
  'Is a worker running? `drover doctor` shows it; `drover worker` starts one. What was sent before stays with Temporal.';

/** Errors are distinguished by name and code, so that nothing heavy needs to be loaded to explain one. */
interface Fault extends Error {
  code?: unknown;
  type?: unknown;
  details?: unknown;
}

/**
 * Makes of whatever was thrown the one error that a person is shown. A row of the error table is sought from the inside
 * out, because that is where the reason is; what Temporal and the network say is sought from the outside in, because
 * that is where its meaning is.
 */
export function explainError(error: unknown): CommandError {
  const chain = causes(error);
  // What a command says itself has taken its cause into account.
  const said = chain.find((fault) => fault instanceof CommandError);
  if (said !== undefined) return said;
  const row = chain
    .toReversed()
    .map(explainRow)
    .find((found) => found !== null);
  if (row !== undefined) return row;
  const known = chain
    .map((fault) => explainTemporal(fault) ?? explainGrpc(fault) ?? explainConnection(fault))
    .find((found) => found !== null);
  if (known !== undefined) return known;
  const outermost = chain[0];
  const message = outermost === undefined ? String(error) : outermost.message;
  return new CommandError(
    message,
    exitCodes.unexpected,
    'This is probably a fault of drover itself. DROVER_DEBUG=1 shows where it happened.',
    error,
  );
}

function causes(error: unknown): Fault[] {
  const chain: Fault[] = [];
  for (let next = error; next instanceof Error && !chain.includes(next) && chain.length < 20; next = next.cause)
    chain.push(next);
  return chain;
}

/** A failure of drover's own table: its message ends with the advice of its row. */
function explainRow(fault: Fault): CommandError | null {
  const code = [fault.type, fault.code].find(isErrorCode);
  if (code === undefined) return null;
  const { advice, retryable } = errors[code];
  const message = fault.message.replace(advice, '').trim();
  // The table speaks of runs, which keep trying; a command has given up.
  const own =
    code === 'TemporalUnavailable' ? temporalAdvice : retryable && code !== 'PayloadKeyMissing' ? doctorAdvice : advice;
  return new CommandError(message, exitCodeOf(code), own, fault);
}

function explainTemporal(fault: Fault): CommandError | null {
  switch (fault.name) {
    case 'WorkflowNotFoundError':
      return new CommandError(
        'There is no such run, or it has ended.',
        exitCodes.notFound,
        '`drover ls --all` lists the runs.',
        fault,
      );
    case 'WorkflowUpdateRPCTimeoutOrCancelledError':
      return new CommandError('No worker answered in time.', exitCodes.unreachable, workerAdvice, fault);
    case 'QueryNotRegisteredError':
      return new CommandError(
        'The run does not know that question.',
        exitCodes.refused,
        'Its worker is of another version than this drover.',
        fault,
      );
    case 'NamespaceNotFoundError':
      return new CommandError(fault.message, exitCodes.notFound, temporalAdvice, fault);
    case 'ApplicationFailure':
      return new CommandError(fault.message, exitCodes.refused, null, fault);
    default:
      return null;
  }
}

function explainGrpc(fault: Fault): CommandError | null {
  if (typeof fault.code !== 'number' || typeof fault.details !== 'string') return null;
  const detail = fault.details;
  switch (fault.code) {
    case grpc.unavailable:
    case grpc.exhausted:
    case grpc.cancelled:
      return new CommandError(`Temporal cannot be reached: ${detail}`, exitCodes.unreachable, temporalAdvice, fault);
    case grpc.deadlineExceeded:
      return new CommandError(
        'Temporal or the worker did not answer in time.',
        exitCodes.unreachable,
        workerAdvice,
        fault,
      );
    case grpc.notFound:
      return new CommandError(`Temporal: ${detail}`, exitCodes.notFound, temporalAdvice, fault);
    case grpc.invalidArgument:
      return new CommandError(`Temporal refused the request: ${detail}`, exitCodes.usage, null, fault);
    case grpc.permissionDenied:
    case grpc.unauthenticated:
      return new CommandError(
        `Temporal: ${detail}`,
        exitCodes.refused,
        'Check the API key or the certificate of the Temporal profile.',
        fault,
      );
    default:
      return new CommandError(`Temporal: ${detail}`, exitCodes.unreachable, temporalAdvice, fault);
  }
}

const connectionCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EPIPE',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_SOCKET',
]);

function explainConnection(fault: Fault): CommandError | null {
  if (typeof fault.code !== 'string' || !connectionCodes.has(fault.code)) return null;
  return new CommandError(
    fault.message === '' ? fault.code : fault.message,
    exitCodes.unreachable,
    doctorAdvice,
    fault,
  );
}
