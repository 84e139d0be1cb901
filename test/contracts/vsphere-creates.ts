import type { SubmittedTask } from '../../contracts/virtual-machine/activities.ts';
import { until } from '../flows/until.ts';
import {
  configOf,
  describeVms,
  failureOf,
  makeVm,
  never,
  openSuite,
  uidOf,
  vmFolder,
  type NewVm,
  type VsphereContext,
  type VsphereCounterpart,
} from './vsphere-context.ts';

/** How VMs are made, once and with their owner, whatever becomes of the answers. */
export function vsphereCreatesContract(open: () => Promise<VsphereCounterpart>): void {
  const { context, gateway, activities, find, test, each } = openSuite(open);

  test('a clone carries its identity and its owner from its first moment, and govc sees it', async () => {
    const vm = context.newVm('first', {
      config: {
        numCPUs: 3,
        memoryMB: 768,
        annotation: 'drover',
        managedBy: { extensionKey: 'e', type: 't' },
        extraConfig: [{ key: 'guestinfo.hello', value: 'a <b> & "c"\r\nd' }],
      },
    });
    const submitted = (await activities.submitNewVm(vm)) as SubmittedTask;
    expect(await activities.awaitTask(submitted)).toEqual({ vmId: expect.stringMatching(/^vm-/u) });
    const [found, ...others] = await describeVms(context, 'first');
    expect(others).toEqual([]);
    expect(found).toMatchObject({
      config: { instanceUuid: uidOf('first'), uuid: uidOf('first'), hardware: { numCPU: 3, memoryMB: 768 } },
      runtime: { powerState: 'poweredOff' },
    });
    expect(found?.config.extraConfig).toEqual(
      expect.arrayContaining([
        { key: 'vmservice.namespacedName', value: 'team-a/first' },
        { key: 'drover.uid', value: uidOf('first') },
        { key: 'guestinfo.hello', value: 'a <b> & "c"\r\nd' },
      ]),
    );
    const [request] = await context.requests('CloneVM_Task');
    expect(request?.body).toContain('<key>drover.uid</key>');
    // The simulator drops them on the way.
    expect(request?.body).toContain('<annotation>drover</annotation>');
    expect(request?.body).toContain('<managedBy><extensionKey>e</extensionKey><type>t</type></managedBy>');
    expect(context.audit).toEqual([
      expect.objectContaining({ action: 'submitNewVm', object: 'vm/team-a/first', requestId: submitted.taskId }),
    ]);
  });

  test('a clone has the cards and drives that are wanted, and none of its template’s', async () => {
    const { network } = await activities.observeVirtualMachineInVcenter(
      context.observationRequest('dressed', {
        networks: [
          { name: 'eth0', network: 'VM Network' },
          { name: 'eth1', network: 'backend' },
        ],
      }),
    );
    const [standard = '', distributed = ''] = network?.interfaces.map(({ backing }) => backing ?? '') ?? [];
    const vm = context.newVm('dressed', {
      config: {
        deviceChange: [
          {
            operation: 'add',
            device: 'networkCard',
            card: { key: null, type: 'VMXNet3', backing: standard, macAddress: null },
          },
          {
            operation: 'add',
            device: 'networkCard',
            card: { key: null, type: 'E1000e', backing: distributed, macAddress: '00:50:56:12:34:56' },
          },
          {
            operation: 'add',
            device: 'cdrom',
            cdrom: { key: null, iso: '[LocalDS_0] iso/seed.iso', connected: true, allowGuestControl: false },
          },
        ],
      },
    });
    await makeVm(activities, vm);
    const { networkCards, cdroms, disks } = await configOf(context, activities, 'dressed');
    expect(networkCards).toEqual([
      {
        key: expect.any(Number),
        type: 'VMXNet3',
        backing: 'standard:VM Network',
        macAddress: expect.stringMatching(/^00:/u),
      },
      { key: expect.any(Number), type: 'E1000e', backing: distributed, macAddress: '00:50:56:12:34:56' },
    ]);
    expect(distributed).toMatch(/^distributed:[^/]+\/dvportgroup-/u);
    expect(cdroms).toEqual([
      {
        key: expect.any(Number),
        iso: '[LocalDS_0] iso/seed.iso',
        connected: true,
        allowGuestControl: false,
        slot: { bus: 'IDE', busNumber: 0, unitNumber: 0 },
      },
    ]);
    expect(disks).toMatchObject([{ own: true, boot: true }]);
    const devices = (await context.witness.describeVm(`${vmFolder}/dressed`))?.config.hardware.device ?? [];
    expect(devices.filter(({ macAddress }) => macAddress !== undefined)).toHaveLength(2);
  });

  test('again, it is found and nothing is submitted; by name too, where it has another instance UUID', async () => {
    const vm = context.newVm('again');
    const { vmId } = await makeVm(activities, vm);
    await context.control.clearRequests();
    expect(await activities.submitNewVm(vm)).toEqual({ vmId });
    expect(
      await activities.submitNewVm(context.newVm('again', { instanceUuid: '5c0ffee0-ffff-4000-8000-000000000000' })),
    ).toEqual({ vmId });
    expect(await context.requests('CloneVM_Task')).toEqual([]);
  });

  test('one that is made of nothing has a disk, a card and its ISO', async () => {
    const vm = context.newVm('bare', {
      source: { kind: 'nothing' },
      bootDiskBytes: 2 * 1024 ** 3,
      config: {
        numCPUs: 1,
        memoryMB: 128,
        guestId: 'otherGuest64',
        deviceChange: [
          {
            operation: 'add',
            device: 'networkCard',
            card: { key: null, type: 'VMXNet3', backing: 'standard:VM Network', macAddress: null },
          },
          {
            operation: 'add',
            device: 'cdrom',
            cdrom: { key: null, iso: '[LocalDS_0] iso/install.iso', connected: true, allowGuestControl: true },
          },
        ],
      },
    });
    await makeVm(activities, vm);
    expect(await describeVms(context, 'bare')).toMatchObject([
      { config: { instanceUuid: uidOf('bare'), hardware: { memoryMB: 128 } } },
    ]);
    expect(await configOf(context, activities, 'bare')).toMatchObject({
      networkCards: [{ type: 'VMXNet3' }],
      cdroms: [{ iso: '[LocalDS_0] iso/install.iso' }],
      disks: [{ capacityBytes: 2 * 1024 ** 3, own: true, boot: true }],
    });
  });

  test('what drover cannot make is said so, and nothing is submitted', async () => {
    expect(
      await failureOf(
        activities.submitNewVm(
          context.newVm('classy', {
            classConfigSpec: { _typeName: 'VirtualMachineConfigSpec', npivDesiredNodeWwns: 1 },
          }),
        ),
      ),
    ).toMatchObject({ type: 'InvalidObject', message: expect.stringContaining('spec.configSpec.npivDesiredNodeWwns') });
    expect(
      await failureOf(
        activities.submitNewVm(context.newVm('orphan', { source: { kind: 'template', moId: 'vm-999999' } })),
      ),
    ).toMatchObject({ type: 'VsphereObjectNotFound' });
    expect((await context.control.requests()).filter(({ method }) => method.endsWith('_Task'))).toEqual([]);
  });

  describe('whatever becomes of the answer to the call, there is one VM', () => {
    const losses: [what: string, name: string, fault: Parameters<VsphereContext['control']['inject']>[0]][] = [
      ['the answer is lost after the effect', 'lost', { method: 'CloneVM_Task', after: true, does: 'cut' }],
      ['the call does not arrive', 'dropped', { method: 'CloneVM_Task', does: 'cut' }],
      [
        'something in front answers 503 after the effect',
        'gateway',
        { method: 'CloneVM_Task', after: true, does: 'status', status: 503 },
      ],
    ];
    each(losses)('%s', async (_, name, fault) => {
      const vm = context.newVm(name);
      await context.control.inject(fault);
      expect(await failureOf(activities.submitNewVm(vm))).toMatchObject({
        type: 'VsphereUnavailable',
        nonRetryable: false,
      });
      // VsphereBusy for a moment, which Temporal would repeat: vCenter lists a VM before the create has
      // written its owner.
      const { vmId } = await until('the create', 5_000, () => makeVm(activities, vm));
      expect(await describeVms(context, name)).toHaveLength(1);
      expect(await find(name)).toBe(vmId);
    });

    test('the first one is still in flight when the second is submitted', async () => {
      const vm = context.newVm('in-flight');
      await context.control.delayTasks({ CloneVm: 700 });
      await context.control.inject({ method: 'CloneVM_Task', after: true, does: 'cut' });
      expect(await failureOf(activities.submitNewVm(vm))).toMatchObject({ type: 'VsphereUnavailable' });
      const second = (await activities.submitNewVm(vm)) as SubmittedTask;
      const { vmId } = await activities.awaitTask(second);
      expect(await describeVms(context, 'in-flight')).toHaveLength(1);
      expect(await find('in-flight')).toBe(vmId);
    });

    test('eight race for it', async () => {
      const vm = context.newVm('raced');
      const results = await Promise.all(Array.from({ length: 8 }, () => makeVm(activities, vm)));
      expect(new Set(results.map(({ vmId }) => vmId)).size).toBe(1);
      expect(await describeVms(context, 'raced')).toHaveLength(1);
    });
  });

  describe('the VM of another owner is not touched', () => {
    test('a VM of the same name', async () => {
      await context.witness.createVm(`${vmFolder}/foreign`);
      expect(await failureOf(activities.submitNewVm(context.newVm('foreign')))).toMatchObject({
        type: 'VirtualMachineNameTaken',
        nonRetryable: true,
        message: expect.stringMatching(/foreign in group-\S+ is vm-\d+, which has no owner/u),
      });
      expect(await context.requests('CloneVM_Task')).toEqual([]);
    });

    test('a folder of the same name', async () => {
      await context.witness.createFolder(`${vmFolder}/taken`);
      expect(await failureOf(activities.submitNewVm(context.newVm('taken')))).toMatchObject({
        type: 'VirtualMachineNameTaken',
        message: expect.stringContaining('is a Folder'),
      });
    });

    test('a VM of another object, by name and by instance UUID', async () => {
      const theirs = context.newVm('theirs');
      const subject = await makeVm(activities, theirs);
      const { changeVersion } = await configOf(context, activities, 'theirs');
      const mine: NewVm = { ...theirs, owner: { namespacedName: 'team-b/theirs', uid: 'another' } };
      expect(await failureOf(activities.submitNewVm(mine))).toMatchObject({
        type: 'VirtualMachineNotOwned',
        message: expect.stringContaining('owner team-a/theirs'),
      });
      const stranger = { ...subject, owner: mine.owner };
      await context.control.clearRequests();
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
      expect((await context.control.requests()).filter(({ method }) => method !== 'RetrievePropertiesEx')).toEqual([]);
    });

    test('two VMs with one instance UUID: none is taken', async () => {
      await makeVm(activities, context.newVm('copied'));
      const copy = await context.witness.cloneVm({ from: `${vmFolder}/copied`, to: `${vmFolder}/copy` });
      await gateway.submit(
        'ReconfigVM_Task',
        { type: 'VirtualMachine', value: copy },
        { spec: { instanceUuid: uidOf('copied') } },
        never,
      );
      await until(
        'the copy to have it',
        5_000,
        async () => (await gateway.findByInstanceUuid(uidOf('copied'), never)).length === 2 || 'not yet',
      );
      expect(await failureOf(activities.submitNewVm(context.newVm('copied')))).toMatchObject({
        type: 'VirtualMachineAmbiguous',
        nonRetryable: true,
        message: expect.stringMatching(/^2 VMs of vCenter lab have/u),
      });
    });
  });
}
