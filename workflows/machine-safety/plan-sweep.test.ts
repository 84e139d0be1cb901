import * as fc from 'fast-check';

import { indexMachines, judgeVm, type JudgedMachine } from '../../contracts/machine-safety/judge-vm.ts';
import { providerIdKey } from '../../contracts/machine-safety/provider-id.ts';
import type {
  Candidate,
  ObservedSweep,
  SweepMemory,
  SweepRunSettings,
  SweepSettings,
  SweptClass,
} from '../../contracts/machine-safety/sweep.ts';
import { describePlan, type Plan } from '../lib/plan.ts';
import { describeSweep } from './describe-sweep.ts';
import { judgeCandidates } from './judge-candidates.ts';
import {
  type DeleteVmStep,
  planSweep,
  type SweepStep,
  sweepReport,
  type SweepSituation,
  sweepStatus,
} from './plan-sweep.ts';
import { approve, noSweepMemory, rememberSweep, type SweepRunMemory } from './sweep-memory.ts';

const minute = 60_000;
const hour = 60 * minute;
const nowMs = Date.UTC(2026, 0, 31, 12);

const gates: SweepSettings = {
  periodMs: 15 * minute,
  jitterMs: minute,
  ageMs: 40 * minute,
  sightings: 2,
  most: 10,
  mostPercent: 10,
  approveAbove: 3,
  approveAbovePercent: 10,
  approveWithoutMachines: true,
  approvalMs: 24 * hour,
  probationMs: 24 * hour,
  frozen: true,
  renamedAreKept: true,
  detachForeignDisks: true,
  longRetryMs: 10 * minute,
};
const off: SweepSettings = {
  ...gates,
  ageMs: 0,
  sightings: 1,
  most: null,
  approveAbove: null,
  approveWithoutMachines: false,
  probationMs: 0,
  frozen: false,
  renamedAreKept: false,
};
const settings: SweepRunSettings = {
  mode: 'act',
  recheckMs: gates.periodMs,
  lingerMs: 0,
  publishMinMs: 0,
  sweep: gates,
  isDry: false,
  isRemembered: true,
};

const idOf = (name: string): string => `vsphere://eu-1/${name}`;
const orphan = (name: string, change: Partial<Candidate> = {}): Candidate => ({
  providerId: idOf(name),
  machineName: name,
  machineClass: 'small',
  createdMs: nowMs - 5 * hour,
  why: 'MachineMissing',
  keptBy: null,
  ...change,
});
const listedClass = (name: string, listed: number, orphans: number): SweptClass => ({
  name,
  provider: 'vSphere',
  listed,
  kept: { ProviderIdMatches: listed - orphans, BeingCreated: 0, OtherMachineHasIt: 0 },
  orphans,
  leftovers: { listed: 0, failure: null },
  failure: null,
});
const seen = (
  names: readonly string[],
  { count = 2, firstMs = nowMs - hour }: { count?: number; firstMs?: number } = {},
): SweepMemory => ({
  clusterUid: 'uid-1',
  resourceVersion: 100,
  probationUntilMs: nowMs - hour,
  probationWhy: 'no sweep is remembered',
  sightings: Object.fromEntries(
    names.map((name) => [
      providerIdKey(idOf(name)),
      { firstMs, countedMs: firstMs, count, machineName: name, machineClass: 'small', why: 'MachineMissing' },
    ]),
  ),
  approved: {},
  round: { startedMs: nowMs, deleted: 0 },
});

interface Change {
  candidates?: Candidate[];
  orphans?: number;
  observed?: Partial<ObservedSweep>;
  settings?: Partial<SweepRunSettings>;
  gates?: Partial<SweepSettings>;
  sweep?: Partial<SweepMemory>;
  memory?: Partial<SweepRunMemory>;
}

