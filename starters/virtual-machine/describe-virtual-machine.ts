import type { VirtualMachineProgress } from '../../contracts/virtual-machine/observation.ts';
import type { CommandContext } from '../command/context.ts';
import { describeObject } from '../command/describe-object.ts';
import type { ObjectReference } from '../command/object-reference.ts';
import { renderVirtualMachine } from '../render/virtual-machine.ts';
import { virtualMachineAccess } from './virtual-machine-access.ts';
import type { VirtualMachineDescription } from './virtual-machine-description.ts';
import type { VirtualMachineObject } from './virtual-machine-object.ts';

/** `drover describe vm`. */
export const describeVirtualMachine = (
  context: CommandContext,
  reference: ObjectReference,
  json: boolean,
): Promise<void> =>
  describeObject<VirtualMachineObject, VirtualMachineProgress, VirtualMachineDescription>(
    context,
    {
      kind: 'VirtualMachine',
      heldBy: ['VirtualMachine'],
      access: virtualMachineAccess,
      complete: (description) => Promise.resolve(description),
      render: renderVirtualMachine,
    },
    reference,
    json,
  );
