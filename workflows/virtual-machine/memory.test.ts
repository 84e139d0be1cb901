import type { GuestAsked } from '../../contracts/virtual-machine/metadata.ts';
import type { Stage, StageFailure, VirtualMachineMemory } from '../../contracts/virtual-machine/observation.ts';
import {
  beginMs,
  candidateOf,
  contextOf,
  failureIn,
  memoryOf,
  type Given,
} from '../../test/fixtures/workflows/virtual-machine.ts';
import { applyFailure, applyResult, failedBy, noMemory, prune, pruneBy, resetFailures } from './memory.ts';
import type { StagedAction, VirtualMachineAction } from './plan/context.ts';

const nowMs = beginMs;
const forMs = beginMs - 1;
const of = (action: VirtualMachineAction, stage: Stage = 'power'): StagedAction => ({ ...action, summary: 's', stage });
const power = (
  operation: 'powerOn' | 'powerOff' | 'shutdownGuest' | 'standbyGuest' | 'rebootGuest' | 'reset',
  stage?: Stage,
): StagedAction =>
  of(
    {
      kind: 'power',
      moId: 'vm-1',
      operation,
      ...((operation === 'reset' || operation === 'rebootGuest') && { restartForMs: forMs }),
    },
    stage,
  );
const create = (blocking: boolean): StagedAction =>
  of({ kind: 'createVirtualMachine', blocking, create: {} as never, notes: [] }, 'create');
type End = { task?: string } | Pick<StageFailure, 'reason' | 'message' | 'requeue'>;
const ok: End = {};
const failed = { reason: 'Why', message: 'm', requeue: true };
const refused = { reason: 'GuestToolsNotRunning', message: 'm', requeue: false };
const answerLost = { reason: 'GuestAnswerLost', message: 'm', requeue: true };
const early = nowMs - 1_000;
const hopeless = { ...failed, requeue: false };
const apply = (memory: VirtualMachineMemory, step: StagedAction, end: End, atMs: number = nowMs) =>
  'reason' in end ? applyFailure(memory, step, end, atMs) : applyResult(memory, step, atMs, end.task);
const failure = (more: Partial<ReturnType<typeof failureIn>>) => ({
  ...failureIn('power'),
  reason: 'Why',
  message: 'm',
  ...more,
});
let versions = 0;
/** On another version each time. */
const change = (numCPUs: number): StagedAction =>
  of({ kind: 'reconfigure', moId: 'vm-1', changeVersion: String((versions += 1)), spec: { numCPUs } }, 'config');
const changed = (times: number, atMs = nowMs) => ({
  stage: 'config' as const,
  change: applyResult(noMemory, change(2), 0).changes[0]?.change ?? '',
  times,
  atMs,
});
const running = { task: 'task-1', sinceMs: nowMs };
const restart = (
  more: Partial<NonNullable<VirtualMachineMemory['restart']>>,
): NonNullable<VirtualMachineMemory['restart']> => ({ forMs, sinceMs: nowMs, failed: false, refusals: 0, ...more });

