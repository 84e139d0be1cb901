import type { PhaseFailure } from './observation.ts';

/** The answer to the query `progress` of a run that drives a virtual machine. */
export interface VirtualMachineProgress {
  /** `namespace/name`. */
  virtualMachine: string;
  /** Of the table in docs/virtual-machine.md; null before the first decision. */
  state: string | null;
  message: string;
  waitingFor: string | null;
  /** RFC 3339. */
  nextWakeUp: string | null;
  /** `vm-61`; null: there is none, or it is not known. */
  vmId: string | null;
  powerState: string | null;
  host: string | null;
  /** What failed, and when it is tried again. */
  failures: (Pick<PhaseFailure, 'phase' | 'message' | 'attempts'> & { retryAt: string | null })[];
}
