/**
 * Condition types and reasons of an Eviction. Those of the operator that drover replaces keep its words (hypervisor.md A.2); the others
 * are drover's own.
 */
export const evictionConditions = {
  /** True while it runs; False once it is over; Unknown while it waits for its turn. */
  evicting: 'Evicting',
  preflight: 'PreflightChecksSucceeded',
  /** Always False, as the replaced operator writes it. */
  migrating: 'MigratingInstance',
  disabled: 'HypervisorDisabled',
  /** Unknown while drover waits for the node. */
  reEnabled: 'HypervisorReEnabled',
  /**
   * What drover would do, where it only observes. A type of its own: beside a replaced operator the other types are that operator's, and
   * an `Evicting` that turns False would tell its readers that the host is empty (hypervisor.md C.1, H10).
   */
  observed: 'Observed',
} as const;

/** Reasons of `Evicting`, besides the codes of contracts/errors.ts. */
export const evictingReasons = {
  running: 'Running',
  paused: 'Paused',
  stopping: 'Stopping',
  succeeded: 'Succeeded',
  failed: 'Failed',
  /** A person stopped it. */
  stopped: 'Stopped',
  /** Obstacles refused it; nothing was changed. */
  preflightFailed: 'PreflightFailed',
  /** Another Eviction empties the same host; this one waits. */
  alreadyRunning: 'AlreadyRunning',
} as const;
