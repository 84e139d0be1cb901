import type { VirtualMachineStatus } from '../../contracts/crds/virtual-machine.ts';
import type { VirtualMachineStatusPatch } from '../../contracts/virtual-machine/mutations.ts';
import { diffStatus } from './status-diff.ts';

const condition = { type: 'A', status: 'True' as const, reason: 'B', message: 'c' };
const recorded: VirtualMachineStatus = {
  powerState: 'PoweredOn',
  storage: { total: '10Gi', requested: { disks: '10Gi' }, usage: { disks: '5Gi', other: '1Mi' } },
  network: {
    primaryIP4: '192.0.2.1',
    interfaces: [{ name: 'eth0', ip: { addresses: [{ address: '192.0.2.1', lifetime: '2026-01-01T00:00:00Z' }] } }],
  },
  volumes: [{ name: 'd', type: 'Classic', used: '1Gi', attached: true }],
  conditions: [{ ...condition, lastTransitionTime: '2026-01-01T00:00:00Z' }],
};

const rows: [why: string, patch: Partial<VirtualMachineStatusPatch>, written: string[] | null][] = [
  ['nothing', {}, null],
  ['what is so already', { fields: { powerState: 'PoweredOn' } }, null],
  [
    'in any order of its keys',
    { fields: { network: { interfaces: recorded.network?.interfaces, primaryIP4: '192.0.2.1' } } },
    null,
  ],
  ['what is not there and shall not be', { fields: { nodeName: null } }, null],
  ['a change', { fields: { powerState: 'PoweredOff' } }, ['powerState']],
  ['what goes', { fields: { network: null } }, ['network']],
  [
    'a lease that counts down',
    {
      fields: {
        network: {
          primaryIP4: '192.0.2.1',
          interfaces: [
            { name: 'eth0', ip: { addresses: [{ address: '192.0.2.1', lifetime: '2026-01-01T00:01:00Z' }] } },
          ],
        },
      },
    },
    null,
  ],
  [
    'an address that is gone',
    { fields: { network: { primaryIP4: '192.0.2.1', interfaces: [{ name: 'eth0', ip: { addresses: [] } }] } } },
    ['network'],
  ],
  [
    'a little more on its disks',
    { fields: { storage: { total: '10Gi', requested: { disks: '10Gi' }, usage: { disks: '5150Mi', other: '2Mi' } } } },
    null,
  ],
  [
    'much more on its disks',
    { fields: { storage: { total: '10Gi', requested: { disks: '10Gi' }, usage: { disks: '6Gi', other: '1Mi' } } } },
    ['storage'],
  ],
  [
    'a little more on a volume',
    { fields: { volumes: [{ name: 'd', type: 'Classic', used: '1030Mi', attached: true }] } },
    null,
  ],
  [
    'a volume that was detached',
    { fields: { volumes: [{ name: 'd', type: 'Classic', used: '1Gi', attached: false }] } },
    ['volumes'],
  ],
  ['another volume', { fields: { volumes: [] } }, ['volumes']],
  ['a volume that is gone already', { fields: { volumes: recorded.volumes }, goneVolumes: ['x'] }, null],
  [
    'noise goes along with what is written',
    { fields: { powerState: 'PoweredOff', volumes: [{ name: 'd', type: 'Classic', used: '1030Mi', attached: true }] } },
    ['powerState', 'volumes'],
  ],
  ['a condition that says the same', { conditions: [condition] }, null],
  ['a condition that says something else', { conditions: [{ ...condition, message: 'd' }] }, ['A']],
  ['a condition of a newer generation', { conditions: [{ ...condition, observedGeneration: 2 }] }, ['A']],
  ['a condition that goes', { removed: ['A'] }, ['-A']],
  ['a condition that is gone', { removed: ['B'] }, null],
];

test.each(rows)('%s', (_why, { fields = {}, conditions = [], removed = [] }, written) => {
  const left = diffStatus(recorded, { fields, conditions, removed });
  expect(
    left === null
      ? null
      : [
          ...Object.keys(left.fields),
          ...left.conditions.map(({ type }) => type),
          ...left.removed.map((type) => `-${type}`),
        ],
  ).toEqual(written);
});
