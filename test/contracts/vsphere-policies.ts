import { createResourcePolicyVsphereActivities } from '../../activities/vsphere/resource-policy/activities.ts';
import type {
  PolicyChange,
  PoolAllocation,
  ResourcePolicyVsphereActivities,
} from '../../contracts/resource-policy/resource-policy.ts';
import {
  failureOf,
  makeVm,
  namespace,
  never,
  openSuite,
  vmFolder,
  vmPool,
  type VsphereCounterpart,
} from './vsphere-context.ts';

const cluster = '/DC0/host/DC0_C0';

/** What a VirtualMachineSetResourcePolicy has made in a vCenter: folders, resource pools and cluster modules. */
export function vspherePoliciesContract(open: () => Promise<VsphereCounterpart>): void {
  let activities: ResourcePolicyVsphereActivities;
  let clusterId: string;
  /** What happens while drover asks whether it is stopped. */
  let whileAsked: () => Promise<void> = () => Promise.resolve();
  const { context, test } = openSuite(open, async (opened) => {
    const { rest, clock, audit } = opened;
    activities = createResourcePolicyVsphereActivities({
      // One call at a time: what confirms a call takes no turn of its own.
      gateway: opened.gateway({ budget: { calls: 1, callsPerSecond: 1_000, tasks: 32 } }),
      rest,
      clock,
      places: opened.settings().places,
      stopGate: () => whileAsked(),
      audit: { record: (entry) => Promise.resolve(void audit.push(entry)) },
      scope: () => ({
        signal: never,
        deadlineMs: Infinity,
        heartbeatDetails: undefined,
        run: null,
        heartbeat: () => undefined,
        scheduledMs: 0,
        waitedMs: 0,
        warn: () => undefined,
      }),
    });
    clusterId = await opened.witness.idOf(cluster);
  });

  const owner = { namespace, name: 'policy', cause: 'the test' };
  const change = (what: PolicyChange): Promise<string | null> =>
    activities.changePolicyInVcenter({ ...owner, change: what });
  const makeFolder = (name: string) => change({ kind: 'makeFolder', parent: context.ids.folder, name });
  const allocation: PoolAllocation = { reservationCores: 0, limitCores: null, reservationMiB: 64, limitMiB: 8_192 };
  const makePool = (name: string, amounts: Partial<typeof allocation> = {}) =>
    change({
      kind: 'makePool',
      parent: context.ids.pool,
      cluster: clusterId,
      name,
      allocation: { ...allocation, ...amounts },
    });
  const observe = (folder: string | null, pool: string | null) =>
    activities.observePolicyInVcenter({
      namespace,
      folder,
      resourcePool: pool === null ? null : { name: pool, ...allocation },
    });

  test('a folder is made once, observed, and removed; removed again, nothing fails', async () => {
    expect((await observe('apart', null)).places).toMatchObject([
      { cluster: clusterId, folder: { path: vmFolder, parent: context.ids.folder, child: null } },
    ]);
    await makeFolder('apart');
    await makeFolder('apart');
    expect(await context.witness.find('folder', vmFolder)).toEqual([vmFolder, `${vmFolder}/apart`]);
    const id = await context.witness.idOf(`${vmFolder}/apart`);
    expect((await observe('apart', null)).places).toMatchObject([{ folder: { child: id, isEmpty: true } }]);
    const remove = () => change({ kind: 'removeFolder', id, name: 'apart' });
    await remove();
    await remove();
    expect(await context.witness.find('folder', vmFolder)).toEqual([vmFolder]);
  });

  test('a folder or a pool that holds something stays', async () => {
    await makeFolder('full');
    await makePool('full');
    const [folder, resourcePool] = [
      await context.witness.idOf(`${vmFolder}/full`),
      await context.witness.idOf(`${vmPool}/full`),
    ];
    const { create, ...owner } = context.newVm('inside');
    await makeVm(context.activities(context.gateway()), {
      ...owner,
      create: { ...create, at: { ...create.at, folder, resourcePool } },
    });
    expect((await observe('full', 'full')).places).toMatchObject([
      { folder: { isEmpty: false }, resourcePool: { isEmpty: false } },
    ]);
    await change({ kind: 'removeFolder', id: folder, name: 'full' });
    await change({ kind: 'removePool', id: resourcePool, name: 'full' });
    expect(await context.witness.find('vm', `${vmFolder}/full`)).toEqual([`${vmFolder}/full/inside`]);
    expect(await context.witness.find('pool', vmPool)).toContain(`${vmPool}/full`);
    await context.witness.destroyVm(`${vmFolder}/full/inside`);
  });

  test('a folder or a pool into which a VM comes after it was decided to remove it stays, and so does the VM', async () => {
    await makeFolder('late');
    await makePool('late');
    const [folder, resourcePool] = [
      await context.witness.idOf(`${vmFolder}/late`),
      await context.witness.idOf(`${vmPool}/late`),
    ];
    const { create, ...owner } = context.newVm('latecomer');
    whileAsked = async () => {
      whileAsked = () => Promise.resolve();
      await makeVm(context.activities(context.gateway()), {
        ...owner,
        create: { ...create, at: { ...create.at, folder, resourcePool } },
      });
      context.audit.splice(0);
    };
    await change({ kind: 'removeFolder', id: folder, name: 'late' });
    await change({ kind: 'removePool', id: resourcePool, name: 'late' });
    expect(await context.witness.find('vm', `${vmFolder}/late`)).toEqual([`${vmFolder}/late/latecomer`]);
    expect(await context.witness.find('pool', vmPool)).toContain(`${vmPool}/late`);
    // Nothing was changed, so nothing is written down.
    expect(context.audit).toEqual([]);
    await context.witness.destroyVm(`${vmFolder}/late/latecomer`);
    await change({ kind: 'removeFolder', id: folder, name: 'late' });
    await change({ kind: 'removePool', id: resourcePool, name: 'late' });
    expect(await context.witness.find('folder', vmFolder)).not.toContain(`${vmFolder}/late`);
    expect(context.audit.map(({ action }) => action)).toEqual(['removeFolder', 'removePool']);
  });

  test('a resource pool has the allocation that it shall have, also when it is there already', async () => {
    const limits = async () => (await context.witness.describePool(`${vmPool}/gold`)).memoryAllocation;
    await makePool('gold');
    expect(await limits()).toMatchObject({ reservation: 64, limit: 8_192 });
    expect((await observe(null, 'gold')).places).toMatchObject([
      { resourcePool: { child: await context.witness.idOf(`${vmPool}/gold`), isAsWanted: true } },
    ]);
    await makePool('gold', { limitMiB: 4_096 });
    expect(await limits()).toMatchObject({ reservation: 64, limit: 4_096 });
    expect((await observe(null, 'gold')).places).toMatchObject([{ resourcePool: { isAsWanted: false } }]);
    await makePool('gold', { reservationCores: 0.5, limitMiB: null });
    expect((await context.witness.describePool(`${vmPool}/gold`)).cpuAllocation.reservation).toBeGreaterThan(1_000);
    expect(await limits()).toMatchObject({ limit: -1 });
    await change({ kind: 'removePool', id: await context.witness.idOf(`${vmPool}/gold`), name: 'gold' });
    expect(await context.witness.find('pool', vmPool)).not.toContain(`${vmPool}/gold`);
  });

  test('a cluster module is made, observed and removed; where it is gone, nothing fails', async () => {
    const module = (await change({ kind: 'makeModule', cluster: clusterId, group: 'web' })) ?? '';
    expect(await context.witness.listModules()).toContain(module);
    expect((await observe(null, null)).modules).toContain(module);
    const remove = () => change({ kind: 'removeModule', module });
    await remove();
    await remove();
    expect(await context.witness.listModules()).not.toContain(module);
  });

  test('below a parent that is gone, nothing is made', async () => {
    await context.witness.createFolder(`${vmFolder}/short-lived`);
    const parent = await context.witness.idOf(`${vmFolder}/short-lived`);
    await context.witness.destroy(`${vmFolder}/short-lived`);
    expect(await failureOf(change({ kind: 'makeFolder', parent, name: 'child' }))).toMatchObject({
      type: 'VsphereObjectNotFound',
    });
    expect(context.audit).toEqual([
      expect.objectContaining({
        action: 'makeFolder',
        object: `resourcepolicy/${namespace}/policy`,
        after: expect.objectContaining({ failed: expect.any(String) }),
      }),
    ]);
  });
}
