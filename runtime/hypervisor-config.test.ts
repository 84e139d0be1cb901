import { hypervisorConfig, hypervisorSettings } from './hypervisor-config.ts';

const base = { region: 'RegionOne', cluster: '', mode: 'act' } as const;

test('a check is made where its section is there', () => {
  expect(hypervisorSettings(hypervisorConfig.parse(undefined), base).checks).toEqual([]);
  const config = hypervisorConfig.parse({ smoke: { flavorId: 'f', imageId: 'i' }, libvirt: {}, ceph: { dashboards: ['https://mgr-1:8443'], user: 'drover', passwordFile: '/etc/drover/ceph', pools: ['vms'] } });
  expect(hypervisorSettings(config, base).checks).toEqual(['libvirt', 'ceph', 'smoke']);
});

test('neither files nor addresses come into a run', () => {
  const config = hypervisorConfig.parse({ libvirt: { sasl: { user: 'drover', passwordFile: '/etc/drover/secret-file' } } });
  expect(JSON.stringify(hypervisorSettings(config, base))).not.toMatch(/secret-file|qemu/u);
});

const wrong: [input: unknown, path: string][] = [
  [{ libvirt: { connectUri: 'qemu+tls://node-1/system' } }, 'libvirt.connectUri'],
  [{ libvirt: { minimumVersion: 'nine' } }, 'libvirt.minimumVersion'],
  [{ ceph: { dashboards: [], user: 'u', passwordFile: 'f', pools: ['p'] } }, 'ceph.dashboards'],
  [{ ceph: { dashboards: ['mgr-1'], user: 'u', passwordFile: 'f', pools: ['p'] } }, 'ceph.dashboards.0'],
  [{ maxTestAttempts: 0 }, 'maxTestAttempts'],
  [{ recheckMs: 0 }, 'recheckMs'],
];
test.each(wrong)('%j is refused', (input, path) => {
  expect(hypervisorConfig.safeParse(input).error?.issues.map((issue) => issue.path.join('.'))).toEqual([path]);
});
