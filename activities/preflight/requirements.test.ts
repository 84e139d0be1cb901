import { instanceDetail } from '../../test/fixtures/activities/nova.ts';
import type { InstanceDetail } from '../nova/types.ts';
import type { Requirements } from './requirements.ts';
import { leastOf, requirementsKey, requirementsOf } from './requirements.ts';

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
