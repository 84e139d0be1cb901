import type {
  ObservationRequest,
  VirtualMachineObserverActivities,
  VirtualMachineRead,
  VcenterObservation,
} from '../../contracts/virtual-machine/activities.ts';
import type { VirtualMachineInput } from '../../contracts/virtual-machine/lifecycle.ts';
import { observationRequestOf } from '../../contracts/virtual-machine/activities.ts';
import type { Clock } from '../../runtime/clock.ts';
import { currentScope } from '../lib/context.ts';
import { whileBeating } from '../lib/wait.ts';

/** What an observation is made of: two activities of their own, called within one. */
export interface Observers {
  readVirtualMachine: (input: VirtualMachineInput) => Promise<VirtualMachineRead>;
  observeVirtualMachineInVcenter: (vcenter: string, request: ObservationRequest) => Promise<VcenterObservation>;
  clock: Clock;
}

/** Observes a VirtualMachine and its VM, on queue `virtual-machines`. One that is gone, or that its owner has paused, is not observed in vCenter. */
export const createVirtualMachineObserverActivities = ({
  readVirtualMachine,
  observeVirtualMachineInVcenter,
  clock,
}: Observers): VirtualMachineObserverActivities => ({
  observeVirtualMachine: (input) =>
    whileBeating(
      { scope: currentScope(clock), clock },
      () => undefined,
      async () => {
        const read = await readVirtualMachine(input);
        if (read.kind !== 'observed') return read;
        const { desired, observed, settings } = read;
        const request =
          desired === null || desired.paused
            ? null
            : observationRequestOf(desired, observed.recorded, observed.objects);
        const vcenter = request && (await observeVirtualMachineInVcenter(settings.vcenter, request));
        return { ...read, observed: { ...observed, vcenter } };
      },
    ),
});
