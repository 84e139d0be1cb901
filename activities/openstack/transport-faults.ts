import { isError } from '../../runtime/is-error.ts';

/** How long each part of a request may take. There is no budget of retries: trying again is Temporal's. */
export interface HttpTimeouts {
  connectMs: number;
  /** From the request to the last header of the answer: Nova does its work in this time. */
  headersMs: number;
  /** Between two pieces of the answer's body. */
  bodyMs: number;
}

/** What can go wrong between a request and the end of its answer, in words for people. Keys are codes of Node, OpenSSL and undici. */
const wordsByCode: Record<string, (timeouts: HttpTimeouts) => string> = {
  ECONNREFUSED: () => 'the connection was refused',
  ECONNRESET: () => 'the connection was cut before the answer was complete',
  EPIPE: () => 'the connection was cut before the answer was complete',
  UND_ERR_SOCKET: () => 'the connection was cut before the answer was complete',
  UND_ERR_ABORTED: () => 'the connection was cut before the answer was complete',
  ENOTFOUND: () => 'its name does not resolve',
  EAI_AGAIN: () => 'its name does not resolve now',
  EHOSTUNREACH: () => 'there is no route to it',
  ENETUNREACH: () => 'there is no route to it',
  ETIMEDOUT: () => 'the connection timed out',
  UND_ERR_CONNECT_TIMEOUT: ({ connectMs }) => `no connection within ${seconds(connectMs)}`,
  UND_ERR_HEADERS_TIMEOUT: ({ headersMs }) => `no answer within ${seconds(headersMs)}`,
  UND_ERR_BODY_TIMEOUT: ({ bodyMs }) => `the answer stopped in the middle for ${seconds(bodyMs)}`,
};

const untrustedCodes = new Set(['SELF_SIGNED_CERT_IN_CHAIN', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'UNABLE_TO_GET_ISSUER_CERT']);
wordsByCode['CERT_HAS_EXPIRED'] = () => 'its certificate has expired';
wordsByCode['ERR_TLS_CERT_ALTNAME_INVALID'] = () => 'its certificate is for another name';

/** Codes of answers that came but cannot be read as HTTP or are far too large. */
const malformedCodes = new Set(['UND_ERR_RES_EXCEEDED_MAX_SIZE', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'UND_ERR_HEADERS_OVERFLOW']);

/**
 * What to say of an error that `undici` threw, and whether an answer came that cannot be read.
 *
 * @param trust where people say which certificates to trust
 */
export function transportFailure(error: unknown, timeouts: HttpTimeouts, trust = 'cacert in clouds.yaml or OS_CACERT'): { words: string; malformed: boolean } {
  const code = codeOf(error);
  const unreadable = isError(error) && error.name === 'HTTPParserError';
  if (unreadable || malformedCodes.has(code)) return { words: `the answer is not readable as HTTP (${code || (unreadable ? error.message : '')})`, malformed: true };
  if (untrustedCodes.has(code)) return { words: `its certificate is not trusted; check ${trust}`, malformed: false };
  const words = wordsByCode[code]?.(timeouts) ?? `the request failed: ${isError(error) ? error.message : String(error)}`;
  return { words, malformed: false };
}

/** The code of the error, or of the first of its causes that has one. Several addresses tried at once fail as an AggregateError. */
function codeOf(error: unknown): string {
  if (!isError(error)) return '';
  if ('code' in error && typeof error.code === 'string' && error.code !== '') return error.code;
  return codeOf('errors' in error && Array.isArray(error.errors) ? error.errors[0] : error.cause);
}

const seconds = (milliseconds: number): string => `${milliseconds / 1000} s`;
