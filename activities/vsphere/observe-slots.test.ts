import { systemClock } from '../../runtime/clock.ts';
import { createSlotActivities } from './observe-slots.ts';
import { destroysVms, makesVms } from './tasks/read-tasks.ts';

const { signal } = new AbortController();
const activities = createSlotActivities({
  gateway: {
    vcenter: 'lab',
    runningCreates: () => Promise.resolve(['task-1', 'task-2']),
    runningDestroys: () => Promise.resolve([]),
  },
  limits: { creates: 16, destroys: 4 },
  checkMs: 30_000,
  silentMs: 150_000,
  scope: () => ({ signal }),
  clock: systemClock,
});

test('each limit with the tasks of its own', async () => {
  expect(await activities.observeSlots({ kind: 'creates' })).toEqual({
    limit: 16,
    checkMs: 30_000,
    silentMs: 150_000,
    inProgress: { lab: 2 },
    tasks: ['task-1', 'task-2'],
  });
  expect(await activities.observeSlots({ kind: 'destroys' })).toEqual({
    limit: 4,
    checkMs: 30_000,
    silentMs: 150_000,
    inProgress: {},
    tasks: [],
  });
});

test.each<[descriptionId: string, is: string]>([
  ['VirtualMachine.clone', 'create'],
  ['VirtualMachine.cloneVm', 'create'],
  ['Folder.createVm', 'create'],
  ['com.vmware.vcenter.ovf.library_item.deploy', 'create'],
  ['VirtualMachine.destroy', 'destroy'],
  ['Folder.destroy', 'neither'],
  ['Datastore.destroy', 'neither'],
  ['VirtualMachine.powerOn', 'neither'],
])('%s is a %s', (descriptionId, is) => {
  expect(makesVms.test(descriptionId) ? 'create' : destroysVms.test(descriptionId) ? 'destroy' : 'neither').toBe(is);
});
