import { CancelledFailure } from '@temporalio/common';

import type { VcenterGateway } from '../../activities/vsphere/types.ts';
import type { SubmittedTask, VirtualMachineVsphereActivities, VmSubject } from '../../contracts/virtual-machine-activities.ts';
import type { PowerOperation } from '../../contracts/virtual-machine-plan.ts';
import { govc } from '../../lab/vsphere/govc.ts';
import { until } from './until.ts';
import { configOf, factsOf, makeVm, never, openVsphereWorld, settle, startTimeoutMs, taskOf, uidOf, witness, type NewVm, type VsphereWorld } from './vsphere-world.ts';

let world: VsphereWorld;
let gateway: VcenterGateway;
let activities: VirtualMachineVsphereActivities;

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

const power = async (subject: VmSubject, operation: PowerOperation) => settle(activities, await activities.submitPower({ ...subject, operation }));
const failureOf = (promise: Promise<unknown>): Promise<unknown> => promise.then(() => 'no failure', (error: unknown) => error);
/** The VM of the object of that name, by its mark. */
const find = async (name: string): Promise<string | null> => (await activities.lookAtVirtualMachine(world.look(name))).vm?.moId ?? null;

test('a clone carries its identity and its owner from its first moment, and govc sees it', async () => {
  const vm = world.newVm('first', { config: { numCPUs: 3, memoryMB: 768, annotation: 'drover', managedBy: { extensionKey: 'e', type: 't' }, extraConfig: [{ key: 'guestinfo.hello', value: 'a <b> & "c"\r\nd' }] } });
  const submitted = (await activities.submitNewVm(vm)) as SubmittedTask;
  expect(await activities.awaitTask(submitted)).toEqual({ vmId: expect.stringMatching(/^vm-/u) });
  const [seen, ...others] = await witness(world.handle, 'first');
  expect(others).toEqual([]);
  expect(seen).toMatchObject({ config: { instanceUuid: uidOf('first'), uuid: uidOf('first'), hardware: { numCPU: 3, memoryMB: 768 } }, runtime: { powerState: 'poweredOff' } });
  expect(seen?.config.extraConfig).toEqual(
    expect.arrayContaining([
      { key: 'vmservice.namespacedName', value: 'team-a/first' },
      { key: 'drover.uid', value: uidOf('first') },
      { key: 'guestinfo.hello', value: 'a <b> & "c"\r\nd' },
    ]),
  );
  const [request] = await world.requests('CloneVM_Task');
  expect(request?.body).toContain('<key>drover.uid</key>');
  // The simulator drops them on the way.
  expect(request?.body).toContain('<annotation>drover</annotation>');
  expect(request?.body).toContain('<managedBy><extensionKey>e</extensionKey><type>t</type></managedBy>');
  expect(world.audit).toEqual([expect.objectContaining({ action: 'submitNewVm', object: 'vm/team-a/first', requestId: submitted.taskId })]);
});

test('a clone has the cards and drives that are wanted, and none of its template’s', async () => {
  const { network } = await activities.lookAtVirtualMachine(world.look('dressed', { networks: [{ name: 'eth0', network: 'VM Network' }, { name: 'eth1', network: 'backend' }] }));
  const [standard = '', distributed = ''] = network?.interfaces.map(({ backing }) => backing ?? '') ?? [];
  const vm = world.newVm('dressed', {
    config: {
      deviceChange: [
        { operation: 'add', device: 'networkCard', card: { key: null, type: 'VMXNet3', backing: standard, macAddress: null } },
        { operation: 'add', device: 'networkCard', card: { key: null, type: 'E1000e', backing: distributed, macAddress: '00:50:56:12:34:56' } },
        { operation: 'add', device: 'cdrom', cdrom: { key: null, iso: '[LocalDS_0] iso/seed.iso', connected: true, allowGuestControl: false } },
      ],
    },
  });
  await makeVm(activities, vm);
  const { networkCards, cdroms, disks } = await configOf(world, activities, 'dressed');
  expect(networkCards).toEqual([
    { key: expect.any(Number), type: 'VMXNet3', backing: 'standard:VM Network', macAddress: expect.stringMatching(/^00:/u) },
    { key: expect.any(Number), type: 'E1000e', backing: distributed, macAddress: '00:50:56:12:34:56' },
  ]);
  expect(distributed).toMatch(/^distributed:[^/]+\/dvportgroup-/u);
  expect(cdroms).toEqual([{ key: expect.any(Number), iso: '[LocalDS_0] iso/seed.iso', connected: true, allowGuestControl: false }]);
  expect(disks).toMatchObject([{ own: true, boot: true }]);
  const devices = (await govc(world.handle, 'device.ls', '-vm', 'dressed')).split('\n').filter((line) => /ethernet|cdrom/u.test(line));
  expect(devices).toHaveLength(3);
});

