import { virtualMachineFinalizers } from '../../../contracts/virtual-machine/metadata.ts';
import type { PublishedVirtualMachine } from '../../../contracts/virtual-machine/mutations.ts';
import {
  beginMs,
  cachedOf,
  candidateOf,
  contextOf,
  desiredOf,
  failureIn,
  guestOf,
  minute,
  settings,
  type Given,
} from '../../../test/fixtures/workflows/virtual-machine.ts';
import { done } from '../../lib/plan.ts';
import { applyResult, noMemory, pruneBy } from '../memory.ts';
import { isSaid, publishedBy, statusOf } from '../status.ts';
import {
  execute,
  patch,
  success,
  wait,
  type Context,
  type Outcome,
  type VirtualMachinePlan,
  type VirtualMachineSituation,
} from './context.ts';
import { noted, notesOf, planVirtualMachine, planWithNotes } from './plan.ts';
import { describeApplied } from './want-config.ts';

/** As after an observation. */
const contextIn = (given: Given): Context => {
  const context = contextOf(given);
  return { ...context, memory: pruneBy(context.memory, context.desired, context.observed) };
};
const planOf = (given: Given, isAfterStep = false): VirtualMachinePlan =>
  planWithNotes(contextIn(given), isAfterStep).plan;
const publishedOf = (given: Given): PublishedVirtualMachine => publishedBy(contextIn(given), planOf(given));

const short = (plan: VirtualMachinePlan): string =>
  plan.kind === 'execute'
    ? `${plan.steps.map(({ kind }) => kind).join(', ')} ${plan.steps[0]?.phase}`
    : plan.kind === 'wait'
      ? `wait ${plan.phase}`
      : `${plan.outcome} ${plan.reason}`;
const off = { powerState: 'poweredOff' as const };
const deleting = { deleting: true };
const sleeps = { powerState: 'Suspended' as const };
const suspended = { powerState: 'suspended' as const };
const adminPaused = {
  extraConfig: { ...contextOf().observed.vm?.config?.extraConfig, 'vmservice.virtualmachine.pause': 'true' },
};
const noAddress = { guest: guestOf({ primaryIp4: null }) };
const polled = { asyncSignal: false };
const noSecret = { bootstrap: { kind: 'notFound' as const, message: 'There is no Secret s' } };

const drive = { cdroms: [{ name: 'cd1', connected: true, allowGuestControl: true }] };