const rows: [
  why: string,
  before: Partial<VirtualMachineMemory>,
  step: StagedAction,
  end: End,
  after: Partial<VirtualMachineMemory>,
][] = [
  [
    'a customization is remembered, with what is noted of it',
    {},
    of({ kind: 'bootstrap', moId: 'vm-1', part: 'custom', hash: 'c1', cards: [], noted: 'c1@m' }, 'config'),
    ok,
    { customized: { moId: 'vm-1', noted: 'c1@m' } },
  ],
  [
    'what was written into the configuration is not',
    {},
    of({ kind: 'bootstrap', moId: 'vm-1', part: 'config', hash: 'c1', cards: [], noted: 'c1@m' }, 'config'),
    ok,
    {},
  ],
  ['a step that worked leaves nothing', {}, power('powerOn'), ok, {}],
  [
    'one that failed is tried again in 10 s',
    {},
    power('powerOn'),
    failed,
    { failures: [failure({ retryAtMs: nowMs + 10_000 })] },
  ],
  [
    'and then in 20 s',
    { failures: [failure({})] },
    power('powerOn'),
    failed,
    { failures: [failure({ attempts: 2, retryAtMs: nowMs + 20_000 })] },
  ],
  [
    'until it works',
    { failures: [failure({}), failureIn('config')] },
    power('powerOn'),
    ok,
    { failures: [failureIn('config')] },
  ],
  [
    'the guest was asked',
    {},
    power('shutdownGuest'),
    ok,
    { soft: { operation: 'shutdown', sinceMs: nowMs, failed: false } },
  ],
  [
    'the guest refuses: no failure',
    {},
    power('standbyGuest'),
    refused,
    { soft: { operation: 'standby', sinceMs: nowMs, failed: true } },
  ],
  [
    'vCenter does not answer: whether the guest was asked is not known, and it is asked again',
    {},
    power('shutdownGuest'),
    failed,
    {
      soft: { operation: 'shutdown', sinceMs: nowMs, failed: false, unanswered: true },
      failures: [failure({ retryAtMs: nowMs + 10_000 })],
    },
  ],
  [
    'a guest that refuses then may be shutting down since',
    { soft: { operation: 'shutdown', sinceMs: early, failed: false, unanswered: true }, failures: [failure({})] },
    power('shutdownGuest'),
    refused,
    { soft: { operation: 'shutdown', sinceMs: early, failed: true, unanswered: true } },
  ],
  [
    'so may one that an attempt before has asked',
    {},
    power('shutdownGuest'),
    answerLost,
    { soft: { operation: 'shutdown', sinceMs: nowMs, failed: true, unanswered: true } },
  ],
  [
    'one that refuses once more refuses',
    { soft: { operation: 'shutdown', sinceMs: early, failed: true, unanswered: true } },
    power('shutdownGuest'),
    refused,
    { soft: { operation: 'shutdown', sinceMs: nowMs, failed: true } },
  ],
  [
    'what was not answered of a stand-by says nothing of a shutdown',
    { soft: { operation: 'standby', sinceMs: early, failed: false, unanswered: true } },
    power('shutdownGuest'),
    refused,
    { soft: { operation: 'shutdown', sinceMs: nowMs, failed: true } },
  ],
  [
    'once it is forced, nothing was asked',
    { soft: { operation: 'shutdown', sinceMs: 1, failed: false } },
    power('powerOff'),
    ok,
    {},
  ],
  ['a restart was asked for', {}, power('rebootGuest'), ok, { restart: restart({}) }],
  [
    'the guest refuses to restart',
    {},
    power('rebootGuest'),
    refused,
    { restart: restart({ failed: true, refusals: 1 }) },
  ],
  [
    'and again',
    { restart: restart({ sinceMs: early, failed: true, refusals: 1 }) },
    power('rebootGuest'),
    refused,
    { restart: restart({ failed: true, refusals: 2 }) },
  ],
  [
    'vCenter does not answer: whether a restart was asked for is not known',
    {},
    power('rebootGuest'),
    failed,
    { restart: restart({ unanswered: true }), failures: [failure({ retryAtMs: nowMs + 10_000 })] },
  ],
  [
    'a guest that refuses then may be restarting',
    { restart: restart({ sinceMs: early, unanswered: true }) },
    power('rebootGuest'),
    refused,
    { restart: restart({ sinceMs: early, failed: true, unanswered: true, refusals: 1 }) },
  ],
  [
    'a reset was made',
    { restart: restart({ failed: true, refusals: 1 }) },
    power('reset'),
    ok,
    { restart: restart({}) },
  ],
  [
    'a reset that failed is a failure',
    { restart: restart({ failed: true, refusals: 1 }) },
    power('reset'),
    failed,
    { restart: restart({ failed: true, refusals: 1 }), failures: [failure({ retryAtMs: nowMs + 10_000 })] },
  ],
  ['a change was made', {}, change(2), ok, { changes: [changed(1)] }],
  ['the same again', { changes: [changed(1, early)] }, change(2), ok, { changes: [changed(2)] }],
  [
    'another change',
    { changes: [{ ...changed(2, early), change: 'another' }] },
    change(2),
    ok,
    { changes: [changed(1)] },
  ],
  ['the same, long ago', { changes: [changed(2, nowMs - 1_800_000)] }, change(2), ok, { changes: [changed(1)] }],
  [
    'what another stage has changed is another change',
    { changes: [{ ...changed(1, early), stage: 'power' }] },
    change(2),
    ok,
    { changes: [{ ...changed(1, early), stage: 'power' }, changed(1)] },
  ],
  ['a create is under way', {}, create(false), { task: 'task-1' }, { create: running }],
  ['a create that was waited for is not', {}, create(true), ok, {}],
  [
    'without an answer it may be under way',
    {},
    create(false),
    failed,
    { create: { task: null, sinceMs: nowMs }, failures: [failure({ stage: 'create', retryAtMs: nowMs + 10_000 })] },
  ],
  [
    'one that was refused is not',
    {},
    create(false),
    hopeless,
    { failures: [failure({ stage: 'create', requeue: false, retryAtMs: nowMs + 10_000 })] },
  ],
  ['it has ended', { create: running }, of({ kind: 'awaitTask', task: 'task-1', deadlineMs: 1 }, 'create'), ok, {}],
  [
    'it has failed',
    { create: running },
    of({ kind: 'awaitTask', task: 'task-1', deadlineMs: 1 }, 'create'),
    failed,
    { failures: [failure({ stage: 'create', retryAtMs: nowMs + 10_000 })] },
  ],
  [
    'another task has ended',
    { create: running },
    of({ kind: 'awaitTask', task: 'task-2', deadlineMs: 1 }, 'config'),
    ok,
    { create: running },
  ],
  [
    'a task of another user’s that has failed, or was cancelled, is no failure of drover’s',
    { create: running },
    of({ kind: 'awaitTask', task: 'task-2', deadlineMs: 1 }, 'power'),
    hopeless,
    { create: running },
  ],
  [
    'one that goes on too long is',
    {},
    of({ kind: 'awaitTask', task: 'task-2', deadlineMs: 1 }, 'power'),
    { ...failed, reason: 'VsphereTaskOverdue' },
    { failures: [failure({ reason: 'VsphereTaskOverdue', retryAtMs: nowMs + 10_000 })] },
  ],
  ['it was cancelled', { create: running }, of({ kind: 'cancelCreate', task: 'task-1' }, 'delete'), ok, {}],
  [
    'it could not be cancelled',
    { create: running },
    of({ kind: 'cancelCreate', task: 'task-1' }, 'delete'),
    failed,
    { create: running, failures: [failure({ stage: 'delete', retryAtMs: nowMs + 10_000 })] },
  ],
];

