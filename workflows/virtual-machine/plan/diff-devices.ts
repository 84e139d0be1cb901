import type { WantedCdrom, WantedNetworkCard } from '../../../contracts/virtual-machine/lifecycle.ts';
import type { Cdrom, DeviceChange, Disk, NetworkCard } from '../../../contracts/virtual-machine/config.ts';
import type { NetworkFacts } from '../../../contracts/virtual-machine/observation.ts';

export interface DeviceDifference {
  changes: DeviceChange[];
  whenOff: string[];
}

/**
 * Cards in the order of the spec: the first is the first, whatever its key. A card that is connected elsewhere is moved; one of another type
 * or address is replaced, one that is not asked for goes. Adding and removing need the VM to be off. Source: vm-and-machine.md A.5 3, A.7.
 */
export function diffNetworkCards(
  wanted: readonly WantedNetworkCard[],
  network: NetworkFacts | null,
  current: readonly NetworkCard[],
  isOff: boolean,
): DeviceDifference {
  const changes: DeviceChange[] = [];
  const whenOff: string[] = [];
  const later = (what: string, ...needed: DeviceChange[]): void =>
    void (isOff ? changes.push(...needed) : whenOff.push(what));
  const inOrder = current.toSorted((a, b) => (a.key ?? 0) - (b.key ?? 0));
  wanted.forEach((card, index) => {
    const backing = network?.interfaces.find(({ name }) => name === card.name)?.backing ?? null;
    if (backing === null) return;
    const there = inOrder[index];
    const made: NetworkCard = { key: null, type: card.type, backing, macAddress: card.macAddress };
    if (there === undefined) return later(`add ${card.name}`, { operation: 'add', device: 'networkCard', card: made });
    if (there.type !== card.type || (card.macAddress !== null && card.macAddress !== there.macAddress)) {
      return later(`replace ${card.name}`, removal('networkCard', there.key), {
        operation: 'add',
        device: 'networkCard',
        card: made,
      });
    }
    if (there.backing !== backing)
      changes.push({ operation: 'edit', device: 'networkCard', card: { ...there, backing } });
  });
  for (const extra of inOrder.slice(wanted.length))
    later(`remove card ${String(extra.key)}`, removal('networkCard', extra.key));
  return { changes, whenOff };
}

/** Drives are added and removed while the VM is off; whether one is connected can change at any time. An ISO that is not ready is left out. */
export function diffCdroms(
  wanted: readonly WantedCdrom[],
  isos: Readonly<Record<string, string | null>>,
  current: readonly Cdrom[],
  isOff: boolean,
): DeviceDifference {
  const changes: DeviceChange[] = [];
  const whenOff: string[] = [];
  const later = (what: string, needed: DeviceChange): void => void (isOff ? changes.push(needed) : whenOff.push(what));
  const kept = new Set<Cdrom>();
  for (const { name, connected, allowGuestControl } of wanted) {
    const iso = isos[name] ?? null;
    if (iso === null) continue;
    const there = current.find((cdrom) => cdrom.iso === iso);
    if (there === undefined)
      later(`add ${name}`, {
        operation: 'add',
        device: 'cdrom',
        cdrom: { key: null, iso, connected, allowGuestControl },
      });
    else {
      kept.add(there);
      if (there.connected !== connected || there.allowGuestControl !== allowGuestControl)
        changes.push({ operation: 'edit', device: 'cdrom', cdrom: { ...there, connected, allowGuestControl } });
    }
  }
  // What is not ready may be the one that is there.
  if (wanted.every(({ name }) => (isos[name] ?? null) !== null)) {
    for (const extra of current.filter((cdrom) => !kept.has(cdrom)))
      later(`remove drive ${String(extra.key)}`, removal('cdrom', extra.key));
  }
  return { changes, whenOff };
}

/** A disk grows, and never shrinks. */
export function diffBootDisk(wantedBytes: number | null, disks: readonly Disk[]): DeviceChange[] {
  const boot = disks.find((disk) => disk.boot);
  if (wantedBytes === null || boot === undefined || wantedBytes <= boot.capacityBytes) return [];
  return [{ operation: 'edit', device: 'disk', key: boot.key, capacityBytes: wantedBytes }];
}

const removal = (device: 'networkCard' | 'cdrom', key: number | null): DeviceChange => ({
  operation: 'remove',
  device,
  key: key ?? 0,
});