const rows: [why: string, given: Given, comesTo: string][] = [
  ['a drive has no ISO: it is not reconciled', { desired: drive }, 'wait Failed'],
  ['and is powered off all the same', { desired: { ...drive, powerState: 'PoweredOff' } }, 'power PoweringOff'],
  ['and on', { desired: drive, vm: off }, 'power PoweringOn'],
  ['but for its first start', { desired: { ...drive, firstBootDone: false }, vm: off }, 'wait PoweringOn'],

  ['CheckDeletion No: ReconcileNormal', { vm: off }, 'power PoweringOn'],
  ['CheckDeletion Yes: ReconcileDelete', { desired: deleting, vm: off }, 'destroy Deleting'],
  ['its Secret is gone: no run waits for it', { prerequisites: noSecret }, 'blocked BootstrapNotReady'],
  [
    'before its first start it waits for the Secret',
    { prerequisites: noSecret, desired: { firstBootDone: false }, vm: off },
    'wait BootstrapNotReady',
  ],
  ['its Secret is gone: it is powered on all the same', { prerequisites: noSecret, vm: off }, 'power PoweringOn'],
  [
    'its Secret is gone: its address is waited for all the same',
    { prerequisites: noSecret, settings: polled, vm: noAddress },
    'wait WaitingForAddress',
  ],
  [
    'its Secret is gone, and so shall the VM',
    { prerequisites: noSecret, desired: deleting, vm: off },
    'destroy Deleting',
  ],
  ['NormalErr No: the object is patched', {}, 'reconciled Reconciled'],
  ['NormalErr Yes: it is stored, and the object is patched all the same', { config: null }, 'blocked Failed'],
  [
    'NormalErr Yes, to be tried again',
    { memory: { failures: [failureIn('config')] }, config: { extraConfig: {} } },
    'wait Failed',
  ],
  ['DeleteErr No: the object is patched', { desired: deleting, vm: null }, 'patchVirtualMachine Deleting'],
  ['DeleteErr No: released, there is no object any more', { desired: { ...deleting, finalizers: [] } }, 'gone Deleted'],
  [
    'DeleteErr Yes: it is stored, and the object is patched all the same',
    { desired: deleting, vm: { connectionState: 'disconnected' } },
    'blocked NotConnected',
  ],
  [
    'its host is away: vCenter says when it is back',
    { vm: { connectionState: 'disconnected' } },
    'blocked NotConnected',
  ],
  [
    'its host is away, and nothing watches the vCenter',
    { vm: { connectionState: 'disconnected' }, settings: polled },
    'wait NotConnected',
  ],
  [
    'its host is away, and nothing watches the vCenter: so does a deletion',
    { desired: deleting, vm: { connectionState: 'disconnected' }, settings: polled },
    'wait NotConnected',
  ],
  [
    'a snapshot holds what is not its own: vCenter says when it is gone',
    { desired: deleting, vm: { ...off, heldBySnapshots: ['disk-9'] } },
    'blocked DisksInSnapshots',
  ],
  [
    'a snapshot holds what is not its own, and nothing watches the vCenter',
    { desired: deleting, vm: { ...off, heldBySnapshots: ['disk-9'] }, settings: polled },
    'wait DisksInSnapshots',
  ],
  [
    'a finalizer that could not be added is tried again at its time',
    { desired: { finalizers: [] }, memory: { failures: [failureIn('create')] }, vm: null },
    'wait Failed',
  ],
  [
    'a create that failed holds up nothing once the VM is there',
    { desired: { managerId: null }, memory: { failures: [failureIn('create', false)] } },
    'patchVirtualMachine Updating',
  ],
  [
    'drover is stopped: it goes on when that is lifted',
    { memory: { failures: [failureIn('status', true, { reason: 'Stopped' })] } },
    'wait Stopped',
  ],
  [
    'drover is stopped: so does a deletion',
    { desired: deleting, vm: off, memory: { failures: [failureIn('delete', true, { reason: 'Stopped' })] } },
    'wait Stopped',
  ],
  ['PatchErr Yes: reported, and retried at its time', { memory: { failures: [failureIn('status')] } }, 'wait Failed'],
  ['vCenter or Kubernetes could not be read', { memory: { failures: [failureIn('observe')] } }, 'wait Failed'],
  ['paused', { desired: { paused: true } }, 'blocked Paused'],
  ['suspended, as it shall be', { desired: sleeps, vm: suspended }, 'reconciled Reconciled'],
  [
    'suspended, and not as its spec wants it',
    { desired: { ...sleeps, networkCards: [] }, vm: suspended },
    'blocked PowerOffRequired',
  ],
  [
    'suspended, with data of its bootstrap that are not written',
    {
      desired: sleeps,
      vm: suspended,
      prerequisites: {
        bootstrap: { kind: 'found', value: { missingKeys: [], configHash: 'h2', customHash: null, isDefault: false } },
      },
    },
    'blocked PowerOffRequired',
  ],
  ['which does not keep it from being resumed', { desired: { networkCards: [] }, vm: suspended }, 'power PoweringOn'],
  ['an administrator has paused it, as it shall be', { config: adminPaused }, 'reconciled Reconciled'],
  [
    'an administrator has paused it, and not as its spec wants it',
    { desired: { networkCards: [] }, config: adminPaused },
    'blocked Paused',
  ],
  [
    'an administrator has paused it, and a restart is requested',
    { desired: { nextRestartTime: '2026-01-01T00:00:00Z' }, config: adminPaused },
    'blocked Paused',
  ],
  ['deletion is paused', { desired: { ...deleting, paused: true } }, 'blocked Paused'],
  ['deletion is held by a gate', { desired: { ...deleting, deleteChecks: ['a'] } }, 'blocked DeletionBlocked'],
  [
    'a foreign VM has its name',
    {
      vm: null,
      observed: {
        candidates: [candidateOf({ moId: 'vm-9', foundBy: ['name'], instanceUuid: 'x', owner: null })],
      },
    },
    'blocked NotOwned',
  ],
  [
    'the spec asks for what drover does not do: all else is done',
    { desired: { refused: ['spec.affinity: not'] }, vm: off },
    'power PoweringOn',
  ],
  ['and then it says so', { desired: { refused: ['spec.affinity: not'] } }, 'blocked NotSupported'],
  [
    'the same before there is a VM',
    { desired: { refused: ['spec.affinity: not'] }, vm: null, observed: { candidates: [] } },
    'blocked NotSupported',
  ],
  ['a deletion asks for nothing', { desired: { ...deleting, refused: ['spec.affinity: not'] } }, 'power Deleting'],
  [
    'requeue: an address is polled where there are no events',
    { vm: noAddress, settings: polled },
    'wait WaitingForAddress',
  ],
  ['requeue: not where there are events', { vm: noAddress }, 'reconciled Reconciled'],
  [
    'requeue: not without a network',
    { vm: noAddress, settings: polled, desired: { networkDisabled: true } },
    'reconciled Reconciled',
  ],
  [
    'a probe of what the guest sets is asked again until it passes',
    { desired: { probe: 'guestInfo' }, observed: { probe: { passed: false, message: 'no' } } },
    'wait WaitingForProbe',
  ],
  [
    'so is that of a port',
    { desired: { probe: 'tcp' }, observed: { probe: { passed: false, message: 'no' } } },
    'wait WaitingForProbe',
  ],
  ['which is probed by an observation of its own', { desired: { probe: 'tcp' } }, 'wait WaitingForProbe'],
  [
    'not for ever',
    {
      desired: { probe: 'tcp' },
      observed: { probe: { passed: false, message: 'no' } },
      nowMs: beginMs + 60 * minute,
    },
    'reconciled Reconciled',
  ],
  [
    'and no longer',
    { desired: { probe: 'guestInfo' }, observed: { probe: { passed: true, message: '' } } },
    'reconciled Reconciled',
  ],
  [
    'nor for ever',
    {
      desired: { probe: 'guestInfo' },
      observed: { probe: { passed: false, message: 'no' } },
      nowMs: beginMs + 60 * minute,
    },
    'reconciled Reconciled',
  ],
  ['requeue: not for ever', { vm: noAddress, settings: polled, nowMs: beginMs + 60 * minute }, 'reconciled Reconciled'],
];

