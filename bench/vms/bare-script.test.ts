import { setTimeout as delay } from 'node:timers/promises';
import type { NameInFolder, TaskState, VcenterGateway } from '../../activities/vsphere/types.ts';
import { makeByScript } from './bare-script.ts';

const places = {
  folder: 'group-v1',
  resourcePool: 'resgroup-1',
  datastore: 'datastore-1',
  datacenter: 'datacenter-1',
  template: 'vm-1',
};
const signal = AbortSignal.timeout(30_000);

/** A vCenter whose tasks end after one or two reads. */
function playVcenter({ existing = '', staysOff = false } = {}) {
  const counts = { cloning: 0, mostCloning: 0, clones: 0, on: new Set<string>() };
  const tasks = new Map<string, { reads: number; end: () => string | null }>();
  const gateway: Partial<VcenterGateway> = {
    read: (id) =>
      Promise.resolve({
        id,
        name: id,
        powerState: counts.on.has(id) ? 'poweredOn' : 'poweredOff',
        config: { devices: [] },
      } as never),
    findInFolder: (_, name): Promise<NameInFolder> =>
      Promise.resolve(name === existing ? { kind: 'other', type: 'Folder' } : { kind: 'nothing' }),
    async submit(method, self) {
      await delay(1);
      const id = `task-${tasks.size + 1}`;
      if (method === 'CloneVM_Task') {
        counts.clones += 1;
        counts.cloning += 1;
        counts.mostCloning = Math.max(counts.mostCloning, counts.cloning);
        tasks.set(id, { reads: 1, end: () => ((counts.cloning -= 1), `vm-${id}`) });
      } else tasks.set(id, { reads: 1, end: () => (staysOff || counts.on.add(self.value), null) });
      return id;
    },
    readTask(id): Promise<TaskState> {
      const task = tasks.get(id)!;
      task.reads -= 1;
      return Promise.resolve(
        task.reads >= 0
          ? { state: 'running', progressPercent: null, isCancelable: false, entity: null }
          : { state: 'success', vmId: task.end(), entity: null },
      );
    },
  };
  return { counts, gateway: gateway as VcenterGateway };
}

const names = ['a', 'b', 'c', 'd', 'e'];

test('all are made and on, never more clones at once than asked for', async () => {
  const { gateway, counts } = playVcenter();
  const tookMs = await makeByScript(gateway, places, names, { creates: 2, signal });
  expect(tookMs).toHaveLength(names.length);
  expect(counts).toMatchObject({ clones: names.length, mostCloning: 2 });
  expect(counts.on.size).toBe(names.length);
});

test('a name that is taken, and a VM that stays off, are failures', async () => {
  await expect(
    makeByScript(playVcenter({ existing: 'c' }).gateway, places, names, { creates: 2, signal }),
  ).rejects.toThrow('c is there already');
  await expect(
    makeByScript(playVcenter({ staysOff: true }).gateway, places, names, { creates: 2, signal }),
  ).rejects.toThrow(/is poweredOff, not on/u);
});
