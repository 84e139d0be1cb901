import { isOwn, newCheckName, ownUuid, rbdPoolXml, readCapabilities, tinyDomainXml, cephSecretXml } from './xml.ts';
import { domainType } from './check-libvirt.ts';

test('what drover makes is known by its name and its UUID', () => {
  const name = newCheckName(Math.random);
  expect(newCheckName(Math.random)).not.toBe(name);
  expect(ownUuid(name)).toMatch(/^64726f76-6572-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/u);
  expect(ownUuid(name)).toBe(ownUuid(name));
  expect(isOwn({ name, uuid: ownUuid(name) })).toBe(true);
  expect(isOwn({ name, uuid: '8a3b1c5e-0000-4000-8000-000000000001' })).toBe(false);
  expect(isOwn({ name: 'instance-0001', uuid: ownUuid(name) })).toBe(false);
});

test('the tiny VM has nothing that could be missing', () => {
  const xml = tinyDomainXml('drover-check-1', 'kvm', null);
  expect(xml).toContain("<domain type='kvm'><name>drover-check-1</name><uuid>64726f76-6572-");
  expect(xml).not.toMatch(/disk|interface|graphics|kernel/u);
  expect(tinyDomainXml('drover-check-1', 'kvm', "/boot/it's")).toContain('<kernel>/boot/it&apos;s</kernel>');
});

test('names cannot add elements', () => {
  const pool = {
    name: 'a',
    uuid: ownUuid('a'),
    cephPool: "vms'/><x>",
    monitors: [{ host: "mon'1", port: 6789 }],
    auth: { user: '<u>', secretUuid: ownUuid('s') },
  };
  const xml = rbdPoolXml(pool);
  expect(xml).toContain(
    "<name>vms&apos;/&gt;&lt;x&gt;</name><host name='mon&apos;1' port='6789'/><auth username='&lt;u&gt;' type='ceph'>",
  );
  expect(rbdPoolXml({ ...pool, auth: null })).not.toContain('auth');
  expect(cephSecretXml(ownUuid('s'), 'a&b')).toContain('client.a&amp;b');
});

test.each([
  [
    "<host><cpu><arch>x86_64</arch></cpu></host><guest><arch name='x86_64'><domain type='qemu'/><domain type='kvm'/></arch><arch name='i686'><domain type='qemu'/></arch></guest>",
    { architecture: 'x86_64', domainTypes: ['qemu', 'kvm'] },
  ],
  ['<capabilities/>', { architecture: null, domainTypes: [] }],
  ['', { architecture: null, domainTypes: [] }],
])('capabilities %#', (xml, capabilities) => expect(readCapabilities(xml)).toEqual(capabilities));

test.each([
  ['qemu:///system', ['qemu', 'kvm'], 'kvm'],
  ['qemu:///session', ['qemu'], 'qemu'],
  ['qemu:///system', [], 'qemu'],
  ['ch:///system', [], 'kvm'],
  ['test:///default', ['test'], 'test'],
])('a VM of %s with %j is of type %s', (uri, offered, type) => expect(domainType(uri, offered)).toBe(type));
