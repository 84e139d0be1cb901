import { failureOf, rfc3339, toInstance } from './wire-map.ts';
import { server as serverSchema } from './wire.ts';

const flavor = {
  original_name: 'm1',
  vcpus: 2,
  ram: 2048,
  disk: 20,
  ephemeral: 5,
  swap: 1500,
  extra_specs: { 'hw:mem_page_size': 'large' },
};
const full = {
  id: 's1',
  name: 'web',
  status: 'ACTIVE',
  tenant_id: 'p1',
  user_id: 'u1',
  created: '2026-01-01T00:00:00Z',
  'OS-EXT-SRV-ATTR:host': 'node-1',
  'OS-EXT-SRV-ATTR:hypervisor_hostname': 'node-1.example',
  'OS-EXT-STS:task_state': null,
  'OS-EXT-STS:vm_state': 'active',
  'OS-EXT-AZ:availability_zone': 'az1',
  pinned_availability_zone: 'az1',
  locked: false,
  flavor,
  image: { id: 'i1', properties: { hw_tpm_version: '2.0', hw_vif_multiqueue_enabled: true } },
  'os-extended-volumes:volumes_attached': [{ id: 'v1' }],
  metadata: { a: 'b' },
  trusted_image_certificates: null,
  config_drive: 'True',
};
const instance = (change: object, groups?: string[]) => toInstance(serverSchema.parse({ ...full, ...change }), groups);

test('maps a server', () => {
  expect(instance({}, ['g1'])).toEqual({
    id: 's1',
    name: 'web',
    status: 'ACTIVE',
    taskState: null,
    vmState: 'active',
    host: 'node-1',
    hypervisorHostname: 'node-1.example',
    locked: false,
    memoryMiB: 2048,
    vcpus: 2,
    localDiskGiB: 27,
    serverGroups: ['g1'],
    fault: null,
    projectId: 'p1',
    userId: 'u1',
    availabilityZone: 'az1',
    pinnedAvailabilityZone: 'az1',
    flavorName: 'm1',
    extraSpecs: { 'hw:mem_page_size': 'large' },
    imageId: 'i1',
    imageProperties: { hw_tpm_version: '2.0', hw_vif_multiqueue_enabled: 'true' },
    trustedImageCertificates: [],
    metadata: { a: 'b' },
    rootDiskGiB: 20,
    ephemeralDiskGiB: 5,
    swapMiB: 1500,
    volumeIds: ['v1'],
    onlyVolumes: false,
    configDrive: true,
    createdAt: '2026-01-01T00:00:00Z',
  });
});

const variants: [what: string, change: object, expected: object][] = [
  [
    'a server that boots from a volume',
    { image: '', flavor: { ...flavor, ephemeral: 0, swap: 0 } },
    { localDiskGiB: 0, onlyVolumes: true, imageId: null },
  ],
  [
    'one with swap beside its volume',
    { image: '', flavor: { ...flavor, ephemeral: 0, swap: 512 } },
    { localDiskGiB: 1, onlyVolumes: false },
  ],
  [
    'one that no host holds',
    { 'OS-EXT-SRV-ATTR:host': null, status: 'SHELVED_OFFLOADED', 'OS-EXT-STS:vm_state': 'shelved_offloaded' },
    { host: null },
  ],
  [
    'one in ERROR',
    { status: 'ERROR', fault: { message: 'No valid host was found.', code: 500 } },
    { fault: 'No valid host was found.' },
  ],
  ['one that names its groups itself', { server_groups: ['g2'] }, { serverGroups: ['g2'] }],
];
test.each(variants)('%s', (_, change, expected) => {
  expect(instance(change)).toMatchObject(expected);
});

const hidden: [what: string, change: object, code: string, words: RegExp][] = [
  [
    'no host attribute',
    { 'OS-EXT-SRV-ATTR:host': undefined },
    'HostAttributeMissing',
    /server s1 has no OS-EXT-SRV-ATTR:host/u,
  ],
  [
    'a cell that is down',
    { status: 'UNKNOWN', 'OS-EXT-SRV-ATTR:host': undefined, flavor: undefined },
    'HostAttributeMissing',
    /s1 is in a cell that is down/u,
  ],
  ['no vm_state', { 'OS-EXT-STS:vm_state': undefined }, 'AnswerMalformed', /no OS-EXT-STS:vm_state/u],
  ['no flavor', { flavor: undefined }, 'AnswerMalformed', /no flavor/u],
];
test.each(hidden)('with %s it is a failure, never a guess', (_, change, code, words) => {
  expect(() => instance(change)).toThrow(
    expect.objectContaining({ type: code, message: expect.stringMatching(words) }),
  );
});

test('an old Nova says neither zone pin nor image properties', () => {
  const old = instance({ pinned_availability_zone: undefined, image: { id: 'i1' } });
  expect(old).not.toHaveProperty('pinnedAvailabilityZone');
  expect(old).not.toHaveProperty('imageProperties');
});

test('image properties that are no plain values are told as JSON', () => {
  const odd = { id: 'i1', properties: { hw_numa: { nodes: 2 }, toString: null, hw_odd: { toString: null } } };
  expect(instance({ image: odd })).toMatchObject({
    imageProperties: { hw_numa: '{"nodes":2}', toString: 'null', hw_odd: '{"toString":null}' },
  });
});

test('times are RFC 3339', () => {
  expect(['2026-01-01T00:00:00.5', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00+01:00', ''].map(rfc3339)).toEqual([
    '2026-01-01T00:00:00.5Z',
    '2026-01-01T00:00:00Z',
    '2026-01-01T00:00:00+01:00',
    '',
  ]);
});

const event = (result: string, details: string | null, traceback: string | null = null) => ({
  event: 'compute_x',
  result,
  details,
  traceback,
});
const actions: [what: string, events: ReturnType<typeof event>[] | undefined, words: string | null][] = [
  ['none failed', [event('Success', null)], null],
  ['no events', undefined, null],
  ['one failed', [event('Error', 'No.')], 'No.'],
  [
    'the cause first, as it began last',
    [event('Error', 'CPU does not match'), event('Success', null), event('Error', 'No valid host')],
    'CPU does not match; No valid host',
  ],
  [
    'no repetition',
    [event('Error', 'same'), event('Error', 'same'), event('Error', 'Error while checking: same')],
    'same',
  ],
  [
    'a traceback’s last line where there is nothing else',
    [event('Error', null, 'Traceback\n  File x\nValueError: y\n')],
    'ValueError: y',
  ],
  ['the event’s name at last', [event('Error', null)], 'compute_x failed'],
  ['not too many', ['a', 'b', 'c', 'd'].map((details) => event('Error', details)), 'a; b; c'],
];
test.each(actions)('the words of a failed action: %s', (_, events, words) => {
  expect(failureOf({ events })).toBe(words);
});