test('a drive without an ISO is looked at again, also where the first start waits for it', () => {
  const untilOf = (mayPass: object, given: Given = {}): unknown =>
    planOf({
      ...given,
      desired: { ...drive, ...given.desired },
      prerequisites: { lackingIsos: { cd1: { reason: 'GetError', message: 'm', ...mayPass } } },
    });
  const nowMs = beginMs + 2 * minute;
  expect(untilOf({})).toMatchObject({ reason: 'GetError', untilMs: nowMs + 10 * minute });
  expect(untilOf({ mayPass: true })).toMatchObject({ untilMs: nowMs + settings.pollMs });
  expect(untilOf({}, { desired: { firstBootDone: false }, vm: off })).toMatchObject({
    reason: 'PoweringOn',
    untilMs: nowMs + 10 * minute,
  });
});

test.each(rows)('Reconcile: %s', (_why, given, comesTo) => {
  expect(short(planOf(given))).toBe(comesTo);
});

const gone: VirtualMachineSituation = {
  input: { namespace: 'team', name: 'web' },
  desired: null,
  observed: { recorded: {}, objects: {} as never, vcenter: null, problem: null, isAfterStep: false },
  settings,
  memory: { ...noMemory, slot: null },
  inFlight: new Set(),
  askedMs: beginMs,
  nowMs: beginMs,
};

test('Reconcile: GetVMErr Yes: there is no such object, and nothing is done or said', () => {
  const plan = planVirtualMachine(gone);
  expect(plan).toMatchObject({ kind: 'done', outcome: 'gone' });
  expect(statusOf(gone, plan)).toBeNull();
});

test('DeleteErr No: of an object that is released nothing is said', () => {
  const released = { ...gone, desired: desiredOf({ deleting: true, finalizers: [] }) };
  expect(statusOf(released, done('gone', 'Deleted', ''))).toBeNull();
});

test('in mode observe one condition says what would be done, and no other', () => {
  expect(publishedOf({ vm: off, settings: { mode: 'observe' } })).toEqual({
    status: {
      fields: {},
      removed: [],
      conditions: [
        expect.objectContaining({
          type: 'Observed',
          status: 'True',
          reason: 'PoweringOn',
          message: 'team/web: Would now: Power on web',
        }),
      ],
    },
    event: null,
    notes: [],
  });
});