test.each(rows)('%s', (_why, before, step, end, after) => {
  expect(apply(memoryOf(before), step, end)).toEqual(memoryOf(after));
});

test('the clock of a deletion begins with its first power operation, and goes on', () => {
  const first = apply(noMemory, power('shutdownGuest', 'delete'), ok);
  expect(first.deletingSinceMs).toBe(nowMs);
  expect(apply(first, power('shutdownGuest', 'delete'), ok, nowMs + 1).deletingSinceMs).toBe(nowMs);
});

test('what drover stop has refused was not asked: no time of a guest begins', () => {
  const stopped = { reason: 'Stopped', message: 'm', requeue: true };
  const failures = [expect.objectContaining({ stage: 'delete', reason: 'Stopped', attempts: 1 })];
  for (const operation of ['shutdownGuest', 'powerOff', 'rebootGuest'] as const)
    expect(apply(noMemory, power(operation, 'delete'), stopped)).toEqual({ ...noMemory, failures });
  expect(apply(noMemory, create(true), stopped).create).toBe(noMemory.create);
});

test('a failure without a row of the error table, such as a time-out, is tried again; one that only a user can mend is not', () => {
  const reason = { reason: 'Why', message: 'm' };
  expect(failedBy({ code: null, ...reason })).toEqual({ ...reason, requeue: true });
  expect(failedBy({ code: 'InvalidObject', ...reason })).toEqual({ ...reason, requeue: false });
  expect(failedBy({ code: 'Stopped', ...reason })).toEqual({ ...reason, requeue: true });
});

