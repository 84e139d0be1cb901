import type { Condition } from '../../contracts/conditions.ts';
import type { VirtualMachinePowerState } from '../../contracts/virtual-machine/lifecycle.ts';

/** A VirtualMachine, as far as people are shown it. What is null is not known, or not asked for. */
export interface VirtualMachineObject {
  namespace: string;
  name: string;
  uid: string;
  generation: number;
  resourceVersion: string;
  /** RFC 3339. */
  createdAt: string;
  deleting: boolean;
  /** By its annotation. */
  paused: boolean;
  /** Who paused it, as its label has it: `devops`, `admin`, `both`. */
  pausedBy: string | null;
  /** It asks drover to observe only (`drover.dev/mode`). */
  observed: boolean;
  /** Who holds its power-on, and its deletion. */
  powerOnChecks: string[];
  deleteChecks: string[];
  conditions: Condition[];
  wantedPowerState: VirtualMachinePowerState;
  powerState: VirtualMachinePowerState | null;
  /** As vCenter names it: `vm-61`. */
  vmId: string | null;
  instanceUuid: string | null;
  /** The host that it runs on. */
  node: string | null;
  zone: string | null;
  ip: string | null;
  guest: string | null;
  /** As `21`. */
  hardwareVersion: number | null;
  class: string | null;
  image: string | null;
  storageClass: string | null;
  /** Those of claims. `problem` null: it is attached. */
  volumes: { name: string; claim: string | null; problem: string | null }[];
  group: string | null;
}
