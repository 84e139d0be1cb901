import { z } from 'zod';

import type { VirtualMachineStatus } from '../../../contracts/crds/virtual-machine.ts';
import { isA, vim } from '../wire/kinds.ts';
import type {
  GuestNicInfo,
  GuestStackInfo,
  KeyValue,
  NetDhcpConfigInfo,
  NetDhcpConfigInfoDhcpOptions,
  NetDnsConfigInfo,
} from '../wire/vim/types.ts';
import type { Devices } from './read-vm.ts';

type Network = NonNullable<VirtualMachineStatus['network']>;
type Interface = NonNullable<Network['interfaces']>[number];
type Stack = NonNullable<Network['ipStacks']>[number];

const properties = z.object({
  'guest.net': z.array(vim('GuestNicInfo')).default([]),
  'guest.ipStack': z.array(vim('GuestStackInfo')).default([]),
});

/**
 * What the guest says of its cards and routes, as the status shows it. Pure.
 *
 * @param names of the interfaces in the spec, by the keys of their cards
 */
export function shownNetwork(
  read: Readonly<Record<string, unknown>>,
  names: ReadonlyMap<number, string>,
  devices: Devices,
): Network | undefined {
  const parsed = properties.safeParse(read);
  if (!parsed.success) return undefined;
  const interfaces = parsed.data['guest.net']
    .filter(({ deviceConfigId }) => deviceConfigId >= 0)
    .map((card) => ({
      ...toInterface(card, names.get(card.deviceConfigId)),
      ...ofCard(devices.find(({ key }) => key === card.deviceConfigId)),
    }));
  const ipStacks = parsed.data['guest.ipStack'].map(toStack);
  if (interfaces.length === 0 && ipStacks.length === 0) return undefined;
  return { ...(interfaces.length > 0 && { interfaces }), ...(ipStacks.length > 0 && { ipStacks }) };
}

function toInterface(
  { deviceConfigId, macAddress, dnsConfig, ipConfig, ipAddress = [] }: GuestNicInfo,
  name: string | undefined,
): Interface {
  const addresses = ipConfig?.ipAddress?.map(({ ipAddress: address, prefixLength, origin, state, lifetime }) => ({
    address: `${address}/${prefixLength}`,
    ...(isOrigin(origin) && { origin }),
    ...(isState(state) && { state }),
    ...(lifetime !== undefined && { lifetime }),
  }));
  const plain = ipAddress.map((address) => ({ address }));
  return {
    ...(name !== undefined && { name }),
    deviceKey: deviceConfigId,
    ...(dnsConfig !== undefined && { dns: toDns(dnsConfig) }),
    ip: {
      ...((addresses ?? plain).length > 0 && { addresses: addresses ?? plain }),
      ...(ipConfig?.autoConfigurationEnabled !== undefined && {
        autoConfigurationEnabled: ipConfig.autoConfigurationEnabled,
      }),
      ...(ipConfig?.dhcp !== undefined && { dhcp: toDhcp(ipConfig.dhcp) }),
      ...(macAddress !== undefined && { macAddr: macAddress }),
    },
  };
}

/** What only the VM's own card says. */
function ofCard(card: Devices[number] | undefined): Pick<Interface, 'vmxnet3' | 'vnumaNodeID'> {
  if (card === undefined) return {};
  const enabled = isA(card, 'VirtualVmxnet3') ? card.uptv2Enabled : undefined;
  return {
    ...(enabled !== undefined && { vmxnet3: { uptv2Enabled: enabled } }),
    ...(card.numaNode !== undefined && card.numaNode >= 0 && { vnumaNodeID: card.numaNode }),
  };
}

type Address = NonNullable<NonNullable<Interface['ip']>['addresses']>[number];
const origins: readonly string[] = ['dhcp', 'linklayer', 'manual', 'other', 'random'] satisfies Address['origin'][];
const states: readonly string[] = [
  'deprecated',
  'duplicate',
  'inaccessible',
  'invalid',
  'preferred',
  'tentative',
  'unknown',
] satisfies Address['state'][];
const isOrigin = (text: string | undefined): text is NonNullable<Address['origin']> =>
  text !== undefined && origins.includes(text);
const isState = (text: string | undefined): text is NonNullable<Address['state']> =>
  text !== undefined && states.includes(text);

function toStack({ dnsConfig, ipRouteConfig, ipStackConfig = [], dhcpConfig }: GuestStackInfo): Stack {
  const ipRoutes = ipRouteConfig?.ipRoute?.map(({ network, prefixLength, gateway: { ipAddress, device } }) => ({
    networkAddress: `${network}/${prefixLength}`,
    gateway: { ...(ipAddress !== undefined && { address: ipAddress }), ...(device !== undefined && { device }) },
  }));
  return {
    ...(dnsConfig !== undefined && { dns: toDns(dnsConfig) }),
    ...(ipRoutes !== undefined && { ipRoutes }),
    ...(dhcpConfig !== undefined && { dhcp: toDhcp(dhcpConfig) }),
    ...(ipStackConfig.length > 0 && { kernelConfig: uniqueKeys(ipStackConfig) }),
  };
}

const toDns = ({
  dhcp,
  hostName,
  domainName,
  ipAddress,
  searchDomain,
}: NetDnsConfigInfo): NonNullable<Interface['dns']> => ({
  dhcp,
  ...(hostName !== '' && { hostName }),
  ...(domainName !== '' && { domainName }),
  ...(ipAddress !== undefined && { nameservers: ipAddress }),
  ...(searchDomain !== undefined && { searchDomains: searchDomain }),
});

type Dhcp = NonNullable<NonNullable<Interface['ip']>['dhcp']>;
const toDhcp = ({ ipv4, ipv6 }: NetDhcpConfigInfo): Dhcp => ({
  ...(ipv4 !== undefined && { ip4: toOptions(ipv4) }),
  ...(ipv6 !== undefined && { ip6: toOptions(ipv6) }),
});

const toOptions = ({ enable, config = [] }: NetDhcpConfigInfoDhcpOptions): NonNullable<Dhcp['ip4']> => ({
  enabled: enable,
  ...(config.length > 0 && { config: uniqueKeys(config) }),
});

/** A list whose key may stand in it once only. */
const uniqueKeys = (pairs: readonly KeyValue[]): { key: string; value: string }[] => [
  ...new Map(pairs.map(({ key, value }) => [key, { key, value }])).values(),
];
