import { virtualMachineConditions } from '../../contracts/virtual-machine/conditions.ts';
import { vmFixture } from '../vsphere/vm-fixture.ts';
import { vm } from './vm-fixture.ts';

/** A VM as vCenter should have it. */
export interface ExpectedVm {
  powerState: 'poweredOn' | 'poweredOff';
  cpus: number;
  memoryMiB: number;
  /** The condition that says what has to wait. */
  waits?: string;
}

/** One change, and what it should come to. */
export interface VmStep {
  /** As in the summary: `made`. */
  action: string;
  title: string;
  /** The arguments of kubectl, as a user types them. */
  command: readonly string[];
  /** Null: nothing is left. */
  expected: ExpectedVm | null;
}

const small = { cpus: 1, memoryMiB: 1_024 };
const large = { cpus: 2, memoryMiB: 2_048 };

const patch = (spec: object): string[] => [
  'patch',
  'vm',
  vm.name,
  '-n',
  vm.namespace,
  '--type=merge',
  '-p',
  JSON.stringify({ spec }),
];

export const vmSteps: readonly VmStep[] = [
  {
    action: 'made',
    title: 'A volume, and a VirtualMachine of class small with it, switched off',
    command: ['create', '-f', 'lab/demo/vm.yaml'],
    expected: { powerState: 'poweredOff', ...small },
  },
  {
    action: 'switched on',
    title: 'It is switched on',
    command: patch({ powerState: 'PoweredOn' }),
    expected: { powerState: 'poweredOn', ...small },
  },
  {
    action: 'asked to be larger',
    title: 'It shall be larger: that has to wait until it is off, and the object says so',
    command: patch({ className: vmFixture.classes.large }),
    expected: { powerState: 'poweredOn', ...small, waits: virtualMachineConditions.computeConfigSynced },
  },
  {
    action: 'switched off and resized',
    title: 'It is switched off: now it is resized',
    command: patch({ powerState: 'PoweredOff' }),
    expected: { powerState: 'poweredOff', ...large },
  },
  {
    action: 'switched on again',
    title: 'And on again',
    command: patch({ powerState: 'PoweredOn' }),
    expected: { powerState: 'poweredOn', ...large },
  },
  {
    action: 'deleted',
    title: 'It is deleted, running as it is',
    command: ['delete', 'vm', vm.name, '-n', vm.namespace, '--wait=false'],
    expected: null,
  },
];

/** As it is typed in a shell. */
export const typed = (args: readonly string[]): string =>
  args.map((arg) => (/^[\w@%+=:,./-]+$/u.test(arg) ? arg : `'${arg}'`)).join(' ');
