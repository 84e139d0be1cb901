import { choosePlace } from './place.ts';
import type { Site, SiteDatastore, SiteHost } from './read-sites.ts';

const host = (id: string, more: Partial<SiteHost> = {}): SiteHost => ({
  id,
  name: id,
  isUsable: true,
  cpuMHz: 2_400,
  ...more,
});
const paths = (zone: string): Site['paths'] => ({
  zone,
  datacenter: '/DC',
  folder: `/DC/vm/${zone}`,
  resourcePool: '/DC/host/C/Resources',
  target: { folder: `/DC/vm/${zone}`, resourcePool: '/DC/host/C/Resources' },
  networks: {},
});
/** What a policy names. */
const below = { folder: '/DC/vm/a/web', resourcePool: '/DC/host/C/Resources' };
const site = (zone: string, more: Partial<Site> = {}): Site => ({
  paths: paths(zone),
  datacenter: 'datacenter-1',
  folder: `group-${zone}`,
  resourcePool: `pool-${zone}`,
  target: { folder: `group-${zone}`, resourcePool: `pool-${zone}` },
  cluster: 'domain-1',
  hosts: [host('host-1', { cpuMHz: 2_600 }), host('host-2')],
  networks: {},
  ...more,
});
const store = (id: string, freeBytes: number, more: Partial<SiteDatastore> = {}): SiteDatastore => ({
  path: `/DC/datastore/${id}`,
  id,
  isAccessible: true,
  freeBytes,
  hosts: ['host-1', 'host-2'],
  ...more,
});
const policyOf = (...datastores: SiteDatastore[]) => ({
  encrypted: false,
  paths: datastores.map(({ path }) => path),
  datastores,
});
const placed = (zone: string, datastore: string) => ({
  kind: 'placed',
  at: expect.objectContaining({ zone, datastore, folder: `group-${zone}`, resourcePool: `pool-${zone}`, host: null }),
});
const place = (
  sites: Site[],
  policy: ReturnType<typeof policyOf> | null,
  zone: string | null = null,
  profileId: string | null = 'p',
) => choosePlace({ sites, policy }, { zone, profileId }, 'vsphere.vcenters.prod');
const room = policyOf(store('one', 10));

