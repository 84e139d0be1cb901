import type { ObservedGuest } from '../../../contracts/virtual-machine/observation.ts';
import { toGuest } from './guest.ts';

const card = (addresses: string[], deviceConfigId = 4000) => ({
  $type: 'GuestNicInfo',
  deviceConfigId,
  ipConfig: { ipAddress: addresses.map((ipAddress) => ({ ipAddress, prefixLength: 24 })) },
});

test.each<[what: string, read: Record<string, unknown>, observed: Partial<ObservedGuest>]>([
  ['nothing is said', {}, { known: false, toolsRunning: false, heartbeat: null, primaryIp4: null, hostName: null }],
  ['Tools do not run', { 'guest.toolsRunningStatus': 'guestToolsNotRunning' }, { known: true, toolsRunning: false }],
  [
    'Tools run',
    { 'guest.toolsRunningStatus': 'guestToolsRunning', guestHeartbeatStatus: 'yellow' },
    { known: true, toolsRunning: true, heartbeat: 'yellow' },
  ],
  [
    'an address of each kind',
    { 'guest.ipAddress': '192.0.2.1', 'guest.net': [card(['fe80::1', '2001:db8::7', '192.0.2.1'])] },
    { primaryIp4: '192.0.2.1', primaryIp6: '2001:db8::7' },
  ],
  [
    'the first address is of the new kind',
    { 'guest.ipAddress': '2001:db8::1', 'guest.net': [card(['10.0.0.1'])] },
    { primaryIp4: '10.0.0.1', primaryIp6: '2001:db8::1' },
  ],
  [
    'addresses of the link and of the guest itself only',
    { 'guest.ipAddress': '169.254.1.1', 'guest.net': [card(['fe80::1', '127.0.0.1', '::1'])] },
    { primaryIp4: null, primaryIp6: null },
  ],
  ['addresses of a bridge within the guest', { 'guest.net': [card(['172.17.0.1'], -1)] }, { primaryIp4: null }],
  [
    'addresses without their settings',
    { 'guest.net': [{ $type: 'GuestNicInfo', deviceConfigId: 4000, ipAddress: ['192.0.2.9'] }] },
    { primaryIp4: '192.0.2.9' },
  ],
  [
    'a customization',
    {
      'guest.customizationInfo': {
        $type: 'GuestInfoCustomizationInfo',
        customizationStatus: 'TOOLSDEPLOYPKG_FAILED',
        errorMsg: 'no',
      },
    },
    { customization: 'TOOLSDEPLOYPKG_FAILED', customizationMessage: 'no' },
  ],
  [
    'names',
    { 'guest.hostName': 'web', 'guest.guestId': 'otherGuest64', 'guest.guestFullName': '' },
    { hostName: 'web', guestId: 'otherGuest64', guestFullName: null },
  ],
  ['nonsense', { 'guest.net': 'x' }, { known: false }],
])('%s', (_, read, observed) => expect(toGuest(read)).toMatchObject(observed));
