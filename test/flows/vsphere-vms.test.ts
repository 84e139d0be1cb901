import { CancelledFailure } from '@temporalio/common';

import type { VcenterGateway } from '../../activities/vsphere/types.ts';
import type { NewVm, SubmittedTask, VmSubject, VsphereVmActivities } from '../../contracts/virtual-machine.ts';
import { govc } from '../../lab/vsphere/govc.ts';
import { until } from './until.ts';
import { makeVm, never, openVsphereWorld, settle, startTimeoutMs, witness, type VsphereWorld } from './vsphere-world.ts';

let world: VsphereWorld;
let gateway: VcenterGateway;
let activities: VsphereVmActivities;

beforeAll(async () => {
  world = await openVsphereWorld();
  gateway = world.gateway();
  activities = world.activities(gateway);
}, startTimeoutMs);
afterAll(() => world?.close());
beforeEach(async () => {
  await world.control.reset();
  world.audit.splice(0);
});

const clone = (vm: NewVm, linkedToSnapshotId: string | null = null) => activities.submitClone({ source: { vmId: world.ids.template, linkedToSnapshotId }, vm, cause: 'the test' });
const power = async (subject: VmSubject, powerState: 'poweredOn' | 'poweredOff' | 'suspended') => settle(activities, await activities.submitPower({ ...subject, powerState }));
const failureOf = (promise: Promise<unknown>): Promise<unknown> => promise.then(() => 'no failure', (error: unknown) => error);

test('a clone carries its identity and its owner from its first moment, and govc sees it', async () => {
  const vm = world.newVm('first', { biosUuid: '0b105000-0000-4000-8000-000000000001', config: { cpus: 3, memoryMiB: 768, extraConfig: { 'guestinfo.hello': 'a <b> & "c"\r\nd' } } });
  const submitted = (await clone(vm)) as SubmittedTask;
  expect(await activities.awaitTask(submitted)).toEqual({ vmId: expect.stringMatching(/^vm-/u) });
  const [seen, ...others] = await witness(world.handle, 'first');
  expect(others).toEqual([]);
  expect(seen).toMatchObject({ config: { instanceUuid: vm.instanceUuid, uuid: vm.biosUuid, hardware: { numCPU: 3, memoryMB: 768 } }, runtime: { powerState: 'poweredOff' } });
  expect(seen?.config.extraConfig).toEqual(
    expect.arrayContaining([
      { key: 'vmservice.namespacedName', value: 'team-a/first' },
      { key: 'drover.uid', value: 'uid-of-first' },
      { key: 'guestinfo.hello', value: 'a <b> & "c"\r\nd' },
    ]),
  );
  const [request] = await world.requests('CloneVM_Task');
  expect(request?.body).toMatch(/<config><instanceUuid>|<config><uuid>/u);
  expect(request?.body).toContain('<key>drover.uid</key>');
  expect(world.audit).toEqual([expect.objectContaining({ action: 'submitClone', object: 'vm/team-a/first', requestId: submitted.taskId })]);
});

test('again, it is found and nothing is submitted; by name too, where vCenter gave it another instance UUID', async () => {
  const vm = world.newVm('again');
  const { vmId } = await makeVm(world, activities, vm);
  await world.control.forgetRequests();
  expect(await clone(vm)).toEqual({ vmId });
  expect(await clone({ ...vm, instanceUuid: '5c0ffee0-ffff-4000-8000-000000000000' })).toEqual({ vmId });
  expect(await world.requests('CloneVM_Task')).toEqual([]);
});

test('a linked clone asks for children of the snapshot’s disks', async () => {
  await govc(world.handle, 'snapshot.create', '-vm', 'DC0_C0_RP0_VM0', 'base');
  const tree = await govc(world.handle, 'snapshot.tree', '-vm', 'DC0_C0_RP0_VM0', '-i');
  const snapshotId = /snapshot-\d+/u.exec(tree)?.[0] ?? '';
  await settle(activities, (await clone(world.newVm('linked'), snapshotId)) as SubmittedTask);
  const [request] = await world.requests('CloneVM_Task');
  expect(request?.body).toContain('<diskMoveType>createNewChildDiskBacking</diskMoveType>');
  expect(request?.body).toContain(`<snapshot type="VirtualMachineSnapshot">${snapshotId}</snapshot>`);
});

