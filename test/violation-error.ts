const beginning = 'docs/invariants.md is violated, in so many ways:';

/** What `checkInvariants` throws. */
export const violationError = (violations: readonly string[]): Error =>
  new Error(`${beginning} ${violations.length}\n${violations.join('\n')}`);

/** Whether a test failed with such an error, by what it reports. */
export const isViolation = (report: string): boolean => report.includes(beginning);