test('again, it is found and nothing is submitted; by name too, where vCenter gave it another instance UUID', async () => {
  const vm = world.newVm('again');
  const { vmId } = await makeVm(activities, vm);
  await world.control.forgetRequests();
  expect(await activities.submitNewVm(vm)).toEqual({ vmId });
  expect(await activities.submitNewVm(world.newVm('again', { instanceUuid: '5c0ffee0-ffff-4000-8000-000000000000' }))).toEqual({ vmId });
  expect(await world.requests('CloneVM_Task')).toEqual([]);
});

test('one that is made of nothing has a disk, a card and its ISO', async () => {
  const vm = world.newVm('bare', {
    source: { from: 'nothing' },
    bootDiskBytes: 2 * 1024 ** 3,
    config: {
      numCPUs: 1,
      memoryMB: 128,
      guestId: 'otherGuest64',
      deviceChange: [
        { operation: 'add', device: 'networkCard', card: { key: null, type: 'VMXNet3', backing: 'standard:VM Network', macAddress: null } },
        { operation: 'add', device: 'cdrom', cdrom: { key: null, iso: '[LocalDS_0] iso/install.iso', connected: true, allowGuestControl: true } },
      ],
    },
  });
  await makeVm(activities, vm);
  expect(await witness(world.handle, 'bare')).toMatchObject([{ config: { instanceUuid: uidOf('bare'), hardware: { memoryMB: 128 } } }]);
  expect(await configOf(world, activities, 'bare')).toMatchObject({ networkCards: [{ type: 'VMXNet3' }], cdroms: [{ iso: '[LocalDS_0] iso/install.iso' }], disks: [{ capacityBytes: 2 * 1024 ** 3, own: true, boot: true }] });
});

test('what drover cannot make is said so, and nothing is submitted', async () => {
  expect(await failureOf(activities.submitNewVm(world.newVm('classy', { classConfigSpec: { _typeName: 'VirtualMachineConfigSpec', npivDesiredNodeWwns: 1 } })))).toMatchObject({ type: 'InvalidObject', message: expect.stringContaining('spec.configSpec.npivDesiredNodeWwns') });
  expect(await failureOf(activities.submitNewVm(world.newVm('orphan', { source: { from: 'template', moId: 'vm-999999' } })))).toMatchObject({ type: 'VsphereObjectNotFound' });
  expect((await world.control.requests()).filter(({ method }) => method.endsWith('_Task'))).toEqual([]);
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
    expect(await failureOf(activities.submitNewVm(vm))).toMatchObject({ type: 'VsphereUnavailable', nonRetryable: false });
    const { vmId } = await makeVm(activities, vm);
    expect(await witness(world.handle, name)).toHaveLength(1);
    expect(await find(name)).toBe(vmId);
  });

  test('the first one is still in flight when the second is submitted', async () => {
    const vm = world.newVm('in-flight');
    await world.control.delayTasks({ CloneVm: 700 });
    await world.control.strike({ method: 'CloneVM_Task', after: true, does: 'cut' });
    expect(await failureOf(activities.submitNewVm(vm))).toMatchObject({ type: 'VsphereUnavailable' });
    const second = (await activities.submitNewVm(vm)) as SubmittedTask;
    const { vmId } = await activities.awaitTask(second);
    expect(await witness(world.handle, 'in-flight')).toHaveLength(1);
    expect(await find('in-flight')).toBe(vmId);
  });

  test('eight race for it', async () => {
    const vm = world.newVm('raced');
    const results = await Promise.all(Array.from({ length: 8 }, () => makeVm(activities, vm)));
    expect(new Set(results.map(({ vmId }) => vmId)).size).toBe(1);
    expect(await witness(world.handle, 'raced')).toHaveLength(1);
  });
});