function situation(change: Change = {}): SweepSituation {
  const { candidates = [orphan('a')] } = change;
  const { orphans = candidates.length } = change;
  return {
    input: { namespace: 'shoot' },
    desired: { uid: 'uid-1', generation: 0 },
    observed: {
      classes: [listedClass('small', 20, orphans)],
      listed: 20,
      machines: 19,
      clusterUid: 'uid-1',
      resourceVersion: 100,
      candidates,
      orphans,
      leftovers: [],
      leftoverCount: 0,
      freeze: { state: 'thawed' },
      hasTarget: false,
      lastMemory: null,
      ...change.observed,
    },
    settings: { ...settings, sweep: { ...gates, ...change.gates }, ...change.settings },
    memory: {
      ...noSweepMemory,
      sweep: { ...seen(candidates.map(({ machineName }) => machineName)), ...change.sweep },
      ...change.memory,
    },
    inFlight: new Set(),
    askedMs: nowMs,
    nowMs,
  };
}

const deletionsOf = (plan: Plan<SweepStep>): DeleteVmStep[] =>
  plan.kind === 'execute' ? plan.steps.filter((step) => step.kind === 'deleteVm') : [];

const many = (count: number): Candidate[] =>
  Array.from({ length: count }, (_, index) => orphan(`vm-${String(index).padStart(3, '0')}`));
const kept = { by: 'jane', reason: 'forensics', at: '2026-01-31T10:00:00Z' };
const frozen = { state: 'frozen', sinceMs: nowMs, reason: 'control does not answer' } as const;
const approvedAll = (candidates: readonly Candidate[]): Pick<SweepMemory, 'approved'> => ({
  approved: Object.fromEntries(
    candidates.map(({ providerId }) => [providerIdKey(providerId), { by: 'jane', reason: null, atMs: nowMs }]),
  ),
});

