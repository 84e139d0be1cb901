import { openGateway } from '../../../activities/vsphere/gateway.ts';
import { folderRef, poolRef, vmRef } from '../../../activities/vsphere/wire/values.ts';
import { inventory } from '../../../lab/vsphere/handle.ts';
import type { VcenterGateway } from '../../../activities/vsphere/types.ts';
import { randomOf } from '../../faults/random.ts';
import { createVirtualClock } from '../../simulator/clock.ts';
import { createNetwork, type CallFate } from '../../simulator/network.ts';
import { drive } from '../drive.ts';
import { createFakeVcenter } from './vcenter.ts';

const never = new AbortController().signal;
const startMs = Date.UTC(2026, 0, 1);

function open({ seed = 1, fate = () => 'works' }: { seed?: number; fate?: (verb: string) => CallFate } = {}) {
  const random = randomOf(seed);
  const clock = createVirtualClock(startMs, random);
  const network = createNetwork({ clock, random, onCall: ({ verb }) => fate(verb) });
  const vcenter = createFakeVcenter({ clock, network, random });
  const gateway = openGateway(vcenter.openVim(), { tasks: 16 }, clock);
  const run = <Result>(work: () => Promise<Result>): Promise<Result> => drive(clock, work());
  const until = async (taskId: string): Promise<Awaited<ReturnType<VcenterGateway['readTask']>>> => {
    for (;;) {
      const state = await gateway.readTask(taskId, never);
      if (state.state === 'success' || state.state === 'error') return state;
      await clock.sleep(50);
    }
  };
  const clone = async (name: string): Promise<string> => {
    const { witness } = vcenter;
    const spec = {
      location: { pool: poolRef(await witness.idOf(inventory.resourcePool)) },
      template: false,
      powerOn: false,
    };
    return await gateway.submit(
      'CloneVM_Task',
      vmRef(await witness.idOf(inventory.template)),
      { folder: folderRef(await witness.idOf(inventory.vmFolder)), name, spec },
      never,
    );
  };
  return { ...vcenter, clock, network, gateway, run, until, clone };
}

test('a call that does not arrive has no effect; one whose answer is lost has it', async () => {
  for (const [fate, made] of [
    ['failBefore', 0],
    ['failAfter', 1],
  ] as const) {
    const { run, clone, clock, witness } = open({ fate: (verb) => (verb === 'CloneVM_Task' ? fate : 'works') });
    await run(async () => {
      await expect(clone('web')).rejects.toMatchObject({
        type: 'VsphereUnavailable',
        message: expect.stringContaining('the connection was cut'),
      });
      await clock.sleep(1_000);
    });
    expect((await witness.find('vm', inventory.vmFolder)).filter((path) => path.endsWith('/web'))).toHaveLength(made);
  }
});

test('a call that gets no answer ends after the time that the real client gives it', async () => {
  const { run, clone, clock } = open({ fate: (verb) => (verb === 'CloneVM_Task' ? 'hang' : 'works') });
  await run(() =>
    expect(clone('web')).rejects.toMatchObject({
      type: 'VsphereUnavailable',
      message: expect.stringContaining('no answer within 11 s'),
    }),
  );
  expect(clock.nowMs - startMs).toBeGreaterThanOrEqual(11_000);
});

test('the same seed gives the same ids, times and calls', async () => {
  const story = async () => {
    const { run, until, clone, witness, network, clock } = open({ seed: 7 });
    await run(async () => {
      await until(await clone('one'));
      await until(await clone('two'));
    });
    return { vms: await witness.listVms(), calls: network.calls, atMs: clock.nowMs };
  };
  expect(await story()).toEqual(await story());
});

test('vCenter works at one task of a VM at a time', async () => {
  const { run, until, gateway, witness } = open();
  const vm = vmRef(await witness.idOf(inventory.template));
  const ends = await run(async () => {
    const tasks = [
      await gateway.submit('PowerOffVM_Task', vm, {}, never),
      await gateway.submit('PowerOnVM_Task', vm, {}, never),
      await gateway.submit('PowerOnVM_Task', vm, {}, never),
    ];
    return await Promise.all(tasks.map((task) => until(task)));
  });
  expect(ends.map(({ state }) => state)).toEqual(['success', 'success', 'error']);
  expect(await witness.describeVm(inventory.template)).toMatchObject({ runtime: { powerState: 'poweredOn' } });
});

describe('a copy of a disk that is under way', () => {
  const from = '[LocalDS_0] cache/disk.vmdk';
  const to = '[LocalDS_0] web/disk.vmdk';

  async function beginCopy(seed: number) {
    const context = open({ seed });
    const { witness, control, gateway } = context;
    for (const path of ['cache', 'web']) await witness.makeDirectory({ datastore: 'LocalDS_0', path });
    await witness.createDisk({ datastore: 'LocalDS_0', path: 'cache/disk.vmdk', sizeMiB: 1 });
    await control.delayTasks({ CopyVirtualDisk: 5_000 });
    const copy = async (): Promise<string> =>
      gateway.submit(
        'CopyVirtualDisk_Task',
        await gateway.manager('virtualDiskManager', never),
        { sourceName: from, destName: to, force: true },
        never,
      );
    return { ...context, copy, files: () => witness.listFiles({ datastore: 'LocalDS_0', path: 'web' }) };
  }

  test('is there, and locked', async () => {
    const { run, until, copy, gateway, files } = await beginCopy(1);
    await run(async () => {
      const first = await copy();
      expect(await files()).toEqual(['disk.vmdk']);
      expect(await until(await copy())).toMatchObject({ state: 'error', failure: { type: 'VsphereBusy' } });
      const removal = await gateway.submit(
        'DeleteDatastoreFile_Task',
        await gateway.manager('fileManager', never),
        { name: '[LocalDS_0] web' },
        never,
      );
      expect(await until(removal)).toMatchObject({ state: 'error', failure: { type: 'VsphereBusy' } });
      expect(await until(first)).toMatchObject({ state: 'success' });
    });
    expect(await files()).toEqual(['disk.vmdk']);
  });

  test('is gone when it is cancelled in time, and whole when it is not', async () => {
    const ends = new Set<string>();
    for (let seed = 1; seed <= 8; seed += 1) {
      const { run, until, copy, gateway, files } = await beginCopy(seed);
      const { state } = await run(async () => {
        const task = await copy();
        await gateway.cancelTask(task, never);
        return await until(task);
      });
      expect(await files()).toEqual(state === 'success' ? ['disk.vmdk'] : []);
      ends.add(state);
    }
    expect(ends).toEqual(new Set(['success', 'error']));
  });
});

test('a task is forgotten some time after its end', async () => {
  const { run, until, clone, gateway, clock } = open();
  await run(async () => {
    const task = await clone('web');
    await until(task);
    await clock.sleep(3_600_000);
    await expect(gateway.readTask(task, never)).rejects.toMatchObject({ type: 'VsphereTaskNotFound' });
  });
});