describe('what is somebody else’s is not touched', () => {
  test('a VM of the same name', async () => {
    await govc(world.handle, 'vm.create', '-on=false', '-m', '64', '-ds', 'LocalDS_0', '-net', 'VM Network', '-folder', '/DC0/vm/team-a', 'foreign');
    expect(await failureOf(activities.submitNewVm(world.newVm('foreign')))).toMatchObject({ type: 'VirtualMachineNameTaken', nonRetryable: true, message: expect.stringMatching(/foreign in group-\S+ is vm-\d+, which has no mark/u) });
    expect(await world.requests('CloneVM_Task')).toEqual([]);
  });

  test('a folder of the same name', async () => {
    await govc(world.handle, 'folder.create', '/DC0/vm/team-a/taken');
    expect(await failureOf(activities.submitNewVm(world.newVm('taken')))).toMatchObject({ type: 'VirtualMachineNameTaken', message: expect.stringContaining('is a Folder') });
  });

  test('a VM of another object, by name and by instance UUID', async () => {
    const theirs = world.newVm('theirs');
    const subject = await makeVm(activities, theirs);
    const { changeVersion } = await configOf(world, activities, 'theirs');
    const mine: NewVm = { ...theirs, mark: { namespacedName: 'team-b/theirs', uid: 'another' } };
    expect(await failureOf(activities.submitNewVm(mine))).toMatchObject({ type: 'VirtualMachineNotOwned', message: expect.stringContaining('the mark of team-a/theirs') });
    const stranger = { ...subject, mark: mine.mark };
    await world.control.forgetRequests();
    for (const attempt of [
      activities.submitPower({ ...stranger, operation: 'powerOn' }),
      activities.submitPower({ ...stranger, operation: 'shutdownGuest' }),
      activities.submitReconfigure({ ...stranger, changeVersion, spec: { numCPUs: 7 } }),
      activities.submitHardwareUpgrade({ ...stranger, version: 99 }),
      activities.submitAdoption({ ...stranger, changeVersion }),
      activities.submitRelease(stranger),
      activities.submitDetachDisks({ ...stranger, keys: [2000] }),
      activities.cancelVsphereTask({ ...stranger, task: 'task-1' }),
      activities.submitDestroy(stranger),
    ])
      expect(await failureOf(attempt)).toMatchObject({ type: 'VirtualMachineNotOwned', nonRetryable: true });
    expect((await world.control.requests()).filter(({ method }) => method !== 'RetrievePropertiesEx')).toEqual([]);
  });

  test('two VMs with one instance UUID: none is taken', async () => {
    await makeVm(activities, world.newVm('copied'));
    await govc(world.handle, 'vm.clone', '-vm', 'copied', '-on=false', '-ds', 'LocalDS_0', 'copy');
    const copy = /vm-\d+/u.exec(await govc(world.handle, 'find', '-i', '/DC0/vm', '-type', 'm', '-name', 'copy'))?.[0] ?? '';
    await gateway.submit('ReconfigVM_Task', { type: 'VirtualMachine', value: copy }, { spec: { instanceUuid: uidOf('copied') } }, never);
    await until('the copy to have it', 5_000, async () => (await gateway.findByInstanceUuid(uidOf('copied'), never)).length === 2 || 'not yet');
    expect(await failureOf(activities.submitNewVm(world.newVm('copied')))).toMatchObject({ type: 'VirtualMachineAmbiguous', nonRetryable: true, message: expect.stringMatching(/^2 VMs of vCenter lab have/u) });
  });
});

