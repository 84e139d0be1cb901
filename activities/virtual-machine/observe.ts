import type {
  ObservationRequest,
  VirtualMachineObserverActivities,
  VirtualMachineRead,
  VcenterObservation,
} from '../../contracts/virtual-machine/activities.ts';
import type { DesiredVirtualMachine, VirtualMachineInput } from '../../contracts/virtual-machine/lifecycle.ts';
import type { ObservedVm } from '../../contracts/virtual-machine/observation.ts';
import { observationRequestOf } from '../../contracts/virtual-machine/activities.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type ActivityScope, currentScope } from '../lib/context.ts';
import { whileBeating } from '../lib/wait.ts';
import type { PortAnswer, ProbePort } from './probe-port.ts';

/** What an observation is made of: two activities of their own, called within one. */
export interface Observers {
  readVirtualMachine: (input: VirtualMachineInput) => Promise<VirtualMachineRead>;
  observeVirtualMachineInVcenter: (vcenter: string, request: ObservationRequest) => Promise<VcenterObservation>;
  probePort: ProbePort;
  clock: Clock;
  /** Default: that of the activity which Temporal runs. */
  scope?: (clock: Clock) => ActivityScope;
}

/**
 * Observes a VirtualMachine and its VM, on queue `virtual-machines`. One that is gone, or that its owner has paused, is
 * not observed in vCenter.
 */
export const createVirtualMachineObserverActivities = ({
  readVirtualMachine,
  observeVirtualMachineInVcenter,
  probePort,
  clock,
  scope: scopeOf = currentScope,
}: Observers): VirtualMachineObserverActivities => ({
  observeVirtualMachine: (input) => {
    const scope = scopeOf(clock);
    return whileBeating(
      { scope, clock },
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
        const port = desired && (await probeGuest(probePort, desired.probePort, vcenter?.vm ?? null, scope.signal));
        return { ...read, observed: { ...observed, vcenter: vcenter && { ...vcenter, ...(port && { probe: port }) } } };
      },
    );
  },
});

/** Null: there is nothing to probe. */
async function probeGuest(
  probePort: ProbePort,
  asked: DesiredVirtualMachine['probePort'],
  vm: ObservedVm | null,
  signal: AbortSignal,
): Promise<PortAnswer | null> {
  if (asked === null || vm?.powerState !== 'poweredOn') return null;
  const { port, timeoutMs } = asked;
  if (port === null)
    return { passed: false, message: 'Its port is no number from 1 to 65535: names of ports are not known of a guest' };
  const host = asked.host ?? vm.guest.primaryIp4 ?? vm.guest.primaryIp6;
  return host === null
    ? {
        passed: false,
        message: 'The guest has no address yet: VMware Tools report it, or readinessProbe.tcpSocket.host names it',
      }
    : await probePort({ host, port, timeoutMs }, signal);
}
