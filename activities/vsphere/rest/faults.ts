import type { ErrorCode } from '../../../contracts/errors.ts';

/**
 * What vCenter's REST refuses with, by the last part of `com.vmware.vapi.std.errors.…`; one that is not here means what
 * its HTTP status does.
 */
export const restMeanings = {
  VsphereCredentialRefused: ['unauthenticated'],
  VsphereNotPermitted: ['unauthorized'],
  VsphereObjectNotFound: ['not_found'],
  VsphereResourcesExhausted: ['unable_to_allocate_resource'],
  VsphereBusy: ['resource_busy', 'resource_in_use', 'concurrent_change', 'feature_in_use'],
  VsphereUnavailable: ['service_unavailable', 'timed_out', 'resource_inaccessible', 'internal_server_error'],
  VirtualMachineNameTaken: ['already_exists'],
  VsphereTaskCancelled: ['canceled'],
  RequestRefused: [
    'invalid_argument',
    'invalid_element_configuration',
    'invalid_element_type',
    'invalid_request',
    'unexpected_input',
    'unsupported',
    'operation_not_found',
    'not_allowed_in_current_state',
  ],
} as const satisfies Partial<Record<ErrorCode, readonly string[]>>;

const codes: ReadonlyMap<string, ErrorCode> = new Map(
  Object.entries(restMeanings).flatMap(([code, types]) =>
    types.map((type) => [type, code as keyof typeof restMeanings] as const),
  ),
);

const ofStatus: Readonly<Record<number, ErrorCode>> = {
  400: 'RequestRefused',
  401: 'VsphereCredentialRefused',
  403: 'VsphereNotPermitted',
  404: 'VsphereObjectNotFound',
  409: 'VsphereBusy',
  429: 'VsphereUnavailable',
};

/** The row of the error table for a type of error, in full or its last part; null: it says nothing. */
export const codeOfType = (type: string): ErrorCode | null => codes.get(type.split('.').at(-1) ?? '') ?? null;

/** @param type of the body; empty where there is none, as of a proxy in front */
export const restCode = (status: number, type: string): ErrorCode =>
  codeOfType(type) ?? ofStatus[status] ?? (status >= 500 ? 'VsphereUnavailable' : 'AnswerMalformed');
