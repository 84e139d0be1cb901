import type { Condition } from '../conditions.ts';

/**
 * Condition types and reasons of an Eviction. Those of the operator that drover replaces keep the names of that
 * operator; the others are drover's own.
 */
export const evictionConditions = {
  /** True while it runs; False once it is over; Unknown while another Eviction of the host is served. */
  evicting: 'Evicting',
  preflight: 'PreflightChecksSucceeded',
  /** Always False, as the replaced operator writes it. */
  migrating: 'MigratingInstance',
  disabled: 'HypervisorDisabled',
  /** Whether the host will be empty by the deadline, where there is one. */
  onTime: 'OnTime',
  /** Unknown while drover waits for the node. */
  reEnabled: 'HypervisorReEnabled',
  /**
   * What drover would do, where it only observes. A type of its own: beside a replaced operator the other types are
   * that operator's, and an `Evicting` that turns False would signal to its readers that the host is empty.
   */
  observed: 'Observed',
} as const;

/** Reasons of `Evicting`, besides the codes of contracts/errors.ts. */
export const evictingReasons = {
  /** While it is True, whatever it waits for: others wait for this reason, and the message says the rest. */
  running: 'Running',
  succeeded: 'Succeeded',
  failed: 'Failed',
  /** A user stopped it. */
  stopped: 'Stopped',
  /** Obstacles refused it; nothing was changed. */
  preflightFailed: 'PreflightFailed',
  /** Another Eviction empties the same host; this one waits. */
  alreadyRunning: 'AlreadyRunning',
  /** What could not be moved was tried again until the deadline. */
  deadlinePassed: 'DeadlinePassed',
  /** Every server is dealt with, and something else stays on the host: the message names it. */
  notEmpty: 'NotEmpty',
} as const;

/** What an Eviction calls allocations on the host that is left. */
export const allocationsInPlacement = { one: 'allocation in Placement', many: 'allocations in Placement' } as const;

/** Reasons of `OnTime`, and its status with each. */
export const onTimeReasons = {
  /** It will be empty, or was. */
  Enough: 'True',
  /** Nothing has moved yet, or something does not move. */
  NotEstimated: 'Unknown',
  MarginShort: 'False',
  DeadlinePassed: 'False',
  /** The eviction is over before the deadline, and the host is not empty. */
  Ended: 'Unknown',
} as const satisfies Record<string, Condition['status']>;
