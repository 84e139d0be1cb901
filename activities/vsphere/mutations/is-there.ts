import type { DeviceChange, ReconfigSpec, VmConfig } from '../../../contracts/virtual-machine/config.ts';
import { toConfig } from '../observation/config.ts';
import type { VirtualMachine } from '../types.ts';

/** Whether a VM is as a change wants it: an earlier attempt may have made it. What was added cannot be told from what others add. */
export function isThere(spec: ReconfigSpec, vm: VirtualMachine): boolean {
  const config = toConfig(vm, []);
  if (config === null || vm.config === null) return false;
  const { extraConfig = [], deviceChange = [], ...fields } = spec;
  const { extraConfig: options } = vm.config;
  return (
    Object.entries(fields).every(([name, value]) => isSame(value, config[name as keyof VmConfig])) &&
    // A key that is not there is as good as one without a value.
    extraConfig.every(({ key, value }) => (options[key] ?? '') === value) &&
    deviceChange.every((change) => isMade(change, config))
  );
}

const isSame = (wanted: unknown, seen: unknown): boolean => {
  if (typeof wanted !== 'object' || wanted === null || typeof seen !== 'object' || seen === null)
    return wanted === seen;
  return Object.entries(wanted).every(([name, value]) => (seen as Record<string, unknown>)[name] === value);
};

function isMade(change: DeviceChange, { networkCards, cdroms, disks }: VmConfig): boolean {
  switch (change.operation) {
    case 'add':
      return false;
    case 'remove':
      return ![...networkCards, ...cdroms].some(({ key }) => key === change.key);
    case 'edit':
      if (change.device === 'networkCard')
        return networkCards.some(({ key, backing }) => key === change.card.key && backing === change.card.backing);
      if (change.device === 'disk')
        return disks.some(({ key, capacityBytes }) => key === change.key && capacityBytes >= change.capacityBytes);
      return cdroms.some(
        ({ key, iso, connected, allowGuestControl }) =>
          key === change.cdrom.key &&
          iso === change.cdrom.iso &&
          connected === change.cdrom.connected &&
          allowGuestControl === change.cdrom.allowGuestControl,
      );
  }
}
