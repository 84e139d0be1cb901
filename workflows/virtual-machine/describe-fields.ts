import type { VirtualMachineStatus } from '../../contracts/crds/virtual-machine.ts';
import type { VirtualMachineStatusPatch } from '../../contracts/virtual-machine/plan.ts';
import { powerStateOf } from './plan/plan-power.ts';
import { lastRestartMs } from './plan/plan-restart.ts';
import type { VmContext } from './step.ts';

type Fields = VirtualMachineStatusPatch['fields'];

/** What the status shows of a VM that exists; null takes a field away. Sources: seed 000 "Status Reconciliation Details"; vm-and-machine.md A.12. */
export function describeFields(context: VmContext): Fields {
  const { observed, vm, desired } = context;
  const { guest, config, shown } = vm;
  const created = observed.recorded.provider?.creationTimestamp;
  return {
    ...shown,
    ...describeVolumes(context),
    ...describeClass(context),
    powerState: powerStateOf(vm),
    uniqueID: vm.moId,
    biosUUID: vm.biosUuid,
    instanceUUID: vm.instanceUuid,
    ...(config !== null && {
      currentSnapshot: shown.currentSnapshot ?? null,
      rootSnapshots: shown.rootSnapshots ?? null,
      hardwareVersion: config.hardwareVersion,
      changeBlockTracking: config.changeTrackingEnabled,
      lastRestartTime: restartedAt(config.extraConfig),
    }),
    ...(vm.zone !== null && { zone: vm.zone }),
    nodeName: vm.hostName,
    guest:
      guest.guestId === null && guest.guestFullName === null
        ? null
        : {
            ...(guest.guestId !== null && { guestID: guest.guestId }),
            ...(guest.guestFullName !== null && { guestFullName: guest.guestFullName }),
          },
    network: desired.networkDisabled ? null : describeNetwork(context),
    // It is made once.
    ...(created !== undefined && { provider: { creationTimestamp: created } }),
  };
}

/** The disks of its own; those of PersistentVolumeClaims are shown by whoever attaches them, and stay. */
function describeVolumes({ observed, vm: { shown } }: VmContext): Pick<Fields, 'volumes'> {
  if (shown.volumes === undefined) return {};
  const managed = observed.recorded.volumes?.filter(({ type }) => type !== 'Classic') ?? [];
  return { volumes: [...shown.volumes, ...managed] };
}

const classless: Pick<Fields, 'class'> = { class: null };

/** Where classes are applied by resizing, the class shown is the one that was applied; otherwise the one that the spec names. */
function describeClass({ desired, observed, settings }: VmContext): Pick<Fields, 'class'> {
  if (desired.className === null) return classless;
  const named = (name: string): NonNullable<VirtualMachineStatus['class']> => ({
    apiVersion: 'vmoperator.vmware.com/v1alpha6',
    kind: 'VirtualMachineClass',
    name,
  });
  if (settings.resize !== 'off')
    return desired.lastResizedClass === null ? {} : { class: named(desired.lastResizedClass.name) };
  return observed.recorded.class === undefined ? { class: named(desired.className) } : {};
}

function describeNetwork({ vm: { guest, shown, powerState } }: VmContext): VirtualMachineStatus['network'] | null {
  // What a guest said that no longer runs is not so any more.
  const isRunning = powerState === 'poweredOn';
  const network = {
    ...shown.network,
    ...(isRunning && guest.primaryIp4 !== null && { primaryIP4: guest.primaryIp4 }),
    ...(isRunning && guest.primaryIp6 !== null && { primaryIP6: guest.primaryIp6 }),
    ...(isRunning && guest.hostName !== null && { hostName: guest.hostName }),
  };
  return Object.keys(network).length === 0 ? null : network;
}

function restartedAt(extraConfig: Readonly<Record<string, string>>): string | null {
  const ms = lastRestartMs(extraConfig);
  return ms === 0 ? null : new Date(ms).toISOString();
}
