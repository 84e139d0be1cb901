import { judgeGroup } from './read-group.ts';
import { groupSchema } from './schemas.ts';

const group = (spec: object, status: object = {}) =>
  groupSchema.parse({ metadata: { name: 'g', uid: 'u', resourceVersion: '1' }, spec, status });
const placement = {
  zoneID: 'zone-a',
  pool: 'resgroup-1',
  node: 'host-1',
  datastores: [{ id: 'datastore-1', name: 'd' }],
};

test.each([
  ['it lists the VM', group({ bootOrder: [{}, { members: [{ name: 'web' }] }] }), { linked: true, placement: null }],
  [
    'it lists a group of that name',
    group({ bootOrder: [{ members: [{ kind: 'VirtualMachineGroup', name: 'web' }] }] }),
    { linked: false },
  ],
  ['it lists no member', group({}), { linked: false }],
  [
    'it has placed the VM',
    group({}, { members: [{ kind: 'VirtualMachine', name: 'web', placement }] }),
    { placement: { zone: 'zone-a', resourcePool: 'resgroup-1', datastore: 'datastore-1', host: 'host-1' } },
  ],
  [
    'it has not said where the disks go',
    group({}, { members: [{ kind: 'VirtualMachine', name: 'web', placement: { ...placement, datastores: [] } }] }),
    { placement: null },
  ],
])('%s', (_why, given, facts) => {
  expect(judgeGroup(given, 'web')).toMatchObject({ found: true, ...facts });
});
