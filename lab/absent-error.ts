/** What a person or a test names is not there, in whichever system. */
export class AbsentError extends Error {
  override readonly name = 'AbsentError';
}