const softPower = (operation: 'shutdown' | 'standby') => ({ soft: { operation, sinceMs: 1, failed: false } });
const stale: [why: string, memory: Partial<VirtualMachineMemory>, given: Given, kept: boolean][] = [
  [
    'a guest that was asked to shut down, and shall',
    softPower('shutdown'),
    { desired: { powerState: 'PoweredOff' } },
    true,
  ],
  ['or is deleted', softPower('shutdown'), { desired: { deleting: true } }, true],
  ['or shall stand by', softPower('standby'), { desired: { powerState: 'Suspended' } }, true],
  ['but not one that shall run after all', softPower('shutdown'), {}, false],
  [
    'nor one that is off',
    softPower('shutdown'),
    { desired: { powerState: 'PoweredOff' }, vm: { powerState: 'poweredOff' } },
    false,
  ],
  ['nor one that is gone', softPower('shutdown'), { desired: { powerState: 'PoweredOff' }, vm: null }, false],
  ['a restart that is not on record', { restart: restart({ forMs: 5 }) }, {}, true],
  [
    'a restart that is',
    { restart: restart({ forMs: 5 }) },
    { config: { extraConfig: { 'vmservice.lastRestartTime': '5000000' } } },
    false,
  ],
  ['a customization that is not noted', { customized: { moId: 'vm-1', noted: 'c1' } }, {}, true],
  [
    'one that is',
    { customized: { moId: 'vm-1', noted: 'c1' } },
    { desired: { bootstrapHashes: { config: null, custom: 'c1' } } },
    false,
  ],
  ['one of a VM that is gone', { customized: { moId: 'vm-1', noted: 'c1' } }, { vm: null }, false],
  ['a create whose VM is not there', { create: running }, { vm: null }, true],
  ['a create whose VM is', { create: running }, {}, false],
  [
    'a create whose VM has no owner yet',
    { create: running },
    { observed: { candidates: [candidateOf({ owner: null, foundBy: ['uid', 'name'] })] } },
    true,
  ],
  ['a failed create whose VM is not there', { failures: [failureIn('create')] }, { vm: null }, true],
  ['a failed create whose VM is', { failures: [failureIn('create')] }, {}, false],
  ['what failed of a VM that is there', { failures: [failureIn('power', false)] }, {}, true],
  ['but not of one that is gone', { failures: [failureIn('power', false)] }, { vm: null }, false],
  ['what failed of a deletion', { failures: [failureIn('delete')] }, { vm: null, desired: { deleting: true } }, true],
  ['since when it is deleted', { deletingSinceMs: 5 }, { desired: { deleting: true } }, true],
  ['but not of one that is not', { deletingSinceMs: 5 }, {}, false],
];

test.each(stale)('what still counts: %s', (_why, memory, given, kept) => {
  const { desired, observed } = contextOf(given);
  expect(pruneBy(memoryOf(memory), desired, observed)).toEqual(memoryOf(kept ? memory : {}));
});

