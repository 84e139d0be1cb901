import { instanceDetail } from '../../test/fixtures/activities/nova.ts';
import type { Aggregate, InstanceDetail } from '../nova/types.ts';
import {
  type GroupPlacement,
  groupsAllow,
  leastOf,
  mayGoTo,
  placesIn,
  type Requirements,
  requirementsKey,
  requirementsOf,
} from './scheduler-rules.ts';

const base = { vcpus: 2, memoryMiB: 4_096, localDiskGiB: 20 };
const plain: Requirements = { resources: { DISK_GB: 20, MEMORY_MB: 4_096, VCPU: 2 }, required: [], forbidden: [] };

test.each<[why: string, change: Partial<InstanceDetail>, requirements: Requirements]>([
  ['an ordinary flavor', {}, plain],
  ['disks on volumes ask for none', { localDiskGiB: 0 }, { ...plain, resources: { MEMORY_MB: 4_096, VCPU: 2 } }],
  [
    'pinned by the flavor',
    { extraSpecs: { 'hw:cpu_policy': 'dedicated' } },
    { ...plain, resources: { DISK_GB: 20, MEMORY_MB: 4_096, PCPU: 2 } },
  ],
  [
    'pinned by the image',
    { imageProperties: { hw_cpu_policy: 'dedicated' } },
    { ...plain, resources: { DISK_GB: 20, MEMORY_MB: 4_096, PCPU: 2 } },
  ],
  [
    'pinned in part',
    { vcpus: 4, extraSpecs: { 'hw:cpu_policy': 'mixed', 'hw:cpu_dedicated_mask': '2-3' } },
    { ...plain, resources: { DISK_GB: 20, MEMORY_MB: 4_096, PCPU: 2, VCPU: 2 } },
  ],
  [
    'pinned in part, by what is not',
    { vcpus: 4, extraSpecs: { 'hw:cpu_policy': 'mixed', 'hw:cpu_dedicated_mask': '^0' } },
    { ...plain, resources: { DISK_GB: 20, MEMORY_MB: 4_096, PCPU: 3, VCPU: 1 } },
  ],
  [
    'a CPU for the emulator, and no siblings',
    {
      extraSpecs: {
        'hw:cpu_policy': 'dedicated',
        'hw:emulator_threads_policy': 'isolate',
        'hw:cpu_thread_policy': 'isolate',
      },
    },
    { resources: { DISK_GB: 20, MEMORY_MB: 4_096, PCPU: 3 }, required: [], forbidden: ['HW_CPU_HYPERTHREADING'] },
  ],
  [
    'siblings',
    { extraSpecs: { 'hw:cpu_policy': 'dedicated' }, imageProperties: { hw_cpu_thread_policy: 'require' } },
    { resources: { DISK_GB: 20, MEMORY_MB: 4_096, PCPU: 2 }, required: ['HW_CPU_HYPERTHREADING'], forbidden: [] },
  ],
  [
    'resources of its own',
    { extraSpecs: { 'resources:VGPU': '1' } },
    { ...plain, resources: { ...plain.resources, VGPU: 1 } },
  ],
  [
    'an override',
    { extraSpecs: { 'resources:VCPU': '0', 'resources:CUSTOM_BAREMETAL': '1' } },
    { ...plain, resources: { CUSTOM_BAREMETAL: 1, DISK_GB: 20, MEMORY_MB: 4_096 } },
  ],
  [
    'numbered groups add up',
    { extraSpecs: { 'resources1:VGPU': '1', 'resources_B:VGPU': '2' } },
    { ...plain, resources: { ...plain.resources, VGPU: 3 } },
  ],
  [
    'traits of flavor and image',
    {
      extraSpecs: { 'trait:CUSTOM_B': 'required', 'trait:CUSTOM_C': 'forbidden' },
      imageProperties: { 'trait:CUSTOM_A': 'required' },
    },
    { ...plain, required: ['CUSTOM_A', 'CUSTOM_B'], forbidden: ['CUSTOM_C'] },
  ],
  [
    'what is none of this',
    { extraSpecs: { 'hw:mem_page_size': 'large', 'resources:VGPU': 'many', 'trait:x': 'required' } },
    plain,
  ],
])('%s', (_why, change, requirements) => {
  expect(requirementsOf(instanceDetail({ ...base, ...change }))).toEqual(requirements);
});

test('servers that differ in nothing Placement is asked for have one key', () => {
  const key = (change: Partial<InstanceDetail>) =>
    requirementsKey(requirementsOf(instanceDetail({ ...base, ...change })));
  expect(key({ id: 'b', name: 'b', projectId: 'p', extraSpecs: { 'hw:watchdog_action': 'reset' } })).toBe(key({}));
  expect(key({ vcpus: 4 })).not.toBe(key({}));
  expect(key({ extraSpecs: { 'trait:CUSTOM_A': 'required' } })).not.toBe(key({}));
});

