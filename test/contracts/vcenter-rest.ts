import type { SubmittedTask } from '../../contracts/virtual-machine/activities.ts';
import { inventory } from '../../lab/vsphere/handle.ts';
import type { Library } from '../../lab/vsphere/library.ts';
import {
  configOf,
  describeVms,
  observedVmOf,
  failureOf,
  makeVm,
  namespace,
  never,
  openSuite,
  uidOf,
  vmFolder,
  type NewVm,
  type VsphereContext,
  type VsphereCounterpart,
} from './vsphere-context.ts';

/** What goes over vCenter's REST: content libraries and cluster modules. */
export function vcenterRestContract(open: () => Promise<VsphereCounterpart>): void {
  let library: Library;
  const { context, gateway, activities, find, test, each } = openSuite(open, async (opened) => {
    library = await opened.witness.makeLibrary('images');
  });

  const deploy = 'POST /com/vmware/vcenter/ovf/library-item deploy';
  const fromItem = (name: string, change: Partial<NewVm['create']> = {}): NewVm =>
    context.newVm(name, { source: { kind: 'contentLibraryItem', itemId: library.ovf }, ...change });

  describe('a VM of a content library', () => {
    test('carries its identity and its owner, has what is wanted, and keeps the disk of the item', async () => {
      const { network } = await activities.observeVirtualMachineInVcenter(
        context.observationRequest('first', { networks: [{ name: 'eth0', network: 'backend' }] }),
      );
      const backing = network?.interfaces[0]?.backing ?? '';
      const vm = fromItem('first', {
        config: {
          memoryMB: 512,
          extraConfig: [{ key: 'guestinfo.hello', value: 'a <b> & "c"' }],
          deviceChange: [
            { operation: 'add', device: 'networkCard', card: { key: null, type: 'E1000e', backing, macAddress: null } },
          ],
        },
      });
      const { vmId } = await makeVm(activities, vm);
      const [seen, ...others] = await describeVms(context, 'first');
      expect(others).toEqual([]);
      // The CPUs are the item's: no others were asked for.
      expect(seen).toMatchObject({
        config: { instanceUuid: uidOf('first'), uuid: uidOf('first'), hardware: { numCPU: 3, memoryMB: 512 } },
        runtime: { powerState: 'poweredOff' },
      });
      expect(seen?.config.extraConfig).toEqual(
        expect.arrayContaining([
          { key: 'vmservice.namespacedName', value: `${namespace}/first` },
          { key: 'drover.uid', value: uidOf('first') },
          { key: 'guestinfo.hello', value: 'a <b> & "c"' },
        ]),
      );
      expect(await observedVmOf(context, activities, 'first')).toMatchObject({
        moId: vmId,
        folder: context.ids.folder,
        location: { folder: true, resourcePool: true },
      });
      expect(await configOf(context, activities, 'first')).toMatchObject({
        networkCards: [{ type: 'E1000e', backing }],
        disks: [{ capacityBytes: 1024 ** 3, own: true, boot: true }],
      });
      // That of the task, where the answer took its time.
      expect(context.audit).toEqual([
        expect.objectContaining({
          action: 'submitNewVm',
          object: `vm/${namespace}/first`,
          requestId: expect.stringMatching(/^(vm|task)-/u),
        }),
      ]);
    });

    test('may come from one file', async () => {
      await makeVm(activities, fromItem('packed', { source: { kind: 'contentLibraryItem', itemId: library.ova } }));
      expect(await describeVms(context, 'packed')).toMatchObject([
        { config: { instanceUuid: uidOf('packed'), hardware: { numCPU: 3 } } },
      ]);
    });

    test('is found when it is there already, and nothing is submitted', async () => {
      const vm = fromItem('again');
      const { vmId } = await makeVm(activities, vm);
      await context.control.clearRequests();
      expect(await activities.submitNewVm(vm)).toEqual({ vmId });
      expect(await context.requests(deploy)).toEqual([]);
    });

    const losses: [
      what: string,
      name: string,
      fault: Parameters<VsphereContext['control']['inject']>[0],
      deploys: number,
    ][] = [
      ['the answer is lost after the effect', 'lost', { method: deploy, after: true, does: 'cut' }, 1],
      [
        'something in front answers 503 after the effect',
        'proxied',
        { method: deploy, after: true, does: 'status', status: 503 },
        1,
      ],
      ['the call does not arrive', 'dropped', { method: deploy, does: 'cut' }, 2],
    ];
    each(losses)('there is one, and whose it is: %s', async (_, name, fault, deploys) => {
      const vm = fromItem(name);
      await context.control.inject(fault);
      // As a VM, or as a task: whichever is seen first.
      const first = await activities.submitNewVm(vm).catch((error: unknown) => error);
      if (deploys > 1) expect(first).toMatchObject({ type: 'VsphereUnavailable', nonRetryable: false });
      else expect(first).not.toBeInstanceOf(Error);
      const { vmId } = await makeVm(activities, vm);
      expect(await describeVms(context, name)).toHaveLength(1);
      expect(await find(name)).toBe(vmId);
      expect(await context.requests(deploy)).toHaveLength(deploys);
    });

    test('is waited for by its task while it is copied, by each attempt that asks for it', async () => {
      const vm = fromItem('slow');
      await context.control.delayTasks({ LibraryDeploy: 6_000 });
      const first = (await activities.submitNewVm(vm)) as SubmittedTask;
      expect(first).toEqual({
        taskId: expect.stringMatching(/^task-/u),
        purpose: expect.objectContaining({ kind: 'create', name: 'slow' }),
      });
      // As another worker would, after this one is gone.
      expect(await context.activities(context.gateway()).submitNewVm(vm)).toEqual(first);
      expect(await context.requests(deploy)).toHaveLength(1);
      const { vmId } = await activities.awaitTask(first);
      expect(vmId).toMatch(/^vm-/u);
      expect(await describeVms(context, 'slow')).toHaveLength(1);
      expect(await find('slow')).toBe(vmId);
    });

    test('eight race for it', async () => {
      const vm = fromItem('raced');
      const made = await Promise.all(Array.from({ length: 8 }, () => makeVm(activities, vm)));
      expect(await describeVms(context, 'raced')).toHaveLength(1);
      const id = await find('raced');
      for (const { vmId } of made) expect(vmId).toBe(id);
    });

    test('whose name another VM has is not made, and the other one stays as it is', async () => {
      await context.witness.cloneVm({ from: inventory.template, to: `${vmFolder}/theirs` });
      expect(await failureOf(activities.submitNewVm(fromItem('theirs')))).toMatchObject({
        type: 'VirtualMachineNameTaken',
        nonRetryable: true,
      });
      expect(await describeVms(context, 'theirs')).toHaveLength(1);
      expect(await context.requests(deploy)).toEqual([]);
    });

    test('cannot be made of an item that is gone, or that vCenter cannot read', async () => {
      expect(
        await failureOf(
          activities.submitNewVm(
            fromItem('gone', { source: { kind: 'contentLibraryItem', itemId: uidOf('no item') } }),
          ),
        ),
      ).toMatchObject({ type: 'VsphereObjectNotFound' });
      expect(context.audit.map(({ after }) => after)).toEqual([
        { asked: expect.anything(), failed: expect.stringContaining('404') },
      ]);
      // By the answer or by the task, whichever is seen first.
      expect(
        await failureOf(
          makeVm(activities, fromItem('broken', { source: { kind: 'contentLibraryItem', itemId: library.broken } })),
        ),
      ).toMatchObject({ type: 'VsphereFailed' });
      expect(await describeVms(context, 'broken')).toEqual([]);
    });
  });

  describe('an ISO of a content library', () => {
    test('is told by its path, once in a while; what has none is told so', async () => {
      const isos = async (asked: Record<string, string | null>) =>
        (await activities.observeVirtualMachineInVcenter(context.observationRequest('reader', { isos: asked }))).isos;
      const path = expect.stringMatching(/^\[LocalDS_0\] contentlib-[^/]+\/[^/]+\/install\.iso$/u);
      expect(
        await isos({
          cd: library.iso,
          ovf: library.ovf,
          gone: uidOf('no item'),
          unready: null,
          path: '[LocalDS_0] a.iso',
        }),
      ).toEqual({ cd: path, ovf: null, gone: null, unready: null, path: '[LocalDS_0] a.iso' });
      await context.control.clearRequests();
      expect(await isos({ cd: library.iso })).toEqual({ cd: path });
      expect(await context.requests('GET /com/vmware/content/library/item/storage')).toEqual([]);
    });

    test('that the REST API does not tell keeps nothing of the VM from being observed', async () => {
      const clusterId = (await gateway.findByPath('/DC0/host/DC0_C0', never))?.value ?? '';
      await makeVm(activities, context.newVm('unlisted'));
      await context.control.inject({
        method: 'GET /com/vmware/content/library/item/storage',
        does: 'status',
        status: 503,
      });
      await context.control.inject({
        method: 'GET /vcenter/cluster/modules/vm/*/members',
        does: 'status',
        status: 503,
      });
      const lacking = { reason: 'VsphereUnavailable', message: expect.stringContaining('503'), mayPass: true };
      expect(
        await activities.observeVirtualMachineInVcenter(
          context.observationRequest('unlisted', {
            isos: { cd: uidOf('an item') },
            modules: { [clusterId]: uidOf('a module') },
          }),
        ),
      ).toMatchObject({
        isos: { cd: null },
        lackingIsos: { cd: lacking },
        vm: { powerState: 'poweredOff', clusterModule: null, unknownModule: lacking },
      });
    });

    test('is in the drive of a VM that is made of it', async () => {
      const { isos } = await activities.observeVirtualMachineInVcenter(
        context.observationRequest('installed', { isos: { cd: library.iso } }),
      );
      const iso = isos['cd'] ?? '';
      await makeVm(
        activities,
        context.newVm('installed', {
          source: { kind: 'nothing' },
          bootDiskBytes: 1024 ** 3,
          config: {
            numCPUs: 1,
            memoryMB: 128,
            deviceChange: [
              {
                operation: 'add',
                device: 'cdrom',
                cdrom: { key: null, iso, connected: true, allowGuestControl: true },
              },
            ],
          },
        }),
      );
      expect(
        (await describeVms(context, 'installed'))[0]?.config.hardware.device.map(({ backing }) => backing?.fileName),
      ).toContain(iso);
      expect(await configOf(context, activities, 'installed')).toMatchObject({ cdroms: [{ iso, connected: true }] });
    });
  });

  describe('a cluster module', () => {
    const cluster = '/DC0/host/DC0_C0';
    const add = 'POST /vcenter/cluster/modules/vm/*/members add';
    const makeModule = (): Promise<string> => context.witness.createModule(cluster);
    const membersOf = (module: string): Promise<string[]> => context.witness.listModuleMembers(module);
    const clusterId = async (): Promise<string> => (await gateway.findByPath(cluster, never))?.value ?? '';

    test('takes a VM once, and the next look tells that it is in it', async () => {
      const subject = await makeVm(activities, context.newVm('apart'));
      const [module, other] = [await makeModule(), await makeModule()];
      const modules = { [await clusterId()]: module };
      expect(await observedVmOf(context, activities, 'apart', { modules })).toMatchObject({ clusterModule: null });
      await activities.attachClusterModule({ ...subject, module });
      await activities.attachClusterModule({ ...subject, module });
      expect(await membersOf(module)).toEqual([subject.vmId]);
      expect(await membersOf(other)).toEqual([]);
      expect(await context.requests(add)).toHaveLength(1);
      expect(context.audit.filter(({ action }) => action === 'attachClusterModule')).toHaveLength(1);
      expect(
        (await activities.observeVirtualMachineInVcenter(context.observationRequest('apart', { modules }))).cluster,
      ).toBe(await clusterId());
      expect(await observedVmOf(context, activities, 'apart', { modules })).toMatchObject({ clusterModule: module });
      // One that it is not in, that of another cluster, and none.
      for (const asked of [{ [await clusterId()]: other }, { 'domain-c999': module }, {}])
        expect(await observedVmOf(context, activities, 'apart', { modules: asked })).toMatchObject({
          clusterModule: null,
        });
    });

    test('has a VM once, also where the answer is lost after the effect, or two ask at once', async () => {
      const subject = await makeVm(activities, context.newVm('kept-apart'));
      const module = await makeModule();
      await context.control.inject({ method: add, after: true, does: 'cut' });
      expect(await failureOf(activities.attachClusterModule({ ...subject, module }))).toMatchObject({
        type: 'VsphereUnavailable',
        nonRetryable: false,
      });
      await activities.attachClusterModule({ ...subject, module });
      expect(await context.requests(add)).toHaveLength(1);
      const second = await makeModule();
      await Promise.all([
        activities.attachClusterModule({ ...subject, module: second }),
        activities.attachClusterModule({ ...subject, module: second }),
      ]);
      expect(await membersOf(module)).toEqual([subject.vmId]);
      expect(await membersOf(second)).toEqual([subject.vmId]);
    });

    test('that is gone is said so, and nothing is done to a VM of another owner', async () => {
      const subject = await makeVm(activities, context.newVm('mine'));
      const module = uidOf('no module');
      expect(await failureOf(activities.attachClusterModule({ ...subject, module }))).toMatchObject({
        type: 'VsphereObjectNotFound',
      });
      expect(
        await observedVmOf(context, activities, 'mine', { modules: { [await clusterId()]: module } }),
      ).toMatchObject({
        clusterModule: null,
      });
      const other = await makeModule();
      expect(
        await failureOf(
          activities.attachClusterModule({
            ...subject,
            owner: { ...subject.owner, uid: uidOf('another') },
            module: other,
          }),
        ),
      ).toMatchObject({ type: 'VirtualMachineNotOwned' });
      expect(await membersOf(other)).toEqual([]);
    });
  });
}
