import type { WantedNetworkCard } from '../../../contracts/virtual-machine/lifecycle.ts';
import type { NetworkCard } from '../../../contracts/virtual-machine/config.ts';
import { diffNetworkCards } from './diff-network.ts';

const network = {
  interfaces: [
    { name: 'eth0', backing: 'network-1', message: '' },
    { name: 'eth1', backing: 'network-2', message: '' },
    { name: 'eth2', backing: null, message: 'no port' },
    { name: 'eth3', backing: 'network-3', message: '' },
    { name: 'twin', backing: 'network-1', message: '' },
  ],
};
const wanted = (...names: string[]): WantedNetworkCard[] =>
  names.map((name) => ({ name, type: 'VMXNet3', macAddress: null }));
const card = (key: number, backing: string, more: Partial<NetworkCard> = {}): NetworkCard => ({
  key,
  type: 'VMXNet3',
  backing,
  macAddress: `00:50:56:00:00:0${key - 3_999}`,
  ...more,
});
const config = { hardwareVersion: 21, firmware: 'efi', extraConfig: {}, networkCards: [] };
const on = false;
const off = true;

interface Row {
  why: string;
  cards: WantedNetworkCard[];
  current: NetworkCard[];
  record?: string;
  isOff: boolean;
  changes?: string[];
  whenOff?: string[];
  /** Left out: as it was. */
  recorded?: string;
}

