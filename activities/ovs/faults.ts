import type { ApplicationFailure } from '@temporalio/common';
import type { ErrorCode } from '../../contracts/errors.ts';
import { connectionFault, type ConnectionFault } from '../../runtime/connection-faults.ts';
import { droverFailure } from '../../runtime/failure.ts';
import { isError } from '../../runtime/is-error.ts';
import { redactedStart } from '../../runtime/redaction.ts';

const codes: Record<ConnectionFault['kind'], ErrorCode> = {
  connection: 'OvsUnavailable',
  untrusted: 'CertificateNotTrusted',
  certificate: 'CertificateNotTrusted',
  refused: 'CertificateNotTrusted',
};

/** What an error of the socket means. */
export function socketFailure(error: unknown, server: string): ApplicationFailure {
  const fault = connectionFault(error);
  if (fault === null)
    return droverFailure(
      'OvsUnavailable',
      `${server}: the connection failed: ${isError(error) ? error.message : String(error)}`,
      { cause: error },
    );
  return droverFailure(codes[fault.kind], `${server}: ${fault.words}`, { cause: error });
}

export interface OvsdbRefusal {
  error: string;
  details?: string | undefined;
}

/** Of what somebody else wrote. */
const longestWords = 600;

/** An answer that says no. */
export const refusalFailure = ({ error, details }: OvsdbRefusal, what: string, server: string): ApplicationFailure =>
  droverFailure(
    'RequestRefused',
    `${server} refused ${what}: ${redactedStart(details === undefined ? error : `${error}: ${details}`, longestWords)}`,
  );
