import type { Condition } from '../../contracts/conditions.ts';
import type { MaintenanceMode } from '../../contracts/hypervisor/hypervisor.ts';

/** The modes that a host comes back from. `termination` is a command of its own. */
export const maintainModes = ['manual', 'auto', 'ha'] as const satisfies MaintenanceMode[];
export type MaintainMode = (typeof maintainModes)[number];

/** A Hypervisor, as far as people are shown it. */
export interface HypervisorObject {
  name: string;
  uid: string;
  generation: number;
  resourceVersion: string;
  /** RFC 3339. */
  createdAt: string;
  deleting: boolean;
  annotations: Record<string, string>;
  lifecycleEnabled: boolean;
  skipTests: boolean;
  maintenance: MaintenanceMode;
  maintenanceReason: string | null;
  /** Who set the maintenance, as far as that is recorded; null: nobody, or nobody knows. */
  maintainedBy: string | null;
  /** drover took it into maintenance for an update of its Node, and ends that itself. */
  forNodeUpdate: boolean;
  /** It asks drover to look only (`drover.dev/mode`). */
  observed: boolean;
  conditions: Condition[];
  /** Instances that the node agent counts. */
  instances: number;
  /** As `10.0.0`; null: nobody knows. */
  libVirtVersion: string | null;
  evicted: boolean;
}

/** A Node, as far as it says whether the lifecycle of its Hypervisor is driven. */
export interface SpeakingNode {
  name: string;
  uid: string;
  resourceVersion: string;
  /** It has the label that makes it a hypervisor. */
  isHypervisor: boolean;
  /** Value of its label for the lifecycle; null: it says nothing of that, so the Hypervisor's spec holds. */
  lifecycle: string | null;
}
