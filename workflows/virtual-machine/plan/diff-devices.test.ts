import type { WantedCdrom } from '../../../contracts/virtual-machine/lifecycle.ts';
import type { Cdrom } from '../../../contracts/virtual-machine/config.ts';
import { diffBootDisk, diffCdroms } from './diff-config.ts';
import { configOf } from '../../../test/fixtures/workflows/virtual-machine.ts';

describe('CD-ROMs', () => {
  const sata = { bus: 'SATA' as const, busNumber: 1 };
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
    [
      'where the spec wants it',
      [ask({ slot: { ...sata, unitNumber: null } })],
      { cdrom1: '[ds] a.iso' },
      [drive({ slot: { ...sata, unitNumber: 4 } })],
      true,
      [],
      [],
    ],
    [
      'elsewhere: it is moved while the VM is off',
      [ask({ slot: { ...sata, unitNumber: 3 } })],
      { cdrom1: '[ds] a.iso' },
      [drive({ slot: { ...sata, unitNumber: 4 } })],
      true,
      ['remove', 'add'],
      [],
    ],
    [
      'and waits while it is on',
      [ask({ slot: { ...sata, unitNumber: 3 } })],
      { cdrom1: '[ds] a.iso' },
      [drive()],
      false,
      [],
      ['move cdrom1'],
    ],
    ['removed while it is off', [], {}, [drive()], true, ['remove'], []],
    ['stays while it is on', [], {}, [drive()], false, [], ['remove drive 3000']],
    ['another ISO is another drive', [ask()], { cdrom1: '[ds] b.iso' }, [drive()], true, ['add', 'remove'], []],
    [
      'two drives may have the same ISO',
      [ask(), ask({ name: 'cdrom2', connected: false })],
      { cdrom1: '[ds] a.iso', cdrom2: '[ds] a.iso' },
      [drive(), drive({ key: 3_001, connected: false })],
      true,
      [],
      [],
    ],
    [
      'each where the spec wants it',
      [ask({ slot: { ...sata, unitNumber: 1 } }), ask({ name: 'cdrom2', slot: { ...sata, unitNumber: 0 } })],
      { cdrom1: '[ds] a.iso', cdrom2: '[ds] a.iso' },
      [drive({ slot: { ...sata, unitNumber: 0 } }), drive({ key: 3_001, slot: { ...sata, unitNumber: 1 } })],
      true,
      [],
      [],
    ],
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
  const { changes } = diffBootDisk(gib === null ? null : gib * 1024 ** 3, configOf().disks, false);
  expect(
    changes.map((change) =>
      change.operation === 'edit' && change.device === 'disk' ? change.capacityBytes / 1024 ** 3 : 0,
    ),
  ).toEqual(grown);
});

test.each([
  ['is linked', { linked: true as const }, false, /until it is promoted/],
  ['has snapshots', {}, true, /until the VM has no snapshots/],
])('the boot disk does not grow while it %s', (_why, more, hasSnapshots, says) => {
  const disks = configOf().disks.map((disk) => ({ ...disk, ...more }));
  expect(diffBootDisk(20 * 1024 ** 3, disks, hasSnapshots)).toEqual({
    changes: [],
    unmet: [expect.stringMatching(says)],
  });
  expect(diffBootDisk(10 * 1024 ** 3, disks, hasSnapshots)).toEqual({ changes: [], unmet: [] });
});