test.each<[rule: string, change: Change, gatesOfFirst: string]>([
  ['nothing holds it: it is deleted', {}, ''],
  ['a user keeps it', { candidates: [orphan('a', { keptBy: kept })] }, 'KeptByUser'],
  ['drover observes', { settings: { mode: 'observe' } }, 'DryRun'],
  ['a dry run', { settings: { isDry: true } }, 'DryRun'],
  ['probation', { sweep: { probationUntilMs: nowMs + 1 } }, 'Probation'],
  ['probation is over in this moment', { sweep: { probationUntilMs: nowMs } }, ''],
  ['probation is off', { sweep: { probationUntilMs: nowMs + hour }, gates: { probationMs: 0 } }, ''],
  ['nothing is remembered at all', { memory: { sweep: null } }, 'Probation,SeenTooSeldom'],
  ['frozen', { observed: { freeze: frozen } }, 'Frozen'],
  ['whether it is frozen is unknown', { observed: { freeze: { state: 'unknown', reason: 'no run' } } }, 'Frozen'],
  ['frozen, and the gate is off', { observed: { freeze: frozen }, gates: { frozen: false } }, ''],
  [
    'it was not deleted before',
    { memory: { refused: { [providerIdKey(idOf('a'))]: { message: 'no', atMs: nowMs } } } },
    'Refused',
  ],
  [
    'another was not deleted before',
    { memory: { refused: { [providerIdKey(idOf('b'))]: { message: 'no', atMs: nowMs } } } },
    '',
  ],
  ['none is deleted any more', { memory: { halted: { message: 'stopped', atMs: nowMs } } }, 'Refused'],
  ['too young', { candidates: [orphan('a', { createdMs: nowMs - 40 * minute + 1 })] }, 'TooYoung'],
  ['just old enough', { candidates: [orphan('a', { createdMs: nowMs - 40 * minute })] }, ''],
  ['made by a clock that goes before', { candidates: [orphan('a', { createdMs: nowMs + hour })] }, 'TooYoung'],
  ['the age does not matter', { candidates: [orphan('a', { createdMs: nowMs + hour })], gates: { ageMs: 0 } }, ''],
  [
    'its age is unknown: it counts from its first sighting',
    { candidates: [orphan('a', { createdMs: null })], sweep: seen(['a'], { firstMs: nowMs - 39 * minute }) },
    'TooYoung',
  ],
  ['… which is long ago', { candidates: [orphan('a', { createdMs: null })] }, ''],
  [
    'its age is that of a clock that was never set',
    { candidates: [orphan('a', { createdMs: 0 })], sweep: seen(['a'], { firstMs: nowMs }) },
    'TooYoung',
  ],
  ['seen once', { sweep: seen(['a'], { count: 1 }) }, 'SeenTooSeldom'],
  ['seen once, which is enough', { sweep: seen(['a'], { count: 1 }), gates: { sightings: 1 } }, ''],
  ['there are no Machines', { observed: { machines: 0 } }, 'ApprovalNeeded'],
  ['there are no Machines, which may be', { observed: { machines: 0 }, gates: { approveWithoutMachines: false } }, ''],
  ['there are no Machines, and it is approved', { observed: { machines: 0 }, sweep: approvedAll([orphan('a')]) }, ''],
  ['as many as go without an approval', { candidates: many(3) }, ''],
  ['one more', { candidates: many(4) }, 'ApprovalNeeded'],
  ['one more, of which a user keeps one', { candidates: [...many(3), orphan('z', { keptBy: kept })] }, ''],
  ['one more that was not even shown', { candidates: many(3), orphans: 4 }, 'ApprovalNeeded'],
  ['many, of very many', { candidates: many(10), observed: { listed: 100 } }, ''],
  ['one too many, of very many', { candidates: many(11), observed: { listed: 100 } }, 'ApprovalNeeded'],
  ['many, which needs no approval', { candidates: many(4), gates: { approveAbove: null } }, ''],
  ['many that are approved', { candidates: many(4), sweep: approvedAll(many(4)) }, ''],
  [
    'as many, of which this sweep has deleted two',
    { candidates: many(2), sweep: { round: { startedMs: nowMs, deleted: 2 } } },
    'ApprovalNeeded',
  ],
  [
    'the cap is used up',
    { sweep: { round: { startedMs: nowMs, deleted: 10 } }, gates: { approveAbove: null } },
    'OverCap',
  ],
  [
    'deletions that have failed use the cap up, too',
    { sweep: { round: { startedMs: nowMs, deleted: 4, failed: 6 } }, gates: { approveAbove: null } },
    'OverCap',
  ],
  ['the cap of very many', { sweep: { round: { startedMs: nowMs, deleted: 10 } }, observed: { listed: 200 } }, ''],
  [
    'there is no cap',
    { sweep: { round: { startedMs: nowMs, deleted: 10 } }, gates: { most: null, approveAbove: null } },
    '',
  ],
  [
    'all of them at once: each is named, in its order',
    {
      candidates: [...many(4).map((one) => ({ ...one, createdMs: nowMs, keptBy: kept })), ...many(8).slice(4)],
      settings: { isDry: true },
      sweep: {
        ...seen(
          many(8).map(({ machineName }) => machineName),
          { count: 1 },
        ),
        probationUntilMs: nowMs + hour,
      },
      observed: { freeze: frozen, machines: 0 },
      memory: { halted: { message: 'stopped', atMs: nowMs } },
    },
    'KeptByUser,DryRun,Probation,Frozen,Refused,TooYoung,SeenTooSeldom,ApprovalNeeded',
  ],
])('%s', (_rule, change, expected) => {
  const given = situation(change);
  const [first] = judgeCandidates(given);
  expect(first?.gates.map(({ gate }) => gate).join()).toBe(expected);
  expect(planSweep(given).kind === 'execute').toBe(expected === '');
});

