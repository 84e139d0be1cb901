/** Settings, memory and result of the run that sweeps orphan VMs (docs/machine-safety.md#sweeps). */

/** The gates of a sweep. What switches each off is in drover.example.yaml; with all of them off a sweep is the replaced manager's. */
export interface SweepSettings {
  readonly periodMs: number;
  readonly jitterMs: number;
  /** 0: no VM is too young. */
  readonly ageMs: number;
  readonly sightings: number;
  /** Null: no limit. */
  readonly most: number | null;
  readonly mostPercent: number;
  /** Null: never. */
  readonly approveAbove: number | null;
  readonly approveAbovePercent: number;
  readonly approveWithoutMachines: boolean;
  readonly approvalMs: number;
  readonly probationMs: number;
  readonly frozen: boolean;
  readonly renamedAreKept: boolean;
  readonly detachForeignDisks: boolean;
  readonly longRetryMs: number;
}

/** The plain JSON that starts a sweep, or requests one. */
export interface SweepInput {
  /** Of the Machines. */
  namespace: string;
}
