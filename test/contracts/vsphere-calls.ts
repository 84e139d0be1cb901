import { folderRef, poolRef, vmRef } from '../../activities/vsphere/wire/values.ts';
import type { PropertyFilterSpec } from '../../activities/vsphere/wire/vim/types.ts';
import { failureOf, makeVm, never, openSuite, type VsphereCounterpart } from './vsphere-context.ts';

/** What single calls give, and how they fail. */
export function vsphereCallsContract(open: () => Promise<VsphereCounterpart>): void {
  const { context, test, each } = openSuite(open, async (opened) => {
    const activities = opened.activities(opened.gateway());
    for (let number = 0; number < 3; number += 1) await makeVm(activities, opened.newVm(`paged-${number}`));
  });

  const templateOf = (gateway: ReturnType<typeof context.gateway>) => gateway.read(context.ids.template, never);
  const vmsBelow = (folder: string): PropertyFilterSpec => ({
    propSet: [{ type: 'VirtualMachine', pathSet: ['name'] }],
    objectSet: [
      {
        obj: folderRef(folder),
        skip: true,
        selectSet: [{ $type: 'TraversalSpec', type: 'Folder', path: 'childEntity' }],
      },
    ],
  });

  test('sessions that have ended are renewed, and no caller notices', async () => {
    const gateway = context.gateway();
    await templateOf(gateway);
    await context.control.endSessions();
    const vms = await Promise.all(Array.from({ length: 20 }, () => templateOf(gateway)));
    expect(vms.every((vm) => vm?.name === 'DC0_C0_RP0_VM0')).toBe(true);
  });

  test('a session that ends between two pages fails the read, which is tried again from its beginning', async () => {
    const vim = context.connect();
    const { propertyCollector } = await vim.content(never);
    const specSet = [vmsBelow(context.ids.folder)];
    const page = await vim.call(
      'RetrievePropertiesEx',
      propertyCollector,
      { specSet, options: { maxObjects: 2 } },
      never,
    );
    expect(page?.objects).toHaveLength(2);
    const next = await vim.call('ContinueRetrievePropertiesEx', propertyCollector, { token: page?.token ?? '' }, never);
    expect(next.objects?.length).toBeGreaterThan(0);
    const again = await vim.call(
      'RetrievePropertiesEx',
      propertyCollector,
      { specSet, options: { maxObjects: 2 } },
      never,
    );
    await context.control.endSessions();
    const rest = vim.call('ContinueRetrievePropertiesEx', propertyCollector, { token: again?.token ?? '' }, never, {
      sameSession: await vim.content(never),
    });
    expect(await failureOf(rest)).toMatchObject({ type: 'VsphereUnavailable', nonRetryable: false });
  });

  test('a read of a VM is one call with explicit paths', async () => {
    const gateway = context.gateway();
    await templateOf(gateway);
    await context.control.clearRequests();
    await templateOf(gateway);
    const requests = await context.control.requests();
    expect(requests.map(({ method }) => method)).toEqual(['RetrievePropertiesEx']);
    expect(requests[0]?.body).not.toContain('<all>true');
  });

  test('what is gone is left out where that is asked for, and named where it is not', async () => {
    const gateway = context.gateway();
    const spec = {
      propSet: [{ type: 'VirtualMachine', pathSet: ['name'] }],
      objectSet: ['vm-999999', context.ids.template].map((id) => ({ obj: vmRef(id) })),
    };
    expect(await gateway.retrieve(spec, never)).toEqual([
      { ref: vmRef(context.ids.template), properties: { name: 'DC0_C0_RP0_VM0' } },
    ]);
    expect(await gateway.read('vm-999999', never)).toBeNull();
    const vim = context.connect();
    const { propertyCollector, searchIndex } = await vim.content(never);
    const asked = vim.call('RetrievePropertiesEx', propertyCollector, { specSet: [spec], options: {} }, never);
    expect(await failureOf(asked)).toMatchObject({
      type: 'VirtualMachineNotFound',
      message: expect.stringContaining('vm-999999'),
    });
    const child = vim.call(
      'FindChild',
      searchIndex ?? vmRef(''),
      { entity: folderRef('group-v999999'), name: 'any' },
      never,
    );
    expect(await failureOf(child)).toMatchObject({ type: 'VsphereObjectNotFound' });
    expect(await failureOf(gateway.submit('PowerOnVM_Task', vmRef('vm-999999'), {}, never))).toMatchObject({
      type: 'VirtualMachineNotFound',
    });
    expect(await failureOf(gateway.readTask('task-999999', never))).toMatchObject({ type: 'VsphereTaskNotFound' });
  });

  test('names and UUIDs that nothing has lead to nothing', async () => {
    const gateway = context.gateway();
    expect(await gateway.findByPath('/DC0/vm/nowhere', never)).toBeNull();
    expect(await gateway.findByInstanceUuid('5c0ffee0-0000-4000-8000-00000000dead', never)).toEqual([]);
    expect(await gateway.findInFolder(context.ids.folder, 'nowhere', never)).toEqual({ kind: 'nothing' });
    expect(await gateway.lastStart('vm-999999', never).catch(() => null)).toBeNull();
  });

  test('no more tasks of a worker at once than its budget allows; those that have ended make room', async () => {
    const gateway = context.gateway({ budget: { calls: 8, callsPerSecond: 1_000, tasks: 2 } });
    await context.control.delayTasks({ CloneVm: 300 });
    const spec = { location: { pool: poolRef(context.ids.pool) }, template: false, powerOn: false };
    const clone = (name: string) =>
      gateway.submit(
        'CloneVM_Task',
        vmRef(context.ids.template),
        { folder: folderRef(context.ids.folder), name, spec },
        never,
      );
    const submitted = await Promise.all(Array.from({ length: 6 }, (_, number) => clone(`budget-${number}`)));
    expect(new Set(submitted).size).toBe(6);
    const calls = (await context.control.requests()).flatMap(({ method, body }) =>
      method === 'CloneVM_Task' ? ['clone'] : body.includes('info.state') ? ['read'] : [],
    );
    // The third clone waited for a read, which may have come before the second one.
    expect(calls.slice(0, 3).toSorted()).toEqual(['clone', 'clone', 'read']);
    for (const taskId of submitted)
      await context.activities(gateway).awaitTask({ taskId, purpose: { kind: 'change', vmId: context.ids.template } });
  });

  test('what vCenter does not allow fails with the privilege that is missing', async () => {
    const gateway = context.gateway();
    await context.control.fail({
      method: 'PowerOffVM_Task',
      fault: 'NoPermission',
      fields: { privilegeId: 'VirtualMachine.Interact.PowerOff' },
    });
    const asked = gateway.submit('PowerOffVM_Task', vmRef(context.ids.template), {}, never);
    expect(await failureOf(asked)).toMatchObject({
      type: 'VsphereNotPermitted',
      nonRetryable: true,
      message: expect.stringContaining('VirtualMachine.Interact.PowerOff'),
    });
  });

  each<readonly [what: string, fault: Parameters<typeof context.control.inject>[0], words: RegExp]>([
    ['the connection is cut', { does: 'cut' }, /the connection was cut/u],
    ['a proxy says 503', { does: 'status', status: 503 }, /answered 503 to RetrievePropertiesEx, and no SOAP/u],
    ['a proxy says 429', { does: 'status', status: 429 }, /answered 429/u],
  ])('%s: once, and retryable', async (_what, fault, words) => {
    const gateway = context.gateway();
    await templateOf(gateway);
    await context.control.inject({ method: 'RetrievePropertiesEx', ...fault });
    expect(await failureOf(templateOf(gateway))).toMatchObject({
      type: 'VsphereUnavailable',
      nonRetryable: false,
      message: expect.stringMatching(words),
    });
    expect(await templateOf(gateway)).not.toBeNull();
  });

  test('another status is no vCenter', async () => {
    const gateway = context.gateway();
    await templateOf(gateway);
    await context.control.inject({ does: 'status', status: 404 });
    expect(await failureOf(templateOf(gateway))).toMatchObject({ type: 'AnswerMalformed' });
  });
}
