import { hypervisorConfig, hypervisorSettings } from './hypervisor-config.ts';

const base = { region: 'RegionOne', cluster: '', mode: 'act' } as const;

test('a check is made where its section is there', () => {
  expect(hypervisorSettings(hypervisorConfig.parse(undefined), base).checks).toEqual([]);
  const config = hypervisorConfig.parse({
    smoke: { flavorId: 'f', imageId: 'i' },
    libvirt: {},
    ceph: { dashboards: ['https://mgr-1:8443'], user: 'drover', passwordFile: '/etc/drover/ceph', pools: ['vms'] },
  });
  expect(hypervisorSettings(config, base).checks).toEqual(['libvirt', 'ceph', 'smoke']);
});

test('neither files nor addresses come into a run', () => {
  const config = hypervisorConfig.parse({
    libvirt: { sasl: { user: 'drover', passwordFile: '/etc/drover/secret-file' } },
  });
  expect(JSON.stringify(hypervisorSettings(config, base))).not.toMatch(/secret-file|qemu/u);
});

const ceph = { dashboards: ['https://mgr-1:8443'], user: 'u', passwordFile: 'f', pools: ['p'] };

const rbd = { monitors: ['mon-1'] };
test.each<[what: string, input: object, checkMs: number]>([
  ['those that only ask', { libvirt: {}, ovs: {}, ceph }, 120_000],
  ['a server has its deadline, and a minute to go', { smoke: { flavorId: 'f', imageId: 'i' } }, 450_000],
  ['each pool may be given up', { libvirt: {}, ceph: { ...ceph, pools: ['a', 'b', 'c', 'd'], rbd } }, 270_000],
  [
    'the longest of them',
    { libvirt: {}, ceph: { ...ceph, rbd }, smoke: { flavorId: 'f', imageId: 'i', deadlineMs: 3_600_000 } },
    3_750_000,
  ],
])('the time of checks: %s', (_, input, checkMs) => {
  expect(hypervisorSettings(hypervisorConfig.parse(input), base).checkMs).toBe(checkMs);
});

test.each([
  ['192.0.2.1', { host: '192.0.2.1', port: 6789 }],
  ['mon-1.example:3300', { host: 'mon-1.example', port: 3300 }],
  ['[2001:db8::1]:6790', { host: '2001:db8::1', port: 6790 }],
])('monitor %s', (monitor, read) => {
  expect(hypervisorConfig.parse({ libvirt: {}, ceph: { ...ceph, rbd: { monitors: [monitor] } } }).ceph?.rbd).toEqual({
    monitors: [read],
    user: 'libvirt',
    keyFile: null,
    secretUuid: null,
  });
});

const wrong: [input: unknown, path: string][] = [
  [{ libvirt: { connectUri: 'qemu+tls://node-1/system' } }, 'libvirt.connectUri'],
  [{ libvirt: { minimumVersion: 'nine' } }, 'libvirt.minimumVersion'],
  [{ ceph: { ...ceph, dashboards: [] } }, 'ceph.dashboards'],
  [{ ceph: { ...ceph, dashboards: ['mgr-1'] } }, 'ceph.dashboards.0'],
  [{ libvirt: {}, ceph: { ...ceph, rbd: { monitors: ['mon 1'] } } }, 'ceph.rbd.monitors.0'],
  [{ libvirt: {}, ceph: { ...ceph, rbd: { monitors: ['mon-1:65536'] } } }, 'ceph.rbd.monitors.0'],
  [{ libvirt: {}, ceph: { ...ceph, rbd: { monitors: ['mon-1'], user: 'client.libvirt' } } }, 'ceph.rbd.user'],
  [
    {
      libvirt: {},
      ceph: { ...ceph, rbd: { monitors: ['mon-1'], keyFile: 'k', secretUuid: '64726f76-6572-4000-8000-000000000000' } },
    },
    'ceph.rbd',
  ],
  [{ ceph: { ...ceph, rbd: { monitors: ['mon-1'] } } }, 'ceph.rbd'],
  [{ maxTestAttempts: 0 }, 'maxTestAttempts'],
  [{ recheckMs: 0 }, 'recheckMs'],
];
test.each(wrong)('%j is refused', (input, path) => {
  expect(hypervisorConfig.safeParse(input).error?.issues.map((issue) => issue.path.join('.'))).toEqual([path]);
});
