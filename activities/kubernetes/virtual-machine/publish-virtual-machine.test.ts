import type { VirtualMachineStatusPatch } from '../../../contracts/virtual-machine/mutations.ts';
import { statusChange } from './publish-virtual-machine.ts';

const before = '2026-01-01T00:00:00.000Z';
const now = new Date('2026-01-01T01:00:00.000Z');
const created = { type: 'VirtualMachineCreated', status: 'True', reason: 'True', message: '' } as const;
const foreign = {
  type: 'Foreign',
  status: 'Unknown',
  reason: 'Theirs',
  message: '',
  lastTransitionTime: before,
} as const;
const patch = (more: Partial<VirtualMachineStatusPatch>): VirtualMachineStatusPatch => ({
  fields: {},
  conditions: [],
  removed: [],
  ...more,
});

const rows: [why: string, current: object | undefined, patch: VirtualMachineStatusPatch, change: object | null][] = [
  [
    'the first status',
    undefined,
    patch({ fields: { powerState: 'PoweredOn' }, conditions: [created] }),
    { powerState: 'PoweredOn', conditions: [{ ...created, lastTransitionTime: now.toISOString() }] },
  ],
  [
    'it says so already',
    { powerState: 'PoweredOn', conditions: [{ ...created, lastTransitionTime: before }] },
    patch({ fields: { powerState: 'PoweredOn' }, conditions: [created] }),
    null,
  ],
  [
    'a field that goes',
    { powerState: 'PoweredOn', nodeName: 'esx-1' },
    patch({ fields: { nodeName: null } }),
    { nodeName: null },
  ],
  ['a field that never was', {}, patch({ fields: { nodeName: null } }), null],
  [
    'a field is whole: what it held goes',
    { network: { primaryIP4: '192.0.2.1', hostName: 'web' } },
    patch({ fields: { network: { hostName: 'web' } } }),
    { network: { primaryIP4: null } },
  ],
  [
    'volumes of others, written since it was observed, stay',
    {
      volumes: [
        { name: 'disk-0', type: 'Classic' },
        { name: 'data', type: 'Managed', attached: true, diskUUID: 'a' },
        { name: 'logs', type: 'Managed', attached: true },
        { name: 'old:detaching', type: 'Managed' },
      ],
    },
    patch({
      fields: {
        volumes: [
          { name: 'disk-1', type: 'Classic' },
          { name: 'logs', type: 'Managed', attached: false },
        ],
      },
      goneVolumes: ['old:detaching'],
    }),
    {
      volumes: [
        { name: 'disk-1', type: 'Classic' },
        { name: 'logs', type: 'Managed', attached: false },
        { name: 'data', type: 'Managed', attached: true, diskUUID: 'a' },
      ],
    },
  ],
  [
    'a condition whose words change keeps its time',
    { conditions: [foreign, { ...created, lastTransitionTime: before }] },
    patch({ conditions: [{ ...created, message: 'now' }] }),
    { conditions: [foreign, { ...created, message: 'now', lastTransitionTime: before }] },
  ],
  [
    'a condition that turns gets a new one',
    { conditions: [{ ...created, lastTransitionTime: before }] },
    patch({ conditions: [{ ...created, status: 'False' }] }),
    { conditions: [{ ...created, status: 'False', lastTransitionTime: now.toISOString() }] },
  ],
  [
    'a condition that goes, others stay',
    { conditions: [foreign, { ...created, lastTransitionTime: before }] },
    patch({ removed: [created.type] }),
    { conditions: [foreign] },
  ],
  ['a condition that is not there to go', { conditions: [foreign] }, patch({ removed: [created.type] }), null],
];

test.each(rows)('%s', (_why, current, wanted, change) => {
  expect(statusChange(current, wanted, now)).toEqual(change);
});

test('a message is as long as kube-apiserver takes it', () => {
  const change = statusChange({}, patch({ conditions: [{ ...created, message: 'x'.repeat(40_000) }] }), now);
  expect(change?.conditions?.[0]?.message).toHaveLength(32_768);
});
