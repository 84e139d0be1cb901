import type { VirtualMachineObject } from './virtual-machine-object.ts';
import type { VirtualMachineProgress } from '../../contracts/virtual-machine/observation.ts';
import type { ObjectRun } from '../command/object-run.ts';

/** Everything that is known of a virtual machine; also the JSON of `drover describe vm --json`. */
export interface VirtualMachineDescription {
  namespace: string;
  name: string;
  /** Null: there is none any more, or it cannot be read. */
  object: VirtualMachineObject | null;
  /** Null: it never ran, or too long ago, or Temporal does not answer. */
  run: ObjectRun<VirtualMachineProgress> | null;
  /** Every `drover stop` that holds it up, as a sentence. */
  stops: string[];
  /** What could not be read, and so is missing above. */
  problems: string[];
}
