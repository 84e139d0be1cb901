import { vmOf } from '../../../test/fixtures/activities/vsphere.ts';
import { networksOf, placeOf } from './observe.ts';
import type { FoundVm } from './read-candidates.ts';
import type { Site } from './read-sites.ts';

const paths = (zone: string) => ({
  zone,
  datacenter: '/DC',
  folder: '/DC/vm/team',
  resourcePool: '/DC/host/C/Resources/team',
  target: { folder: '', resourcePool: '' },
  networks: { here: '/DC/network/here', gone: '/DC/network/gone' },
});
const site = (zone: string, more: Partial<Site> = {}): Site => ({
  paths: paths(zone),
  datacenter: 'd',
  folder: 'group-1',
  resourcePool: 'resgroup-1',
  target: { folder: null, resourcePool: null },
  cluster: 'domain-1',
  hosts: [{ id: 'h', name: 'h', isUsable: true, cpuMHz: 2_000 }],
  networks: { here: 'standard:here', gone: null },
  ...more,
});
const found = (more: Partial<FoundVm> = {}, vm: Parameters<typeof vmOf>[0] = {}): FoundVm => ({
  vm: vmOf(vm),
  host: { name: 'esx-1', cpuMHz: 3_000 },
  pool: { parent: 'resgroup-0', owner: 'domain-1' },
  folder: { parent: 'group-0' },
  task: null,
  ...more,
});

test.each<[what: string, vm: FoundVm, sites: Site[], is: Partial<ReturnType<typeof placeOf>>]>([
  [
    'where it should be',
    found(),
    [site('a')],
    { location: { folder: true, resourcePool: true }, zone: 'a', hostName: 'esx-1', cpuMHz: 2_000 },
  ],
  [
    'one level below',
    found(
      { pool: { parent: 'resgroup-1', owner: 'domain-1' }, folder: { parent: 'group-1' } },
      { folderId: 'group-7', resourcePoolId: 'resgroup-7' },
    ),
    [site('a')],
    { location: { folder: true, resourcePool: true }, zone: 'a' },
  ],
  [
    'moved to another folder',
    found({}, { folderId: 'group-7' }),
    [site('a')],
    { location: { folder: false, resourcePool: true } },
  ],
  [
    'moved to another pool of the cluster',
    found({}, { resourcePoolId: 'resgroup-7' }),
    [site('a')],
    { location: { folder: true, resourcePool: false }, zone: 'a' },
  ],
  [
    'moved to a cluster that is no zone',
    found({ pool: { parent: null, owner: 'domain-9' } }, { resourcePoolId: 'resgroup-7' }),
    [site('a')],
    { location: { folder: true, resourcePool: false }, zone: null, cpuMHz: 3_000 },
  ],
  [
    'of two zones of one cluster, that of its pool',
    found(),
    [site('a', { resourcePool: 'resgroup-8' }), site('b')],
    { zone: 'b' },
  ],
  [
    'a zone whose folder and pool are not there',
    found(),
    [site('a', { folder: null, resourcePool: null, cluster: null })],
    { location: { folder: false, resourcePool: false }, zone: null },
  ],
  [
    'a template, which is in no pool',
    found({ pool: null }, { resourcePoolId: null }),
    [site('a')],
    { location: { folder: true, resourcePool: false }, zone: null },
  ],
  ['no zones', found(), [], { location: null, zone: null }],
])('%s', (_, vm, sites, is) => expect(placeOf(vm, sites)).toMatchObject(is));

test('networks of the zone, and what is missing', () => {
  expect(networksOf([], site('a'), 's')).toBeNull();
  expect(
    networksOf(
      [
        { name: 'eth0', network: 'here' },
        { name: 'eth1', network: 'gone' },
        { name: 'eth2', network: null },
      ],
      site('a'),
      's',
    )?.interfaces,
  ).toEqual([
    { name: 'eth0', backing: 'standard:here', message: '' },
    {
      name: 'eth1',
      backing: null,
      message: 'there is no network /DC/network/gone: create it in vCenter, or name its path in s.networks',
    },
    {
      name: 'eth2',
      backing: null,
      message:
        'it names no network: name one in spec.network.interfaces, or set in s.networks.default the path of one for all that name none',
    },
  ]);
  const withDefault = site('a', {
    paths: { ...paths('a'), networks: { '': '/DC/network/team' } },
    networks: { '': 'standard:team' },
  });
  expect(networksOf([{ name: 'eth0', network: null }], withDefault, 's')?.interfaces).toEqual([
    { name: 'eth0', backing: 'standard:team', message: '' },
  ]);
  expect(
    networksOf([{ name: 'eth0', network: null }], { ...withDefault, networks: { '': null } }, 's')?.interfaces[0]
      ?.message,
  ).toMatch(/^there is no network \/DC\/network\/team: /u);
  expect(networksOf([{ name: 'eth0', network: 'here' }], undefined, 's')?.interfaces[0]?.backing).toBeNull();
});
