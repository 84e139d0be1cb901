import type { Eviction } from '../../contracts/crds/eviction.ts';
import { changeService, createAggregate } from '../../lab/openstack/hosts.ts';
import {
  act,
  createInstance,
  createInstances,
  createServerGroup,
  getServer,
  type Server,
} from '../../lab/openstack/seed.ts';
import { until } from '../flows/until.ts';
import { boot, hostOf, openActivities } from './nova-activity-context.ts';
import type { ContractTest, OpenStackCounterpart } from './openstack.ts';

const preflight = async (
  counterpart: OpenStackCounterpart,
  change: Parameters<typeof openActivities>[1] = {},
): Promise<string[]> => {
  const { obstacles } = await openActivities(counterpart, change).preflightEviction({
    hypervisor: 'node-1',
    evictionUid: 'own',
  });
  return obstacles.map(({ id }) => id).filter((id) => id !== 'AgentReportMissing');
};

const ids = (code: string, ...servers: Server[]): string[] => servers.map(({ id }) => `${code}/${id}`);

/** What a preflight finds in the way of an eviction. */
export function describePreflights(test: ContractTest): void {
  test('a preflight finds nothing in the way of ordinary servers but the missing node agent', async (counterpart) => {
    await createInstances(counterpart.admin, [
      { name: 'a', host: 'node-1' },
      { name: 'b', host: 'node-1', state: 'SHUTOFF' },
      { name: 'c', host: 'node-1', state: 'PAUSED' },
    ]);
    const { host, obstacles } = await openActivities(counterpart).preflightEviction({
      hypervisor: 'node-1',
      evictionUid: 'own',
    });
    expect(host.instances).toHaveLength(3);
    expect(obstacles).toMatchObject([{ id: 'AgentReportMissing', instanceId: null }]);
  });

  test('a preflight names states and locks', async (counterpart) => {
    const [suspended, rescued, error, locked] = await createInstances(counterpart.admin, [
      { name: 'suspended', host: 'node-1', state: 'SUSPENDED' },
      { name: 'rescued', host: 'node-1', state: 'RESCUE' },
      { name: 'error', host: 'node-1', state: 'ERROR' },
      { name: 'locked', host: 'node-1', locked: true },
    ]);
    const left = await boot(counterpart, { name: 'left', state: 'SHUTOFF' });
    await act(counterpart.admin, left.id, { migrate: null });
    await until(
      'the resize',
      20_000,
      async () => (await getServer(counterpart.admin, left.id)).status === 'VERIFY_RESIZE' || 'not yet',
    );
    const found = await preflight(counterpart);
    expect(found.sort()).toEqual(
      [
        ...ids('InstanceState', suspended!, rescued!, error!),
        ...ids('InstanceLocked', locked!),
        ...ids('UnconfirmedResize', left),
      ].sort(),
    );
  });

  test('a preflight names what the scheduler has no place for', async (counterpart) => {
    await counterpart.fleet.change('node-1', { traits: ['CUSTOM_LAB'], inventory: { VGPU: 2 } });
    const [trait, vgpu] = await createInstances(counterpart.admin, [
      { name: 'trait', host: 'node-1', flavor: 'lab.trait' },
      { name: 'vgpu', host: 'node-1', flavor: 'lab.vgpu' },
    ]);
    expect((await preflight(counterpart)).sort()).toEqual(
      [...ids('NoValidTarget', trait!, vgpu!), ...ids('Vgpu', vgpu!)].sort(),
    );
    await counterpart.fleet.change('node-2', { traits: ['CUSTOM_LAB'], inventory: { VGPU: 2 } });
    expect(await preflight(counterpart)).toEqual(ids('Vgpu', vgpu!));
  });

  test('a preflight keeps to availability zones', async (counterpart) => {
    await createAggregate(counterpart.admin, {
      name: 'zone-a',
      hosts: ['node-1', 'node-2'],
      availabilityZone: 'zone-a',
    });
    const pinned = await createInstance(counterpart.admin, {
      name: 'pinned',
      availabilityZone: 'zone-a:node-1',
      host: 'node-1',
    }).catch(() => createInstance(counterpart.admin, { name: 'pinned', availabilityZone: 'zone-a' }));
    const at = await hostOf(counterpart, pinned.id);
    const other = at === 'node-1' ? 'node-2' : 'node-1';
    const look = async () =>
      (await openActivities(counterpart).preflightEviction({ hypervisor: at!, evictionUid: 'own' })).obstacles.map(
        ({ id }) => id,
      );
    expect(await look()).toEqual(['AgentReportMissing']);
    await changeService(counterpart.admin, other, { status: 'disabled', disabled_reason: 'test' });
    expect(await look()).toEqual(['AgentReportMissing', `NoValidTarget/${pinned.id}`]);
  });

  test('a preflight says when the whole set does not fit, or there is nowhere to go at all', async (counterpart) => {
    await createInstances(
      counterpart.admin,
      [1, 2].map((number) => ({ name: `large-${number}`, host: 'node-1', flavor: 'lab.large' as const })),
    );
    for (const host of ['node-3', 'node-4', 'node-5', 'node-6'])
      await changeService(counterpart.admin, host, { status: 'disabled', disabled_reason: 'test' });
    expect(await preflight(counterpart)).toEqual([]);
    await createInstance(counterpart.admin, { name: 'huge', host: 'node-2', flavor: 'lab.huge' });
    await createInstances(
      counterpart.admin,
      Array.from({ length: 6 }, (_, index) => ({
        name: `filler-${index}`,
        host: 'node-2',
        flavor: 'lab.large' as const,
      })),
    );
    const { obstacles } = await openActivities(counterpart).preflightEviction({
      hypervisor: 'node-1',
      evictionUid: 'own',
    });
    expect(obstacles.map(({ id }) => id)).toEqual(['AgentReportMissing', 'CapacityShort']);
    expect(obstacles[1]?.message).toMatch(/1 of 2 servers do not fit on the 1 possible targets/u);
    await changeService(counterpart.admin, 'node-2', { status: 'disabled', disabled_reason: 'test' });
    expect(await preflight(counterpart)).toEqual(['NoTargets']);
  });

  test('a preflight leaves room for an older eviction, and only for an older one', async (counterpart) => {
    for (const host of ['node-4', 'node-5', 'node-6'])
      await changeService(counterpart.admin, host, { status: 'disabled', disabled_reason: 'test' });
    await createInstances(counterpart.admin, [
      { name: 'huge-1', host: 'node-1', flavor: 'lab.huge' },
      { name: 'huge-2', host: 'node-2', flavor: 'lab.huge' },
    ]);
    expect(await preflight(counterpart)).toEqual([]);
    const eviction = (uid: string, hypervisor: string, creationTimestamp: string): Eviction => ({
      apiVersion: 'kvm.cloud.sap/v1',
      kind: 'Eviction',
      metadata: { name: hypervisor, uid, resourceVersion: '1', generation: 1, creationTimestamp },
      spec: { hypervisor, reason: 'test' },
    });
    const own = eviction('own', 'node-1', '2026-01-01T12:00:00Z');
    const older = eviction('older', 'node-2', '2026-01-01T11:00:00Z');
    const younger = eviction('younger', 'node-2', '2026-01-01T13:00:00Z');
    expect(await preflight(counterpart, { listEvictions: async () => [own, older] })).toEqual(['CapacityShort']);
    expect(await preflight(counterpart, { listEvictions: async () => [own, younger] })).toEqual([]);
  });

  test('a preflight knows server groups', async (counterpart) => {
    const apart = await createServerGroup(counterpart.admin, 'apart', 'anti-affinity');
    const [here] = await createInstances(counterpart.admin, [
      { name: 'here', host: 'node-1', serverGroup: apart },
      { name: 'there', host: 'node-2', serverGroup: apart },
    ]);
    expect(await preflight(counterpart)).toEqual([]);
    for (const host of ['node-3', 'node-4', 'node-5', 'node-6'])
      await changeService(counterpart.admin, host, { status: 'disabled', disabled_reason: 'test' });
    expect(await preflight(counterpart)).toEqual(ids('ServerGroup', here!));
  });

  test('a preflight of a host that is down says so', async (counterpart) => {
    await boot(counterpart);
    await changeService(counterpart.admin, 'node-1', { forced_down: true });
    expect(await preflight(counterpart)).toEqual(['HostDown']);
  });

  test('a preflight takes newer targets only', async (counterpart) => {
    await boot(counterpart);
    for (const host of ['node-2', 'node-3', 'node-4', 'node-5', 'node-6'])
      await counterpart.fleet.change(host, { hypervisorVersion: 8_000_000 });
    await until(
      'Nova to notice',
      90_000,
      async () => (await preflight(counterpart)).includes('TargetTooOld') || 'not yet',
    );
  }, 120_000);
}