test('one without disks is made in a pool and a datastore', async () => {
  const vm = world.newVm('bare', { config: { cpus: 1, memoryMiB: 128, guestId: 'otherGuest64' } });
  await settle(activities, (await activities.submitCreate({ datastoreName: 'LocalDS_0', vm, cause: 'the test' })) as SubmittedTask);
  expect(await witness(world.handle, 'bare')).toMatchObject([{ config: { instanceUuid: vm.instanceUuid, hardware: { memoryMB: 128 } } }]);
});

describe('whatever becomes of the answer to the call, there is one VM', () => {
  const losses: [what: string, name: string, strike: Parameters<VsphereWorld['control']['strike']>[0]][] = [
    ['the answer is lost after the effect', 'lost', { method: 'CloneVM_Task', after: true, does: 'cut' }],
    ['the call does not arrive', 'dropped', { method: 'CloneVM_Task', does: 'cut' }],
    ['something in front answers 503 after the effect', 'gateway', { method: 'CloneVM_Task', after: true, does: 'status', status: 503 }],
  ];
  test.each(losses)('%s', async (_, name, strike) => {
    const vm = world.newVm(name);
    await world.control.strike(strike);
    expect(await failureOf(clone(vm))).toMatchObject({ type: 'VsphereUnavailable', nonRetryable: false });
    const { vmId } = await makeVm(world, activities, vm);
    expect(await witness(world.handle, name)).toHaveLength(1);
    expect(await activities.findVm(vm)).toEqual({ vmId });
  });

  test('the first one is still in flight when the second is submitted', async () => {
    const vm = world.newVm('in-flight');
    await world.control.delayTasks({ CloneVm: 700 });
    await world.control.strike({ method: 'CloneVM_Task', after: true, does: 'cut' });
    expect(await failureOf(clone(vm))).toMatchObject({ type: 'VsphereUnavailable' });
    const second = (await clone(vm)) as SubmittedTask;
    const { vmId } = await activities.awaitTask(second);
    expect(await witness(world.handle, 'in-flight')).toHaveLength(1);
    expect(await activities.findVm(vm)).toEqual({ vmId });
  });

  test('eight race for it', async () => {
    const vm = world.newVm('raced');
    const results = await Promise.all(Array.from({ length: 8 }, () => makeVm(world, activities, vm)));
    expect(new Set(results.map(({ vmId }) => vmId)).size).toBe(1);
    expect(await witness(world.handle, 'raced')).toHaveLength(1);
  });
});

