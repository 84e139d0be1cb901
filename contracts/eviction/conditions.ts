/**
 * Condition types and reasons of an Eviction. Those of the operator that drover replaces keep the names of that operator; the others
 * are drover's own.
 */
export const evictionConditions = {
  /** True while it runs; False once it is over; Unknown while another Eviction of the host is served. */
  evicting: 'Evicting',
  preflight: 'PreflightChecksSucceeded',
  /** Always False, as the replaced operator writes it. */
  migrating: 'MigratingInstance',
  disabled: 'HypervisorDisabled',
  /** Unknown while drover waits for the node. */
  reEnabled: 'HypervisorReEnabled',
  /**
   * What drover would do, where it only observes. A type of its own: beside a replaced operator the other types are that operator's, and
   * an `Evicting` that turns False would signal to its readers that the host is empty.
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
  /** A user stopped it. */
  stopped: 'Stopped',
  /** Obstacles refused it; nothing was changed. */
  preflightFailed: 'PreflightFailed',
  /** Another Eviction empties the same host; this one waits. */
  alreadyRunning: 'AlreadyRunning',
} as const;