test.each<[rule: string, freeze: ObservedSweep['freeze'], message: string]>([
  ['frozen', frozen, 'control does not answer'],
  ['it is not known', { state: 'unknown', reason: 'no run' }, 'not known: no run'],
])('why it is frozen is said once: %s', (_rule, freeze, message) => {
  const [first] = judgeCandidates(situation({ observed: { freeze } }));
  expect(first?.gates).toEqual([{ gate: 'Frozen', message }]);
});

test('those whose deletion failed come after all others, the longest ago first', () => {
  const candidates = many(12);
  const sightings = Object.fromEntries(
    candidates.map(({ providerId, machineName }, index) => [
      providerIdKey(providerId),
      {
        ...seen([machineName]).sightings[providerIdKey(providerId)]!,
        firstMs: nowMs - hour - index,
        ...(index >= 6 && { failedMs: nowMs - hour + index }),
      },
    ]),
  );
  const plan = planSweep(situation({ candidates, gates: { approveAbove: null }, sweep: { sightings } }));
  const names = candidates.map(({ machineName }) => machineName);
  expect(deletionsOf(plan).map(({ machineName }) => machineName)).toEqual([
    ...names.slice(0, 6).toReversed(),
    ...names.slice(6, 10),
  ]);
});

test('the cap lets the oldest go first', () => {
  const candidates = many(12);
  const sightings = Object.fromEntries(
    candidates.map(({ providerId, machineName }, index) => [
      providerIdKey(providerId),
      { ...seen([machineName]).sightings[providerIdKey(providerId)]!, firstMs: nowMs - hour - index },
    ]),
  );
  const plan = planSweep(situation({ candidates, gates: { approveAbove: null }, sweep: { sightings } }));
  const names = deletionsOf(plan).map(({ machineName }) => machineName);
  expect(names).toEqual(
    candidates
      .map(({ machineName }) => machineName)
      .toReversed()
      .slice(0, 10),
  );
});

const target: Partial<ObservedSweep> = { hasTarget: true };
const seenNodes = { marked: ['stray'], unmarked: [], failure: null };

test.each<[rule: string, change: Change, isDue: boolean]>([
  ['no orphan', { candidates: [] }, true],
  ['what is held back', { sweep: { probationUntilMs: nowMs + 1 } }, true],
  ['an approval is waited for', { candidates: many(4) }, true],
  ['another attempt is waited for', { candidates: [], observed: { listed: 0 } }, true],
  ['there is no target cluster', { candidates: [], observed: { hasTarget: false } }, false],
  ['orphans go first', {}, false],
  ['they were looked at', { candidates: [], memory: { nodes: seenNodes } }, false],
  ['drover observes', { candidates: [], settings: { mode: 'observe' } }, false],
  ['a dry run', { candidates: [], settings: { isDry: true } }, false],
  ['an id that no later sweep reads', { candidates: [], settings: { isRemembered: false } }, false],
  ['frozen', { candidates: [], observed: { freeze: frozen } }, false],
  ['frozen, and the gate is off', { candidates: [], observed: { freeze: frozen }, gates: { frozen: false } }, false],
  [
    'whether it is frozen is unknown',
    { candidates: [], observed: { freeze: { state: 'unknown', reason: 'no run' } } },
    false,
  ],
])('Nodes: %s', (_rule, change, isDue) => {
  const plan = planSweep(situation({ ...change, observed: { ...target, ...change.observed } }));
  const kinds = plan.kind === 'execute' ? plan.steps.map(({ kind }) => kind) : [];
  expect(kinds.includes('annotateNodes')).toBe(isDue);
  if (isDue) expect(kinds).toEqual(['annotateNodes']);
});

const asked = { machineClass: 'small', kind: 'port', id: 'p-1', by: 'jane', at: '' } as const;

