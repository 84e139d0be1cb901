import { isError } from './is-error.ts';

/**
 * What went wrong with a connection, in words for people who know which one it is.
 *
 * - `connection`: no connection, or it was cut
 * - `untrusted`: the other side's certificate is issued by no trusted CA
 * - `certificate`: the other side's certificate is bad in another way
 * - `refused`: the other side refuses ours
 */
export interface ConnectionFault {
  kind: 'connection' | 'untrusted' | 'certificate' | 'refused';
  words: string;
}

const cut = 'the connection was cut before the answer was complete';

/** Keys are codes of Node and of the operating system. */
const connectionWords = new Map([
  ['ECONNREFUSED', 'the connection was refused'],
  ['ECONNRESET', cut],
  ['EPIPE', cut],
  ['ENOTFOUND', 'its name does not resolve'],
  ['EAI_AGAIN', 'its name does not resolve now'],
  ['EHOSTUNREACH', 'there is no route to it'],
  ['ENETUNREACH', 'there is no route to it'],
  ['ETIMEDOUT', 'the connection timed out'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'it does not speak TLS'],
  ['ERR_SSL_PACKET_LENGTH_TOO_LONG', 'it does not speak TLS'],
]);

const untrustedCodes = new Set([
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_GET_ISSUER_CERT',
  'CERT_SIGNATURE_FAILURE',
]);

const certificateWords = new Map([
  ['CERT_HAS_EXPIRED', 'its certificate has expired'],
  ['CERT_NOT_YET_VALID', 'its certificate is not valid yet'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'its certificate is for another name'],
  ['INVALID_PURPOSE', 'its certificate is for another purpose'],
]);

/** OpenSSL's names of the alerts by which a server says what it thinks of the client's certificate. */
const refusedAlert =
  /^ERR_SSL_(?:TLSV\d+|SSLV3)_ALERT_(?:CERTIFICATE_REQUIRED|BAD_CERTIFICATE|UNSUPPORTED_CERTIFICATE|CERTIFICATE_\w+|UNKNOWN_CA|ACCESS_DENIED|NO_CERTIFICATE)$/u;

/** What the error of a socket or of something above it means; null for what is no fault of a connection. */
export function connectionFault(error: unknown): ConnectionFault | null {
  const code = codeOf(error);
  if (untrustedCodes.has(code)) return { kind: 'untrusted', words: 'its certificate is not trusted' };
  const certificate = certificateWords.get(code);
  if (certificate !== undefined) return { kind: 'certificate', words: certificate };
  if (refusedAlert.test(code))
    return {
      kind: 'refused',
      words: `it refuses our certificate (${code
        .replace(/^.*_ALERT_/u, '')
        .replaceAll('_', ' ')
        .toLowerCase()})`,
    };
  const words = connectionWords.get(code);
  return words === undefined ? null : { kind: 'connection', words };
}

/**
 * The code of the error, or of the first of its causes that has one; empty where none has. Several addresses tried at
 * once fail as an AggregateError.
 */
export function codeOf(error: unknown): string {
  if (!isError(error)) return '';
  if ('code' in error && typeof error.code === 'string' && error.code !== '') return error.code;
  return codeOf('errors' in error && Array.isArray(error.errors) ? error.errors[0] : error.cause);
}
