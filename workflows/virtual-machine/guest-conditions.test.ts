import { contextOf, guestOf, type Given } from '../../test/fixtures/workflows/virtual-machine.ts';
import { judgeGuestBootstrap, judgeGuestNetwork } from './guest-conditions.ts';
import type { VmContext } from './plan/context.ts';

const contextIn = (given: Given): VmContext => {
  const context = contextOf(given);
  return { ...context, vm: context.observed.vm! };
};
const inShort = (condition: ReturnType<typeof judgeGuestNetwork>): string =>
  condition === null ? 'nothing' : `${condition.status} ${condition.reason}: ${condition.message}`;

const key = 'guestinfo.vmservice.bootstrap.condition';
test.each([
  ['nothing', undefined, 'nothing'],
  ['an empty text', '', 'nothing'],
  ['that all went well', 'true', 'True True: '],
  ['why', 'True, Done', 'True Done: '],
  ['what went wrong, with a comma', 'false,NoDisk, there is no disk, at all', 'False NoDisk: there is no disk, at all'],
  ['no word of either', 'perhaps', 'False False: '],
  ['a reason that is none for kube-apiserver', 'false,not a word,really', 'False False: not a word: really'],
])('the guest says %s', (_what, text, expected) => {
  const extraConfig: Record<string, string> = text === undefined ? {} : { [key]: text };
  expect(inShort(judgeGuestBootstrap(contextIn({ config: { extraConfig } })))).toBe(expected);
});

test('nothing is known of the VM', () => {
  expect(judgeGuestBootstrap(contextIn({ config: null }))).toBeNull();
});

const cards = (...addresses: string[]) => ({
  shown: { network: { interfaces: [{ ip: { addresses: addresses.map((address) => ({ address })) } }] } },
});
const guest = (primaryIp4: string | null, primaryIp6: string | null = null) => ({
  guest: guestOf({ primaryIp4, primaryIp6 }),
});

const rows: [why: string, given: Given, expected: string][] = [
  [
    'no address',
    { vm: { ...guest(null), ...cards('192.0.2.1/24') } },
    'False NotSynced: Neither IPv4 nor IPv6 address reported by guest',
  ],
  [
    'an address that one of its cards shows',
    { vm: { ...guest('192.0.2.1'), ...cards('10.0.0.1/8', '192.0.2.1/24') } },
    'True Synced: IPv4="192.0.2.1", IPv6=""',
  ],
  [
    'IPv6 alone',
    { vm: { ...guest(null, '2001:db8::1'), ...cards('2001:db8::1/64') } },
    'True Synced: IPv4="", IPv6="2001:db8::1"',
  ],
  [
    'an address that none shows yet',
    { vm: { ...guest('192.0.2.1'), ...cards() } },
    'False NotSynced: The guest’s own addresses (IPv4="192.0.2.1", IPv6="") are not among those of its cards yet',
  ],
  ['a VM that is off', { vm: { powerState: 'poweredOff', ...guest(null) } }, 'nothing'],
  ['no network', { desired: { networkDisabled: true } }, 'nothing'],
  ['no cards', { desired: { networkCards: [] } }, 'nothing'],
];
test.each(rows)('%s', (_why, given, expected) => {
  expect(inShort(judgeGuestNetwork(contextIn(given)))).toBe(expected);
});