test.each<[rule: string, change: Change, isDeleted: boolean]>([
  ['a user waits for it: it goes before all else', {}, true],
  ['frozen: the activity answers', { observed: { freeze: frozen } }, true],
  ['drover observes', { settings: { mode: 'observe' } }, false],
  ['a dry run', { settings: { isDry: true } }, false],
  ['an id that no later sweep reads', { settings: { isRemembered: false } }, false],
])('leftover that a user asks for: %s', (_rule, change, isDeleted) => {
  const plan = planSweep(situation({ ...change, memory: { askedLeftovers: [asked] } }));
  const step = { kind: 'deleteLeftover', summary: 'Delete port p-1 of class small, as jane asks', asked };
  const steps = plan.kind === 'execute' ? plan.steps : [];
  if (isDeleted) expect(steps).toMatchObject([step]);
  else expect(steps.filter(({ kind }) => kind === 'deleteLeftover')).toEqual([]);
});

test('Nodes that could not be marked are said, and are no failure of the sweep', () => {
  const failure = 'the target cluster did not answer';
  const given = situation({
    candidates: [],
    observed: target,
    memory: { nodes: { marked: [], unmarked: [], failure } },
  });
  const plan = planSweep(given);
  expect(plan).toMatchObject({
    outcome: 'reconciled',
    message: `20 VMs of 1 class, and no orphan. Nodes were not marked, or not all: ${failure}`,
  });
  expect(describeSweep(given, plan)).toContain(`| not marked, or not all | ${failure} |`);
  expect(sweepReport(given)).toMatchObject({ nodes: { failure } });
});

const broken: SweptClass = {
  name: 'broken',
  provider: 'vSphere',
  failure: { code: 'VsphereUnavailable', message: 'vCenter vc does not answer' },
};

test.each<[rule: string, change: Change, plan: object]>([
  [
    'an orphan is deleted, with its reason',
    {},
    {
      kind: 'execute',
      steps: [
        {
          kind: 'deleteVm',
          phase: 'Deleting',
          summary: 'Delete VM a of class small: there is no Machine a',
          providerId: idOf('a'),
          machineName: 'a',
          machineClass: 'small',
          why: 'MachineMissing',
          approvedBy: null,
          reason: 'MachineMissing: there is no Machine a; an orphan since 2026-01-31T11:00:00.000Z, found in 2 sweeps',
        },
      ],
    },
  ],
  [
    'no orphan',
    { candidates: [] },
    { kind: 'done', outcome: 'reconciled', reason: 'NoOrphans', message: '20 VMs of 1 class, and no orphan.' },
  ],
  [
    'no class',
    { candidates: [], observed: { classes: [], listed: 0 } },
    { kind: 'done', outcome: 'reconciled', reason: 'NoOrphans' },
  ],
  [
    'nothing is listed: a long retry',
    { candidates: [], observed: { listed: 0 } },
    { kind: 'wait', phase: 'Retrying', reason: 'NothingListed', untilMs: nowMs + 10 * minute },
  ],
  [
    '… once',
    { candidates: [], observed: { listed: 0 }, memory: { retryAtMs: nowMs } },
    { kind: 'done', reason: 'NoOrphans' },
  ],
  [
    'a class that fails: a long retry',
    { candidates: [], observed: { classes: [broken, listedClass('small', 20, 0)] } },
    {
      kind: 'wait',
      reason: 'ClassNotSwept',
      message: 'another attempt. MachineClass broken was not swept: vCenter vc does not answer',
    },
  ],
  [
    '… once',
    { candidates: [], observed: { classes: [broken, listedClass('small', 20, 0)] }, memory: { retryAtMs: nowMs } },
    { kind: 'done', outcome: 'blocked', reason: 'ClassNotSwept' },
  ],
  [
    'a class that fails stops no other',
    { observed: { classes: [broken, listedClass('small', 20, 1)] } },
    { kind: 'execute' },
  ],
  [
    'many: an approval',
    { candidates: many(4) },
    {
      kind: 'wait',
      reason: 'ApprovalNeeded',
      untilMs: nowMs + 24 * hour,
      message:
        'an approval to delete 4 VMs (vm-000, vm-001, vm-002, vm-003), as 4 of 20 VMs are or were orphans, and 3 go without an approval: `drover sweep approve`, or `drover sweep keep ID` for each that shall stay',
    },
  ],
  [
    '… which has been asked for before',
    { candidates: many(4), memory: { approvalAskedMs: nowMs - hour } },
    { untilMs: nowMs + 23 * hour },
  ],
  [
    '… in vain',
    { candidates: many(4), memory: { approvalAskedMs: nowMs - 24 * hour } },
    { kind: 'done', outcome: 'blocked', reason: 'NotApproved' },
  ],
  [
    'who approved of it is in the step',
    { candidates: many(4), sweep: approvedAll(many(4)) },
    { kind: 'execute', steps: many(4).map(({ providerId }) => ({ providerId, approvedBy: 'jane' })) },
  ],
  [
    'a dry run says what it would delete, and waits for no approval',
    { candidates: [...many(2), orphan('young', { createdMs: nowMs })], settings: { isDry: true } },
    {
      kind: 'done',
      outcome: 'blocked',
      reason: 'ObserveOnly',
      message: 'drover only observes. It would delete 2 VMs: vm-000, vm-001; 1 orphan is held by other gates.',
    },
  ],
  [
    'a dry run that would need an approval',
    { candidates: many(4), settings: { isDry: true } },
    { message: 'drover only observes. It would delete nothing; 4 orphans are held by other gates.' },
  ],
  [
    'time holds it',
    { sweep: seen(['a'], { count: 1 }) },
    {
      kind: 'done',
      outcome: 'reconciled',
      reason: 'OrphansHeld',
      message: '20 VMs of 1 class, 1 orphan, held back: 1 by SeenTooSeldom.',
    },
  ],
  [
    'a freeze holds it',
    { observed: { freeze: frozen } },
    { kind: 'done', outcome: 'blocked', reason: 'OrphansRefused' },
  ],
])('plan: %s', (_rule, change, expected) => {
  expect(planSweep(situation(change))).toMatchObject(expected);
});