describe('what is somebody else’s is not touched', () => {
  test('a VM of the same name', async () => {
    await govc(world.handle, 'vm.create', '-on=false', '-m', '64', '-ds', 'LocalDS_0', '-net', 'VM Network', 'foreign');
    expect(await failureOf(clone(world.newVm('foreign')))).toMatchObject({ type: 'VirtualMachineNameTaken', nonRetryable: true, message: expect.stringMatching(/foreign in group-\S+ is vm-\d+, which has no mark/u) });
    expect(await world.requests('CloneVM_Task')).toEqual([]);
  });

  test('a folder of the same name', async () => {
    await govc(world.handle, 'folder.create', '/DC0/vm/taken');
    expect(await failureOf(clone(world.newVm('taken')))).toMatchObject({ type: 'VirtualMachineNameTaken', message: expect.stringContaining('is a Folder') });
  });

  test('a VM of another object, by name and by instance UUID', async () => {
    const theirs = world.newVm('theirs');
    const subject = await makeVm(world, activities, theirs);
    const mine = { ...theirs, mark: { namespacedName: 'team-b/theirs', uid: 'another' } };
    expect(await failureOf(clone(mine))).toMatchObject({ type: 'VirtualMachineNotOwned', message: expect.stringContaining('the mark of team-a/theirs') });
    const stranger = { ...subject, mark: mine.mark };
    await world.control.forgetRequests();
    for (const attempt of [
      activities.submitPower({ ...stranger, powerState: 'poweredOn' }),
      activities.submitReconfigure({ ...stranger, wanted: { cpus: 7 } }),
      activities.submitDetachDisks({ ...stranger, keys: [2000] }),
      activities.askGuest({ ...stranger, request: 'shutDown' }),
      activities.submitDestroy(stranger),
    ])
      expect(await failureOf(attempt)).toMatchObject({ type: 'VirtualMachineNotOwned', nonRetryable: true });
    expect((await world.control.requests()).filter(({ method }) => method !== 'RetrievePropertiesEx')).toEqual([]);
  });

  test('two VMs with one instance UUID: none is taken', async () => {
    const vm = world.newVm('copied');
    await makeVm(world, activities, vm);
    await govc(world.handle, 'vm.clone', '-vm', 'copied', '-on=false', '-ds', 'LocalDS_0', 'copy');
    await govc(world.handle, 'vm.change', '-vm', 'copy', '-instance-uuid', vm.instanceUuid).catch(async () => {
      const copy = await gateway.findInFolder(world.ids.folder, 'copy', never);
      if (copy.kind !== 'vm') throw new Error('no copy');
      await world.connect().call('ReconfigVM_Task', { type: 'VirtualMachine', value: copy.vm.id }, { spec: { instanceUuid: vm.instanceUuid } }, never);
    });
    await until('the copy to have it', 5_000, async () => ((await failureOf(gateway.findByInstanceUuid(vm.instanceUuid, never))) === 'no failure' ? 'not yet' : true));
    expect(await failureOf(clone(vm))).toMatchObject({ type: 'VirtualMachineAmbiguous', nonRetryable: true, message: expect.stringMatching(/^2 VMs of vCenter lab have/u) });
  });
});

test('only what differs is changed, and nothing where nothing does', async () => {
  const subject = await makeVm(world, activities, world.newVm('changed', { config: { cpus: 2, memoryMiB: 512, extraConfig: { 'guestinfo.a': '1', 'guestinfo.b': '2' } } }));
  const wanted = { cpus: 2, memoryMiB: 1024, annotation: 'kept by drover', cpuAllocation: { reservation: 200, limit: null }, extraConfig: { 'guestinfo.a': '1', 'guestinfo.b': '', 'guestinfo.c': '3' } };
  await settle(activities, await activities.submitReconfigure({ ...subject, wanted }));
  const [request] = await world.requests('ReconfigVM_Task');
  expect(request?.body).not.toMatch(/numCPUs|guestinfo\.a/u);
  expect(request?.body).toMatch(/<changeVersion>[^<]+<\/changeVersion>/u);
  const [seen] = await witness(world.handle, 'changed');
  expect(seen).toMatchObject({ config: { annotation: 'kept by drover', hardware: { numCPU: 2, memoryMB: 1024 } } });
  expect(seen?.config.extraConfig.map(({ key }) => key)).not.toContain('guestinfo.b');
  expect(await activities.submitReconfigure({ ...subject, wanted })).toBeNull();
  expect(await world.requests('ReconfigVM_Task')).toHaveLength(1);
  expect(world.audit.at(-1)).toMatchObject({ before: { memoryMiB: 512 }, after: { memoryMiB: 1024, extraConfigKeys: ['guestinfo.b', 'guestinfo.c'] } });
});

test('a change that somebody else was faster with is a conflict, and made for the new state at the next attempt', async () => {
  const subject = await makeVm(world, activities, world.newVm('contended'));
  const { config } = (await gateway.read(subject.vmId, never))!;
  await govc(world.handle, 'vm.change', '-vm', 'contended', '-m', '2048');
  const late = await gateway.reconfigure(subject.vmId, { cpus: 4 }, config!.changeVersion, never);
  expect(await failureOf(activities.awaitTask({ taskId: late, purpose: { kind: 'change', vmId: subject.vmId } }))).toMatchObject({ type: 'VirtualMachineConflict' });
  await settle(activities, await activities.submitReconfigure({ ...subject, wanted: { cpus: 4 } }));
  expect(await witness(world.handle, 'contended')).toMatchObject([{ config: { hardware: { numCPU: 4, memoryMB: 2048 } } }]);
});

