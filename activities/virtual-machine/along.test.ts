import type {
  Along,
  ObservationRequest,
  PatchedVirtualMachine,
  SubmittedTask,
  VirtualMachineVsphereActivities,
  VcenterObservation,
} from '../../contracts/virtual-machine/activities.ts';
import { testClock, testScope } from '../../test/fixtures/activities/nova.ts';
import { desiredOf } from '../../test/fixtures/workflows/virtual-machine.ts';
import { goAlong } from './along.ts';

const object = { namespace: 'team', name: 'web', uid: 'u', generation: 1 };
const notes = { ...object, patches: [{ annotations: { a: 'b' } }] };
const report = { ...object, status: null, event: null, notes: [] };
const slot = { limit: { kind: 'creates', vcenter: 'vc' }, request: {} } as NonNullable<Along['slot']>;
const request = {
  owner: { namespacedName: 'team/web', uid: 'u' },
  cause: 'the test',
  create: {} as never,
  observeAfter: { mayBeMade: false, instanceUuid: null, zone: null, uniqueId: null } as ObservationRequest,
};
const observation = { managerId: 'vc' } as VcenterObservation;
const task: SubmittedTask = { taskId: 'task-1', purpose: { kind: 'change', vmId: 'vm-1' } };
const patched: PatchedVirtualMachine = {
  isCurrent: true,
  desired: desiredOf({ instanceUuid: 'given', zone: 'zone-b' }),
  recorded: {},
};
const written = { desired: desiredOf(), recorded: {} };

interface Row {
  patch?: PatchedVirtualMachine | null;
  submitted?: { observation: VcenterObservation } | SubmittedTask | Error;
  takesMs?: number;
  fails?: 'release' | 'report';
}

/** What a create with all of it comes to, and the calls in their order. */
async function create({ patch = patched, submitted = { observation }, takesMs = 0, fails }: Row, with_: Along) {
  const clock = {
    ...testClock(),
    // Over at once where the create takes longer, and only by an abort where it does not.
    sleep: (ms: number, signal?: AbortSignal): Promise<void> =>
      takesMs > ms
        ? Promise.resolve()
        : new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted')))),
  };
  const calls: string[] = [];
  const failing = (what: Row['fails']): Promise<void> =>
    fails === what ? Promise.reject(new Error('away')) : Promise.resolve();
  const along = goAlong(
    {
      async submitNewVm({ observeAfter }: typeof request) {
        calls.push(
          `submit ${observeAfter.mayBeMade ? 'after' : 'before'} ${observeAfter.zone ?? '-'} ${observeAfter.instanceUuid ?? '-'}`,
        );
        if (takesMs > 0) await new Promise(setImmediate);
        if (submitted instanceof Error) throw submitted;
        return submitted;
      },
      async submitPower() {
        calls.push('power');
        return { observation };
      },
      async awaitTask() {
        calls.push('await');
        if (submitted instanceof Error) throw submitted;
        return { vmId: 'vm-1', observation };
      },
    } as unknown as VirtualMachineVsphereActivities,
    {
      objects: {
        patchVirtualMachine: async () => (calls.push('patch'), patch),
        publishVirtualMachine: async () => (calls.push('publish'), await failing('report'), written),
      },
      releaseSlot: async () => (calls.push('release'), await failing('release')),
      clock,
      scope: () => testScope(),
    },
  );
  return {
    calls,
    create: () => along.submitNewVm({ ...request, ...with_ }),
    wait: () => along.awaitTask({ ...task, ...with_ }),
    power: (with_: Pick<Along, 'notes'>) =>
      along.submitPower({ ...request, vmId: 'vm-1', operation: 'shutdownGuest', ...with_ }),
  };
}

const all = { notes, report, slot };
const rows: [why: string, row: Row, with_: Along, result: unknown, calls: string[]][] = [
  ['alone', {}, {}, { observation }, ['submit before - -']],
  [
    'what is noted goes first, and is where it looks afterwards; what is short is not said; its slot goes',
    {},
    all,
    { observation, written: patched, isSlotReleased: true },
    ['patch', 'submit after zone-b given', 'release'],
  ],
  ['notes that do not hold end it', { patch: { ...patched, isCurrent: false } }, all, { isOutdated: true }, ['patch']],
  ['as do those of an object that is gone', { patch: null }, all, { isOutdated: true }, ['patch']],
  [
    'what takes long is said meanwhile',
    { takesMs: 3_000 },
    all,
    { observation, written: patched, said: written, isSlotReleased: true },
    ['patch', 'submit after zone-b given', 'publish', 'release'],
  ],
  ['a task that goes on keeps its slot', { submitted: task }, { slot }, task, ['submit before - -']],
  [
    'what is not said, or not released, fails nothing',
    { takesMs: 3_000, fails: 'report' },
    { report },
    { observation },
    ['submit before - -', 'publish'],
  ],
  [
    'nor does a slot that is not released',
    { fails: 'release' },
    { slot },
    { observation },
    ['submit before - -', 'release'],
  ],
];

test.each(rows)('a create: %s', async (_why, row, with_, result, calls) => {
  const made = await create(row, with_);
  expect(await made.create()).toEqual(result);
  expect(made.calls).toEqual(calls);
});

const questions: [
  why: string,
  patch: PatchedVirtualMachine | null,
  with_: Pick<Along, 'notes'>,
  result: unknown,
  calls: string[],
][] = [
  ['nothing is noted of an operation without notes', patched, {}, { observation }, ['power']],
  ['is noted before it is asked', patched, { notes }, { observation, written: patched }, ['patch', 'power']],
  [
    'is not asked where that does not hold',
    { ...patched, isCurrent: false },
    { notes },
    { isOutdated: true },
    ['patch'],
  ],
  ['nor where the object is gone', null, { notes }, { isOutdated: true }, ['patch']],
];

test.each(questions)('a question to a guest: %s', async (_why, patch, with_, result, calls) => {
  const made = await create({ patch }, {});
  expect(await made.power(with_)).toEqual(result);
  expect(made.calls).toEqual(calls);
});

test('a create that fails releases nothing: its run decides', async () => {
  const made = await create({ submitted: new Error('no room') }, { slot });
  await expect(made.create()).rejects.toThrow('no room');
  expect(made.calls).toEqual(['submit before - -']);
});

test('a task that is awaited is said, and its slot goes once it has ended well', async () => {
  const made = await create({}, { report, slot });
  expect(await made.wait()).toEqual({ vmId: 'vm-1', observation, said: written, isSlotReleased: true });
  expect(made.calls).toEqual(['publish', 'await', 'release']);
  const failed = await create({ submitted: new Error('no room') }, { report, slot });
  await expect(failed.wait()).rejects.toThrow('no room');
  expect(failed.calls).toEqual(['publish', 'await']);
});
