import { virtualMachineFinalizers } from '../../../contracts/virtual-machine/marks.ts';
import type { VirtualMachinePlan } from '../../../contracts/virtual-machine/plan.ts';
import { planVirtualMachine } from './plan.ts';
import type { Given } from '../../../test/fixtures/workflows/virtual-machine.ts';
import { beginMs, contextOf, failureIn, guestOf, minute } from '../../../test/fixtures/workflows/virtual-machine.ts';

function planOf(given: Given): VirtualMachinePlan {
  const { desired, observed, memory, nowMs, settings } = contextOf(given);
  return planVirtualMachine(desired, observed, memory, nowMs, settings);
}

const short = ({ decision }: VirtualMachinePlan): string =>
  decision.next === 'act'
    ? `${decision.steps.map((step) => step.do).join(', ')} ${decision.state}`
    : decision.next === 'wait'
      ? `wait ${decision.state}`
      : `${decision.end} ${decision.state}`;
const off = { powerState: 'poweredOff' as const };
const deleting = { deleting: true };
const noAddress = { guest: guestOf({ primaryIp4: null }) };
const told = { asyncSignal: false };

const rows: [why: string, given: Given, comesTo: string, published: boolean][] = [
  ['CheckDeletion No: ReconcileNormal', { vm: off }, 'power PoweringOn', true],
  ['CheckDeletion Yes: ReconcileDelete', { desired: deleting, vm: off }, 'destroy Deleting', true],
  ['NormalErr No: the object is patched', {}, 'settled Settled', true],
  ['NormalErr Yes: it is stored, and the object is patched all the same', { config: null }, 'rests Failed', true],
  [
    'NormalErr Yes, to be tried again',
    { memory: { failures: [failureIn('config')] }, config: { extraConfig: {} } },
    'wait Failed',
    true,
  ],
  ['DeleteErr No: the object is patched', { desired: deleting, vm: null }, 'patchVirtualMachine Deleting', true],
  [
    'DeleteErr No: released, there is nobody to say it',
    { desired: { ...deleting, finalizers: [] } },
    'gone Deleting',
    false,
  ],
  [
    'DeleteErr Yes: it is stored, and the object is patched all the same',
    { desired: deleting, vm: { connectionState: 'disconnected' } },
    'rests Failed',
    true,
  ],
  [
    'a finalizer that could not be added is tried again at its time',
    { desired: { finalizers: [] }, memory: { failures: [failureIn('create')] }, vm: null },
    'wait Failed',
    true,
  ],
  [
    'a create that failed holds up nothing once the VM is there',
    { desired: { managerId: null }, memory: { failures: [failureIn('create', false)] } },
    'patchVirtualMachine Updating',
    true,
  ],
  [
    'PatchErr Yes: told, and tried again at its time',
    { memory: { failures: [failureIn('status')] } },
    'wait Failed',
    true,
  ],
  ['vCenter or Kubernetes could not be read', { memory: { failures: [failureIn('observe')] } }, 'wait Failed', true],
  ['paused', { desired: { paused: true } }, 'rests Paused', true],
  ['deletion is paused', { desired: { ...deleting, paused: true } }, 'rests Paused', true],
  ['deletion is held by a gate', { desired: { ...deleting, deleteChecks: ['a'] } }, 'rests DeletionBlocked', true],
  [
    'a foreign VM has its name',
    {
      vm: null,
      observed: {
        candidates: [{ moId: 'vm-9', name: 'web', foundBy: ['name'], instanceUuid: 'x', mark: null, inFolder: true }],
      },
    },
    'rests NotOwned',
    true,
  ],
  [
    'it waits its turn, and nothing is polled',
    { vm: null, observed: { turn: { create: false, destroy: false, taken: null } } },
    'wait TooManyCreates',
    true,
  ],
  [
    'requeue: an address is waited for where nobody tells',
    { vm: noAddress, settings: told },
    'wait WaitingForAddress',
    true,
  ],
  ['requeue: not where it is told', { vm: noAddress }, 'settled Settled', true],
  [
    'requeue: not without a network',
    { vm: noAddress, settings: told, desired: { networkDisabled: true } },
    'settled Settled',
    true,
  ],
  ['requeue: not for ever', { vm: noAddress, settings: told, nowMs: beginMs + 60 * minute }, 'settled Settled', true],
  ['only observed', { vm: off, settings: { mode: 'observe' } }, 'settled Observed', true],
  ['only observed, as it asks itself', { vm: off, desired: { mode: 'observe' } }, 'settled Observed', true],
];

test.each(rows)('Reconcile: %s', (_why, given, comesTo, published) => {
  const plan = planOf(given);
  expect(short(plan)).toBe(comesTo);
  expect(plan.status !== null).toBe(published);
});

test('Reconcile: GetVMErr Yes: there is no such object, and nothing is done', () => {
  const { observed, memory, settings } = contextOf();
  expect(planVirtualMachine(null, observed, memory, beginMs, settings)).toMatchObject({
    decision: { next: 'done', end: 'gone' },
    status: null,
  });
});

test('in mode observe one condition says what would be done, and no other', () => {
  expect(planOf({ vm: off, settings: { mode: 'observe' } }).status).toEqual({
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
  });
});

test('what is waited for has an end wherever nobody tells of it', () => {
  const { decision } = planOf({ vm: noAddress, settings: told });
  expect(decision).toMatchObject({ untilMs: beginMs + 2 * minute + 10_000 });
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
    'which is not told twice',
    {
      vm: null,
      memory: { failures: [failureIn('create')] },
      observed: recorded(lifecycle('Unknown', 'Waiting for another try: create failed')),
    },
    null,
  ],
  [
    'what is only waited for is no failure',
    { vm: null, observed: { turn: { create: false, destroy: true, taken: null }, ...recorded() } },
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
  expect(planOf(given).event?.reason ?? null).toBe(reason);
});

test('the finalizers are known by both of their names', () => {
  expect(
    planOf({ desired: { ...deleting, finalizers: [virtualMachineFinalizers.deprecated] }, vm: null }).decision,
  ).toMatchObject({ next: 'act' });
});
