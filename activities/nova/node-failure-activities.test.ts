import type { InstanceDetail } from './types.ts';
import { toCandidate } from './node-failure-activities.ts';

const server = {
  id: 'a',
  name: 'vm',
  vmState: 'active',
  memoryMiB: 512,
  localDiskGiB: 20,
  metadata: { 'drover:priority': '900', secret: 'hunter2' },
  imageId: 'image',
  taskState: null,
} as unknown as InstanceDetail;
const groups = [
  { id: 'g', name: 'g', policy: 'anti-affinity', maxServersPerHost: 1, members: ['a', 'b'] },
  { id: 'h', name: 'h', policy: 'affinity', maxServersPerHost: 1, members: ['b'] },
];

test('of a server’s metadata only what decides goes into the history', () => {
  expect(toCandidate(server, groups, true, ['drover:priority', 'HA_Enabled'])).toEqual({
    id: 'a',
    name: 'vm',
    vmState: 'active',
    memoryMiB: 512,
    localDiskGiB: 20,
    metadata: { 'drover:priority': '900' },
    imageId: 'image',
    imageTags: [],
    serverGroups: ['g'],
  });
});

test('disks that outlive the host are not lost with it', () => {
  expect(toCandidate(server, [], false, [])).toMatchObject({ localDiskGiB: 0, serverGroups: [] });
});
