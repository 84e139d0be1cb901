import type { VirtualMachineSpec } from '../../../contracts/crds/virtual-machine.ts';
import type { CustomizedInterface } from '../../../contracts/virtual-machine/bootstrap.ts';

type Network = NonNullable<VirtualMachineSpec['network']>;
type Interface = NonNullable<Network['interfaces']>[number];

/** What a guest is configured with for its interfaces. One that says nothing asks by DHCP. */
export const readInterfaces = ({ disabled, interfaces = [] }: Network): CustomizedInterface[] =>
  disabled === true ? [] : interfaces.map(readInterface);

function readInterface({
  name,
  addresses = [],
  dhcp4,
  dhcp6 = false,
  gateway4,
  gateway6,
  nameservers = [],
}: Interface): CustomizedInterface {
  return {
    name,
    dhcp4: dhcp4 ?? (addresses.length === 0 && !dhcp6),
    dhcp6,
    addresses,
    gateway4: gateway(gateway4),
    gateway6: gateway(gateway6),
    nameservers,
  };
}

/** `None` says that there is none, where others would expect one. */
const gateway = (address: string | undefined): string | null =>
  address === undefined || address === '' || address === 'None' ? null : address;

/**
 * The network as cloud-init takes it, version 2.
 *
 * @param macAddresses of the network cards; an interface without one is left to be found by its name
 * @param defaults for interfaces that name none
 */
export function describeNetwork(
  network: Network,
  defaults: { nameservers: readonly string[]; searchDomains: readonly string[] },
  macAddresses: readonly (string | null)[],
): object | null {
  const read = readInterfaces(network);
  if (read.length === 0) return null;
  const ethernets = (network.interfaces ?? []).map(
    (one, index) => [one.name, describeInterface(one, read[index]!, defaults, macAddresses[index] ?? null)] as const,
  );
  // The spec says nothing of their addresses, so that the guest sets none of its own accord.
  const noAddresses = { dhcp4: false, dhcp6: false, 'accept-ra': false };
  const vlans = (network.vlans ?? []).map(({ name, id, link }) => [name, { id, link, ...noAddresses }] as const);
  return {
    version: 2,
    ethernets: Object.fromEntries(ethernets),
    ...(vlans.length > 0 && { vlans: Object.fromEntries(vlans) }),
  };
}

function describeInterface(
  given: Interface,
  read: CustomizedInterface,
  defaults: { nameservers: readonly string[]; searchDomains: readonly string[] },
  macAddress: string | null,
): object {
  const addresses = given.nameservers ?? defaults.nameservers;
  const search = given.searchDomains ?? defaults.searchDomains;
  return {
    // Only what is matched can be renamed.
    ...(macAddress !== null && {
      match: { macaddress: macAddress.toLowerCase() },
      'set-name': given.guestDeviceName ?? given.name,
    }),
    dhcp4: read.dhcp4,
    dhcp6: read.dhcp6,
    ...(read.addresses.length > 0 && { addresses: read.addresses }),
    ...(read.gateway4 !== null && { gateway4: read.gateway4 }),
    ...(read.gateway6 !== null && { gateway6: read.gateway6 }),
    ...(given.mtu !== undefined && { mtu: given.mtu }),
    ...(given.routes !== undefined && { routes: given.routes }),
    ...(addresses.length + search.length > 0 && {
      nameservers: { ...(addresses.length > 0 && { addresses }), ...(search.length > 0 && { search }) },
    }),
  };
}
