import { uuidOf } from './ids.ts';
import type { Flavor, KeystoneUser, Model } from './model.ts';

/** As `lab/openstack/controlplane/seed_flavors.py`: vCPUs, memory in MiB, root disk in GiB, extra specs. */
const flavors: readonly [
  name: string,
  vcpus: number,
  memoryMiB: number,
  diskGiB: number,
  extraSpecs: Record<string, string>,
][] = [
  ['lab.tiny', 1, 512, 1, {}],
  ['lab.small', 1, 2048, 10, {}],
  ['lab.medium', 2, 4096, 20, {}],
  ['lab.large', 4, 8192, 40, {}],
  ['lab.huge', 60, 200_000, 100, {}],
  ['lab.trait', 1, 512, 1, { 'trait:CUSTOM_LAB': 'required' }],
  ['lab.vgpu', 1, 512, 1, { 'resources:VGPU': '1' }],
];

/** Of os-traits, those that tests ask for; `computeTraits` are what nova-compute with FakeDriver reports of a host. */
export const computeTraits: readonly string[] = [
  'COMPUTE_ACCELERATORS',
  'COMPUTE_ADDRESS_SPACE_EMULATED',
  'COMPUTE_ADDRESS_SPACE_PASSTHROUGH',
  'COMPUTE_DEVICE_TAGGING',
  'COMPUTE_IMAGE_TYPE_RAW',
  'COMPUTE_MEM_BACKING_FILE',
  'COMPUTE_NET_ATTACH_INTERFACE',
  'COMPUTE_NET_ATTACH_INTERFACE_WITH_TAG',
  'COMPUTE_NODE',
  'COMPUTE_SECURITY_STATELESS_FIRMWARE',
  'COMPUTE_STORAGE_VIRTIO_FS',
  'COMPUTE_TRUSTED_CERTS',
  'COMPUTE_VOLUME_ATTACH_WITH_TAG',
  'COMPUTE_VOLUME_EXTEND',
  'COMPUTE_VOLUME_MULTI_ATTACH',
  'OWNER_NOVA',
];
const standardTraits: readonly string[] = [
  ...computeTraits,
  'COMPUTE_STATUS_DISABLED',
  'HW_CPU_HYPERTHREADING',
  'HW_CPU_X86_AVX',
  'HW_CPU_X86_VMX',
  'STORAGE_DISK_SSD',
];

const hex = (name: string): string => uuidOf(`${name}.keystone`).replaceAll('-', '');

const user = (name: string, roles: readonly string[]): KeystoneUser => ({
  id: hex(name),
  name,
  password: `${name}-password`,
  roles,
});

/** A cloud without hosts: identities, flavors and the image of the lab. */
export function seedModel(uuid: () => string): Model {
  const drover = user('drover', ['admin', 'manager', 'member', 'reader']);
  return {
    hosts: new Map(),
    services: ['nova-conductor', 'nova-scheduler'].map((binary) => ({
      id: uuid(),
      binary,
      host: 'controller',
      isDisabled: false,
      disabledReason: null,
      isForcedDown: false,
      updatedMs: 0,
    })),
    hypervisors: new Map(),
    servers: new Map(),
    migrations: [],
    aggregates: [],
    serverGroups: [],
    flavors: new Map(
      flavors.map(([name, vcpus, memoryMiB, diskGiB, extraSpecs]): [string, Flavor] => [
        name,
        { id: name, name, vcpus, memoryMiB, diskGiB, extraSpecs },
      ]),
    ),
    imageId: uuidOf('image.lab.drover.dev'),
    images: new Map([
      [uuidOf('image.lab.drover.dev'), { tags: [] }],
      [uuidOf('amphora.lab.drover.dev'), { tags: ['amphora'] }],
    ]),
    volumes: null,
    lostProviders: new Set(),
    scripts: new Map(),
    placement: { providers: new Map(), consumers: new Map(), traits: new Set(standardTraits) },
    keystone: {
      projectId: hex('admin-project'),
      users: [drover, user('admin', ['admin', 'manager', 'member', 'reader']), user('member', ['member', 'reader'])],
      applicationCredential: {
        id: hex('application-credential'),
        secret: 'application-credential-secret',
        userId: drover.id,
      },
      tokens: new Map(),
      tokenLifetimeMs: 3_600_000,
    },
  };
}
