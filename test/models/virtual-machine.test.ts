import type { DesiredVirtualMachine, VirtualMachineSettings } from '../../contracts/virtual-machine/lifecycle.ts';
import { extraConfigKeys } from '../../contracts/virtual-machine/metadata.ts';
import { beginMs, classOf, configOf, desiredOf, settings, vmOf } from '../fixtures/workflows/virtual-machine.ts';
import type { World } from './virtual-machine.ts';
import { ownOf, pass, worldOf } from './virtual-machine.ts';

const fresh = {
  finalizers: [],
  instanceUuid: null,
  biosUuid: null,
  managerId: null,
  zone: null,
  firstBootDone: false,
  lastResizedClass: null,
  upgradedTo: { build: null, schema: null, feature: null },
  networkCards: [],
  networkDisabled: true,
};

/** Goes on to the end, and tells every step that was taken. */
function steps(world: World): string[] {
  const taken: string[] = [];
  for (let passes = 0; passes < 50; passes += 1) {
    const plan = pass(world, () => 'works');
    if (plan.kind === 'done') return [...taken, plan.reason];
    if (plan.kind === 'wait') world.nowMs = plan.untilMs ?? Number.NaN;
    else taken.push(...plan.steps.map((step) => (step.kind === 'power' ? step.operation : step.kind)));
  }
  return [...taken, 'no end'];
}

const made = (more: Partial<VirtualMachineSettings> = {}, desired: Partial<DesiredVirtualMachine> = {}): World => {
  const world = worldOf(desiredOf({ ...fresh, ...desired }), { ...settings, ...more }, beginMs);
  steps(world);
  return world;
};
const change = (world: World, changes: object): World => (Object.assign(world.desired ?? {}, changes), world);
const create = ['createVirtualMachine'];

// What a run costs follows from these: each is one call. What is only noted goes along with the status.
test.each<[why: string, world: World, taken: string[]]>([
  [
    'a VM is made and powered on',
    worldOf(desiredOf(fresh), settings, beginMs),
    [...create, 'awaitTask', 'powerOn', 'Reconciled'],
  ],
  [
    'or waited for in the same call',
    worldOf(desiredOf(fresh), { ...settings, asyncCreate: false }, beginMs),
    [...create, 'powerOn', 'Reconciled'],
  ],
  [
    'or made and left off',
    worldOf(desiredOf({ ...fresh, powerState: 'PoweredOff' }), settings, beginMs),
    [...create, 'awaitTask', 'Reconciled'],
  ],
  ['nothing is to be done', made(), ['Reconciled']],
  ['it is powered off', change(made(), { powerState: 'PoweredOff' }), ['shutdownGuest', 'Reconciled']],
  [
    'and on again',
    change(made({}, { powerState: 'PoweredOff' }), { powerState: 'PoweredOn' }),
    ['powerOn', 'Reconciled'],
  ],
  [
    'it is restarted',
    change(made(), { nextRestartTime: 'now' }),
    ['patchVirtualMachine', 'reconfigure', 'rebootGuest', 'reconfigure', 'Reconciled'],
  ],
  [
    'another class is applied while it is off',
    Object.assign(change(made({}, { powerState: 'PoweredOff' }), { className: 'large' }), {
      class: classOf({ name: 'large', uid: 'class-2', compute: { ...classOf().compute, numCPUs: 8 } }),
    }),
    ['reconfigure', 'Reconciled'],
  ],
  [
    'it is deleted',
    change(made(), { deleting: true }),
    ['shutdownGuest', 'destroy', 'patchVirtualMachine', 'NotFound'],
  ],
  [
    'while it is off',
    change(made({}, { powerState: 'PoweredOff', firstBootDone: true }), { deleting: true, creatingSince: null }),
    ['destroy', 'patchVirtualMachine', 'NotFound'],
  ],
  [
    'before it was ever started',
    change(made({}, { powerState: 'PoweredOff' }), { deleting: true }),
    ['destroy', 'patchVirtualMachine', 'NotFound'],
  ],
])('%s', (_why, world, taken) => {
  expect(steps(world)).toEqual(taken);
});

test('a VM that the operator before has made is taken over, and kept as it is', () => {
  const world = worldOf(
    desiredOf({ upgradedTo: { build: null, schema: null, feature: null }, networkCards: [], networkDisabled: true }),
    settings,
    beginMs,
  );
  world.vms.push({
    foreign: false,
    facts: { ...vmOf(), config: configOf({ extraConfig: { [extraConfigKeys.namespacedName]: 'team/web' } }) },
  });
  expect(steps(world)).toEqual(['adopt', 'patchVirtualMachine', 'Reconciled']);
  expect(world.desired === null ? [] : ownOf(world, world.desired)).toHaveLength(1);
  expect(world.made).toBe(0);
});

test('a VM that is gone from vCenter is made again as a new one: nothing of its making stays noted', () => {
  const world = made();
  expect(world.desired).toMatchObject({ firstBootDone: true, creatingSince: null });
  world.vms.length = 0;
  expect(steps(world)).toEqual([...create, 'awaitTask', 'powerOn', 'Reconciled']);
  expect(world.desired).toMatchObject({ firstBootDone: true, creatingSince: null });
  expect(world.made).toBe(2);
});

test('a create that fails on its way back makes no second VM', () => {
  const world = worldOf(desiredOf(fresh), settings, beginMs);
  let calls = 0;
  for (let passes = 0; passes < 6; passes += 1) {
    pass(world, () => (calls++ === 1 ? 'after' : 'works'));
    world.nowMs += 20_000;
  }
  expect(steps(world).at(-1)).toBe('Reconciled');
  expect(world.made).toBe(1);
});