const three = [card(4_000, 'network-1'), card(4_001, 'network-2'), card(4_002, 'network-3')];
const three1 = [card(4_000, 'network-1'), card(4_001, 'network-1'), card(4_002, 'network-1')];
const rows: Row[] = [
  { why: 'as they are', cards: wanted('eth0'), current: [card(4_000, 'network-1')], isOff: on },
  {
    why: 'one that is missing is added while it is off',
    cards: wanted('eth0', 'eth1'),
    current: [card(4_000, 'network-1')],
    isOff: off,
    changes: ['add network-2'],
  },
  {
    why: 'and waits while it is on',
    cards: wanted('eth0', 'eth1'),
    current: [card(4_000, 'network-1')],
    isOff: on,
    whenOff: ['add eth1'],
  },
  {
    why: 'one too many goes',
    cards: wanted('eth0'),
    current: [card(4_000, 'network-1'), card(4_001, 'network-2')],
    record: 'eth0=4000,eth1=4001',
    isOff: off,
    changes: ['remove 4001'],
    recorded: 'eth0=4000',
  },
  {
    why: 'but not while it is on',
    cards: wanted('eth0'),
    current: [card(4_000, 'network-1'), card(4_001, 'network-2')],
    record: 'eth0=4000,eth1=4001',
    isOff: on,
    whenOff: ['remove card 4001'],
  },
  {
    why: 'one that is connected elsewhere is moved while it is off',
    cards: wanted('eth1'),
    current: [card(4_000, 'network-1')],
    isOff: off,
    changes: ['edit 4000 network-2'],
  },
  {
    why: 'and never under a guest that runs',
    cards: wanted('eth1'),
    current: [card(4_000, 'network-1')],
    isOff: on,
    whenOff: ['the network of eth1'],
  },
  {
    why: 'one of another type is replaced',
    cards: [{ name: 'eth0', type: 'E1000', macAddress: null }],
    current: [card(4_000, 'network-1')],
    isOff: off,
    changes: ['remove 4000', 'add network-1'],
  },
  {
    why: 'so is one of another address',
    cards: [{ name: 'eth0', type: 'VMXNet3', macAddress: '00:50:56:aa:bb:cc' }],
    current: [card(4_000, 'network-1')],
    isOff: off,
    changes: ['remove 4000', 'add network-1'],
  },
  {
    why: 'one whose network is not ready is left alone',
    cards: wanted('eth2'),
    current: [card(4_000, 'network-1')],
    isOff: off,
  },
  {
    why: 'and while it is, none goes, and none is moved: it may be that one',
    cards: wanted('eth2', 'eth1'),
    current: [card(4_000, 'network-1')],
    isOff: off,
  },
  {
    why: 'by their networks, the order of the keys does not matter',
    cards: wanted('eth0', 'eth1'),
    current: [card(4_001, 'network-1'), card(4_000, 'network-2')],
    isOff: on,
    recorded: 'eth0=4001,eth1=4000',
  },
  {
    why: 'the middle one of three goes: the others stay what they are',
    cards: wanted('eth0', 'eth3'),
    current: three,
    isOff: on,
    whenOff: ['remove card 4001'],
    recorded: 'eth0=4000,eth3=4002',
  },
  {
    why: 'the same while it is off',
    cards: wanted('eth0', 'eth3'),
    current: three,
    record: 'eth0=4000,eth1=4001,eth3=4002',
    isOff: off,
    changes: ['remove 4001'],
    recorded: 'eth0=4000,eth3=4002',
  },
  {
    why: 'the first of two of one network goes: the record says which',
    cards: wanted('twin'),
    current: three1.slice(0, 2),
    record: 'eth0=4000,twin=4001',
    isOff: off,
    changes: ['remove 4000'],
    recorded: 'twin=4001',
  },
  {
    why: 'a card that is not recorded is found by the address that is asked for',
    cards: [
      { name: 'eth0', type: 'VMXNet3', macAddress: '00:50:56:00:00:02' },
      { name: 'twin', type: 'VMXNet3', macAddress: '00:50:56:00:00:01' },
    ],
    current: three1.slice(0, 2),
    isOff: on,
    recorded: 'eth0=4001,twin=4000',
  },
  {
    why: 'the record counts more than the network: what another user has connected elsewhere is put back',
    cards: wanted('eth0', 'eth1'),
    current: [card(4_000, 'network-2'), card(4_001, 'network-1')],
    record: 'eth0=4000,eth1=4001',
    isOff: off,
    changes: ['edit 4000 network-1', 'edit 4001 network-2'],
  },
  {
    why: 'what is recorded of a card that is gone counts no more',
    cards: wanted('eth0', 'eth1'),
    current: [card(4_000, 'network-1'), card(4_003, 'network-2')],
    record: 'eth0=4000,eth1=4001',
    isOff: on,
    recorded: 'eth0=4000,eth1=4003',
  },
  {
    why: 'an interface that takes the place of another gets a card of its own, unless both are on one network',
    cards: wanted('eth0', 'eth3'),
    current: [card(4_000, 'network-1'), card(4_001, 'network-2')],
    record: 'eth0=4000,eth1=4001',
    isOff: off,
    changes: ['remove 4001', 'add network-3'],
    recorded: 'eth0=4000',
  },
  {
    why: 'one that only has another name keeps its card',
    cards: wanted('eth1', 'twin'),
    current: [card(4_000, 'network-1'), card(4_001, 'network-2')],
    record: 'eth0=4000,eth1=4001',
    isOff: on,
    recorded: 'eth1=4001,twin=4000',
  },
  {
    why: 'a record that is nonsense is none',
    cards: wanted('eth0', 'eth1'),
    current: [card(4_000, 'network-1'), card(4_001, 'network-2')],
    record: 'eth0=4001=4000,=4001,eth1=,x',
    isOff: on,
    recorded: 'eth0=4000,eth1=4001',
  },
  {
    why: 'without a network all cards go, while it is off',
    cards: [],
    current: [card(4_000, 'network-1'), card(4_001, 'network-2')],
    record: 'eth0=4000,eth1=4001',
    isOff: off,
    changes: ['remove 4000', 'remove 4001'],
    recorded: '',
  },
];
test.each(rows)('$why', ({ cards, current, record = '', isOff, changes = [], whenOff = [], recorded = record }) => {
  const extraConfig: Record<string, string> = record === '' ? {} : { 'drover.networkCards': record };
  const difference = diffNetworkCards(cards, network, { ...config, networkCards: current, extraConfig }, isOff, true);
  const short = difference.changes.map((change) =>
    change.operation === 'remove'
      ? `remove ${change.key}`
      : change.device === 'networkCard'
        ? `${change.operation} ${change.operation === 'edit' ? `${change.card.key} ` : ''}${change.card.backing}`
        : '?',
  );
  expect({ changes: short, whenOff: difference.whenOff }).toEqual({ changes, whenOff });
  expect(difference.extraConfig['drover.networkCards'] ?? '').toBe(recorded);
});

test('once all of it is done nothing differs: an only card is not even recorded', () => {
  const alone = { ...config, networkCards: [card(4_000, 'network-1')] };
  expect(diffNetworkCards(wanted('eth0'), network, alone, on, true)).toEqual({
    changes: [],
    whenOff: [],
    unmet: [],
    extraConfig: {},
  });
});

