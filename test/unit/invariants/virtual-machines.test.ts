import { violations } from '../../invariants/violations.ts';
import { applied, breaks, created, good, objects, virtualMachine, vm, vmClass, without } from './sample.ts';

const large = { className: 'large' };
const optsIn = { 'vmoperator.vmware.com/same-vm-class-resize': '' };
const off = { spec: { ...large, powerState: 'PoweredOff' } };

/** VMs and their objects. */

breaks([
  [
    'two VMs of one object',
    { vms: [vm(), vm({ id: 'vm-62' })] },
    /^invariant 13: VirtualMachine team\/web \(v1\) has 2 VMs: vm-61, vm-62$/,
  ],
  [
    'a reconciled VirtualMachine without a VM',
    { vms: [] },
    /^invariant 13: VirtualMachine team\/web is Reconciled, and no VM has its metadata$/,
  ],
  [
    'a reconciled VirtualMachine whose VM is off',
    { vms: [vm({ powerState: 'poweredOff' })] },
    /^invariant 13: .* vm-61 is poweredOff instead of PoweredOn$/,
  ],
  [
    'a reconciled VirtualMachine whose VM has not what it asks for',
    { vms: [vm({ extraConfig: { colour: 'red' } })] },
    /^invariant 13: .* vm-61 has not colour=blue$/,
  ],
  [
    'a reconciled VirtualMachine whose VM has not the CPUs of its class',
    { vms: [vm({ cpus: 2 })] },
    /^invariant 13: .* vm-61 has 2 CPUs instead of 1$/,
  ],
  [
    '… nor its memory',
    { vms: [vm({ memoryMiB: 512 })] },
    /^invariant 13: .* vm-61 has 512 MiB of memory instead of 1Gi$/,
  ],
  [
    '… nor what the spec itself asks for',
    objects(virtualMachine({ spec: { resources: { size: { memory: '2Gi' } } } })),
    /^invariant 13: .* vm-61 has 1024 MiB of memory instead of 2Gi$/,
  ],
  [
    '… of another class, which was noted as applied',
    {
      ...objects(virtualMachine({ spec: large, annotations: applied('large') })),
      vms: [vm({ memoryMiB: 2_048 })],
    },
    /^invariant 13: .* vm-61 has 1 CPUs instead of 2$/,
  ],
  [
    '… and which it says to wait for, while it is off',
    {
      ...objects(virtualMachine({ ...off, annotations: applied('small'), waitsFor: 'PowerOffRequired' })),
      vms: [vm({ memoryMiB: 2_048, powerState: 'poweredOff' })],
    },
    /^invariant 13: .* vm-61 has 1 CPUs instead of 2$/,
  ],
  [
    '… of a class that has changed, which it follows',
    {
      ...objects(virtualMachine({ annotations: { ...applied('small'), ...optsIn } })),
      vmClasses: [vmClass('small', 2, 2)],
      vms: [vm({ memoryMiB: 2_048 })],
    },
    /^invariant 13: .* vm-61 has 1 CPUs instead of 2$/,
  ],
  [
    'a reconciled VirtualMachine that notes a create',
    objects(virtualMachine({ annotations: { 'drover.dev/creating': created } })),
    /^invariant 13: .* still notes that vm-61 is being made$/,
  ],
  [
    'a VM whose object is gone',
    without('VirtualMachine'),
    /^invariant 14: VM vm-61 belongs to VirtualMachine team\/web \(v1\), which is no more$/,
  ],
  [
    'a VM whose object is not held',
    objects(virtualMachine({ finalizers: [] })),
    /^invariant 14: VirtualMachine team\/web has VM vm-61, and no finalizer holds it$/,
  ],
  [
    'another’s VM that was changed',
    { strangers: [{ ...good.strangers[0]!, after: 'as it is' }] },
    /^invariant 15: VM team\/theirs is not drover’s, was as it was and is as it is$/,
  ],
  [
    'another’s disk that is gone',
    { strangers: [{ what: 'disk a.vmdk', before: 'there', after: null }] },
    /^invariant 15: disk a\.vmdk .* is gone$/,
  ],
]);

test('a VM that is suspended is reconciled only with what is asked of it', () => {
  const object = virtualMachine();
  const wanted = { ...object, spec: { ...object.spec, powerState: 'Suspended' as const } };
  const vms = [vm({ extraConfig: {}, powerState: 'suspended' })];
  expect(violations({ ...good, ...objects(wanted), vms })).toEqual([expect.stringContaining('has not') as string]);
});

test('a VirtualMachine that is not where it should be yet may have no VM', () => {
  expect(
    violations({ ...good, ...objects(virtualMachine({ observedGeneration: 1 })), vms: [], isQuiet: false }),
  ).toEqual([]);
});

test.each<[string, Parameters<typeof virtualMachine>[0], Partial<typeof good>]>([
  ['that is on, and waits to be powered off', { spec: large, waitsFor: 'PowerOffRequired' }, {}],
  ['whose class is gone', {}, { vmClasses: [] }],
  ['that was taken over', { annotations: {} }, { vms: [vm({ cpus: 8, memoryMiB: 512 })] }],
  ['whose class has changed, which it does not follow', {}, { vmClasses: [vmClass('small', 2, 2)] }],
  ['on its way', { spec: large, observedGeneration: 1 }, {}],
  [
    'that asks for another size than its class',
    { spec: { resources: { size: { cpu: '4', memory: '512Mi' } } } },
    { vms: [vm({ cpus: 4, memoryMiB: 512 })] },
  ],
])('a VM keeps its size: one %s', (_what, object, change) => {
  const found = violations({ ...good, ...objects(virtualMachine(object)), ...change });
  expect(found.filter((line) => line.startsWith('invariant 13'))).toEqual([]);
});
