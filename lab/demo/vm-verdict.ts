import { findCondition } from '../../contracts/conditions.ts';
import type { VirtualMachine } from '../../contracts/crds/virtual-machine.ts';
import { virtualMachineConditions } from '../../contracts/virtual-machine/conditions.ts';
import { extraConfigKeys } from '../../contracts/virtual-machine/metadata.ts';
import type { WitnessedVm } from '../vsphere/scene.ts';
import type { ExpectedVm, VmStage } from './vm-stages.ts';

/** What both sides tell after a stage. */
export interface SeenVm {
  /** Null: it is gone. */
  object: VirtualMachine | null;
  /** By govc; null: there is none of that name. */
  witnessed: WitnessedVm | null;
  /** Names of all VMs in the namespace's folder, by govc. */
  inFolder: readonly string[];
}

/** What is wrong after a stage, a sentence each: vCenter is as govc sees it, whatever the object says. Pure. */
export function judgeVmStage({ deed, expected }: Pick<VmStage, 'deed' | 'expected'>, seen: SeenVm): string[] {
  return (expected === null ? judgeGone(seen) : judgeThere(expected, seen)).map((sentence) => `${deed}: ${sentence}`);
}

function judgeGone({ object, witnessed, inFolder }: SeenVm): string[] {
  return [
    ...(object === null ? [] : ['the object is still there']),
    ...(witnessed === null ? [] : [`govc still sees the VM, ${witnessed.powerState}`]),
    ...(inFolder.length === 0 ? [] : [`govc finds ${inFolder.join(', ')} in the folder`]),
  ];
}

function judgeThere(expected: ExpectedVm, { object, witnessed, inFolder }: SeenVm): string[] {
  if (witnessed === null) return ['govc sees no such VM'];
  const { metadata, status } = object ?? { metadata: null, status: undefined };
  const wrong: string[] = [];
  const expect = (fact: boolean, otherwise: string): void => void (fact || wrong.push(otherwise));
  const equal = (what: string, is: unknown, shall: unknown): void =>
    expect(is === shall, `${what} is ${String(is)}, not ${String(shall)}`);

  equal('power by govc', witnessed.powerState, expected.powerState);
  equal('number of CPUs by govc', witnessed.cpus, expected.cpus);
  equal('memory in MiB by govc', witnessed.memoryMiB, expected.memoryMiB);
  expect(inFolder.length === 1, `govc finds ${inFolder.length} VMs in the folder: ${inFolder.join(', ')}`);
  if (metadata === null) return [...wrong, 'the object is not there'];
  equal('instance UUID by govc', witnessed.instanceUuid, metadata.uid);
  equal('owner’s mark by govc', witnessed.marks[extraConfigKeys.objectUid], metadata.uid);
  equal('power by the object', status?.powerState?.toLowerCase(), expected.powerState.toLowerCase());
  const lifecycle = findCondition(status?.conditions, virtualMachineConditions.lifecycle);
  expect(
    lifecycle?.status === 'True' && lifecycle.observedGeneration === metadata.generation,
    `the object says ${lifecycle === undefined ? 'nothing' : `${lifecycle.reason}: ${lifecycle.message}`}`,
  );
  if (expected.waits !== undefined)
    equal(`condition ${expected.waits}`, findCondition(status?.conditions, expected.waits)?.status, 'False');
  return wrong;
}