describe('changes', () => {
  const wanted = {
    memoryMB: 1024,
    annotation: 'kept by drover',
    cpuAllocation: { reservation: 200, limit: -1 },
    memoryAllocation: { reservation: 64, limit: 2048 },
    guestId: 'otherGuest64',
    firmware: 'efi',
    numCoresPerSocket: 2,
    cpuHotAddEnabled: true,
    memoryHotAddEnabled: true,
    nestedHVEnabled: true,
    vvtdEnabled: true,
    latencySensitivity: 'high',
    changeTrackingEnabled: true,
    bootDelay: 2_000,
    bootRetryEnabled: true,
    bootRetryDelay: 3_000,
    efiSecureBootEnabled: true,
    networkBootProtocol: 'ipv6' as const,
    managedBy: { extensionKey: 'com.vmware.vcenter.wcp', type: 'VirtualMachine' },
  };

  test('all of a change is one task, and what was not asked for is not in it', async () => {
    const subject = await makeVm(activities, world.newVm('changed', { config: { extraConfig: [{ key: 'app.a', value: '1' }, { key: 'app.b', value: '2' }] } }));
    const { changeVersion } = await configOf(world, activities, 'changed');
    const extraConfig = [{ key: 'app.b', value: '' }, { key: 'app.c', value: '3' }];
    await settle(activities, await activities.submitReconfigure({ ...subject, changeVersion, spec: { ...wanted, extraConfig } }));
    const [request] = await world.requests('ReconfigVM_Task');
    expect(request?.body).not.toMatch(/numCPUs|app\.a/u);
    expect(request?.body).toContain(`<changeVersion>${changeVersion}</changeVersion>`);
    expect(await configOf(world, activities, 'changed', { extraConfigKeys: ['app.a', 'app.b', 'app.c'] })).toMatchObject({ ...wanted, extraConfig: { 'app.a': '1', 'app.c': '3' } });
    const [seen] = await witness(world.handle, 'changed');
    expect(seen).toMatchObject({ config: { annotation: 'kept by drover', hardware: { memoryMB: 1024 } } });
    expect(seen?.config.extraConfig.map(({ key }) => key)).not.toContain('app.b');
    expect(world.audit.at(-1)).toMatchObject({ action: 'submitReconfigure', before: { changeVersion }, after: { memoryMB: 1024, extraConfigKeys: ['app.b', 'app.c'] } });
    expect(JSON.stringify(world.audit.at(-1))).not.toContain('"3"');
  });

  test('cards and drives come, are moved and go; a disk grows', async () => {
    const subject = await makeVm(activities, world.newVm('devices'));
    const change = async (deviceChange: Parameters<typeof activities.submitReconfigure>[0]['spec']['deviceChange']) => {
      const { changeVersion } = await configOf(world, activities, 'devices');
      await settle(activities, await activities.submitReconfigure({ ...subject, changeVersion, spec: { deviceChange: deviceChange ?? [] } }));
      return configOf(world, activities, 'devices');
    };
    const added = await change([
      { operation: 'add', device: 'networkCard', card: { key: null, type: 'VMXNet3', backing: 'standard:VM Network', macAddress: null } },
      { operation: 'add', device: 'cdrom', cdrom: { key: null, iso: '[LocalDS_0] a.iso', connected: false, allowGuestControl: false } },
      { operation: 'add', device: 'cdrom', cdrom: { key: null, iso: '[LocalDS_0] b.iso', connected: true, allowGuestControl: true } },
    ]);
    expect(added.cdroms.map(({ iso }) => iso)).toEqual(['[LocalDS_0] a.iso', '[LocalDS_0] b.iso']);
    const { network } = await activities.lookAtVirtualMachine(world.look('devices', { networks: [{ name: 'eth0', network: 'backend' }] }));
    const backing = network?.interfaces[0]?.backing ?? '';
    const [card] = added.networkCards;
    const [first, second] = added.cdroms;
    const [disk] = added.disks;
    const moved = await change([
      { operation: 'edit', device: 'networkCard', card: { ...card!, backing } },
      { operation: 'edit', device: 'cdrom', cdrom: { ...first!, connected: true } },
      { operation: 'remove', device: 'cdrom', key: second!.key! },
      { operation: 'edit', device: 'disk', key: disk!.key, capacityBytes: 20 * 1024 ** 3 },
    ]);
    expect(moved.networkCards).toEqual([{ ...card, backing }]);
    expect(moved.cdroms).toEqual([{ ...first, connected: true }]);
    expect(moved.disks).toMatchObject([{ key: disk!.key, capacityBytes: 20 * 1024 ** 3, own: true }]);
    const gone = await change([{ operation: 'remove', device: 'networkCard', key: moved.networkCards[0]!.key! }]);
    expect(gone.networkCards).toEqual([]);
  });

  test('one that was made on what is no more is a conflict for good, unless it is this very change', async () => {
    const subject = await makeVm(activities, world.newVm('contended'));
    const { changeVersion } = await configOf(world, activities, 'contended');
    await govc(world.handle, 'vm.change', '-vm', 'contended', '-m', '2048');
    expect(await failureOf(activities.submitReconfigure({ ...subject, changeVersion, spec: { numCPUs: 4 } }))).toMatchObject({ type: 'VirtualMachineConflict', nonRetryable: true });
    expect(await activities.submitReconfigure({ ...subject, changeVersion, spec: { memoryMB: 2048 } })).toBeNull();
    const now = (await configOf(world, activities, 'contended')).changeVersion;
    await world.control.strike({ method: 'ReconfigVM_Task', after: true, does: 'cut' });
    expect(await failureOf(activities.submitReconfigure({ ...subject, changeVersion: now, spec: { numCPUs: 4 } }))).toMatchObject({ type: 'VsphereUnavailable' });
    await until('it to have four', 5_000, async () => (await configOf(world, activities, 'contended')).numCPUs === 4 || 'not yet');
    expect(await activities.submitReconfigure({ ...subject, changeVersion: now, spec: { numCPUs: 4 } })).toBeNull();
    // The other one is govc's.
    expect((await world.requests('ReconfigVM_Task')).filter(({ body }) => body.includes('changeVersion'))).toHaveLength(1);
  });

  test('one that vCenter finds too late is told as a conflict by its task', async () => {
    const subject = await makeVm(activities, world.newVm('late'));
    const { changeVersion } = await configOf(world, activities, 'late');
    await govc(world.handle, 'vm.change', '-vm', 'late', '-m', '2048');
    const late = await gateway.submit('ReconfigVM_Task', { type: 'VirtualMachine', value: subject.vmId }, { spec: { changeVersion, numCPUs: 4 } }, never);
    expect(await failureOf(activities.awaitTask({ taskId: late, purpose: { kind: 'change', vmId: subject.vmId } }))).toMatchObject({ type: 'VirtualMachineConflict' });
  });

  test('hardware is upgraded once, and never back', async () => {
    const subject = await makeVm(activities, world.newVm('upgraded'));
    const { hardwareVersion } = await configOf(world, activities, 'upgraded');
    expect(await activities.submitHardwareUpgrade({ ...subject, version: hardwareVersion })).toBeNull();
    await settle(activities, await activities.submitHardwareUpgrade({ ...subject, version: hardwareVersion + 1 }));
    expect(await configOf(world, activities, 'upgraded')).toMatchObject({ hardwareVersion: hardwareVersion + 1 });
    expect(await activities.submitHardwareUpgrade({ ...subject, version: hardwareVersion + 1 })).toBeNull();
  });
});