test('every wait without an event has a deadline', () => {
  expect(planOf({ vm: noAddress, settings: polled })).toMatchObject({ untilMs: beginMs + 2 * minute + 10_000 });
});

test('a power state that another has changed is said before it is put right; one that a step has changed is not', () => {
  const drifted = { vm: off, observed: { recorded: { powerState: 'PoweredOn' as const } } };
  const publishOf = (plan: VirtualMachinePlan) =>
    plan.kind === 'execute' ? plan.steps.map(({ publish }) => publish) : [];
  expect(publishOf(planOf(drifted))).toEqual(['before']);
  expect(publishOf(planOf(drifted, true))).toEqual([undefined]);
  expect(publishOf(planOf({ vm: off }))).toEqual([undefined]);
  expect(publishOf(planOf({ vm: off, observed: { recorded: { powerState: 'PoweredOff' } } }))).toEqual([undefined]);
});

test('that an object is released, or its create is stopped, is said before', () => {
  const publishOf = (given: Given) => {
    const plan = planOf({ ...given, desired: deleting, vm: null });
    return plan.kind === 'execute' ? plan.steps[0]?.publish : null;
  };
  expect([publishOf({}), publishOf({ memory: { create: { task: 'task-1', sinceMs: 0 } } })]).toEqual([
    'before',
    'before',
  ]);
});

test('a retry that was taken up is noted along with the status', () => {
  const noted = publishedOf({ desired: { retry: 'now' } }).notes;
  expect(noted).toEqual([{ annotations: { 'drover.dev/retry-handled': 'now' } }]);
  expect(isSaid({ recorded: {} }, { status: null, event: null, notes: noted })).toBe(false);
  expect(publishedOf({ desired: { retry: 'now' }, settings: { mode: 'observe' } }).notes).toEqual([]);
});

const deletes = (more: Given = {}): Given => ({ ...more, desired: { ...deleting, powerOffMode: 'Hard' } });
const making = { create: { task: 'task-1', sinceMs: 0 } };
const perhaps = { create: { task: null, sinceMs: 0 } };
const fast = { settings: { fastDeploy: 'direct' as const } };
const slots: [why: string, given: Given, slot: object | undefined][] = [
  ['Concurrent creates allowed: it is about to be made', { vm: null }, { limit: 'creates' }],
  ['so is a new one', { vm: null, desired: { finalizers: [], managerId: null } }, { limit: 'creates' }],
  ['VMICacheReady No: it needs none yet', { ...fast, vm: null }, undefined],
  ['its files are copied first', { ...fast, vm: null, observed: { imageCache: cachedOf() } }, { limit: 'creates' }],
  [
    'what is missing comes before its slot',
    { vm: null, prerequisites: { storageClass: { kind: 'notFound', message: '' } } },
    undefined,
  ],
  ['it is being made', { vm: null, memory: making }, { limit: 'creates', onlyKept: true }],
  [
    'it is being made, and vCenter does not answer',
    { vm: null, memory: { ...making, failures: [failureIn('observe')] } },
    { limit: 'creates', onlyKept: true },
  ],
  [
    'it is not wanted any more: its making is stopped, and no slot is acquired for that',
    { vm: null, desired: deleting, memory: making },
    { limit: 'creates', onlyKept: true },
  ],
  [
    'and so where its task is not known',
    { vm: null, desired: deleting, memory: perhaps },
    { limit: 'creates', onlyKept: true },
  ],
  [
    'it could not be made, and is tried again later',
    { vm: null, memory: { ...perhaps, failures: [failureIn('create')] } },
    undefined,
  ],
  ['it is there', { config: { extraConfig: {} } }, undefined],
  ['powering on is no create', { vm: off }, undefined],
  ['powering off is no destroy', { desired: { powerState: 'PoweredOff', powerOffMode: 'Hard' } }, undefined],
  ['no more are destroyed at once than may be: it is powered off for that', deletes(), { limit: 'destroys' }],
  ['its guest is asked to shut down: that needs none', { desired: deleting }, undefined],
  [
    'nor does a guest that shuts down, and does not hear of it',
    { desired: deleting, memory: { soft: { operation: 'shutdown', sinceMs: beginMs + 2 * minute, failed: false } } },
    undefined,
  ],
  [
    'its guest has had its time: it is powered off',
    { desired: deleting, memory: { soft: { operation: 'shutdown', sinceMs: beginMs - 5 * minute, failed: false } } },
    { limit: 'destroys' },
  ],
  [
    'its disks are detached',
    deletes({ vm: off, config: { disks: [{ key: 1, name: 'data', capacityBytes: 1, own: false, boot: false }] } }),
    { limit: 'destroys' },
  ],
  ['it is destroyed', deletes({ vm: off }), { limit: 'destroys' }],
  [
    'it could not be, and asks for none before its time',
    deletes({ vm: off, memory: { failures: [failureIn('delete')] } }),
    undefined,
  ],
  ['it is gone', deletes({ vm: null }), undefined],
  ['it is blocked', deletes({ vm: { connectionState: 'disconnected' } }), undefined],
];

