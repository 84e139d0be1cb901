import type { ErrorCode } from '../../contracts/errors.ts';
import { errors } from '../../contracts/errors.ts';
import type { Ending } from '../eviction/eviction-objects.ts';

/** Every exit code of `drover`; docs/commands.md has the same table. Scripts rely on them: never renumbered. */
export const exitCodes = {
  ok: 0,
  /** The work ended, but not as wanted: an eviction Failed or Stopped, a check of `drover doctor` failed. */
  failed: 1,
  /** Bad usage, input or settings. Nothing was started. */
  usage: 2,
  /** Temporal, kube-apiserver, OpenStack or a worker did not answer. */
  unreachable: 3,
  /** There is no such host, run, instance or obstacle. */
  notFound: 4,
  /** Everything answered, and the answer was no. */
  refused: 5,
  /** A fault of drover itself. */
  unexpected: 70,
  /** Ctrl-C, or nobody reads its output any more. What runs in Temporal goes on. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

const exceptions: Partial<Record<ErrorCode, ExitCode>> = {
  InvalidInput: exitCodes.usage,
  InvalidObject: exitCodes.usage,
  InvalidConfiguration: exitCodes.usage,
  HostNotFound: exitCodes.notFound,
  InstanceNotFound: exitCodes.notFound,
  MigrationNotFound: exitCodes.notFound,
  ObjectNotFound: exitCodes.notFound,
  ServiceConflict: exitCodes.refused,
  ObjectConflict: exitCodes.refused,
};

/**
 * The exit code for a row of the error table: what may pass by itself is a system that does not answer, the rest
 * is a no.
 */
export const exitCodeOf = (code: ErrorCode): ExitCode =>
  exceptions[code] ?? (errors[code].retryable ? exitCodes.unreachable : exitCodes.refused);

/**
 * The exit code for how an eviction ended: a script that waits for an empty host must not go on when it is not.
 *
 * @param observe whether the user asked for nothing but a plan
 */
export const exitCodeOfEnding = (outcome: Ending['outcome'], { observe }: { observe: boolean }): ExitCode =>
  outcome === 'Succeeded' || (observe && outcome === 'Observed') ? exitCodes.ok : exitCodes.failed;
