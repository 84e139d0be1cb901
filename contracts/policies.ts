/**
 * Activity policies, one per kind of work (docs/rules.md#policies). Durations are in milliseconds. They are plain data,
 * so that workflows and documents can use them alike.
 */

/** Reads and ensure verbs. No schedule-to-close: it would count the time spent in the queue. */
export const shortCall = {
  startToCloseTimeout: 15_000,
  retry: { initialInterval: 1_000, backoffCoefficient: 2, maximumInterval: 15_000, maximumAttempts: 7 },
} as const;

/**
 * Acquires a slot. While the run is queued each attempt fails, and is repeated: contracts/allowance.ts. After hours of
 * that the run takes a breath, and may continue as new.
 */
export const slotCall = {
  scheduleToCloseTimeout: 6 * 60 * 60_000,
  startToCloseTimeout: 30_000,
  retry: { initialInterval: 1_000, backoffCoefficient: 2, maximumInterval: 15_000 },
} as const;

/** A read of many pages or systems, such as a preflight of a large region. */
export const longCall = {
  startToCloseTimeout: 120_000,
  heartbeatTimeout: 30_000,
  retry: { initialInterval: 1_000, backoffCoefficient: 2, maximumInterval: 15_000, maximumAttempts: 7 },
} as const;

/**
 * Checks of a host, all at once. They heartbeat: a server has to boot, and libvirt to give Ceph up, pool by pool.
 * @param patienceMs of the longest of them; left out: of runs that were not told
 */
export const checkCall = (patienceMs: number = longCall.startToCloseTimeout) =>
  ({ ...longCall, startToCloseTimeout: patienceMs }) as const;

/** How long a heartbeating activity may be silent. Cancel reaches it within a second of its next heartbeat. */
export const heartbeatTimeoutMs = 10_000;

/**
 * Calls of vCenter, each several requests of which some are slow. They heartbeat, so that a worker that dies costs no
 * more than that.
 */
export const vcenterCall = { ...longCall, heartbeatTimeout: heartbeatTimeoutMs } as const;

/**
 * An observation of every VM of every MachineClass of a namespace, and the deletion of one with its disks. They
 * heartbeat. What fails a third time is left for the next sweep.
 */
export const sweepCall = {
  startToCloseTimeout: 10 * 60_000,
  heartbeatTimeout: heartbeatTimeoutMs,
  retry: { initialInterval: 1_000, backoffCoefficient: 2, maximumInterval: 15_000, maximumAttempts: 3 },
} as const;

/**
 * A task of vCenter on the VM of an agent: its create, a change of power, its end. They heartbeat, and find what was
 * done by the VM's mark.
 */
export const agentVmCall = {
  startToCloseTimeout: 15 * 60_000,
  heartbeatTimeout: heartbeatTimeoutMs,
  retry: { initialInterval: 1_000, backoffCoefficient: 2, maximumInterval: 15_000, maximumAttempts: 5 },
} as const;

/**
 * An action on a volume, and what it waits for. It heartbeats, and finds what was done by its name.
 * @param patienceMs of the activity
 */
export const volumeCall = (patienceMs: number) =>
  ({
    startToCloseTimeout: patienceMs + 60_000,
    heartbeatTimeout: heartbeatTimeoutMs,
    retry: { initialInterval: 1_000, backoffCoefficient: 2, maximumInterval: 15_000, maximumAttempts: 7 },
  }) as const;

/**
 * A download and an upload of a discovery ISO. It heartbeats, and goes on where the attempt before was cut off, on the
 * same worker.
 */
export const isoCall = {
  startToCloseTimeout: 2 * 60 * 60_000,
  heartbeatTimeout: 30_000,
  retry: { initialInterval: 2_000, backoffCoefficient: 2, maximumInterval: 60_000, maximumAttempts: 3 },
} as const;

/** How often the SDK may hold a heartbeat back at most, so that cancel arrives within a second. */
export const maxHeartbeatThrottleIntervalMs = 1_000;

/**
 * One activity that waits for something outside until `deadlineMs` has passed. Attempts are unlimited: a worker that
 * dies costs one heartbeat time-out. The activity itself fails for good after {@link pollFailureLimitMs} of consecutive
 * poll failures.
 */
export const longWait = (deadlineMs: number) =>
  ({
    startToCloseTimeout: deadlineMs,
    heartbeatTimeout: heartbeatTimeoutMs,
    retry: { initialInterval: 500, backoffCoefficient: 2, maximumInterval: 5_000 },
  }) as const;

/**
 * A wait for what a user or a reboot brings, until `deadlineMs` have passed: it may take hours, for many objects at
 * once, so it holds no place among the activities of a worker. Each attempt looks, and ends with
 * {@link waitingFailure} while there is nothing to see; Temporal makes the next one.
 */
export const patientWait = (deadlineMs: number) =>
  ({
    scheduleToCloseTimeout: deadlineMs,
    startToCloseTimeout: pollFailureLimitMs + 30_000,
    heartbeatTimeout: heartbeatTimeoutMs,
    retry: { initialInterval: 500, backoffCoefficient: 2, maximumInterval: 5_000 },
  }) as const;

/** Type of the failure with which an attempt of a {@link patientWait} ends while the wait is not over. */
export const waitingFailure = 'Waiting';

/** How long a wait goes on while every poll of the outside system fails. */
export const pollFailureLimitMs = 60_000;

/** How long a worker lets running activities finish when it has to stop. */
export const shutdownGraceTimeMs = 30_000;

/**
 * How long Temporal keeps a workflow task for the worker that has the run in its cache, before any worker may take it.
 */
export const stickyScheduleToStartTimeoutMs = 3_000;
