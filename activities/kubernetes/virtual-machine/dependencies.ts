import type { VirtualMachineSettings } from '../../../contracts/virtual-machine/lifecycle.ts';
import type { Audit } from '../../../runtime/telemetry/audit.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { StopGate } from '../../../runtime/stop.ts';
import type { HashSecret } from './hash-secret.ts';
import type { ActivityScope } from '../../lib/context.ts';
import type { NamespacedName, VirtualMachineClient } from './client.ts';

/** What the composition root gives to the activities on VirtualMachines. */
export interface VirtualMachineObjectDependencies {
  client: VirtualMachineClient;
  /** Null: the kind VirtualMachine is switched off. */
  settings: VirtualMachineSettings | null;
  /** Where VirtualMachineImageCaches are. */
  imageCacheNamespace: string;
  /** Signals the VM's own run, starting it if need be. */
  signalWithStart: (object: NamespacedName, startedBy: string | null) => Promise<void>;
  /** Of what guests are set up with. */
  hashSecret: HashSecret;
  /** Throws Stopped while `drover stop` is in force. Asked before each mutation. */
  stopGate: StopGate;
  audit: Audit;
  /** The running activity. Default: Temporal's. */
  scope?: (clock: Clock) => ActivityScope;
  clock: Clock;
}

/** The same, for one execution. */
export type VirtualMachineTools = Omit<VirtualMachineObjectDependencies, 'scope'> & { scope: ActivityScope };
