import type {
  VirtualMachineLook,
  VirtualMachineLookActivities,
  VirtualMachineRead,
  VsphereFacts,
} from '../../contracts/virtual-machine/activities.ts';
import type { VirtualMachineInput } from '../../contracts/virtual-machine/lifecycle.ts';
import { lookFor } from '../../contracts/virtual-machine/look.ts';
import type { Clock } from '../../runtime/clock.ts';
import { currentScope } from '../lib/context.ts';
import { whileBeating } from '../lib/wait.ts';

/** What a look is made of: two activities of their own, called within one. */
export interface Looks {
  readVirtualMachine: (input: VirtualMachineInput) => Promise<VirtualMachineRead>;
  lookAtVirtualMachine: (vcenter: string, look: VirtualMachineLook) => Promise<VsphereFacts>;
  clock: Clock;
}

/** Looks at a VirtualMachine and its VM, on queue `virtual-machines`. One that is gone, or that its owner has paused, is not looked at in vCenter. */
export const createVirtualMachineLookActivities = ({
  readVirtualMachine,
  lookAtVirtualMachine,
  clock,
}: Looks): VirtualMachineLookActivities => ({
  observeVirtualMachine: (input) =>
    whileBeating(
      { scope: currentScope(clock), clock },
      () => undefined,
      async () => {
        const read = await readVirtualMachine(input);
        if (read.next !== 'run') return read;
        const { desired, recorded, objects, settings } = read;
        const isLookedAt = desired !== null && !desired.paused;
        return {
          ...read,
          facts: isLookedAt ? await lookAtVirtualMachine(settings.vcenter, lookFor(desired, recorded, objects)) : null,
        };
      },
    ),
});
