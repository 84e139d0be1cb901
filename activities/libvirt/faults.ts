import { ApplicationFailure } from '@temporalio/common';
import { z } from 'zod';

import type { ErrorCode } from '../../contracts/errors.ts';
import { isError } from '../../runtime/is-error.ts';

/** What a daemon says when it says no: `remote_error`. */
export interface LibvirtRefusal {
  /** virErrorNumber. */
  code: number;
  words: string;
}

/** Only libvirt’s first words: an error may quote a whole domain. */
const longestWords = 600;

export const wordsOf = ({ code, message }: { code: number; message: string | null }): string => {
  const line = (message ?? '').replaceAll(/\s+/gu, ' ').trim();
  if (line === '') return `error ${code}`;
  return line.length <= longestWords ? line : `${line.slice(0, longestWords)} …`;
};

/** Numbers of virErrorNumber that mean something of their own to drover. @see include/libvirt/virterror.h */
const meanings: readonly (readonly [ErrorCode, readonly number[]])[] = [
  // no connection driver · not supported by this driver
  ['LibvirtDriverMissing', [5]],
  ['DomainNotFound', [42]],
  ['StoragePoolNotFound', [49]],
  // authentication failed, cancelled, unavailable · operation or access denied by the daemon's policy
  ['LibvirtCredentialRefused', [45, 79, 94, 29, 88]],
  // RPC · GnuTLS · unknown host · SSH
  ['LibvirtUnavailable', [39, 40, 4, 85, 98]],
  // What stays wrong when it is said again: unsupported, invalid, unreadable, already there, not there.
  [
    'LibvirtRefused',
    [
      3, 6, 7, 8, 16, 17, 18, 19, 20, 21, 22, 23, 26, 27, 28, 35, 36, 37, 43, 44, 46, 47, 50, 52, 53, 54, 57, 58, 59,
      61, 62, 65, 66, 67, 71, 72, 73, 74, 76, 77, 80, 81, 82, 84, 90, 91, 92, 95, 96, 99, 100, 101, 102, 103, 104, 105,
      106, 107, 108, 109, 110,
    ],
  ],
];

const codes = new Map(meanings.flatMap(([code, numbers]) => numbers.map((number) => [number, code] as const)));

/**
 * What a libvirt error means. All else is the hypervisor’s doing and may go better the next time: internal and system
 * errors, commands that failed, time-outs of locks, busy resources, and numbers that newer daemons have.
 */
export const faultOf = (code: number): ErrorCode => codes.get(code) ?? 'HypervisorFailed';

/** Those that say that something is not there, or not as the call needs it. */
export const virErrors = { noDomain: 42, noStoragePool: 49, operationInvalid: 55, noSecret: 66 } as const;

const refusalDetails = z.looseObject({ libvirtCode: z.int() });

/** virErrorNumber of what libvirt refused; null for any other failure. */
export const refusalCode = (error: unknown): number | null =>
  error instanceof ApplicationFailure ? (refusalDetails.safeParse(error.details?.[0]).data?.libvirtCode ?? null) : null;

/** The promise's value; null where libvirt answers with one of these errors. */
export async function unless<Value>(codesOfNull: readonly number[], promise: Promise<Value>): Promise<Value | null> {
  try {
    return await promise;
  } catch (error) {
    const code = refusalCode(error);
    if (code !== null && codesOfNull.includes(code)) return null;
    throw error;
  }
}

const transportWords: Record<string, readonly [ErrorCode, string]> = {
  ECONNREFUSED: ['LibvirtUnavailable', 'the connection was refused'],
  ECONNRESET: ['LibvirtUnavailable', 'the connection was cut'],
  EPIPE: ['LibvirtUnavailable', 'the connection was cut'],
  ENOTFOUND: ['LibvirtUnavailable', 'its name does not resolve'],
  EAI_AGAIN: ['LibvirtUnavailable', 'its name does not resolve now'],
  EHOSTUNREACH: ['LibvirtUnavailable', 'there is no route to it'],
  ENETUNREACH: ['LibvirtUnavailable', 'there is no route to it'],
  ETIMEDOUT: ['LibvirtUnavailable', 'the connection timed out'],
  SELF_SIGNED_CERT_IN_CHAIN: ['CertificateNotTrusted', 'its certificate is not trusted'],
  DEPTH_ZERO_SELF_SIGNED_CERT: ['CertificateNotTrusted', 'its certificate is not trusted'],
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: ['CertificateNotTrusted', 'its certificate is not trusted'],
  UNABLE_TO_GET_ISSUER_CERT: ['CertificateNotTrusted', 'its certificate is not trusted'],
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: ['CertificateNotTrusted', 'its certificate is not trusted'],
  CERT_SIGNATURE_FAILURE: ['CertificateNotTrusted', 'its certificate is not trusted'],
  CERT_HAS_EXPIRED: ['CertificateNotTrusted', 'its certificate has expired'],
  CERT_NOT_YET_VALID: ['CertificateNotTrusted', 'its certificate is not valid yet'],
  ERR_TLS_CERT_ALTNAME_INVALID: ['CertificateNotTrusted', 'its certificate is for another name'],
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: ['LibvirtCredentialRefused', 'it asks for a client certificate'],
  ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: ['LibvirtCredentialRefused', 'it does not trust drover’s certificate'],
  ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE: ['LibvirtCredentialRefused', 'it refuses drover’s certificate'],
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED: ['LibvirtCredentialRefused', 'drover’s certificate has expired'],
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN: ['LibvirtCredentialRefused', 'it refuses drover’s certificate'],
  ERR_SSL_WRONG_VERSION_NUMBER: ['LibvirtUnavailable', 'it does not speak TLS on that port'],
};

/** What an error of a socket means, in words for people. */
export function transportFault(error: unknown): { code: ErrorCode; words: string } {
  const known =
    isError(error) && 'code' in error && typeof error.code === 'string' ? transportWords[error.code] : undefined;
  if (known !== undefined) return { code: known[0], words: known[1] };
  return {
    code: 'LibvirtUnavailable',
    words: `the connection failed: ${isError(error) ? error.message : String(error)}`,
  };
}
