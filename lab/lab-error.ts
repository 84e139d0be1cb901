/** The lab could not do its work; the message says what the user can do about it and needs no stack trace. */
export class LabError extends Error {
  override readonly name = 'LabError';
}