test('power: on, suspended, on, off; each once, and twice is well', async () => {
  const subject = await makeVm(world, activities, world.newVm('powered'));
  const seen = async () => (await witness(world.handle, 'powered'))[0]?.runtime.powerState;
  for (const state of ['poweredOn', 'suspended', 'poweredOn', 'poweredOff'] as const) {
    await power(subject, state);
    expect(await seen()).toBe(state);
    expect(await activities.submitPower({ ...subject, powerState: state })).toBeNull();
  }
  await Promise.all([power(subject, 'poweredOn'), power(subject, 'poweredOn'), power(subject, 'poweredOn')]);
  expect(await seen()).toBe('poweredOn');
});

test('a lost answer to a power-on does not make a second one', async () => {
  const subject = await makeVm(world, activities, world.newVm('lost-power'));
  await world.control.strike({ method: 'PowerOnVM_Task', after: true, does: 'cut' });
  expect(await failureOf(activities.submitPower({ ...subject, powerState: 'poweredOn' }))).toMatchObject({ type: 'VsphereUnavailable' });
  expect(world.audit.at(-1)).toMatchObject({ action: 'submitPower', after: { failed: expect.stringContaining('cut') } });
  await until('it to be on', 5_000, async () => (await witness(world.handle, 'lost-power'))[0]?.runtime.powerState === 'poweredOn' || 'off');
  expect(await activities.submitPower({ ...subject, powerState: 'poweredOn' })).toBeNull();
});

test('a guest is asked where Tools run, and said to have none where they do not', async () => {
  const subject = await makeVm(world, activities, world.newVm('asked'));
  await power(subject, 'poweredOn');
  expect(await failureOf(activities.askGuest({ ...subject, request: 'shutDown' }))).toMatchObject({ type: 'GuestToolsNotRunning', nonRetryable: true });
  await govc(world.handle, 'vm.change', '-vm', 'asked', '-e', 'SET.guest.toolsRunningStatus=guestToolsRunning');
  await world.control.deafenGuests(true);
  await activities.askGuest({ ...subject, request: 'shutDown' });
  expect(await gateway.read(subject.vmId, never)).toMatchObject({ powerState: 'poweredOn', isToolsRunning: true });
  await world.control.deafenGuests(false);
  await activities.askGuest({ ...subject, request: 'shutDown' });
  await until('it to be off', 5_000, async () => (await witness(world.handle, 'asked'))[0]?.runtime.powerState === 'poweredOff' || 'on');
  await activities.askGuest({ ...subject, request: 'shutDown' });
});

test('destroyed, with its files; twice is well; gone, it is not found', async () => {
  const vm = world.newVm('doomed');
  const subject = await makeVm(world, activities, vm);
  const submitted = await activities.submitDestroy(subject);
  await settle(activities, submitted);
  expect(await witness(world.handle, 'doomed')).toEqual([]);
  expect(await activities.submitDestroy(subject)).toBeNull();
  expect(await activities.findVm(vm)).toBeNull();
  // A worker that comes late to the same task finds its purpose reached.
  const forgotten: SubmittedTask = { ...submitted!, taskId: 'task-999999' };
  expect(await activities.awaitTask(forgotten)).toEqual({ vmId: subject.vmId });
  expect(await failureOf(activities.submitPower({ ...subject, powerState: 'poweredOn' }))).toMatchObject({ type: 'VirtualMachineNotFound' });
});

test('one that runs is not destroyed, and says why', async () => {
  const subject = await makeVm(world, activities, world.newVm('running'));
  await power(subject, 'poweredOn');
  expect(await failureOf(settle(activities, await activities.submitDestroy(subject)))).toMatchObject({ type: 'VirtualMachineStateRefused', nonRetryable: true, message: expect.stringContaining('existingState poweredOn') });
  expect(await witness(world.handle, 'running')).toHaveLength(1);
});

