import { findCondition } from '../../contracts/conditions.ts';
import type { VirtualMachine } from '../../contracts/crds/virtual-machine.ts';
import { virtualMachineConditions } from '../../contracts/virtual-machine/conditions.ts';
import { extraConfigKeys } from '../../contracts/virtual-machine/metadata.ts';
import type { WitnessedVm } from '../vsphere/vm-fixture.ts';
import { vm } from './vm-fixture.ts';
import type { ExpectedVm, VmStep } from './vm-steps.ts';

/** What both sides show after a step. */
export interface ObservedVm {
  /** Null: it is gone. */
  object: VirtualMachine | null;
  /** By govc; null: there is none of that name. */
  witnessed: WitnessedVm | null;
  /** Names of all VMs in the namespace's folder, by govc. */
  inFolder: readonly string[];
  /** Files of the disks of volumes that are attached to it, by govc. */
  volumes: readonly string[];
  /** Names of all that are there, attached or not. */
  files: readonly string[];
}

/** What is wrong after a step, a sentence each: govc decides, whatever the object says. Pure. */
export function judgeVmStep({ action, expected }: Pick<VmStep, 'action' | 'expected'>, observed: ObservedVm): string[] {
  return (expected === null ? judgeGone(observed) : judgeThere(expected, observed)).map(
    (sentence) => `${action}: ${sentence}`,
  );
}

function judgeGone({ object, witnessed, inFolder, files }: ObservedVm): string[] {
  return [
    ...(files.length === 1 ? [] : [`govc finds ${files.length} disks of volumes: the volume outlives its VM`]),
    ...(object === null ? [] : ['the object is still there']),
    ...(witnessed === null ? [] : [`govc still sees the VM, ${witnessed.powerState}`]),
    ...(inFolder.length === 0 ? [] : [`govc finds ${inFolder.join(', ')} in the folder`]),
  ];
}

function judgeThere(expected: ExpectedVm, { object, witnessed, inFolder, volumes }: ObservedVm): string[] {
  if (witnessed === null) return ['govc sees no such VM'];
  const { metadata, status } = object ?? { metadata: null, status: undefined };
  const wrong: string[] = [];
  const expect = (holds: boolean, otherwise: string): void => void (holds || wrong.push(otherwise));
  const equal = (what: string, is: unknown, shall: unknown): void =>
    expect(is === shall, `${what} is ${String(is)}, not ${String(shall)}`);

  equal('power by govc', witnessed.powerState, expected.powerState);
  equal('number of CPUs by govc', witnessed.cpus, expected.cpus);
  equal('memory in MiB by govc', witnessed.memoryMiB, expected.memoryMiB);
  expect(inFolder.length === 1, `govc finds ${inFolder.length} VMs in the folder: ${inFolder.join(', ')}`);
  equal('number of volumes by govc', volumes.length, 1);
  if (metadata === null) return [...wrong, 'the object is not there'];
  equal('instance UUID by govc', witnessed.instanceUuid, metadata.uid);
  equal('owner’s metadata by govc', witnessed.metadata[extraConfigKeys.objectUid], metadata.uid);
  equal('power by the object', status?.powerState?.toLowerCase(), expected.powerState.toLowerCase());
  equal('volume by the object', status?.volumes?.find(({ name }) => name === vm.volume)?.attached, true);
  const lifecycle = findCondition(status?.conditions, virtualMachineConditions.lifecycle);
  expect(
    lifecycle?.status === 'True' && lifecycle.observedGeneration === metadata.generation,
    `the object says ${lifecycle === undefined ? 'nothing' : `${lifecycle.reason}: ${lifecycle.message}`}`,
  );
  if (expected.waits !== undefined)
    equal(`condition ${expected.waits}`, findCondition(status?.conditions, expected.waits)?.status, 'False');
  return wrong;
}