interface Setting {
  why: string;
  asked: Partial<WantedNetworkCard>;
  has?: Partial<NetworkCard>;
  more?: Partial<Parameters<typeof diffNetworkCards>[2]>;
  isOff?: boolean;
  fullMemory?: boolean;
  edited?: Partial<NetworkCard>;
  whenOff?: string[];
  unmet?: string[];
  extraConfig?: Record<string, string>;
}
const settings: Setting[] = [
  { why: 'UPT is switched on under a guest that runs', asked: { uptv2Enabled: true }, edited: { uptv2Enabled: true } },
  { why: 'and off', asked: {}, has: { uptv2Enabled: true }, edited: {} },
  { why: 'once', asked: { uptv2Enabled: true }, has: { uptv2Enabled: true } },
  {
    why: 'not without its memory',
    asked: { uptv2Enabled: true },
    fullMemory: false,
    unmet: ['uptv2Enabled (needs all of its memory reserved: memoryAdvanced.reservationLockedToMax) of eth0'],
  },
  {
    why: 'nor on older hardware',
    asked: { uptv2Enabled: true },
    more: { hardwareVersion: 19 },
    unmet: ['uptv2Enabled (needs hardware version 20, and it has 19: minHardwareVersion) of eth0'],
  },
  { why: 'off it is switched whatever it has', asked: {}, has: { uptv2Enabled: true }, fullMemory: false, edited: {} },
  { why: 'its NUMA node is set while it is off', asked: { vnumaNode: 1 }, isOff: true, edited: { numaNode: 1 } },
  { why: 'and waits while it is on', asked: { vnumaNode: 1 }, whenOff: ['vnumaNodeID of eth0'] },
  { why: 'node 0 is one', asked: { vnumaNode: 0 }, has: { numaNode: 0 } },
  { why: 'none is taken away', asked: {}, has: { numaNode: 2 }, isOff: true, edited: {} },
  {
    why: 'not with a BIOS',
    asked: { vnumaNode: 1 },
    more: { firmware: 'bios' },
    isOff: true,
    unmet: ['vnumaNodeID (needs firmware efi) of eth0'],
  },
  {
    why: 'what one change needs holds up no other',
    asked: { uptv2Enabled: true, vnumaNode: 1 },
    fullMemory: false,
    isOff: true,
    edited: { numaNode: 1 },
    unmet: ['uptv2Enabled (needs all of its memory reserved: memoryAdvanced.reservationLockedToMax) of eth0'],
  },
  {
    why: 'settings go into ExtraConfig while it is off',
    asked: { properties: { ctxPerDev: '3' } },
    isOff: true,
    extraConfig: { 'ethernet0.ctxPerDev': '3', 'drover.networkProperties': 'ethernet0.ctxPerDev' },
  },
  { why: 'and wait while it is on', asked: { properties: { ctxPerDev: '3' } }, whenOff: ['ethernet0.ctxPerDev'] },
  {
    why: 'once',
    asked: { properties: { ctxPerDev: '3' } },
    more: { extraConfig: { 'ethernet0.ctxPerDev': '3', 'drover.networkProperties': 'ethernet0.ctxPerDev' } },
  },
  {
    why: 'what is no longer asked for goes',
    asked: {},
    more: { extraConfig: { 'ethernet0.ctxPerDev': '3', 'drover.networkProperties': 'ethernet0.ctxPerDev' } },
    isOff: true,
    extraConfig: { 'ethernet0.ctxPerDev': '', 'drover.networkProperties': '' },
  },
  {
    why: 'also what the operator before had set',
    asked: { properties: { innerRSS: 'TRUE' } },
    more: {
      extraConfig: {
        'ethernet0.innerRSS': 'TRUE',
        'ethernet0.gone': '1',
        'vmservice.nic.ethernet0.managedKeys': 'gone,innerRSS',
      },
    },
    isOff: true,
    extraConfig: {
      'ethernet0.gone': '',
      'vmservice.nic.ethernet0.managedKeys': '',
      'drover.networkProperties': 'ethernet0.innerRSS',
    },
  },
  {
    why: 'no user connects a card elsewhere so',
    asked: { properties: { 'dvs.portgroupId': 'x' } },
    isOff: true,
    unmet: ['dvs.portgroupId of eth0 (only the platform sets it: leave it out of advancedProperties)'],
  },
];
test.each(settings)(
  'settings of a card: $why',
  ({
    asked,
    has = {},
    more = {},
    isOff = false,
    fullMemory = true,
    edited,
    whenOff = [],
    unmet = [],
    extraConfig = {},
  }) => {
    const there = card(4_000, 'network-1', has);
    const { numaNode: _, uptv2Enabled: __, ...same } = there;
    const [one] = wanted('eth0');
    expect(
      diffNetworkCards(
        [{ ...one!, ...asked }],
        network,
        { ...config, ...more, networkCards: [there] },
        isOff,
        fullMemory,
      ),
    ).toEqual({
      changes: edited === undefined ? [] : [{ operation: 'edit', device: 'networkCard', card: { ...same, ...edited } }],
      whenOff,
      unmet,
      extraConfig,
    });
  },
);
