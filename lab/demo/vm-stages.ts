import { virtualMachineConditions } from '../../contracts/virtual-machine/conditions.ts';
import { vmScene } from '../vsphere/scene.ts';
import { vm } from './vm-scene.ts';

/** A VM as vCenter should have it. */
export interface ExpectedVm {
  powerState: 'poweredOn' | 'poweredOff';
  cpus: number;
  memoryMiB: number;
  /** The condition that says what has to wait. */
  waits?: string;
}

/** One change, and what it should come to. */
export interface VmStage {
  /** As in the summary: `made`. */
  deed: string;
  title: string;
  /** What kubectl is asked, in the words that a person types. */
  asks: readonly string[];
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

export const vmStages: readonly VmStage[] = [
  {
    deed: 'made',
    title: 'A VirtualMachine of class small, switched off',
    asks: ['create', '-f', 'lab/demo/vm.yaml'],
    expected: { powerState: 'poweredOff', ...small },
  },
  {
    deed: 'switched on',
    title: 'It is switched on',
    asks: patch({ powerState: 'PoweredOn' }),
    expected: { powerState: 'poweredOn', ...small },
  },
  {
    deed: 'asked to be larger',
    title: 'It shall be larger: that has to wait until it is off, and the object says so',
    asks: patch({ className: vmScene.classes.large }),
    expected: { powerState: 'poweredOn', ...small, waits: virtualMachineConditions.computeConfigSynced },
  },
  {
    deed: 'switched off and resized',
    title: 'It is switched off: now it is resized',
    asks: patch({ powerState: 'PoweredOff' }),
    expected: { powerState: 'poweredOff', ...large },
  },
  {
    deed: 'switched on again',
    title: 'And on again',
    asks: patch({ powerState: 'PoweredOn' }),
    expected: { powerState: 'poweredOn', ...large },
  },
  {
    deed: 'deleted',
    title: 'It is deleted, running as it is',
    asks: ['delete', 'vm', vm.name, '-n', vm.namespace, '--wait=false'],
    expected: null,
  },
];

/** As it is typed in a shell. */
export const typed = (args: readonly string[]): string =>
  args.map((arg) => (/^[\w@%+=:,./-]+$/u.test(arg) ? arg : `'${arg}'`)).join(' ');
