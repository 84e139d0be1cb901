import { sitePathsOf } from './site-paths.ts';

const zones = {
  b: { folder: '/DC1/vm', resourcePool: '/DC1/host/C/Resources' },
  a: { folder: '/Folder/DC0/vm/{namespace}', resourcePool: '/Folder/DC0/host/C/Resources/{namespace}' },
};
const look = { object: { namespace: 'team', name: 'web', uid: 'u' }, folder: null, resourcePool: null, networks: [] };

test('zones in their order, the namespace in its place', () => {
  expect(sitePathsOf({ zones, networks: {} }, look)).toEqual([
    {
      zone: 'a',
      datacenter: '/Folder/DC0',
      folder: '/Folder/DC0/vm/team',
      resourcePool: '/Folder/DC0/host/C/Resources/team',
      target: { folder: '/Folder/DC0/vm/team', resourcePool: '/Folder/DC0/host/C/Resources/team' },
      networks: {},
    },
    {
      zone: 'b',
      datacenter: '/DC1',
      folder: '/DC1/vm',
      resourcePool: '/DC1/host/C/Resources',
      target: { folder: '/DC1/vm', resourcePool: '/DC1/host/C/Resources' },
      networks: {},
    },
  ]);
});

test('a policy’s children; networks by their paths, or by their names in the datacenter', () => {
  const [site] = sitePathsOf(
    { zones, networks: { named: '/DC9/network/n' } },
    {
      ...look,
      folder: 'f',
      resourcePool: 'p',
      networks: [
        { name: 'eth0', network: 'named' },
        { name: 'eth1', network: 'a/b%' },
        { name: 'eth2', network: null },
      ],
    },
  );
  expect(site).toMatchObject({
    target: { folder: '/Folder/DC0/vm/team/f', resourcePool: '/Folder/DC0/host/C/Resources/team/p' },
    networks: { named: '/DC9/network/n', 'a/b%': '/Folder/DC0/network/a%2fb%25' },
  });
});

test.each([
  ['none in the settings', {}, { a: '/Folder/DC0/network/a' }],
  [
    'of the namespace',
    { default: '/DC9/network/{namespace}' },
    { a: '/Folder/DC0/network/a', '': '/DC9/network/team' },
  ],
])('the network of interfaces that name none: %s', (_, networks, expected) => {
  const [site] = sitePathsOf(
    { zones, networks },
    {
      ...look,
      networks: [
        { name: 'eth0', network: null },
        { name: 'eth1', network: 'a' },
      ],
    },
  );
  expect(site?.networks).toEqual(expected);
});