test('the least of its kind keeps the kind', () => {
  const requirements = requirementsOf(
    instanceDetail({ ...base, extraSpecs: { 'resources:VGPU': '2', 'trait:CUSTOM_A': 'required' } }),
  );
  expect(leastOf(requirements)).toEqual({
    resources: { DISK_GB: 1, MEMORY_MB: 1, VCPU: 1, VGPU: 2 },
    required: ['CUSTOM_A'],
    forbidden: [],
  });
});

const aggregate = (metadata: Record<string, string>, hosts = ['node-2']): Aggregate => ({
  id: 1,
  uuid: 'u',
  name: 'rack',
  hosts,
  metadata,
  availabilityZone: null,
});
/** A Nova before 2.96 does not say whether a server is pinned to its zone. */
const { pinnedAvailabilityZone: _, ...oldNova } = instanceDetail({ availabilityZone: 'zone-a' });

test.each<[why: string, instance: InstanceDetail, zone: string, aggregates: Aggregate[], allowed: boolean]>([
  ['no rules', instanceDetail(), 'nova', [], true],
  ['not pinned: any zone', instanceDetail({ availabilityZone: 'zone-a' }), 'zone-b', [], true],
  ['pinned to this zone', instanceDetail({ pinnedAvailabilityZone: 'zone-a' }), 'zone-a', [], true],
  ['pinned to another', instanceDetail({ pinnedAvailabilityZone: 'zone-a' }), 'zone-b', [], false],
  ['not known: the zone it is in', oldNova, 'zone-b', [], false],
  [
    'an aggregate for its project',
    instanceDetail({ projectId: 'p' }),
    'nova',
    [aggregate({ filter_tenant_id: 'q,p' })],
    true,
  ],
  [
    'an aggregate for other projects',
    instanceDetail({ projectId: 'p' }),
    'nova',
    [aggregate({ filter_tenant_id1: 'q' })],
    false,
  ],
  [
    'one of several aggregates is for it',
    instanceDetail({ projectId: 'p' }),
    'nova',
    [aggregate({ filter_tenant_id: 'q' }), aggregate({ filter_tenant_id: 'p' })],
    true,
  ],
  [
    'an aggregate of other hosts',
    instanceDetail({ projectId: 'p' }),
    'nova',
    [aggregate({ filter_tenant_id: 'q' }, ['node-3'])],
    true,
  ],
  [
    'a flavor for this aggregate',
    instanceDetail({ extraSpecs: { 'aggregate_instance_extra_specs:ssd': 'true' } }),
    'nova',
    [aggregate({ ssd: 'true' })],
    true,
  ],
  [
    'a flavor for other aggregates',
    instanceDetail({ extraSpecs: { 'aggregate_instance_extra_specs:ssd': 'true' } }),
    'nova',
    [aggregate({ ssd: 'false' })],
    false,
  ],
  [
    'a flavor for aggregates, and none here',
    instanceDetail({ extraSpecs: { 'aggregate_instance_extra_specs:ssd': 'true' } }),
    'nova',
    [],
    false,
  ],
  [
    'an operator is Nova’s to apply',
    instanceDetail({ extraSpecs: { 'aggregate_instance_extra_specs:tier': '<or> gold <or> silver' } }),
    'nova',
    [aggregate({ tier: 'gold' })],
    true,
  ],
  ['other scopes are other filters’', instanceDetail({ extraSpecs: { 'hw:ssd': 'true' } }), 'nova', [], true],
])('%s', (_why, instance, zone, aggregates, allowed) => {
  expect(mayGoTo(instance, placesIn(aggregates)('node-2', zone))).toBe(allowed);
});

const group = (
  policy: string,
  elsewhere: Record<string, number>,
  here = ['a'],
  maxServersPerHost = 1,
): GroupPlacement => ({
  group: { id: 'g', name: 'g', policy, maxServersPerHost, members: ['a', 'b', 'c'] },
  elsewhere: new Map(Object.entries(elsewhere)),
  here,
});

test.each<[why: string, groups: GroupPlacement[], allowed: boolean]>([
  ['no group', [], true],
  ['apart, and no member there', [group('anti-affinity', { 'node-3': 1 })], true],
  ['apart, and a member there', [group('anti-affinity', { 'node-2': 1 })], false],
  ['apart by two, and one there', [group('anti-affinity', { 'node-2': 1 }, ['a'], 2)], true],
  ['together, alone so far', [group('affinity', {})], true],
  ['together with those over there', [group('affinity', { 'node-2': 1 })], true],
  ['together with those elsewhere', [group('affinity', { 'node-3': 1 })], false],
  ['together with those it would leave', [group('affinity', {}, ['a', 'b'])], false],
  ['wishes are no rules', [group('soft-anti-affinity', { 'node-2': 1 }), group('soft-affinity', {}, ['a', 'b'])], true],
  [
    'groups of others',
    [
      {
        ...group('anti-affinity', { 'node-2': 1 }),
        group: { id: 'h', name: 'h', policy: 'anti-affinity', maxServersPerHost: 1, members: ['x'] },
      },
    ],
    true,
  ],
])('server groups: %s', (_why, groups, allowed) => {
  expect(groupsAllow('a', 'node-2', groups)).toBe(allowed);
});