describe('marks', () => {
  test('one without a mark is adopted on the version that was read, once', async () => {
    await govc(world.handle, 'vm.create', '-on=false', '-m', '64', '-ds', 'LocalDS_0', '-net', 'VM Network', '-folder', '/DC0/vm/team-a', 'adopted');
    const vmId = /vm-\d+/u.exec(await govc(world.handle, 'find', '-i', '/DC0/vm', '-type', 'm', '-name', 'adopted'))?.[0] ?? '';
    const subject: VmSubject = { vmId, mark: { namespacedName: 'team-a/adopted', uid: uidOf('adopted') }, cause: 'the test' };
    const { changeVersion } = await configOf(world, activities, 'adopted', { uniqueId: vmId });
    expect(await failureOf(activities.submitAdoption({ ...subject, changeVersion: 'another' }))).toMatchObject({ type: 'VirtualMachineConflict', nonRetryable: true });
    await settle(activities, await activities.submitAdoption({ ...subject, changeVersion }));
    expect(await find('adopted')).toBe(vmId);
    expect(await activities.submitAdoption({ ...subject, changeVersion })).toBeNull();
    expect(await failureOf(activities.submitAdoption({ ...subject, mark: { ...subject.mark, uid: 'another' }, changeVersion }))).toMatchObject({ type: 'VirtualMachineNotOwned' });
  });

  test('that of the operator before is replaced; released, nothing of either is left', async () => {
    await govc(world.handle, 'vm.create', '-on=false', '-m', '64', '-ds', 'LocalDS_0', '-net', 'VM Network', '-folder', '/DC0/vm/team-a', 'former');
    await govc(world.handle, 'vm.change', '-vm', 'former', '-e', 'vmservice.namespacedName=team-a/former', '-e', 'app.kept=yes');
    const vmId = /vm-\d+/u.exec(await govc(world.handle, 'find', '-i', '/DC0/vm', '-type', 'm', '-name', 'former'))?.[0] ?? '';
    const subject: VmSubject = { vmId, mark: { namespacedName: 'team-a/former', uid: uidOf('former') }, cause: 'the test' };
    const { changeVersion } = await configOf(world, activities, 'former', { uniqueId: vmId });
    await settle(activities, await activities.submitAdoption({ ...subject, changeVersion }));
    const { changeVersion: now, extraConfig } = await configOf(world, activities, 'former');
    expect(extraConfig).toEqual({ 'vmservice.namespacedName': 'team-a/former', 'drover.uid': uidOf('former') });
    await settle(activities, await activities.submitReconfigure({ ...subject, changeVersion: now, spec: { managedBy: { extensionKey: 'com.vmware.vcenter.wcp', type: 'VirtualMachine' } } }));
    await settle(activities, await activities.submitRelease(subject));
    const [seen] = await witness(world.handle, 'former');
    const keys = seen?.config.extraConfig.map(({ key }) => key) ?? [];
    expect(keys).toContain('app.kept');
    expect(keys.filter((key) => /^(vmservice|drover)\./u.test(key))).toEqual([]);
    expect(seen?.config.managedBy).toBeUndefined();
    expect(await activities.submitRelease(subject)).toBeNull();
  });
});

