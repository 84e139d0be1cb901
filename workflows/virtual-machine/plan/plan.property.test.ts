import * as fc from 'fast-check';
import type { DesiredVirtualMachine, VirtualMachinePowerState } from '../../../contracts/virtual-machine/lifecycle.ts';
import { powerModes, virtualMachinePowerStates } from '../../../contracts/virtual-machine/lifecycle.ts';
import type { VirtualMachinePlan } from './context.ts';
import { powerStateOf } from './power.ts';
import { resetFailures, noMemory } from '../memory.ts';
import {
  beginMs,
  classOf,
  configOf,
  desiredOf,
  settings,
  vmOf,
} from '../../../test/fixtures/workflows/virtual-machine.ts';
import type { Fate, World } from '../../../test/models/virtual-machine.ts';
import { observe, ownOf, pass, settle, worldOf } from '../../../test/models/virtual-machine.ts';

const runs = { numRuns: Number(process.env['DROVER_FUZZ_RUNS'] ?? 400) };

/** What users, vCenter and machines do between two observations. */
type Happening =
  | {
      happens:
        | 'nothing'
        | 'delete'
        | 'loseMemory'
        | 'endCreates'
        | 'stranger'
        | 'slot'
        | 'pause'
        | 'grow'
        | 'attach'
        | 'restart'
        | 'gone'
        | 'retry';
    }
  | { happens: 'want'; powerState: VirtualMachinePowerState }
  | { happens: 'outside'; powerState: 'poweredOn' | 'poweredOff' | 'suspended' }
  | { happens: 'guest'; guest: World['guest'] }
  | { happens: 'later'; ms: number };

const happenings: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Happening>({ happens: 'nothing' }) },
  fc.constantFrom<Happening>(
    { happens: 'delete' },
    { happens: 'loseMemory' },
    { happens: 'endCreates' },
    { happens: 'stranger' },
    { happens: 'slot' },
    { happens: 'pause' },
    { happens: 'grow' },
    { happens: 'attach' },
    { happens: 'restart' },
    { happens: 'gone' },
    { happens: 'retry' },
  ),
  fc.constantFrom(...virtualMachinePowerStates).map((powerState) => ({ happens: 'want' as const, powerState })),
  fc
    .constantFrom('poweredOn' as const, 'poweredOff' as const, 'suspended' as const)
    .map((powerState) => ({ happens: 'outside' as const, powerState })),
  fc
    .constantFrom('obeys' as const, 'refuses' as const, 'sleeps' as const)
    .map((guest) => ({ happens: 'guest' as const, guest })),
  fc.constantFrom(1_000, 20_000, 400_000, 3_600_000).map((ms) => ({ happens: 'later' as const, ms })),
);
const fates = fc.array(fc.constantFrom<Fate>('works', 'works', 'works', 'before', 'after'), {
  minLength: 1,
  maxLength: 12,
});

const fresh = (more: Partial<DesiredVirtualMachine>): DesiredVirtualMachine =>
  desiredOf({
    finalizers: [],
    instanceUuid: null,
    biosUuid: null,
    managerId: null,
    zone: null,
    firstBootDone: false,
    lastResizedClass: null,
    sameClassResize: true,
    upgradedTo: { build: null, schema: null, feature: null },
    networkCards: [],
    networkDisabled: true,
    ...more,
  });

const worlds: fc.Arbitrary<World> = fc
  .record({
    powerState: fc.constantFrom(...virtualMachinePowerStates),
    powerOffMode: fc.constantFrom(...powerModes),
    suspendMode: fc.constantFrom(...powerModes),
    restartMode: fc.constantFrom(...powerModes),
    asyncCreate: fc.boolean(),
    resize: fc.constantFrom('off' as const, 'size' as const, 'all' as const),
    fastDeploy: fc.constantFrom(null, 'auto' as const, 'direct' as const, 'linked' as const),
  })
  .map(({ asyncCreate, resize, fastDeploy, ...desired }) =>
    worldOf(fresh(desired), { ...settings, asyncCreate, resize, fastDeploy, asyncSignal: true }, beginMs),
  );

const stranger = (world: World): void => {
  const isNameInUse = world.vms.some(({ facts }) => facts.name === 'web') || world.creating.length > 0;
  if (!isNameInUse)
    world.vms.push({
      foreign: true,
      facts: {
        ...vmOf({ moId: 'vm-theirs', instanceUuid: 'theirs' }),
        config: configOf({ extraConfig: {}, managedBy: null }),
      },
    });
};

function happen(world: World, it: Happening): void {
  const { desired } = world;
  const own = desired === null ? [] : ownOf(world, desired);
  switch (it.happens) {
    case 'delete':
      if (desired !== null && desired.finalizers.length > 0) desired.deleting = true;
      break;
    case 'loseMemory':
      world.memory = noMemory;
      break;
    case 'endCreates':
      for (const { task } of world.creating) settle(world, task);
      break;
    case 'stranger':
      stranger(world);
      break;
    case 'slot':
      world.hasSlot = !world.hasSlot;
      break;
    case 'pause':
      if (desired !== null) desired.paused = !desired.paused;
      break;
    case 'grow':
      world.class = classOf({
        generation: world.class.generation + 1,
        compute: { ...world.class.compute, numCPUs: world.class.compute.numCPUs + 1 },
      });
      break;
    case 'attach':
      for (const { facts } of own)
        facts.config.disks.push({
          key: 3_000 + facts.config.disks.length,
          name: `data-${facts.config.disks.length}`,
          capacityBytes: 1,
          own: false,
          boot: false,
        });
      break;
    case 'restart':
      if (desired !== null) desired.nextRestartTime = 'now';
      break;
    case 'gone':
      world.vms = world.vms.filter((vm) => !own.includes(vm));
      break;
    case 'retry':
      world.memory = resetFailures(world.memory);
      break;
    case 'want':
      if (desired !== null) desired.powerState = it.powerState;
      break;
    case 'outside':
      for (const { facts } of own) facts.powerState = it.powerState;
      break;
    case 'guest':
      world.guest = it.guest;
      break;
    case 'later':
      world.nowMs += it.ms;
      break;
    case 'nothing':
      break;
  }
}