test('a disk that was not made with it survives: destroying is refused until it is detached, and its file stays', async () => {
  const subject = await makeVm(world, activities, world.newVm('with-volume'));
  await govc(world.handle, 'datastore.mkdir', '-ds', 'LocalDS_0', 'volumes');
  await govc(world.handle, 'vm.disk.create', '-vm', 'with-volume', '-ds', 'LocalDS_0', '-name', 'volumes/precious', '-size', '1G');
  expect(await failureOf(activities.submitDestroy(subject))).toMatchObject({ type: 'ForeignDisksAttached', nonRetryable: true, message: expect.stringContaining('volumes/precious.vmdk') });
  const disks = (await gateway.read(subject.vmId, never))?.config?.disks ?? [];
  const [volume] = disks.filter(({ fileName }) => fileName?.includes('volumes/'));
  await settle(activities, await activities.submitDetachDisks({ ...subject, keys: [volume!.key] }));
  const [request] = (await world.requests('ReconfigVM_Task')).slice(-1);
  expect(request?.body).toContain('<operation>remove</operation>');
  expect(request?.body).not.toContain('fileOperation');
  expect(await activities.submitDetachDisks({ ...subject, keys: [volume!.key] })).toBeNull();
  await settle(activities, await activities.submitDestroy(subject));
  expect(await govc(world.handle, 'datastore.ls', '-ds', 'LocalDS_0', 'volumes')).toContain('precious.vmdk');
});

test('what fails in the task is told by its fault, and not tried again by the wait', async () => {
  const subject = await makeVm(world, activities, world.newVm('starved'));
  await world.control.fail({ method: 'PowerOnVM_Task', fault: 'InsufficientMemoryResourcesFault', inTask: true, fields: { unreserved: 1, requested: 2 } });
  expect(await failureOf(power(subject, 'poweredOn'))).toMatchObject({ type: 'VsphereResourcesExhausted', nonRetryable: true, message: expect.stringContaining('InsufficientMemoryResourcesFault') });
  await world.control.fail({ method: 'PowerOnVM_Task', fault: 'SystemError', fields: { reason: 'vpxd' }, inTask: true });
  expect(await failureOf(power(subject, 'poweredOn'))).toMatchObject({ type: 'VsphereFailed', nonRetryable: true });
});

test('a wait goes on at another worker, with another session', async () => {
  const vm = world.newVm('handed-over');
  await world.control.delayTasks({ CloneVm: 800 });
  const submitted = (await clone(vm)) as SubmittedTask;
  const first = new AbortController();
  const given = failureOf(world.activities(gateway, first.signal).awaitTask(submitted));
  await world.control.endSessions();
  first.abort(new CancelledFailure('WORKER_SHUTDOWN'));
  await given;
  expect(await world.requests('CancelTask')).toEqual([]);
  const { vmId } = await world.activities(world.gateway()).awaitTask(submitted);
  expect(await activities.findVm(vm)).toEqual({ vmId });
});

test('a cancel reaches the task; a clone that ends well all the same is found and destroyed', async () => {
  const vm = world.newVm('cancelled');
  await world.control.delayTasks({ CloneVm: 800 });
  const submitted = (await clone(vm)) as SubmittedTask;
  const stop = new AbortController();
  const waiting = failureOf(world.activities(gateway, stop.signal).awaitTask(submitted));
  stop.abort(new CancelledFailure('CANCELLED'));
  expect(await waiting).toBeInstanceOf(Error);
  expect(await world.requests('CancelTask')).toHaveLength(1);
  // vcsim's task says that it was cancelled, and makes the VM after all.
  const found = await until('the clone to appear', 10_000, async () => (await activities.findVm(vm)) ?? 'not yet');
  await settle(activities, await activities.submitDestroy({ ...found, mark: vm.mark, cause: 'compensation' }));
  expect(await witness(world.handle, 'cancelled')).toEqual([]);
});

test('a task that takes too long is told with how far it is, and left running', async () => {
  await world.control.delayTasks({ CloneVm: 1_500 });
  const vm = world.newVm('slow');
  const submitted = (await clone(vm)) as SubmittedTask;
  expect(await failureOf(world.activities(gateway, never, Date.now()).awaitTask(submitted))).toMatchObject({ type: 'VsphereTaskOverdue', nonRetryable: true });
  expect(await world.requests('CancelTask')).toEqual([]);
  await activities.awaitTask(submitted);
  expect(await witness(world.handle, 'slow')).toHaveLength(1);
});