const askedMs = nowMs - 60_000;
const asked = (operation: GuestAsked['operation'], more: Partial<GuestAsked> = {}): Given => ({
  desired: { powerState: 'PoweredOff', guestAsked: { operation, askedMs, bootId: 'boot-1', ...more } },
});
const perhaps = { sinceMs: askedMs, failed: false, unanswered: true as const };
const asksRestart = (more: Partial<GuestAsked> = {}, intent = `${forMs} boot-1`): Given => ({
  desired: {
    nextRestartTime: new Date(forMs).toISOString(),
    guestAsked: { operation: 'rebootGuest', askedMs: nowMs, bootId: 'boot-1', ...more },
  },
  config: { extraConfig: { 'drover.restartIntent': intent } },
});
const recalled: [why: string, given: Given, after: Partial<VirtualMachineMemory>][] = [
  ['nothing was asked', {}, {}],
  [
    'a guest that a run before has asked to shut down',
    asked('shutdownGuest'),
    { soft: { operation: 'shutdown', ...perhaps } },
  ],
  [
    'or to stand by',
    { desired: { ...asked('standbyGuest').desired, powerState: 'Suspended' } },
    { soft: { operation: 'standby', ...perhaps } },
  ],
  ['but not one that has started anew since', asked('shutdownGuest', { bootId: 'boot-0' }), {}],
  ['nor what is not wanted any more', { desired: { ...asked('shutdownGuest').desired, powerState: 'PoweredOn' } }, {}],
  ['a restart that a run before has asked for', asksRestart(), { restart: restart({ unanswered: true }) }],
  ['but not one of before', asksRestart({ askedMs: forMs - 1 }), {}],
  ['nor one that the VM does not know of', asksRestart({}, ''), {}],
];

test.each(recalled)('a run that begins: %s', (_why, given, after) => {
  const { desired, observed } = contextOf(given);
  expect(pruneBy(noMemory, desired, observed)).toEqual(memoryOf(after));
});

test('what the object says is of a run before only where this one begins', () => {
  const { desired, observed } = contextOf(asked('shutdownGuest'));
  expect(pruneBy(memoryOf(), desired, observed)).toEqual(memoryOf());
  const known = memoryOf(softPower('shutdown'));
  expect(pruneBy({ ...known, isRecalled: false }, desired, observed)).toEqual(known);
});

test('where vCenter was not observed nothing is known to have ended', () => {
  const known = memoryOf({ ...softPower('shutdown'), create: running });
  expect(prune(known, observation(null))).toEqual(known);
});

test('a user who changes something has a guest asked again that has refused, unless it may be shutting down', () => {
  const question = { operation: 'shutdown' as const, sinceMs: 1, failed: true };
  const refusals = memoryOf({ soft: question, restart: restart({ failed: true, refusals: 4 }) });
  expect(resetFailures(refusals)).toEqual(memoryOf());
  const perhaps = memoryOf({
    soft: { ...question, unanswered: true },
    restart: restart({ failed: true, unanswered: true, refusals: 1 }),
  });
  expect(resetFailures(perhaps)).toEqual(perhaps);
});

test('a user who changes something has the failures reset, and nothing else', () => {
  expect(resetFailures(memoryOf({ failures: [failureIn('power')], changes: [changed(2)], create: running }))).toEqual(
    memoryOf({ create: running }),
  );
});

const observation = (problem: Pick<StageFailure, 'reason' | 'message' | 'requeue'> | null) => ({
  desired: contextOf().desired,
  observed: { recorded: {}, objects: {} as never, vcenter: null, problem, isAfterStep: false },
  nowMs,
});

test('a vCenter that does not answer is asked ever more seldom, and an answer takes that away', () => {
  const problem = { reason: 'VsphereUnavailable', message: 'no answer', requeue: true };
  const once = prune(memoryOf({ failures: [failureIn('config')] }), observation(problem));
  const twice = prune(once, observation(problem));
  expect([once, twice].map(({ failures }) => failures.find(({ stage }) => stage === 'observe'))).toEqual([
    { stage: 'observe', ...problem, attempts: 1, retryAtMs: nowMs + 10_000 },
    { stage: 'observe', ...problem, attempts: 2, retryAtMs: nowMs + 20_000 },
  ]);
  expect(prune(twice, observation(null))).toEqual(memoryOf({ failures: [failureIn('config')] }));
});
