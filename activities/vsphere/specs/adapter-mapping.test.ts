import type { CustomizedInterface } from '../../../contracts/virtual-machine/bootstrap.ts';
import { adapterMapping } from './adapter-mapping.ts';

const asked = (more: Partial<CustomizedInterface> = {}): CustomizedInterface => ({
  name: 'eth0',
  dhcp4: false,
  dhcp6: false,
  addresses: [],
  gateway4: null,
  gateway6: null,
  nameservers: [],
  ...more,
});
const dhcp = { $type: 'CustomizationDhcpIpGenerator' };
const fixed = (ipAddress: string) => ({ $type: 'CustomizationFixedIp', ipAddress });

test.each<[what: string, more: Partial<CustomizedInterface>, adapter: object]>([
  ['DHCP', { dhcp4: true }, { ip: dhcp, dnsServerList: [] }],
  [
    'an address',
    { addresses: ['192.0.2.10/24'], gateway4: '192.0.2.1', nameservers: ['192.0.2.53'] },
    { ip: fixed('192.0.2.10'), subnetMask: '255.255.255.0', gateway: ['192.0.2.1'], dnsServerList: ['192.0.2.53'] },
  ],
  [
    'an address without a gateway',
    { addresses: ['10.0.0.1/8'] },
    { ip: fixed('10.0.0.1'), subnetMask: '255.0.0.0', dnsServerList: [] },
  ],
  [
    'a prefix that is no whole byte',
    { addresses: ['10.0.0.1/22'] },
    { ip: fixed('10.0.0.1'), subnetMask: '255.255.252.0', dnsServerList: [] },
  ],
  [
    'the longest prefix',
    { addresses: ['10.0.0.1/32'] },
    { ip: fixed('10.0.0.1'), subnetMask: '255.255.255.255', dnsServerList: [] },
  ],
  [
    'the shortest prefix',
    { addresses: ['10.0.0.1/0'] },
    { ip: fixed('10.0.0.1'), subnetMask: '0.0.0.0', dnsServerList: [] },
  ],
  [
    'both families',
    { addresses: ['2001:db8::10/64', '192.0.2.10/24', '2001:db8::11/64'], gateway6: '2001:db8::1' },
    {
      ip: fixed('192.0.2.10'),
      subnetMask: '255.255.255.0',
      dnsServerList: [],
      ipV6Spec: {
        ip: [
          { $type: 'CustomizationFixedIpV6', ipAddress: '2001:db8::10', subnetMask: 64 },
          { $type: 'CustomizationFixedIpV6', ipAddress: '2001:db8::11', subnetMask: 64 },
        ],
        gateway: ['2001:db8::1'],
      },
    },
  ],
  [
    'IPv6 alone: a card needs a setting for IPv4 all the same',
    { addresses: ['2001:db8::10/64'] },
    {
      ip: dhcp,
      dnsServerList: [],
      ipV6Spec: { ip: [{ $type: 'CustomizationFixedIpV6', ipAddress: '2001:db8::10', subnetMask: 64 }] },
    },
  ],
  [
    'DHCP for IPv6',
    { dhcp6: true },
    { ip: dhcp, dnsServerList: [], ipV6Spec: { ip: [{ $type: 'CustomizationDhcpIpV6Generator' }] } },
  ],
])('%s', (_, more, adapter) =>
  expect(adapterMapping(asked(more), '00:50:56:aa:00:01')).toEqual({ macAddress: '00:50:56:aa:00:01', adapter }),
);

test('a card that the spec does not name asks by DHCP, and one without an address is found by its place', () =>
  expect(adapterMapping(null, null)).toEqual({ adapter: { ip: dhcp } }));

test.each([
  ['two IPv4 addresses', ['192.0.2.10/24', '192.0.2.11/24'], /eth0 has 2 IPv4 addresses/u],
  ['one without a prefix', ['192.0.2.10'], /eth0 has the address 192\.0\.2\.10, which is none/u],
  ['a prefix that is too long', ['192.0.2.10/33'], /which is none/u],
  ['a prefix that is too long for IPv6', ['2001:db8::1/129'], /which is none/u],
  ['no address', ['web/24'], /which is none/u],
])('%s: the object has to be corrected', (_, addresses, words) => {
  expect(() => adapterMapping(asked({ addresses }), null)).toThrow(
    expect.objectContaining({ type: 'InvalidObject', nonRetryable: true, message: expect.stringMatching(words) }),
  );
});