test.each<[what: string, given: Parameters<typeof place>, is: unknown]>([
  ['the first zone with all that is needed', [[site('a'), site('b')], room], placed('a', 'one')],
  ['the zone of its label', [[site('a'), site('b')], room, 'b'], placed('b', 'one')],
  [
    'the next zone where the first has no folder',
    [[site('a', { target: { folder: null, resourcePool: 'x' } }), site('b')], room],
    placed('b', 'one'),
  ],
  [
    'the next zone where no host of the first is usable',
    [[site('a', { hosts: [host('h', { isUsable: false })] }), site('b')], room],
    placed('b', 'one'),
  ],
  [
    'the roomiest datastore',
    [[site('a')], policyOf(store('one', 10), store('two', 20), store('three', 5))],
    placed('a', 'two'),
  ],
  [
    'of as much room, the first by its path',
    [[site('a')], policyOf(store('two', 10), store('one', 10))],
    placed('a', 'one'),
  ],
  [
    'one without folders of files says so, as vSAN',
    [[site('a')], policyOf(store('one', 10, { noFolders: true }))],
    { kind: 'placed', at: expect.objectContaining({ datastore: 'one', noFolders: true }) },
  ],
  [
    'one that the hosts reach',
    [[site('a')], policyOf(store('far', 90, { hosts: ['host-9'] }), store('near', 1))],
    placed('a', 'near'),
  ],
  [
    'one that is accessible',
    [[site('a')], policyOf(store('lost', 90, { isAccessible: false }), store('near', 1))],
    placed('a', 'near'),
  ],
  [
    'one that only a host in maintenance reaches is not reached',
    [
      [site('a', { hosts: [host('host-1', { isUsable: false }), host('host-2')] })],
      policyOf(store('one', 1, { hosts: ['host-1'] })),
    ],
    { kind: 'notReady', message: expect.stringContaining('a datastore of its storage policy') },
  ],
  ['full', [[site('a')], policyOf(store('one', 0))], { kind: 'notReady', message: 'room on /DC/datastore/one' }],
  [
    'no zone in the settings',
    [[], room],
    { kind: 'error', message: expect.stringContaining('vsphere.vcenters.prod.zones') },
  ],
  [
    'a label that settings do not have',
    [[site('a'), site('b')], room, 'c'],
    { kind: 'zoneMismatch', message: expect.stringContaining('it has a, b') },
  ],
  [
    'a label, and no fallback to another zone',
    [[site('a', { target: { folder: null, resourcePool: 'x' } }), site('b')], room, 'a'],
    { kind: 'notReady', message: expect.stringContaining('folder /DC/vm/a of zone a: create it') },
  ],
  [
    'no datacenter',
    [[site('a', { datacenter: null })], room],
    { kind: 'notReady', message: expect.stringContaining('datacenter /DC') },
  ],
  [
    'no pool',
    [[site('a', { target: { folder: 'f', resourcePool: null } })], room],
    { kind: 'notReady', message: expect.stringContaining('resource pool') },
  ],
  [
    'no folder, which is the policy’s to make',
    [[site('a', { paths: { ...paths('a'), target: below }, target: { folder: null, resourcePool: 'x' } })], room],
    {
      kind: 'notReady',
      message: 'folder /DC/vm/a/web of zone a: its resource policy, which names it, has not made it',
    },
  ],
  [
    'no profile',
    [[site('a')], room, null, null],
    { kind: 'notReady', message: expect.stringContaining('storage class') },
  ],
  [
    'a profile that settings do not have',
    [[site('a')], null],
    { kind: 'error', message: 'storage policy p: name its datastores in vsphere.vcenters.prod.storagePolicies' },
  ],
  [
    'all reasons are listed',
    [[site('a', { datacenter: null }), site('b', { hosts: [] })], room],
    { kind: 'notReady', message: expect.stringMatching(/datacenter .*; or a host of zone b/u) },
  ],
])('%s', (_, given, is) => expect(place(...given)).toEqual(is));

test('cores are reckoned by the slowest host that is usable', () => {
  const hosts = [
    host('host-1', { cpuMHz: 1_000, isUsable: false }),
    host('host-2', { cpuMHz: 2_000 }),
    host('host-3', { cpuMHz: 3_000 }),
    host('host-4', { cpuMHz: 0 }),
  ];
  expect(place([site('a', { hosts })], room)).toMatchObject({ at: { cpuMHz: 2_000 } });
});

const three = policyOf(store('one', 10), store('two', 20), store('three', 30));
const b = site('b', { hosts: [host('host-3')] });
test.each<
  [what: string, given: { sites?: Site[]; policy?: typeof three; chosen?: string; cached?: string[] }, is: unknown]
>([
  ['where its image is cached', { cached: ['one'] }, placed('a', 'one')],
  ['of these the roomiest', { cached: ['one', 'two'] }, placed('a', 'two')],
  [
    'not where there is no room',
    { policy: policyOf(store('one', 0), store('two', 1)), cached: ['one'] },
    placed('a', 'two'),
  ],
  ['where it was chosen to go, whatever is cached by now', { chosen: 'one', cached: ['two'] }, placed('a', 'one')],
  [
    'in the zone that reaches it',
    { sites: [site('a'), b], policy: policyOf(store('far', 1, { hosts: ['host-3'] }), store('one', 9)), chosen: 'far' },
    placed('b', 'far'),
  ],
  [
    'elsewhere, where that cannot be reached any more',
    { policy: policyOf(store('one', 10, { isAccessible: false }), store('two', 1)), chosen: 'one' },
    placed('a', 'two'),
  ],
  ['or the policy has it no more', { chosen: 'nine' }, placed('a', 'three')],
])('fast deploy: %s', (_, { sites = [site('a')], policy = three, chosen = null, cached = [] }, is) =>
  expect(
    choosePlace(
      { sites, policy },
      { zone: null, profileId: 'p', chosenDatastore: chosen, cachedOn: cached },
      'vsphere.vcenters.prod',
    ),
  ).toEqual(is),
);