test.each(slots)('the slot of a plan: %s', (_why, given, slot) => {
  const plan = planOf(given);
  expect(plan.kind === 'done' ? undefined : plan.slot).toEqual(slot);
});

const created = {
  type: 'VirtualMachineCreated',
  status: 'True' as const,
  reason: 'True',
  message: '',
  lastTransitionTime: '2026-01-01T00:00:00Z',
};
const lifecycle = (status: 'True' | 'Unknown' | 'False', message = '') => ({
  type: 'Lifecycle',
  status,
  reason: 'X',
  message,
  lastTransitionTime: '2026-01-01T00:00:00Z',
});
const recorded = (...conditions: object[]) => ({ recorded: { conditions: conditions as never } });
const events: [why: string, given: Given, event: string | null][] = [
  ['it was made', { observed: recorded(lifecycle('Unknown')) }, 'CreateSuccess'],
  ['once', { observed: recorded(created, lifecycle('True')) }, null],
  ['it was brought up to date', { observed: recorded(created, lifecycle('Unknown')) }, 'UpdateSuccess'],
  [
    'it could not be made',
    { vm: null, memory: { failures: [failureIn('create')] }, observed: recorded() },
    'CreateFailure',
  ],
  [
    'which is not reported twice',
    {
      vm: null,
      memory: { failures: [failureIn('create')] },
      observed: recorded(lifecycle('Unknown', 'Waiting for another try: create failed')),
    },
    null,
  ],
  [
    'what is only waited for is no failure',
    { vm: null, prerequisites: { class: { kind: 'notFound', message: '' } }, observed: recorded() },
    null,
  ],
  ['it could not be updated', { config: null, observed: recorded(created) }, 'UpdateFailure'],
  ['a pause is no failure', { desired: { paused: true }, observed: recorded(created) }, null],
  ['it is released', { desired: deleting, vm: null, observed: recorded(created) }, 'DeleteSuccess'],
  [
    'it could not be deleted',
    { desired: deleting, vm: { connectionState: 'disconnected' }, observed: recorded(created) },
    'DeleteFailure',
  ],
];

test.each(events)('Events: %s', (_why, given, reason) => {
  expect(publishedOf(given).event?.reason ?? null).toBe(reason);
});

test('the finalizers are known by both of their names', () => {
  expect(
    planOf({ desired: { ...deleting, finalizers: [virtualMachineFinalizers.deprecated] }, vm: null }),
  ).toMatchObject({ kind: 'execute' });
});

const booted = {
  annotations: { 'virtualmachine.vmoperator.vmware.com/first-boot-done': 'true', 'drover.dev/creating': null },
};
const applied = {
  annotations: {
    'vmoperator.vmware.com/last-resized-vm-class': describeApplied({ name: 'large', uid: 'u', generation: 3 }),
  },
};
const step = (...patches: Parameters<typeof patch>[2][]): Outcome => patch('power', 'Note it', ...patches);

test.each<[what: string, outcome: Outcome, notes: object | null]>([
  ['the first start', step(booted), [booted]],
  ['the class that was applied', step(applied), [applied]],
  ['both', step(booted, applied), [booted, applied]],
  [
    'beside an action it is a step',
    execute(
      'power',
      ['Power on', { kind: 'power', moId: 'vm-1', operation: 'powerOn' }],
      ['Note it', { kind: 'patchVirtualMachine', patches: [booted] }],
    ),
    null,
  ],
  ['what others go by is none', step({ annotations: { 'vmoperator.vmware.com/manager-id': 'vc' } }), null],
  ['the spec is none', step({ ...booted, spec: {} }), null],
  ['a finalizer is none', step({ removeFinalizers: ['f'] }), null],
  ['nothing', success, null],
  ['a wait', wait('Updating', 'it'), null],
])('%s', (_, outcome, notes) => {
  expect(notesOf(outcome)).toEqual(notes);
});

