import { indexMachines, type JudgedMachine, judgeVm } from './judge-vm.ts';

const vm = { providerId: 'vsphere://eu-1/a', machineName: 'worker-1' };
const machine = (changes: Partial<JudgedMachine>): JudgedMachine => ({
  name: 'worker-1',
  providerId: 'vsphere://eu-1/a',
  phase: 'Running',
  ...changes,
});
const other = 'vsphere://eu-1/b';

test.each<[string, JudgedMachine[], string, string]>([
  ['its Machine names it', [machine({})], 'keep', 'ProviderIdMatches'],
  ['its Machine names it in capitals', [machine({ providerId: 'vsphere://eu-1/A' })], 'keep', 'ProviderIdMatches'],
  ['its Machine names it in another region', [machine({ providerId: 'vsphere:///a' })], 'keep', 'ProviderIdMatches'],
  ['its Machine has no phase yet', [machine({ providerId: '', phase: '' })], 'keep', 'BeingCreated'],
  ['and names another', [machine({ providerId: other, phase: '' })], 'keep', 'BeingCreated'],
  ['its create is tried again', [machine({ providerId: '', phase: 'CrashLoopBackOff' })], 'keep', 'BeingCreated'],
  ['and names another', [machine({ providerId: other, phase: 'CrashLoopBackOff' })], 'keep', 'BeingCreated'],
  ...['Pending', 'Available', 'Running', 'Unknown', 'Failed', 'Terminating', 'InPlaceUpdating'].flatMap(
    (phase): [string, JudgedMachine[], string, string][] => [
      [
        `its Machine is ${phase} and names another`,
        [machine({ providerId: other, phase })],
        'orphan',
        'ProviderIdDiffers',
      ],
      [`its Machine is ${phase} and names none`, [machine({ providerId: '', phase })], 'orphan', 'ProviderIdDiffers'],
    ],
  ),
  ['there is no Machine of its name', [machine({ name: 'worker-2', providerId: other })], 'orphan', 'MachineMissing'],
  ['there is no Machine', [], 'orphan', 'MachineMissing'],
  ['a Machine of another name names it', [machine({ name: 'worker-2' })], 'keep', 'OtherMachineHasIt'],
  [
    'that of its name names another, one of another name names it',
    [machine({ providerId: other }), machine({ name: 'worker-2' })],
    'keep',
    'OtherMachineHasIt',
  ],
])('%s: %#', (_, machines, verdict, why) => {
  expect(judgeVm(vm, indexMachines(machines), { renamedAreKept: true })).toEqual({ verdict, why });
});

test.each<[string, JudgedMachine[], JudgedMachine[][], string, string]>([
  ['a Machine of another namespace has it', [], [[], [machine({ name: 'other' })]], 'keep', 'OtherMachineHasIt'],
  [
    'so it has, though that of its own has another',
    [machine({ providerId: other })],
    [[machine({})]],
    'keep',
    'OtherMachineHasIt',
  ],
  ['one is being created there', [], [[machine({ providerId: '', phase: '' })]], 'keep', 'BeingCreated'],
  ['one of its name there has another', [], [[machine({ providerId: other })]], 'orphan', 'MachineMissing'],
  [
    'of two of its name there, one is being created',
    [],
    [[machine({ providerId: '', phase: 'CrashLoopBackOff' })], [machine({ providerId: other })]],
    'keep',
    'BeingCreated',
  ],
])('%s', (_, machines, elsewhere, verdict, why) => {
  const indexes = elsewhere.map(indexMachines);
  expect(judgeVm(vm, indexMachines(machines), { renamedAreKept: true }, indexes)).toEqual({ verdict, why });
  expect(judgeVm(vm, indexMachines(machines), { renamedAreKept: false }, indexes).verdict).toBe('orphan');
});

test('without the row of renamed VMs it is the replaced manager’s chart', () => {
  const machines = indexMachines([machine({ name: 'worker-2' })]);
  expect(judgeVm(vm, machines, { renamedAreKept: false })).toEqual({ verdict: 'orphan', why: 'MachineMissing' });
});

test('Machines without an id are not taken for one another', () => {
  const machines = indexMachines([machine({ name: 'worker-2', providerId: '' })]);
  expect(machines.withProviderId('')).toBeUndefined();
  expect(machines.count).toBe(1);
});