test('power: on, suspended, on, off; each once, and twice is well', async () => {
  const subject = await makeVm(activities, world.newVm('powered'));
  const seen = async () => (await witness(world.handle, 'powered'))[0]?.runtime.powerState;
  for (const [operation, state] of [['powerOn', 'poweredOn'], ['suspend', 'suspended'], ['powerOn', 'poweredOn'], ['powerOff', 'poweredOff']] as const) {
    await power(subject, operation);
    expect(await seen()).toBe(state);
    expect(await activities.submitPower({ ...subject, operation })).toBeNull();
  }
  await Promise.all([power(subject, 'powerOn'), power(subject, 'powerOn'), power(subject, 'powerOn')]);
  expect(await seen()).toBe('poweredOn');
});

test('a lost answer to a power-on does not make a second one', async () => {
  const subject = await makeVm(activities, world.newVm('lost-power'));
  await world.control.strike({ method: 'PowerOnVM_Task', after: true, does: 'cut' });
  expect(await failureOf(activities.submitPower({ ...subject, operation: 'powerOn' }))).toMatchObject({ type: 'VsphereUnavailable' });
  expect(world.audit.at(-1)).toMatchObject({ action: 'submitPower', after: { failed: expect.stringContaining('cut') } });
  await until('it to be on', 5_000, async () => (await witness(world.handle, 'lost-power'))[0]?.runtime.powerState === 'poweredOn' || 'off');
  expect(await activities.submitPower({ ...subject, operation: 'powerOn' })).toBeNull();
});

test('a restart changes the boot mark, and is made once for its intent, also when its answer was lost', async () => {
  const subject = await makeVm(activities, world.newVm('restarted'));
  expect(await factsOf(world, activities, 'restarted')).toMatchObject({ bootMark: 'off', upSinceMs: null });
  await power(subject, 'powerOn');
  const { bootMark, upSinceMs } = await factsOf(world, activities, 'restarted');
  expect(upSinceMs).toBeGreaterThan(Date.now() - 60_000);
  expect((await factsOf(world, activities, 'restarted')).bootMark).toBe(bootMark);
  const { changeVersion } = await configOf(world, activities, 'restarted');
  await settle(activities, await activities.submitReconfigure({ ...subject, changeVersion, spec: { extraConfig: [{ key: 'drover.restartIntent', value: `1767225600000 ${bootMark}` }] } }));
  await world.control.strike({ method: 'ResetVM_Task', after: true, does: 'cut' });
  expect(await failureOf(activities.submitPower({ ...subject, operation: 'reset' }))).toMatchObject({ type: 'VsphereUnavailable' });
  await until('it to be reset', 5_000, async () => (await factsOf(world, activities, 'restarted')).bootMark !== bootMark || 'not yet');
  expect(await activities.submitPower({ ...subject, operation: 'reset' })).toBeNull();
  expect(await world.requests('ResetVM_Task')).toHaveLength(1);
});

test('a guest is asked where Tools run, and said to have none where they do not', async () => {
  const subject = await makeVm(activities, world.newVm('asked'));
  const ask = (operation: PowerOperation) => activities.submitPower({ ...subject, operation });
  await power(subject, 'powerOn');
  expect(await failureOf(ask('shutdownGuest'))).toMatchObject({ type: 'GuestToolsNotRunning', nonRetryable: true });
  expect(await failureOf(ask('rebootGuest'))).toMatchObject({ type: 'GuestToolsNotRunning' });
  await govc(world.handle, 'vm.change', '-vm', 'asked', '-e', 'SET.guest.toolsRunningStatus=guestToolsRunning');
  await world.control.deafenGuests(true);
  expect(await ask('shutdownGuest')).toBeNull();
  expect(await factsOf(world, activities, 'asked')).toMatchObject({ powerState: 'poweredOn', guest: { toolsRunning: true, known: true } });
  await world.control.deafenGuests(false);
  expect(await ask('rebootGuest')).toBeNull();
  expect(await ask('shutdownGuest')).toBeNull();
  await until('it to be off', 5_000, async () => (await witness(world.handle, 'asked'))[0]?.runtime.powerState === 'poweredOff' || 'on');
  expect(await ask('shutdownGuest')).toBeNull();
  expect(await failureOf(ask('rebootGuest'))).toMatchObject({ type: 'VirtualMachineStateRefused' });
});

