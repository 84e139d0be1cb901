import type { VmSubject } from '../../contracts/virtual-machine/activities.ts';
import type { TagChange } from '../../contracts/virtual-machine/config.ts';
import { extraConfigKeys } from '../../contracts/virtual-machine/metadata.ts';
import { until } from '../flows/until.ts';
import {
  configOf,
  describeVms,
  failureOf,
  makeVm,
  never,
  openSuite,
  settle,
  uidOf,
  vmFolder,
  type VsphereCounterpart,
} from './vsphere-context.ts';

/** How VMs are changed on the version that was read, adopted and released. */
export function vsphereChangesContract(open: () => Promise<VsphereCounterpart>): void {
  const { context, gateway, activities, find, test } = openSuite(open);

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
      const subject = await makeVm(
        activities,
        context.newVm('changed', {
          config: {
            extraConfig: [
              { key: 'app.a', value: '1' },
              { key: 'app.b', value: '2' },
            ],
          },
        }),
      );
      const { changeVersion } = await configOf(context, activities, 'changed');
      const extraConfig = [
        { key: 'app.b', value: '' },
        { key: 'app.c', value: '3' },
      ];
      await settle(
        activities,
        await activities.submitReconfigure({ ...subject, changeVersion, spec: { ...wanted, extraConfig } }),
      );
      const [request] = await context.requests('ReconfigVM_Task');
      expect(request?.body).not.toMatch(/numCPUs|app\.a/u);
      expect(request?.body).toContain(`<changeVersion>${changeVersion}</changeVersion>`);
      expect(
        await configOf(context, activities, 'changed', { extraConfigKeys: ['app.a', 'app.b', 'app.c'] }),
      ).toMatchObject({ ...wanted, extraConfig: { 'app.a': '1', 'app.c': '3' } });
      const [found] = await describeVms(context, 'changed');
      expect(found).toMatchObject({ config: { annotation: 'kept by drover', hardware: { memoryMB: 1024 } } });
      expect(found?.config.extraConfig.map(({ key }) => key)).not.toContain('app.b');
      expect(context.audit.at(-1)).toMatchObject({
        action: 'submitReconfigure',
        before: { changeVersion },
        after: { memoryMB: 1024, extraConfigKeys: ['app.b', 'app.c'] },
      });
      expect(JSON.stringify(context.audit.at(-1))).not.toContain('"3"');
    });

    test('tags are attached and detached by a change, and those of others stay', async () => {
      const [one, other, foreign] = [
        await context.witness.createTag('gold'),
        await context.witness.createTag('silver'),
        await context.witness.createTag('foreign'),
      ];
      const subject = await makeVm(activities, context.newVm('tagged'));
      const tags = async () => (await context.witness.listTags(`${vmFolder}/tagged`)).toSorted();
      const change = async (tagSpecs: TagChange[], value: string) => {
        const { changeVersion } = await configOf(context, activities, 'tagged');
        const extraConfig = [{ key: extraConfigKeys.policyTags, value }];
        const request = { ...subject, changeVersion, spec: { tagSpecs, extraConfig } };
        await settle(activities, await activities.submitReconfigure(request));
        return request;
      };
      await change([{ operation: 'add', tag: foreign }], '');
      const request = await change(
        [
          { operation: 'add', tag: one },
          { operation: 'add', tag: other },
        ],
        `${one},${other}`,
      );
      expect(await tags()).toEqual(['foreign', 'gold', 'silver']);
      // Of another version by now, and made already.
      expect(await activities.submitReconfigure(request)).toBeNull();
      await change([{ operation: 'remove', tag: one }], other);
      expect(await tags()).toEqual(['foreign', 'silver']);
      const { extraConfig } = await configOf(context, activities, 'tagged');
      expect(extraConfig[extraConfigKeys.policyTags]).toBe(other);
      const [sent] = await context.requests('ReconfigVM_Task');
      expect(sent?.soapAction).toContain('urn:vim25/9.1.0.0');
      await settle(activities, await activities.submitRelease(subject));
      expect(await tags()).toEqual(['foreign']);
    });

    test('cards and drives come, are moved and go; a disk grows', async () => {
      const subject = await makeVm(activities, context.newVm('devices'));
      const change = async (
        deviceChange: Parameters<typeof activities.submitReconfigure>[0]['spec']['deviceChange'],
      ) => {
        const { changeVersion } = await configOf(context, activities, 'devices');
        await settle(
          activities,
          await activities.submitReconfigure({ ...subject, changeVersion, spec: { deviceChange: deviceChange ?? [] } }),
        );
        return configOf(context, activities, 'devices');
      };
      const added = await change([
        {
          operation: 'add',
          device: 'networkCard',
          card: { key: null, type: 'VMXNet3', backing: 'standard:VM Network', macAddress: null },
        },
        {
          operation: 'add',
          device: 'cdrom',
          cdrom: { key: null, iso: '[LocalDS_0] a.iso', connected: false, allowGuestControl: false },
        },
        {
          operation: 'add',
          device: 'cdrom',
          cdrom: { key: null, iso: '[LocalDS_0] b.iso', connected: true, allowGuestControl: true },
        },
      ]);
      expect(added.cdroms.map(({ iso }) => iso)).toEqual(['[LocalDS_0] a.iso', '[LocalDS_0] b.iso']);
      const { network } = await activities.observeVirtualMachineInVcenter(
        context.observationRequest('devices', { networks: [{ name: 'eth0', network: 'backend' }] }),
      );
      const backing = network?.interfaces[0]?.backing ?? '';
      const [card] = added.networkCards;
      // Its settings in ExtraConfig are found by it.
      expect(card?.key).toBeGreaterThanOrEqual(4_000);
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
      const tuned = { ...card!, backing, uptv2Enabled: true, numaNode: 1 };
      const [near] = (await change([{ operation: 'edit', device: 'networkCard', card: tuned }])).networkCards;
      expect(near).toEqual(tuned);
      const [far] = (await change([{ operation: 'edit', device: 'networkCard', card: { ...card!, backing } }]))
        .networkCards;
      expect(far).toEqual({ ...card, backing });
      const gone = await change([{ operation: 'remove', device: 'networkCard', key: moved.networkCards[0]!.key! }]);
      expect(gone.networkCards).toEqual([]);
    });

    test('controllers and PCI devices come and go, and an order to boot in, NUMA nodes and threads are kept', async () => {
      const subject = await makeVm(activities, context.newVm('hardware'));
      const change = async (spec: Parameters<typeof activities.submitReconfigure>[0]['spec']) => {
        const { changeVersion } = await configOf(context, activities, 'hardware');
        await settle(activities, await activities.submitReconfigure({ ...subject, changeVersion, spec }));
        return configOf(context, activities, 'hardware');
      };
      const passthrough = {
        kind: 'passthrough' as const,
        allowed: [{ vendorId: 0x15b3, deviceId: 0x1018 }],
        customLabel: 'rdma',
      };
      const before = await configOf(context, activities, 'hardware');
      const added = await change({
        coresPerNumaNode: 2,
        simultaneousThreads: 2,
        deviceChange: [
          {
            operation: 'add',
            device: 'controller',
            controller: { key: null, bus: 'SCSI', busNumber: 1, type: 'LsiLogicSAS', sharing: 'Physical' },
          },
          {
            operation: 'add',
            device: 'controller',
            controller: { key: null, bus: 'NVME', busNumber: 0, type: null, sharing: 'None' },
          },
          { operation: 'add', device: 'pciDevice', pciDevice: { kind: 'vgpu', profile: 'grid_a' } },
          { operation: 'add', device: 'pciDevice', pciDevice: passthrough },
          {
            operation: 'add',
            device: 'networkCard',
            card: { key: null, type: 'VMXNet3', backing: 'standard:VM Network', macAddress: null },
          },
        ],
      });
      expect(added).toMatchObject({ coresPerNumaNode: 2, simultaneousThreads: 2 });
      expect(added.pciDevices.map(({ device }) => device)).toEqual([{ kind: 'vgpu', profile: 'grid_a' }, passthrough]);
      expect(added.controllers).toHaveLength(before.controllers.length + 2);
      const scsi = added.controllers.find(({ bus, busNumber }) => bus === 'SCSI' && busNumber === 1);
      expect(scsi).toMatchObject({ type: 'LsiLogicSAS', sharing: 'Physical', isInUse: false });
      const [card] = added.networkCards;
      const [disk] = added.disks;
      const ordered = await change({
        bootOrder: [
          { type: 'network', key: card!.key! },
          { type: 'disk', key: disk!.key },
        ],
        coresPerNumaNode: 0,
        deviceChange: [
          { operation: 'edit', device: 'controller', controller: { ...scsi!, sharing: 'Virtual' } },
          { operation: 'remove', device: 'pciDevice', key: added.pciDevices[0]!.key },
        ],
      });
      expect(ordered).toMatchObject({
        coresPerNumaNode: 0,
        bootOrder: [
          { type: 'network', key: card!.key },
          { type: 'disk', key: disk!.key },
        ],
      });
      const [found] = await describeVms(context, 'hardware');
      expect(found?.config.bootOptions).toMatchObject({
        bootOrder: [{ deviceKey: card!.key }, { deviceKey: disk!.key }],
      });
      expect(found?.config.hardware.device.find(({ key }) => key === scsi!.key)).toMatchObject({
        busNumber: 1,
        sharedBus: 'virtualSharing',
      });
      expect(ordered.pciDevices.map(({ device }) => device)).toEqual([passthrough]);
      expect(ordered.controllers.find(({ key }) => key === scsi!.key)).toMatchObject({ sharing: 'Virtual' });
      const [first = { body: '' }] = await context.requests('ReconfigVM_Task');
      // The order of the elements is that of the schema, and the lab's vCenter refuses another.
      expect(first.body).toContain('<virtualNuma><coresPerNumaNode>2</coresPerNumaNode></virtualNuma>');
      expect(first.body).toContain('<vgpu>grid_a</vgpu>');
      expect(first.body).toContain(
        '<allowedDevice><vendorId>5555</vendorId><deviceId>4120</deviceId></allowedDevice><customLabel>rdma</customLabel>',
      );
    });

    test('one that was made on what is no more is a conflict for good, unless it is this very change', async () => {
      const subject = await makeVm(activities, context.newVm('contended'));
      const { changeVersion } = await configOf(context, activities, 'contended');
      await context.witness.changeVm(`${vmFolder}/contended`, { memoryMiB: 2_048 });
      expect(
        await failureOf(activities.submitReconfigure({ ...subject, changeVersion, spec: { numCPUs: 4 } })),
      ).toMatchObject({ type: 'VirtualMachineConflict', nonRetryable: true });
      expect(await activities.submitReconfigure({ ...subject, changeVersion, spec: { memoryMB: 2048 } })).toBeNull();
      const now = (await configOf(context, activities, 'contended')).changeVersion;
      await context.control.inject({ method: 'ReconfigVM_Task', after: true, does: 'cut' });
      expect(
        await failureOf(activities.submitReconfigure({ ...subject, changeVersion: now, spec: { numCPUs: 4 } })),
      ).toMatchObject({ type: 'VsphereUnavailable' });
      await until(
        'it to have four',
        5_000,
        async () => (await configOf(context, activities, 'contended')).numCPUs === 4 || 'not yet',
      );
      expect(await activities.submitReconfigure({ ...subject, changeVersion: now, spec: { numCPUs: 4 } })).toBeNull();
      // The other one is govc's.
      expect(
        (await context.requests('ReconfigVM_Task')).filter(({ body }) => body.includes('changeVersion')),
      ).toHaveLength(1);
    });

    test('one that vCenter finds too late fails as a conflict in its task', async () => {
      const subject = await makeVm(activities, context.newVm('late'));
      const { changeVersion } = await configOf(context, activities, 'late');
      await context.witness.changeVm(`${vmFolder}/late`, { memoryMiB: 2_048 });
      const late = await gateway.submit(
        'ReconfigVM_Task',
        { type: 'VirtualMachine', value: subject.vmId },
        { spec: { changeVersion, numCPUs: 4 } },
        never,
      );
      expect(
        await failureOf(activities.awaitTask({ taskId: late, purpose: { kind: 'change', vmId: subject.vmId } })),
      ).toMatchObject({ type: 'VirtualMachineConflict' });
    });

    test('hardware is upgraded once, and never back', async () => {
      const subject = await makeVm(activities, context.newVm('upgraded'));
      const { hardwareVersion } = await configOf(context, activities, 'upgraded');
      expect(await activities.submitHardwareUpgrade({ ...subject, version: hardwareVersion })).toBeNull();
      await settle(activities, await activities.submitHardwareUpgrade({ ...subject, version: hardwareVersion + 1 }));
      expect(await configOf(context, activities, 'upgraded')).toMatchObject({ hardwareVersion: hardwareVersion + 1 });
      expect(await activities.submitHardwareUpgrade({ ...subject, version: hardwareVersion + 1 })).toBeNull();
    });
  });

  describe('ownerKeys', () => {
    /** As the status of its object says it. */
    const recordedOf = async (name: string) => {
      const vm = (await context.witness.listVms('team-a')).find((one) => one.name === name);
      return { uniqueId: vm?.id ?? null, recordedUuid: vm?.instanceUuid ?? null };
    };

    test('one without an owner is adopted on the version that was read, once', async () => {
      const vmId = await context.witness.createVm(`${vmFolder}/adopted`);
      const subject: VmSubject = {
        vmId,
        owner: { namespacedName: 'team-a/adopted', uid: uidOf('adopted') },
        cause: 'the test',
      };
      const { changeVersion } = await configOf(context, activities, 'adopted', await recordedOf('adopted'));
      expect(await failureOf(activities.submitAdoption({ ...subject, changeVersion: 'another' }))).toMatchObject({
        type: 'VirtualMachineConflict',
        nonRetryable: true,
      });
      await settle(activities, await activities.submitAdoption({ ...subject, changeVersion }));
      expect(await find('adopted')).toBe(vmId);
      expect(await activities.submitAdoption({ ...subject, changeVersion })).toBeNull();
      expect(
        await failureOf(
          activities.submitAdoption({ ...subject, owner: { ...subject.owner, uid: 'another' }, changeVersion }),
        ),
      ).toMatchObject({ type: 'VirtualMachineNotOwned' });
    });

    test('that of the operator before is replaced; released, nothing of either is left', async () => {
      const vmId = await context.witness.createVm(`${vmFolder}/former`);
      await context.witness.changeVm(`${vmFolder}/former`, {
        extraConfig: { 'vmservice.namespacedName': 'team-a/former', 'app.kept': 'yes' },
      });
      const subject: VmSubject = {
        vmId,
        owner: { namespacedName: 'team-a/former', uid: uidOf('former') },
        cause: 'the test',
      };
      const { changeVersion } = await configOf(context, activities, 'former', await recordedOf('former'));
      await settle(activities, await activities.submitAdoption({ ...subject, changeVersion }));
      const { changeVersion: now, extraConfig } = await configOf(context, activities, 'former');
      expect(extraConfig).toEqual({ 'vmservice.namespacedName': 'team-a/former', 'drover.uid': uidOf('former') });
      await settle(
        activities,
        await activities.submitReconfigure({
          ...subject,
          changeVersion: now,
          spec: { managedBy: { extensionKey: 'com.vmware.vcenter.wcp', type: 'VirtualMachine' } },
        }),
      );
      await settle(activities, await activities.submitRelease(subject));
      const [found] = await describeVms(context, 'former');
      const keys = found?.config.extraConfig.map(({ key }) => key) ?? [];
      expect(keys).toContain('app.kept');
      expect(keys.filter((key) => /^(vmservice|drover)\./u.test(key))).toEqual([]);
      expect(found?.config.managedBy).toBeUndefined();
      expect(await activities.submitRelease(subject)).toBeNull();
    });
  });
}
