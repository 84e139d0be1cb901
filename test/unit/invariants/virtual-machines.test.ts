import { violations } from '../../invariants/violations.ts';
import { breaks, created, good, objects, virtualMachine, vm, without } from './sample.ts';

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
