import type { VirtualMachineProgress } from '../../contracts/virtual-machine/observation.ts';
import type { ObjectDescription } from '../command/describe-object.ts';
import type { VirtualMachineObject } from './virtual-machine-object.ts';

/** Everything that is known of a virtual machine; also the JSON of `drover describe vm --json`. */
export type VirtualMachineDescription = ObjectDescription<VirtualMachineObject, VirtualMachineProgress>;
