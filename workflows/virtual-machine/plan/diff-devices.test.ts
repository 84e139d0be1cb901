import type { WantedCdrom, WantedNetworkCard } from '../../../contracts/virtual-machine/lifecycle.ts';
import type { Cdrom, NetworkCard } from '../../../contracts/virtual-machine/config.ts';
import { diffBootDisk, diffCdroms, diffNetworkCards } from './diff-config.ts';
import { configOf } from '../../../test/fixtures/workflows/virtual-machine.ts';

const network = {
  interfaces: [
    { name: 'eth0', backing: 'network-1', message: '' },
    { name: 'eth1', backing: 'network-2', message: '' },
    { name: 'eth2', backing: null, message: 'no port' },
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

describe('network cards', () => {
  const rows: [
    why: string,
    cards: WantedNetworkCard[],
    current: NetworkCard[],
    isOff: boolean,
    changes: string[],
    whenOff: string[],
  ][] = [
    ['as they are', wanted('eth0'), [card(4_000, 'network-1')], false, [], []],
    [
      'one that is missing is added while it is off',
      wanted('eth0', 'eth1'),
      [card(4_000, 'network-1')],
      true,
      ['add network-2'],
      [],
    ],
    ['and waits while it is on', wanted('eth0', 'eth1'), [card(4_000, 'network-1')], false, [], ['add eth1']],
    [
      'one too many goes',
      wanted('eth0'),
      [card(4_000, 'network-1'), card(4_001, 'network-2')],
      true,
      ['remove 4001'],
      [],
    ],
    [
      'but not while it is on',
      wanted('eth0'),
      [card(4_000, 'network-1'), card(4_001, 'network-2')],
      false,
      [],
      ['remove card 4001'],
    ],
    [
      'one that is connected elsewhere is moved, on or off',
      wanted('eth1'),
      [card(4_000, 'network-1')],
      false,
      ['edit 4000 network-2'],
      [],
    ],
    [
      'one of another type is replaced',
      [{ name: 'eth0', type: 'E1000', macAddress: null }],
      [card(4_000, 'network-1')],
      true,
      ['remove 4000', 'add network-1'],
      [],
    ],
    [
      'so is one of another address',
      [{ name: 'eth0', type: 'VMXNet3', macAddress: '00:50:56:aa:bb:cc' }],
      [card(4_000, 'network-1')],
      true,
      ['remove 4000', 'add network-1'],
      [],
    ],
    ['one whose network is not ready is left alone', wanted('eth2'), [card(4_000, 'network-1')], true, [], []],
    [
      'the order is that of the device keys',
      wanted('eth0', 'eth1'),
      [card(4_001, 'network-2'), card(4_000, 'network-1')],
      true,
      [],
      [],
    ],
  ];
  test.each(rows)('%s', (_why, cards, current, isOff, changes, whenOff) => {
    const difference = diffNetworkCards(cards, network, current, isOff);
    const short = difference.changes.map((change) =>
      change.operation === 'remove'
        ? `remove ${change.key}`
        : change.device === 'networkCard'
          ? `${change.operation} ${change.operation === 'edit' ? `${change.card.key} ` : ''}${change.card.backing}`
          : '?',
    );
    expect({ changes: short, whenOff: difference.whenOff }).toEqual({ changes, whenOff });
  });
});

describe('CD-ROMs', () => {
  const drive = (more: Partial<Cdrom> = {}): Cdrom => ({
    key: 3_000,
    iso: '[ds] a.iso',
    connected: true,
    allowGuestControl: true,
    ...more,
  });
  const ask = (more: Partial<WantedCdrom> = {}): WantedCdrom => ({
    name: 'cdrom1',
    connected: true,
    allowGuestControl: true,
    ...more,
  });
  const rows: [
    why: string,
    requested: WantedCdrom[],
    isos: Record<string, string | null>,
    current: Cdrom[],
    isOff: boolean,
    operations: string[],
    whenOff: string[],
  ][] = [
    ['as it is', [ask()], { cdrom1: '[ds] a.iso' }, [drive()], false, [], []],
    ['added while it is off', [ask()], { cdrom1: '[ds] a.iso' }, [], true, ['add'], []],
    ['waits while it is on', [ask()], { cdrom1: '[ds] a.iso' }, [], false, [], ['add cdrom1']],
    [
      'connected and disconnected at any time',
      [ask({ connected: false })],
      { cdrom1: '[ds] a.iso' },
      [drive()],
      false,
      ['edit'],
      [],
    ],
    ['removed while it is off', [], {}, [drive()], true, ['remove'], []],
    ['stays while it is on', [], {}, [drive()], false, [], ['remove drive 3000']],
    ['another ISO is another drive', [ask()], { cdrom1: '[ds] b.iso' }, [drive()], true, ['add', 'remove'], []],
    [
      'nothing goes while an image is not ready: it may be that one',
      [ask()],
      { cdrom1: null },
      [drive()],
      true,
      [],
      [],
    ],
  ];
  test.each(rows)('%s', (_why, requested, isos, current, isOff, operations, whenOff) => {
    const difference = diffCdroms(requested, isos, current, isOff);
    expect({ operations: difference.changes.map(({ operation }) => operation), whenOff: difference.whenOff }).toEqual({
      operations,
      whenOff,
    });
  });
});

test.each([
  ['grows', 20, [20]],
  ['stays', 10, []],
  ['never shrinks', 5, []],
  ['is not asked for', null, []],
])('the boot disk %s', (_why, gib, grown) => {
  const changes = diffBootDisk(gib === null ? null : gib * 1024 ** 3, configOf().disks);
  expect(
    changes.map((change) =>
      change.operation === 'edit' && change.device === 'disk' ? change.capacityBytes / 1024 ** 3 : 0,
    ),
  ).toEqual(grown);
});
