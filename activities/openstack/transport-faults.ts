import { codeOf, connectionFault } from '../../runtime/connection-faults.ts';
import { isError } from '../../runtime/is-error.ts';

/** How long each part of a request may take. There is no budget of retries: trying again is Temporal's. */
export interface HttpTimeouts {
  connectMs: number;
  /** From the request to the last header of the answer: Nova does its work in this time. */
  headersMs: number;
  /** Between two pieces of the answer's body. */
  bodyMs: number;
}

/** What can go wrong between a request and the end of its answer, in words for people. Keys are codes of undici. */
const wordsByCode: Record<string, (timeouts: HttpTimeouts) => string> = {
  UND_ERR_SOCKET: () => 'the connection was cut before the answer was complete',
  UND_ERR_ABORTED: () => 'the connection was cut before the answer was complete',
  UND_ERR_CONNECT_TIMEOUT: ({ connectMs }) => `no connection within ${seconds(connectMs)}`,
  UND_ERR_HEADERS_TIMEOUT: ({ headersMs }) => `no answer within ${seconds(headersMs)}`,
  UND_ERR_BODY_TIMEOUT: ({ bodyMs }) => `the answer stopped in the middle for ${seconds(bodyMs)}`,
};

/** Codes of answers that came but cannot be read as HTTP or are far too large. */
const malformedCodes = new Set([
  'UND_ERR_RES_EXCEEDED_MAX_SIZE',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
  'UND_ERR_HEADERS_OVERFLOW',
]);

export interface TransportFailure {
  words: string;
  /** An answer came that cannot be read. */
  malformed: boolean;
  /** One side does not trust the other’s certificate. */
  certificate: boolean;
}

/**
 * What to say of an error that `undici` threw.
 *
 * @param trust where people say which certificates to trust
 */
export function transportFailure(
  error: unknown,
  timeouts: HttpTimeouts,
  trust = 'cacert in clouds.yaml or OS_CACERT',
): TransportFailure {
  const code = codeOf(error);
  const unreadable = isError(error) && error.name === 'HTTPParserError';
  if (unreadable || malformedCodes.has(code))
    return {
      words: `the answer is not readable as HTTP (${code || (unreadable ? error.message : '')})`,
      malformed: true,
      certificate: false,
    };
  const fault = connectionFault(error);
  if (fault !== null)
    return {
      words: fault.kind === 'untrusted' ? `${fault.words}; check ${trust}` : fault.words,
      malformed: false,
      certificate: fault.kind !== 'connection',
    };
  const words =
    wordsByCode[code]?.(timeouts) ?? `the request failed: ${isError(error) ? error.message : String(error)}`;
  return { words, malformed: false, certificate: false };
}

const seconds = (milliseconds: number): string => `${milliseconds / 1000} s`;
