import { parseConfig } from '../../runtime/config/config.ts';
import { neededQueues } from './temporal.ts';

const off = { Eviction: 'off', Hypervisor: 'off' };
const always = ['drover', 'drover', 'kubernetes'];

test.each<[why: string, settings: object, region: string | null, vcenters: string[], more: string[]]>([
  ['nothing', { modes: off }, null, ['vc-1'], []],
  ['a region', {}, 'RegionOne', [], ['nova:RegionOne', 'hosts']],
  [
    'virtual machines',
    { modes: { VirtualMachine: 'observe' } },
    null,
    ['vc-1', 'vc-2'],
    ['virtual-machines', 'vsphere:vc-1', 'vsphere:vc-2'],
  ],
  [
    'agent pools',
    { modes: { VsphereAgentPool: 'act', VsphereAgent: 'act' } },
    null,
    ['vc-1'],
    ['agents', 'vsphere:vc-1'],
  ],
  ['volumes', { modes: { DataVolume: 'act', StorageProfile: 'act' } }, null, [], ['volumes']],
  ['profiles of storage alone', { modes: { StorageProfile: 'act' } }, null, [], ['volumes']],
  ['Machines', { modes: { Machine: 'act' }, machines: { namespaces: ['garden'] } }, null, [], ['machines']],
])('the queues that %s needs', (_why, settings, region, vcenters, more) => {
  const queues = neededQueues(parseConfig(settings, {}, {}), { region, vcenters });
  expect(queues.map(({ name }) => name)).toEqual([...always, ...more]);
  expect(queues.map(({ of }) => of)).toEqual(['workflow', ...queues.slice(1).map(() => 'activity')]);
});

test('queues begin with the name of the cluster', () => {
  const settings = { cluster: 'blue', modes: { VirtualMachine: 'act' } };
  expect(
    neededQueues(parseConfig(settings, {}, {}), { region: 'east', vcenters: ['vc-1'] }).map(({ name }) => name),
  ).toEqual(
    ['drover', 'drover', 'kubernetes', 'nova:east', 'hosts', 'virtual-machines', 'vsphere:vc-1'].map(
      (name) => `blue/${name}`,
    ),
  );
});
