/**
 * Search attributes of every run, all of type Keyword. SQL stores allow ten Keyword attributes per namespace, so there
 * are few. Registered by the lab and by `drover doctor --fix`.
 */
export const searchAttributes = {
  /**
   * `Eviction`, `Hypervisor`, `VirtualMachine`, `VirtualMachineSetResourcePolicy`,
   * `Migration`, `Allowance`, `NodeFailure`.
   */
  kind: 'DroverKind',
  /** Name of the Kubernetes object, `namespace/name` where it has a namespace. */
  object: 'DroverObject',
  /** The compute host concerned. */
  host: 'DroverHost',
  /** What the run is doing: the phase names of its noun. */
  phase: 'DroverPhase',
  /** Why it waits or how it ended: a condition reason. */
  reason: 'DroverReason',
} as const;