test('an approval is of what stands then, and holds no gate but that one', () => {
  const before = situation({ candidates: many(4) });
  const memory = approve(
    before.memory,
    many(4).map(({ providerId }) => providerId),
    { by: 'jane', reason: null, atMs: nowMs },
  );
  const five = situation({
    candidates: many(5),
    memory: { sweep: { ...memory.sweep!, sightings: seen(many(5).map(({ machineName }) => machineName)).sightings } },
  });
  const held = judgeCandidates(five).filter(({ gates: found }) => found.length > 0);
  expect(held.map(({ machineName, gates: found }) => `${machineName} ${found[0]?.gate ?? ''}`)).toEqual([
    'vm-004 ApprovalNeeded',
  ]);
});

test('classes say what failed, what needs an approval, and what was refused', () => {
  const given = situation({
    candidates: many(4),
    observed: { classes: [broken, listedClass('small', 20, 4)] },
    memory: { refused: { [providerIdKey(idOf('vm-003'))]: { message: 'it lost a mark', atMs: nowMs } } },
  });
  expect(
    sweepStatus(given, planSweep(given))?.notices.map(({ machineClass, reason }) => `${machineClass} ${reason}`),
  ).toEqual(['broken ClassNotSwept', 'small ApprovalNeeded', 'small OrphanKept']);
  const quiet = situation({ candidates: [] });
  expect(sweepStatus(quiet, planSweep(quiet))).toBeNull();
  expect(sweepStatus(situation(), planSweep(situation()))).toBeNull();
  expect(sweepReport(given)).toMatchObject({ orphans: 4, listed: 20, dryRun: false });
});

