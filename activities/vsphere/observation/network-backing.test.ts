import * as fc from 'fast-check';

import type { AnyVirtualDeviceBackingInfo } from '../wire/vim/types.ts';
import { backingOf, backingText, networkText } from './network-backing.ts';

test.each<[text: string, backing: AnyVirtualDeviceBackingInfo]>([
  ['standard:VM Network', { $type: 'VirtualEthernetCardNetworkBackingInfo', deviceName: 'VM Network' }],
  ['standard:a/b:c', { $type: 'VirtualEthernetCardNetworkBackingInfo', deviceName: 'a/b:c' }],
  [
    'distributed:50 1e/dvportgroup-9',
    {
      $type: 'VirtualEthernetCardDistributedVirtualPortBackingInfo',
      port: { switchUuid: '50 1e', portgroupKey: 'dvportgroup-9' },
    },
  ],
  [
    'opaque:nsx.LogicalSwitch/a-1',
    {
      $type: 'VirtualEthernetCardOpaqueNetworkBackingInfo',
      opaqueNetworkType: 'nsx.LogicalSwitch',
      opaqueNetworkId: 'a-1',
    },
  ],
])('%s, there and back', (text, backing) => {
  expect(backingText(backing)).toBe(text);
  expect(backingOf(text)).toEqual(backing);
});

test('any name of a network comes back', () =>
  fc.assert(
    fc.property(fc.string(), (deviceName) =>
      expect(backingOf(backingText({ $type: 'VirtualEthernetCardNetworkBackingInfo', deviceName }))).toEqual({
        $type: 'VirtualEthernetCardNetworkBackingInfo',
        deviceName,
      }),
    ),
  ));

test('a backing that is no network is described, and not sent back to vCenter', () => {
  expect(backingText({ $type: 'VirtualEthernetCardLegacyNetworkBackingInfo' })).toBe(
    'other:VirtualEthernetCardLegacyNetworkBackingInfo',
  );
  expect(backingText(undefined)).toBe('other:');
  for (const text of ['other:x', '', 'network-7'])
    expect(() => backingOf(text)).toThrow(expect.objectContaining({ type: 'InvalidInput' }));
});

const uuidOf = (id: string): string | undefined => (id === 'dvs-1' ? '50 1e' : undefined);
test.each<[what: string, read: Record<string, unknown>, text: string | null]>([
  ['a standard network', { name: 'VM Network' }, 'standard:VM Network'],
  [
    'a port group',
    {
      name: 'pg',
      key: 'dvportgroup-9',
      'config.distributedVirtualSwitch': { type: 'DistributedVirtualSwitch', value: 'dvs-1' },
    },
    'distributed:50 1e/dvportgroup-9',
  ],
  [
    'a port group of a switch that cannot be read',
    {
      name: 'pg',
      key: 'dvportgroup-9',
      'config.distributedVirtualSwitch': { type: 'DistributedVirtualSwitch', value: 'dvs-2' },
    },
    null,
  ],
  [
    'an opaque network',
    { name: 'o', summary: { opaqueNetworkId: 'a-1', opaqueNetworkType: 'nsx.LogicalSwitch' } },
    'opaque:nsx.LogicalSwitch/a-1',
  ],
  ['nothing', {}, null],
])('%s of the inventory', (_, read, text) => expect(networkText(read, uuidOf)).toBe(text));
