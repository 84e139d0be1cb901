import { isIPv4, isIPv6 } from 'node:net';

import type { CustomizedInterface } from '../../../contracts/virtual-machine/bootstrap.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import type { CustomizationAdapterMapping, CustomizationIPSettings } from '../wire/vim/types.ts';

/**
 * What a guest customization sets on one network card. Pure.
 *
 * @param asked null: the spec says nothing of the card
 * @throws InvalidObject for addresses that a customization cannot set
 */
export const adapterMapping = (
  asked: CustomizedInterface | null,
  macAddress: string | null,
): CustomizationAdapterMapping => ({
  ...(macAddress !== null && { macAddress }),
  adapter:
    asked === null
      ? { ip: byDhcp }
      : { ...ipv4Settings(asked), ...ipv6Settings(asked), dnsServerList: asked.nameservers },
});

const byDhcp = { $type: 'CustomizationDhcpIpGenerator' };

interface Address {
  ip: string;
  prefixLength: number;
}

function ipv4Settings({
  name,
  dhcp4,
  addresses,
  gateway4,
}: CustomizedInterface): Pick<CustomizationIPSettings, 'ip' | 'subnetMask' | 'gateway'> {
  const [address, ...others] = addresses.map((one) => readAddress(name, one)).filter(({ ip }) => isIPv4(ip));
  if (others.length > 0)
    throw droverFailure(
      'InvalidObject',
      `Interface ${name} has ${1 + others.length} IPv4 addresses, and a guest customization sets one`,
    );
  // Each card needs a setting for IPv4, also where there shall be none.
  if (dhcp4 || address === undefined) return { ip: byDhcp };
  return {
    ip: { $type: 'CustomizationFixedIp', ipAddress: address.ip },
    subnetMask: maskOf(address.prefixLength),
    ...(gateway4 !== null && { gateway: [gateway4] }),
  };
}

function ipv6Settings({
  name,
  dhcp6,
  addresses,
  gateway6,
}: CustomizedInterface): Pick<CustomizationIPSettings, 'ipV6Spec'> {
  const fixed = addresses.map((one) => readAddress(name, one)).filter(({ ip }) => isIPv6(ip));
  if (dhcp6) return { ipV6Spec: { ip: [{ $type: 'CustomizationDhcpIpV6Generator' }] } };
  if (fixed.length === 0) return {};
  return {
    ipV6Spec: {
      ip: fixed.map(({ ip, prefixLength }) => ({
        $type: 'CustomizationFixedIpV6',
        ipAddress: ip,
        subnetMask: prefixLength,
      })),
      ...(gateway6 !== null && { gateway: [gateway6] }),
    },
  };
}

/** @throws InvalidObject */
function readAddress(name: string, text: string): Address {
  const { ip = '', prefix = '' } = /^(?<ip>[^/]+)\/(?<prefix>\d{1,3})$/u.exec(text)?.groups ?? {};
  const prefixLength = Number(prefix);
  if ((isIPv4(ip) && prefixLength <= 32) || (isIPv6(ip) && prefixLength <= 128)) return { ip, prefixLength };
  throw droverFailure(
    'InvalidObject',
    `Interface ${name} has the address ${text.slice(0, 80)}, which is none with a prefix length, such as 192.0.2.10/24`,
  );
}

/** 255.255.255.0 of 24. */
const maskOf = (prefixLength: number): string =>
  [0, 8, 16, 24].map((before) => 256 - 2 ** (8 - Math.min(Math.max(prefixLength - before, 0), 8))).join('.');