test('what is noted counts from then on', () => {
  const before = desiredOf({ firstBootDone: false, creatingSince: '2026-01-01T00:00:00Z', lastResizedClass: null });
  expect(noted(before, [booted, applied])).toEqual({
    ...before,
    firstBootDone: true,
    creatingSince: null,
    lastResizedClass: { name: 'large', uid: 'u', generation: 3 },
  });
  expect(noted(before, [])).toEqual(before);
});

/** What a run does with a VM that stays as it is, whatever is changed: with what, and when. */
function insist(
  config: NonNullable<Given['config']>,
  passes: number,
): { taken: string[]; plan: VirtualMachinePlan; context: Context } {
  const taken: string[] = [];
  let context = contextIn({ config });
  let plan = planOf({ config });
  for (let pass = 0; pass < passes; pass += 1) {
    const nowMs = plan.kind === 'wait' ? (plan.untilMs ?? 0) : context.nowMs;
    context = contextIn({ config: { ...config, changeVersion: `${pass}` }, memory: context.memory, nowMs });
    ({ plan } = planWithNotes(context, true));
    for (const step of plan.kind === 'execute' ? plan.steps : []) {
      taken.push(`${step.kind} +${(nowMs - beginMs) / 1_000 - 120} s`);
      context = { ...context, memory: applyResult(context.memory, step, nowMs) };
    }
  }
  return { taken, plan: planWithNotes(context, true).plan, context };
}

test('a change that has no effect is made twice, and then ever more seldom; the object says which, and power goes on', () => {
  const ignored = { extraConfig: {} };
  const { taken, plan, context } = insist(ignored, 8);
  expect(taken).toEqual(['+0', '+0', '+10', '+30', '+70'].map((at) => `reconfigure ${at} s`));
  expect(plan).toMatchObject({
    kind: 'wait',
    reason: 'NoProgress',
    message: expect.stringContaining('(extraConfig) ended well 5 times') as string,
  });
  const off_ = contextIn({ config: ignored, memory: context.memory, nowMs: context.nowMs, vm: off });
  expect(short(planWithNotes(off_, true).plan)).toBe('power PoweringOn');
});

test('a change that has no effect is not called in sync', () => {
  const given: Given = {
    desired: { config: { ...contextOf().desired.config, changeTrackingEnabled: true } },
  };
  const plan = planOf(given);
  const [step] = plan.kind === 'execute' ? plan.steps : [];
  const { nowMs } = contextOf();
  const memory = [1, 2].reduce((before) => (step === undefined ? before : applyResult(before, step, nowMs)), noMemory);
  const said = publishedOf({ ...given, memory }).status?.conditions.find(
    ({ type }) => type === 'VirtualMachineComputeConfigSynced',
  );
  expect(said).toMatchObject({
    status: 'False',
    reason: 'ComputeConfigMismatch',
    message: expect.stringContaining('ended well 2 times') as string,
  });
});

test('a first start takes along what was noted of a create, in no step of its own', () => {
  const { notes } = planWithNotes(contextIn({ desired: { firstBootDone: false } }), false);
  expect(notes).toMatchObject([{ annotations: { ...booted.annotations, 'drover.dev/image-cache-asked': null } }]);
});

test('since when another operator has waited for cached files is noted along with the wait', () => {
  const waiting: Given = {
    vm: null,
    settings: { fastDeploy: 'auto' },
    desired: { imageCache: { name: 'vmi-cache', location: 'datacenter-1,datastore-1,profile-1' } },
    observed: { imageCache: cachedOf({ ready: null }) },
  };
  const { plan, notes } = planWithNotes(contextIn(waiting), false);
  expect([short(plan), notes]).toEqual([
    'wait WaitingForImageCache',
    [{ annotations: { 'drover.dev/image-cache-asked': new Date(beginMs + 2 * minute).toISOString() } }],
  ]);
  expect(plan).toMatchObject({ untilMs: beginMs + 7 * minute });
});
