/** virErrorNumber, as far as the fake refuses. @see include/libvirt/virterror.h */
export const virError = {
  internal: 1,
  noConnect: 5,
  invalidArgument: 8,
  operationFailed: 9,
  noName: 21,
  xml: 27,
  system: 38,
  noDomain: 42,
  authFailed: 45,
  noStoragePool: 49,
  operationInvalid: 55,
  noSecret: 66,
} as const;

/** The daemon says no: `remote_error`, with libvirt's number and message. */
export class LibvirtRefused extends Error {
  readonly code: number;

  constructor(code: keyof typeof virError, message: string) {
    super(message);
    this.code = virError[code];
  }
}
