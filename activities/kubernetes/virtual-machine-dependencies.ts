import type { VirtualMachineSettings } from '../../contracts/virtual-machine-lifecycle.ts';
import type { Audit } from '../../runtime/audit.ts';
import type { StopGate } from '../../runtime/stop.ts';
import type { Clock } from '../nova/wait.ts';
import type { KubernetesScope } from './scope.ts';
import type { NamespacedName, VirtualMachineClient } from './virtual-machine-client.ts';

/** What the composition root gives to the activities on VirtualMachines. */
export interface VirtualMachineObjectDependencies {
  client: VirtualMachineClient;
  /** Null: the kind VirtualMachine is switched off. */
  settings: VirtualMachineSettings | null;
  /** Where VirtualMachineImageCaches are. */
  imageCacheNamespace: string;
  /** Signals the VM's own run, starting it if need be. */
  signalWithStart: (object: NamespacedName, startedBy: string | null) => Promise<void>;
  /** Throws Stopped while `drover stop` is in force. Asked before each mutation. */
  stopGate: StopGate;
  audit: Audit;
  /** The running activity. Default: Temporal's. */
  scope?: () => KubernetesScope;
  /** Default: the system's. */
  clock?: Clock;
}

/** The same, with what may be left out filled in. */
export type VirtualMachineTools = Omit<VirtualMachineObjectDependencies, 'scope' | 'clock'> & { scope: KubernetesScope; clock: Clock };
