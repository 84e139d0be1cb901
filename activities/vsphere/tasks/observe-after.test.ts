import type {
  SubmittedTask,
  ObservationRequest,
  VirtualMachineVsphereActivities,
  VcenterObservation,
} from '../../../contracts/virtual-machine/activities.ts';
import { testClock, testScope } from '../../../test/fixtures/activities/nova.ts';
import { observeAfter } from './observe-after.ts';
import type { TaskState } from '../types.ts';
import { openRecentObservations } from '../watch/recent-observations.ts';

const request = { object: { namespace: 'team', name: 'web' }, vmName: 'web' } as ObservationRequest;
const observation = { managerId: 'vc' } as VcenterObservation;
const task: SubmittedTask = { taskId: 'task-1', purpose: { kind: 'change', vmId: 'vm-1' } };
const running: TaskState = { state: 'running', progressPercent: null, isCancelable: true, entity: null };
const success: TaskState = { state: 'success', vmId: null, entity: null };
const error: TaskState = { state: 'error', failure: new Error('no room'), entity: null };
const subject = { vmId: 'vm-1', owner: { namespacedName: 'team/web', uid: 'u' }, cause: 'the test' };

interface Row {
  submitted: SubmittedTask | null;
  /** What each read of the task shows; the last one stays. */
  states?: (TaskState | Error)[];
  observationFails?: boolean;
  asksToObserve?: boolean;
}

/** What comes of a submission, and how often the VM and the task were read. */
async function submit({
  submitted,
  states = [],
  observationFails = false,
  asksToObserve = true,
  ofFiles = false,
}: Row & { ofFiles?: boolean }) {
  const clock = testClock();
  const startMs = clock.now();
  const counts = { recent: 0, reads: 0, beats: 0, readsAtWork: 0 };
  const notes = openRecentObservations();
  const isAtWork = (): boolean => notes.isAtWork('team/web', clock.now());
  const calls = {
    submitDestroy: async () => submitted,
    submitFileOperation: async () => submitted,
    observeVirtualMachineInVcenter: async () => {
      counts.recent += 1;
      return observationFails ? Promise.reject(new Error('away')) : observation;
    },
  } as unknown as VirtualMachineVsphereActivities;
  const readTask = async (): Promise<TaskState> => {
    const state = states[Math.min(counts.reads, states.length - 1)] ?? running;
    counts.reads += 1;
    if (isAtWork()) counts.readsAtWork += 1;
    return state instanceof Error ? Promise.reject(state) : state;
  };
  const through = observeAfter(calls, {
    gateway: { readTask },
    recent: notes,
    execution: () => ({ clock, scope: testScope({ heartbeat: () => void (counts.beats += 1) }) }),
  });
  const asked = { ...subject, ...(asksToObserve && { observeAfter: request }) };
  const result = await (ofFiles
    ? through.submitFileOperation({
        ...asked,
        place: { datacenter: 'd', datastore: 's', folder: 'u' },
        operation: { kind: 'removeFolder' },
      })
    : through.submitDestroy(asked));
  const waitedMs = clock.now() - startMs;
  await clock.sleep(5_001);
  return { result, ...counts, waitedMs, isStillAtWork: isAtWork() };
}

const rows: [what: string, row: Row, expected: object][] = [
  [
    'nothing to do: the state is observed',
    { submitted: null },
    { result: { observation }, recent: 1, reads: 0, beats: 1 },
  ],
  [
    'a task that has ended',
    { submitted: task, states: [success] },
    { result: { observation }, recent: 1, reads: 1, waitedMs: 0 },
  ],
  [
    'a task that ends soon',
    { submitted: task, states: [running, running, success] },
    { result: { observation }, recent: 1, reads: 3 },
  ],
  [
    'a task that fails is left to awaitTask',
    { submitted: task, states: [running, error] },
    { result: task, recent: 0, reads: 2 },
  ],
  ['so is one that cannot be read', { submitted: task, states: [new Error('away')] }, { result: task, recent: 0 }],
  [
    'an observation that fails is left to the next one',
    { submitted: null, observationFails: true },
    { result: null, recent: 1 },
  ],
  [
    'after a task, too: a later wait finds it ended',
    { submitted: task, states: [success], observationFails: true },
    { result: task },
  ],
  [
    'a request without an observation gets the task',
    { submitted: task, states: [success], asksToObserve: false },
    { result: task, recent: 0, reads: 0 },
  ],
];

test.each(rows)('%s', async (_, row, expected) => {
  expect(await submit(row)).toMatchObject(expected);
});

test.each<[string, Row, object]>([
  ['done already', { submitted: null }, { result: null, recent: 0, reads: 0, beats: 1 }],
  ['over soon', { submitted: task, states: [running, success] }, { result: null, recent: 0, reads: 2 }],
  ['failed: left to who waits for it', { submitted: task, states: [error] }, { result: task, recent: 0 }],
  ['takes longer', { submitted: task }, { result: task, recent: 0 }],
])('with files there is no VM to observe yet: %s', async (_, row, expected) => {
  expect(await submit({ ...row, ofFiles: true })).toMatchObject(expected);
});

test('its run is at work until then, and no longer', async () => {
  const states = [running, running, success];
  expect(await submit({ submitted: task, states })).toMatchObject({ readsAtWork: 3, isStillAtWork: false });
});

test('a long one is left within seconds', async () => {
  const { result, waitedMs } = await submit({ submitted: task });
  expect(result).toEqual(task);
  expect(waitedMs).toBeGreaterThanOrEqual(2_000);
  expect(waitedMs).toBeLessThan(3_000);
});