const local = (id: string, freeBytes: number, hosts: string[], more: Partial<SiteDatastore> = {}): SiteDatastore =>
  store(id, freeBytes, { hosts, ...more });
const onHosts = [local('local-1', 10, ['host-1']), local('local-2', 20, ['host-2'])];
const onHost = (host: string, node = host) => ({ kind: 'placed', at: expect.objectContaining({ host, node }) });

test.each<
  [
    what: string,
    given: {
      sites?: Site[];
      shared?: SiteDatastore[];
      instanceStorage?: SiteDatastore[] | null;
      asked?: Partial<{ bytes: number; host: string; avoid: string; isBound: boolean }>;
    },
    is: unknown,
  ]
>([
  ['the host with the most room for it', {}, onHost('host-2')],
  [
    'by its DNS name, where it has one',
    { sites: [site('a', { hosts: [host('host-2', { node: 'esx-2.example.org' })] })] },
    onHost('host-2', 'esx-2.example.org'),
  ],
  ['of as much room, the first by its name', { instanceStorage: [store('shared', 9)] }, onHost('host-1')],
  [
    'none whose datastore is lost',
    { instanceStorage: [onHosts[0]!, local('local-2', 20, ['host-2'], { isAccessible: false })] },
    onHost('host-1'),
  ],
  [
    'none that cannot write to where the VM goes',
    { shared: [store('one', 1, { hosts: ['host-1'] })] },
    onHost('host-1'),
  ],
  ['the one that was chosen before, whatever room is where', { asked: { host: 'host-1' } }, onHost('host-1')],
  [
    'another one, where that is not usable any more',
    { sites: [site('a', { hosts: [host('host-1'), host('host-2', { isUsable: false })] })], asked: { host: 'host-2' } },
    onHost('host-1'),
  ],
  [
    'but where its volumes are there, it is waited for',
    {
      sites: [site('a', { hosts: [host('host-1'), host('host-2', { isUsable: false })] })],
      asked: { host: 'host-2', isBound: true },
    },
    {
      kind: 'notReady',
      message: 'host host-2, which has its instance storage, to be connected and not in maintenance',
    },
  ],
  ['another one than that which had no place', { asked: { avoid: 'host-2' } }, onHost('host-1')],
  ['or the same, where there is no other', { asked: { avoid: 'host-2', bytes: 15 } }, onHost('host-2')],
  [
    'no host has room',
    { asked: { bytes: 21 } },
    {
      kind: 'notReady',
      message: expect.stringContaining('has 21 bytes free on one of the policy of its instance storage'),
    },
  ],
  [
    'the host that was chosen cannot write to where the VM goes',
    { shared: [store('one', 1, { hosts: ['host-1'] })], asked: { host: 'host-2' } },
    { kind: 'notReady', message: expect.stringContaining('host host-2, which has its instance storage, can write to') },
  ],
  [
    'settings do not have its policy',
    { instanceStorage: null },
    {
      kind: 'error',
      message:
        'storage policy local of its instance storage: name its datastores in vsphere.vcenters.prod.storagePolicies',
    },
  ],
])(
  'instance storage: %s',
  (_, { sites = [site('a')], shared = room.datastores, instanceStorage = onHosts, asked = {} }, is) =>
    expect(
      choosePlace(
        { sites, policy: policyOf(...shared), instanceStorage },
        {
          zone: null,
          profileId: 'p',
          instanceStorage: { profileId: 'local', bytes: 1, host: null, avoid: null, isBound: false, ...asked },
        },
        'vsphere.vcenters.prod',
      ),
    ).toEqual(is),
);