test('destroyed, with its files; twice is well; gone, it is not found', async () => {
  const subject = await makeVm(activities, world.newVm('doomed'));
  const submitted = await activities.submitDestroy(subject);
  await settle(activities, submitted);
  expect(await witness(world.handle, 'doomed')).toEqual([]);
  expect(await activities.submitDestroy(subject)).toBeNull();
  expect(await find('doomed')).toBeNull();
  // A worker that comes late to the same task finds its purpose reached.
  const forgotten: SubmittedTask = { ...taskOf(submitted), taskId: 'task-999999' };
  expect(await activities.awaitTask(forgotten)).toEqual({ vmId: subject.vmId });
  expect(await failureOf(activities.submitPower({ ...subject, operation: 'powerOn' }))).toMatchObject({ type: 'VirtualMachineNotFound' });
});

test('one that runs is not destroyed, and says why', async () => {
  const subject = await makeVm(activities, world.newVm('running'));
  await power(subject, 'powerOn');
  expect(await failureOf(settle(activities, await activities.submitDestroy(subject)))).toMatchObject({ type: 'VirtualMachineStateRefused', nonRetryable: true, message: expect.stringContaining('existingState poweredOn') });
  expect(await witness(world.handle, 'running')).toHaveLength(1);
});

test('a disk that was not made with it survives: destroying is refused until it is detached, and its file stays', async () => {
  const subject = await makeVm(activities, world.newVm('with-volume'));
  await govc(world.handle, 'datastore.mkdir', '-ds', 'LocalDS_0', 'volumes');
  await govc(world.handle, 'vm.disk.create', '-vm', 'with-volume', '-ds', 'LocalDS_0', '-name', 'volumes/precious', '-size', '1G');
  expect(await failureOf(activities.submitDestroy(subject))).toMatchObject({ type: 'ForeignDisksAttached', nonRetryable: true, message: expect.stringContaining('volumes/precious.vmdk') });
  const volumes = (await configOf(world, activities, 'with-volume')).disks.filter(({ own }) => !own);
  expect(volumes).toMatchObject([{ capacityBytes: 1024 ** 3, boot: false }]);
  const keys = volumes.map(({ key }) => key);
  await settle(activities, await activities.submitDetachDisks({ ...subject, keys }));
  const [request] = (await world.requests('ReconfigVM_Task')).slice(-1);
  expect(request?.body).toContain('<operation>remove</operation>');
  expect(request?.body).not.toContain('fileOperation');
  expect(await activities.submitDetachDisks({ ...subject, keys })).toBeNull();
  await settle(activities, await activities.submitDestroy(subject));
  expect(await govc(world.handle, 'datastore.ls', '-ds', 'LocalDS_0', 'volumes')).toContain('precious.vmdk');
});

test('what fails in the task is told by its fault, and not tried again by the wait', async () => {
  const subject = await makeVm(activities, world.newVm('starved'));
  await world.control.fail({ method: 'PowerOnVM_Task', fault: 'InsufficientMemoryResourcesFault', inTask: true, fields: { unreserved: 1, requested: 2 } });
  expect(await failureOf(power(subject, 'powerOn'))).toMatchObject({ type: 'VsphereResourcesExhausted', nonRetryable: true, message: expect.stringContaining('InsufficientMemoryResourcesFault') });
  await world.control.fail({ method: 'PowerOnVM_Task', fault: 'SystemError', fields: { reason: 'vpxd' }, inTask: true });
  expect(await failureOf(power(subject, 'powerOn'))).toMatchObject({ type: 'VsphereFailed', nonRetryable: true });
});

test('a wait goes on at another worker, with another session', async () => {
  await world.control.delayTasks({ CloneVm: 800 });
  const submitted = (await activities.submitNewVm(world.newVm('handed-over'))) as SubmittedTask;
  const first = new AbortController();
  const given = failureOf(world.activities(gateway, first.signal).awaitTask(submitted));
  await world.control.endSessions();
  first.abort(new CancelledFailure('WORKER_SHUTDOWN'));
  await given;
  expect(await world.requests('CancelTask')).toEqual([]);
  const { vmId } = await world.activities(world.gateway()).awaitTask(submitted);
  expect(await find('handed-over')).toBe(vmId);
});