/** Worlds: VMs and Machines of few names and ids, so that they meet. */
const world = fc.record({
  vms: fc.uniqueArray(
    fc.record({
      id: fc.integer({ min: 0, max: 9 }),
      name: fc.integer({ min: 0, max: 6 }),
      ageMs: fc.integer({ min: -hour, max: 3 * hour }),
    }),
    { selector: ({ id }) => id, maxLength: 8 },
  ),
  machines: fc.uniqueArray(
    fc.record({
      name: fc.integer({ min: 0, max: 6 }).map((name) => `m${name}`),
      providerId: fc.oneof(
        fc.constant(''),
        fc.integer({ min: 0, max: 9 }).map((id) => idOf(`${id}`)),
      ),
      phase: fc.constantFrom('', 'CrashLoopBackOff', 'Running', 'Unknown', 'Terminating'),
    }),
    { selector: ({ name }) => name, maxLength: 7 },
  ),
});
const anySettings = fc.record({
  ageMs: fc.constantFrom(0, hour),
  sightings: fc.constantFrom(1, 2),
  most: fc.constantFrom(null, 1, 10),
  mostPercent: fc.constantFrom(0, 50),
  approveAbove: fc.constantFrom(null, 1, 3),
  approveAbovePercent: fc.constantFrom(0, 50),
  approveWithoutMachines: fc.boolean(),
  probationMs: fc.constantFrom(0, hour),
  frozen: fc.boolean(),
});

function sweepOnce(
  { vms, machines }: { vms: { id: number; name: number; ageMs: number }[]; machines: JudgedMachine[] },
  sweep: SweepSettings,
  { freeze, keeps }: { freeze: ObservedSweep['freeze']; keeps: boolean },
): { orphans: string[]; deleted: string[] } {
  const index = indexMachines(machines);
  const candidates = vms.flatMap(({ id, name, ageMs }): Candidate[] => {
    const vm = { providerId: idOf(`${id}`), machineName: `m${name}` };
    const verdict = judgeVm(vm, index, sweep);
    if (verdict.verdict === 'keep') return [];
    return [orphan('', { ...vm, createdMs: nowMs - ageMs, why: verdict.why, keptBy: keeps ? kept : null })];
  });
  const observed = { ...situation({ candidates }).observed, listed: vms.length, machines: machines.length, freeze };
  const memory = { ...noSweepMemory, sweep: rememberSweep(null, observed, sweep, nowMs) };
  const plan = planSweep({ ...situation({ candidates }), observed, memory, settings: { ...settings, sweep } });
  return {
    orphans: candidates.map(({ providerId }) => providerId).toSorted(),
    deleted: deletionsOf(plan)
      .map(({ providerId }) => providerId)
      .toSorted(),
  };
}

test('with every gate off, what is deleted is what the replaced manager deletes', () => {
  fc.assert(
    fc.property(world, (given) => {
      const { orphans, deleted } = sweepOnce(given, off, { freeze: frozen, keeps: false });
      expect(deleted).toEqual(orphans);
    }),
  );
});

test('whatever the gates, nothing but orphans is deleted, and nothing that is frozen or kept', () => {
  fc.assert(
    fc.property(world, anySettings, fc.boolean(), fc.boolean(), (given, change, isFrozen, keeps) => {
      const sweep = { ...gates, ...change };
      const freeze = isFrozen ? frozen : ({ state: 'thawed' } as const);
      const { orphans, deleted } = sweepOnce(given, sweep, { freeze, keeps });
      expect(orphans).toEqual(expect.arrayContaining(deleted));
      if (keeps || (isFrozen && sweep.frozen) || sweep.probationMs > 0 || sweep.sightings > 1)
        expect(deleted).toEqual([]);
      if (sweep.most !== null)
        expect(deleted.length).toBeLessThanOrEqual(Math.max(sweep.most, (given.vms.length * sweep.mostPercent) / 100));
    }),
  );
});

test('what is said is a sentence', () => {
  expect(describePlan(planSweep(situation({ candidates: many(4) }))).message).toMatch(/^Waiting for an approval/u);
});