/** What must hold at every moment. */
function check(world: World, theirs: string): void {
  const own = world.vms.filter(({ foreign }) => !foreign);
  expect(own.length + world.creating.length).toBeLessThanOrEqual(1);
  expect(JSON.stringify(world.vms.filter(({ foreign }) => foreign))).toBe(theirs);
  expect(world.lost).toEqual([]);
  // Released is only what has left nothing behind.
  if (world.desired === null) expect([own.length + world.creating.length, [...world.files]]).toEqual([0, []]);
}

const theirsIn = (world: World): string => JSON.stringify(world.vms.filter(({ foreign }) => foreign));

const maxRounds = 400;

/** Nothing happens any more, and everything works: goes on until nothing is left to do. */
function goOn(world: World): VirtualMachinePlan {
  world.guest = 'obeys';
  world.hasSlot = true;
  world.memory = resetFailures(world.memory);
  if (world.desired !== null) world.desired.paused = false;
  for (let rounds = 0; rounds < maxRounds; rounds += 1) {
    const theirs = theirsIn(world);
    const plan = pass(world, () => 'works');
    check(world, theirs);
    if (plan.kind === 'done') return plan;
    if (plan.kind === 'wait') {
      if (plan.untilMs === null) throw new Error(`waits for ever for ${plan.message}`);
      world.nowMs = Math.max(world.nowMs, plan.untilMs);
    }
  }
  throw new Error('it does not come to an end');
}

test('whatever happens: never two VMs, never a stranger’s, no disk lost; and in the end it is where the spec wants it', () => {
  fc.assert(
    fc.property(worlds, fc.array(fc.tuple(happenings, fates), { maxLength: 40 }), (world, story) => {
      for (const [it, its] of story) {
        happen(world, it);
        let call = 0;
        const theirs = theirsIn(world);
        pass(world, () => its[call++ % its.length] ?? 'works');
        check(world, theirs);
      }
      const hasStranger = world.vms.some(({ foreign }) => foreign);
      const plan = goOn(world);
      const { desired } = world;
      if (desired === null) return;
      const [own] = ownOf(world, desired);
      if (hasStranger && own === undefined) {
        expect(plan).toMatchObject({ outcome: 'blocked', reason: 'NotOwned' });
        return;
      }
      if (
        desired.powerState === 'PoweredOff' &&
        desired.powerOffMode === 'Soft' &&
        own?.facts.powerState === 'suspended'
      ) {
        expect(plan).toMatchObject({ outcome: 'blocked', message: expect.stringContaining('Resume it') as string });
        return;
      }
      // What is suspended cannot be resized, and stays so as its spec asks for that.
      if (
        desired.powerState === 'Suspended' &&
        own?.facts.powerState === 'suspended' &&
        world.settings.resize !== 'off' &&
        own.facts.config.numCPUs !== world.class.compute.numCPUs
      ) {
        expect(plan).toMatchObject({ outcome: 'blocked', reason: 'PowerOffRequired' });
        return;
      }
      expect(plan).toMatchObject({ kind: 'done', outcome: 'reconciled' });
      // What is off cannot be suspended: it stays off.
      const state = own === undefined ? null : powerStateOf(own.facts);
      expect(desired.powerState === 'Suspended' && state === 'PoweredOff' ? 'Suspended' : state).toBe(
        desired.powerState,
      );
      expect([own?.facts.config.extraConfig['drover.uid'], own?.facts.instanceUuid]).toEqual([
        desired.uid,
        desired.instanceUuid,
      ]);
      // Reconciled is reconciled: another observation has nothing to do.
      expect(pass(world, () => 'works').kind).toBe('done');
    }),
    runs,
  );
});

test('a restart that is asked for once is made once, whatever is lost on the way', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('Hard' as const, 'TrySoft' as const),
      fc.array(fc.constantFrom<Fate>('works', 'before'), { maxLength: 20 }),
      fc.array(fc.boolean(), { maxLength: 20 }),
      (restartMode, its, losesMemory) => {
        const world = worldOf(fresh({ restartMode, powerState: 'PoweredOn' }), settings, beginMs);
        goOn(world);
        if (world.desired !== null) world.desired.nextRestartTime = 'now';
        let call = 0;
        // With a reset, the memory may be lost as well: the VM itself says that it has booted since.
        for (const losesAll of losesMemory) {
          pass(world, () => its[call++] ?? 'works');
          if (losesAll && restartMode === 'Hard') world.memory = noMemory;
        }
        goOn(world);
        expect(world.restarts).toBe(1);
      },
    ),
    runs,
  );
});

test('the model finds what it shall: its VM by its metadata, and nothing of a stranger', () => {
  const world = worldOf(fresh({}), settings, beginMs);
  goOn(world);
  expect(observe(world).candidates).toHaveLength(1);
  expect(world.made).toBe(1);
});