test('a cancel reaches the task; a clone that ends well all the same is found and destroyed', async () => {
  const vm = world.newVm('cancelled');
  await world.control.delayTasks({ CloneVm: 800 });
  const submitted = (await activities.submitNewVm(vm)) as SubmittedTask;
  const stop = new AbortController();
  const waiting = failureOf(world.activities(gateway, stop.signal).awaitTask(submitted));
  stop.abort(new CancelledFailure('CANCELLED'));
  expect(await waiting).toBeInstanceOf(Error);
  expect(await world.requests('CancelTask')).toHaveLength(1);
  // The cancel comes too late for the lab's vCenter.
  const { moId } = await until('the clone to appear', 10_000, async () => (await activities.lookAtVirtualMachine(world.look('cancelled'))).vm ?? 'not yet');
  await settle(activities, await activities.submitDestroy({ vmId: moId, mark: vm.mark, cause: 'compensation' }));
  expect(await witness(world.handle, 'cancelled')).toEqual([]);
});

describe('a create that nobody wants any more', () => {
  const request = (vm: NewVm, task: string | null) => ({ mark: vm.mark, cause: vm.cause, task, folder: vm.create.at.folder, name: vm.create.name });

  test('is cancelled by its task, and waited for', async () => {
    const vm = world.newVm('unwanted');
    await world.control.delayTasks({ CloneVm: 500 });
    const { taskId } = (await activities.submitNewVm(vm)) as SubmittedTask;
    await activities.stopCreate(request(vm, taskId));
    expect(await world.requests('CancelTask')).toHaveLength(1);
    expect(['success', 'error']).toContain((await gateway.readTask(taskId, never)).state);
    await activities.stopCreate(request(vm, taskId));
    expect(await world.requests('CancelTask')).toHaveLength(1);
  });

  test('is waited for where nobody knows its task any more; others are not cancelled', async () => {
    const vm = world.newVm('forgotten');
    await world.control.delayTasks({ CloneVm: 500 });
    const { taskId } = (await activities.submitNewVm(vm)) as SubmittedTask;
    await activities.stopCreate(request(vm, null));
    expect((await gateway.readTask(taskId, never)).state).toBe('success');
    expect(await find('forgotten')).not.toBeNull();
    expect(await world.requests('CancelTask')).toEqual([]);
  });

  test('that is not done in time is said so', async () => {
    const vm = world.newVm('stubborn');
    await world.control.delayTasks({ CloneVm: 700 });
    const submitted = (await activities.submitNewVm(vm)) as SubmittedTask;
    expect(await failureOf(world.activities(gateway, never, Date.now()).stopCreate(request(vm, null)))).toMatchObject({ type: 'VsphereTaskOverdue' });
    await settle(activities, submitted);
  });
});

test('a task of a VM is cancelled, and no other one’s', async () => {
  const subject = await makeVm(activities, world.newVm('tasked'));
  const other = await makeVm(activities, world.newVm('other'));
  await world.control.delayTasks({ PowerOn: 5_000 });
  const running = taskOf(await activities.submitPower({ ...subject, operation: 'powerOn' }));
  expect(await factsOf(world, activities, 'tasked')).toMatchObject({ task: { id: running.taskId, descriptionId: 'VirtualMachine.powerOn' } });
  expect(await failureOf(activities.cancelVsphereTask({ ...other, task: running.taskId }))).toMatchObject({ type: 'RequestRefused' });
  expect(await world.requests('CancelTask')).toEqual([]);
  await activities.cancelVsphereTask({ ...subject, task: running.taskId });
  expect(await world.requests('CancelTask')).toHaveLength(1);
  await activities.cancelVsphereTask({ ...subject, task: 'task-999999' });
});

test('a task that takes too long is told with how far it is, and left running', async () => {
  await world.control.delayTasks({ CloneVm: 1_500 });
  const submitted = (await activities.submitNewVm(world.newVm('slow'))) as SubmittedTask;
  expect(await failureOf(world.activities(gateway, never, Date.now()).awaitTask(submitted))).toMatchObject({ type: 'VsphereTaskOverdue', nonRetryable: true });
  expect(await world.requests('CancelTask')).toEqual([]);
  await activities.awaitTask(submitted);
  expect(await witness(world.handle, 'slow')).toHaveLength(1);
});
