import type { VirtualMachineSettings } from '../../../contracts/virtual-machine/lifecycle.ts';
import type { KubernetesObjects } from '../../../runtime/kubernetes/objects.ts';
import type { ActivityContext, ForActivities } from '../../lib/context.ts';
import type { HashSecret } from './hash-secret.ts';

/** What the composition root gives to the activities on VirtualMachines. */
export interface VirtualMachineObjectDependencies extends ForActivities<ActivityContext> {
  client: KubernetesObjects;
  /** Null: the kind VirtualMachine is switched off. */
  settings: VirtualMachineSettings | null;
  /** Where VirtualMachineImageCaches are. */
  imageCacheNamespace: string;
  /** Signals the VM's own run, starting it if need be. */
  signalWithStart: (object: { namespace: string; name: string }, startedBy: string | null) => Promise<void>;
  /** Of what guests are set up with. */
  hashSecret: HashSecret;
}

/** The same, for one execution. */
export type VirtualMachineTools = Omit<VirtualMachineObjectDependencies, 'scope'> & ActivityContext;
