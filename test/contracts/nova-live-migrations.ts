import { createNovaClient } from '../../activities/nova/client.ts';
import type { NovaClient } from '../../activities/nova/types.ts';
import type { Migration } from '../../contracts/eviction/instance.ts';
import type { Attempt } from '../../lab/openstack/fleet.ts';
import {
  createInstance,
  requestInstance,
  waitForServer,
  type InstanceSpec,
  type Server,
} from '../../lab/openstack/seed.ts';
import { ensureTpmFlavor, tpmTraits } from '../flows/tpm-flavor.ts';
import { until } from '../flows/until.ts';
import type { ContractTest, OpenStackCounterpart } from './openstack.ts';

const never = new AbortController().signal;
const deadlineMs = 30_000;
const unknownId = '00000000-0000-4000-8000-000000000000';

export const seed = (
  { admin }: OpenStackCounterpart,
  name: string,
  spec: Partial<InstanceSpec> = {},
): Promise<Server> => createInstance(admin, { name, host: 'node-1', seconds: 0.2, ...spec });

/** A server whose moves go as scripted. */
export async function seedScripted(
  counterpart: OpenStackCounterpart,
  name: string,
  attempts: readonly Attempt[],
): Promise<Server> {
  const server = await seed(counterpart, name);
  await counterpart.fleet.script(server.id, attempts);
  return server;
}

/** Waits until the server's newest migration has one of the statuses. */
export const untilMigration = (nova: NovaClient, instanceId: string, ...statuses: string[]): Promise<Migration> =>
  until(`a migration of ${instanceId} to be ${statuses.join(' or ')}`, deadlineMs, async () => {
    const [newest] = await nova.migrationsOf(instanceId, never);
    return newest !== undefined && statuses.includes(newest.status) ? newest : (newest?.status ?? 'no record');
  });

/** Waits until its bytes are counted. */
const untilRunning = (nova: NovaClient, instanceId: string): Promise<Migration> =>
  until(`a live migration of ${instanceId} to run`, deadlineMs, async () => {
    const [record] = await nova.migrationsOf(instanceId, never);
    const live = record === undefined ? null : await nova.serverMigration(instanceId, record.id, never);
    return live?.status === 'running' && live.memoryTotalBytes !== null
      ? live
      : (live?.status ?? record?.status ?? 'no record');
  });

export const untilExplained = async (nova: NovaClient, instanceId: string, requestId: string): Promise<string> => {
  const { reason } = await until('Nova to say why', deadlineMs, async () => {
    const reason = await nova.lastActionFailure(instanceId, { requestId }, never);
    return reason === null ? 'nothing' : { reason };
  });
  return reason;
};

const statusesOf = ({ migrationEvents }: OpenStackCounterpart, instanceId: string): string[] =>
  migrationEvents(0)
    .filter(({ instance }) => instance === instanceId)
    .map(({ status }) => status);

export function describeLiveMigrations(test: ContractTest): void {
  describeMoves(test);
  describeFailures(test);
  describeRefusals(test);
}

function describeMoves(test: ContractTest): void {
  test('a live migration is accepted, leaves a record, and ends where the scheduler chose', async (counterpart) => {
    const nova = createNovaClient(counterpart.connect());
    const server = await seedScripted(counterpart, 'live', ['ok']);
    expect(await nova.migrationsInProgress({ host: 'node-1' }, never)).toEqual([]);
    const { requestId } = await nova.liveMigrate(server.id, { host: null }, never);
    expect(requestId).toMatch(/^req-/u);
    const record = await untilMigration(nova, server.id, 'completed');
    expect(record).toMatchObject({
      instanceId: server.id,
      type: 'live-migration',
      sourceHost: 'node-1',
      targetHost: expect.stringMatching(/^node-[2-6]$/u),
      createdAt: expect.stringMatching(/Z$/u),
    });
    expect(await nova.migration(server.id, record.id, never)).toEqual(record);
    expect(await nova.migration(server.id, record.id + 1_000, never)).toBeNull();
    expect(await nova.serverMigration(server.id, record.id, never)).toBeNull();
    expect((await nova.server(server.id, never))?.host).toBe(record.targetHost);
    expect(await nova.lastActionFailure(server.id, { requestId }, never)).toBeNull();
    expect(statusesOf(counterpart, server.id)).toEqual(['accepted', 'queued', 'preparing', 'running', 'completed']);
  });

  test('a live migration in progress has counters, holds its server, is listed for both hosts, and can be aborted once', async (counterpart) => {
    const nova = createNovaClient(counterpart.connect());
    const server = await seedScripted(counterpart, 'aborted', ['hang']);
    await nova.liveMigrate(server.id, { host: 'node-2' }, never);
    const running = await untilRunning(nova, server.id);
    expect(running).toMatchObject({
      type: 'live-migration',
      sourceHost: 'node-1',
      targetHost: 'node-2',
      memoryTotalBytes: 512 * 1024 * 1024,
      memoryRemainingBytes: expect.any(Number),
    });
    expect(await nova.server(server.id, never)).toMatchObject({
      host: 'node-1',
      status: 'MIGRATING',
      taskState: 'migrating',
    });
    for (const host of ['node-1', 'node-2'])
      expect((await nova.migrationsInProgress({ host }, never)).map(({ id }) => id)).toContain(running.id);
    expect((await nova.migrationsCopying(never)).map(({ id }) => id)).toContain(running.id);
    expect((await nova.migrationsInProgress({ host: 'node-6' }, never)).map(({ id }) => id)).not.toContain(running.id);
    await expect(nova.liveMigrate(server.id, { host: null }, never)).rejects.toMatchObject({
      type: 'InstanceBusy',
      message: expect.stringMatching(/answered 409 .*task_state migrating \(request req-/u),
    });
    await expect(nova.coldMigrate(server.id, { host: null }, never)).rejects.toMatchObject({ type: 'InstanceBusy' });
    await nova.abortMigration(server.id, running.id, never);
    await untilMigration(nova, server.id, 'cancelled');
    expect(await nova.server(server.id, never)).toMatchObject({ host: 'node-1', status: 'ACTIVE', taskState: null });
    await expect(nova.abortMigration(server.id, running.id, never)).rejects.toMatchObject({
      type: 'MigrationNotAbortable',
    });
    await expect(nova.abortMigration(unknownId, running.id, never)).rejects.toMatchObject({
      type: 'MigrationNotFound',
    });
    expect(statusesOf(counterpart, server.id)).toEqual(['accepted', 'queued', 'preparing', 'running', 'cancelled']);
  });

  test('a live migration is completed by force, only while it runs', async (counterpart) => {
    const nova = createNovaClient(counterpart.connect());
    const server = await seedScripted(counterpart, 'forced', ['hang']);
    await nova.liveMigrate(server.id, { host: null }, never);
    const running = await untilRunning(nova, server.id);
    await expect(nova.forceCompleteMigration(server.id, running.id + 1_000, never)).rejects.toMatchObject({
      type: 'MigrationNotFound',
    });
    await nova.forceCompleteMigration(server.id, running.id, never);
    await untilMigration(nova, server.id, 'completed');
    await expect(nova.forceCompleteMigration(server.id, running.id, never)).rejects.toMatchObject({
      type: 'MigrationRefused',
    });
  });

  test('what a slow guest has left goes up and down, what a hanging one has stays', async (counterpart) => {
    const nova = createNovaClient(counterpart.connect());
    const server = await seedScripted(counterpart, 'slow', ['slow', 'hang']);
    const watch = async (id: number, enough: (seen: number[]) => boolean) => {
      const seen: number[] = [];
      await until('enough counts', deadlineMs, async () => {
        const remaining = (await nova.serverMigration(server.id, id, never))?.memoryRemainingBytes ?? null;
        if (remaining !== null) seen.push(remaining);
        return enough(seen) || seen.join(' ');
      });
      return seen;
    };
    await nova.liveMigrate(server.id, { host: null }, never);
    const slow = await untilRunning(nova, server.id);
    const goesUp = (seen: number[]) => seen.some((bytes, index) => index > 0 && bytes > (seen[index - 1] ?? 0));
    const goesDown = (seen: number[]) => seen.some((bytes, index) => index > 0 && bytes < (seen[index - 1] ?? 0));
    await watch(slow.id, (seen) => goesUp(seen) && goesDown(seen));
    await nova.abortMigration(server.id, slow.id, never);
    await untilMigration(nova, server.id, 'cancelled');
    await waitForServer(counterpart.admin, server.id, 'ACTIVE');
    await nova.liveMigrate(server.id, { host: null }, never);
    const hanging = await untilRunning(nova, server.id);
    expect(new Set(await watch(hanging.id, (seen) => seen.length >= 12)).size).toBe(1);
    await nova.abortMigration(server.id, hanging.id, never);
    await untilMigration(nova, server.id, 'cancelled');
    expect(await counterpart.fleet.guest(server.id)).toEqual({
      attempts: [{ migrate: 'slow' }, { migrate: 'hang' }],
      started: 2,
    });
  });

  test('what exceeds the limit of a host is queued, can be aborted there, and goes on when there is a place', async (counterpart) => {
    const nova = createNovaClient(counterpart.connect());
    const first = await seedScripted(counterpart, 'first', ['hang']);
    const [dropped, waiting] = [await seed(counterpart, 'dropped'), await seed(counterpart, 'waiting')];
    await nova.liveMigrate(first.id, { host: null }, never);
    const { id } = await untilRunning(nova, first.id);
    for (const server of [dropped, waiting]) {
      await nova.liveMigrate(server.id, { host: null }, never);
      await untilMigration(nova, server.id, 'queued');
    }
    await nova.abortMigration(dropped.id, (await untilMigration(nova, dropped.id, 'queued')).id, never);
    await untilMigration(nova, dropped.id, 'cancelled');
    expect(await nova.server(dropped.id, never)).toMatchObject({ host: 'node-1', status: 'ACTIVE', taskState: null });
    expect((await nova.migrationsOf(waiting.id, never))[0]).toMatchObject({ status: 'queued' });
    await counterpart.fleet.change('node-1', { maxConcurrentLiveMigrations: 2 });
    await untilMigration(nova, waiting.id, 'completed');
    await nova.abortMigration(first.id, id, never);
    await untilMigration(nova, first.id, 'cancelled');
  });

  test('a lock does not keep an administrator from moving a server', async (counterpart) => {
    const nova = createNovaClient(counterpart.connect());
    const server = await seed(counterpart, 'locked', { locked: true });
    expect(await nova.server(server.id, never)).toMatchObject({ locked: true });
    await nova.liveMigrate(server.id, { host: null }, never);
    await untilMigration(nova, server.id, 'completed');
  });

  test('a paused server moves and stays paused', async (counterpart) => {
    const nova = createNovaClient(counterpart.connect());
    const server = await seed(counterpart, 'paused', { state: 'PAUSED' });
    await nova.liveMigrate(server.id, { host: 'node-2' }, never);
    await untilMigration(nova, server.id, 'completed');
    expect(await waitForServer(counterpart.admin, server.id, 'PAUSED')).toMatchObject({
      'OS-EXT-STS:power_state': 3,
      'OS-EXT-SRV-ATTR:host': 'node-2',
    });
  });
}

function describeFailures(test: ContractTest): void {
  test('a migration that is accepted and then refused by the pre-check is in error, and the action says why', async (counterpart) => {
    const nova = createNovaClient(counterpart.connect());
    const server = await seedScripted(counterpart, 'prechecked', ['precheck-dest']);
    const { requestId } = await nova.liveMigrate(server.id, { host: null }, never);
    const record = await untilMigration(nova, server.id, 'error');
    expect(record.targetHost).toBeNull();
    expect(await nova.server(server.id, never)).toMatchObject({ host: 'node-1', status: 'ACTIVE', taskState: null });
    const reason = await untilExplained(nova, server.id, requestId);
    expect(reason).toMatch(/^Migration pre-check error: .*; No valid host was found/u);
    expect(await nova.lastActionFailure(server.id, { action: 'live-migration' }, never)).toBe(reason);
    expect(statusesOf(counterpart, server.id)).toEqual(['accepted', 'error']);
  });

  const ends: [
    mode: Attempt & string,
    migration: string[],
    server: string,
    reason: RegExp | null,
    statuses: string[],
  ][] = [
    ['fail', ['failed'], 'ACTIVE', null, ['accepted', 'queued', 'preparing', 'running', 'failed']],
    ['error', ['error'], 'ERROR', null, ['accepted', 'queued', 'preparing', 'running', 'error']],
    ['prefail', ['failed'], 'ACTIVE', /could not prepare/u, ['accepted', 'queued', 'preparing', 'error', 'failed']],
    ['precheck-dest', ['error'], 'ACTIVE', /CPU models do not match/u, ['accepted', 'error']],
    ['precheck-source', ['error'], 'ACTIVE', /is not on shared storage/u, ['accepted', 'error']],
  ];
  for (const [mode, migration, status, reason, statuses] of ends) {
    test(`a live migration to a named host that ends as ${mode} leaves the server ${status} where it was`, async (counterpart) => {
      const nova = createNovaClient(counterpart.connect());
      const server = await seedScripted(counterpart, mode, [mode]);
      const { requestId } = await nova.liveMigrate(server.id, { host: 'node-2' }, never);
      await untilMigration(nova, server.id, ...migration);
      const found = await waitForServer(counterpart.admin, server.id, status);
      expect(found['OS-EXT-SRV-ATTR:host']).toBe('node-1');
      expect(await nova.server(server.id, never)).toMatchObject({ fault: null });
      if (reason === null) expect(await nova.lastActionFailure(server.id, { requestId }, never)).toBeNull();
      else expect(await untilExplained(nova, server.id, requestId)).toMatch(reason);
      expect(statusesOf(counterpart, server.id)).toEqual(statuses);
    });
  }

  test('a host that does not accept refuses in the pre-check, an older one is no target', async (counterpart) => {
    const nova = createNovaClient(counterpart.connect());
    await counterpart.fleet.change('node-3', { accept: false });
    await counterpart.fleet.change('node-4', { hypervisorVersion: 8_000_000 });
    for (const host of ['node-3', 'node-4']) {
      const server = await seed(counterpart, `to-${host}`);
      const { requestId } = await nova.liveMigrate(server.id, { host }, never);
      await untilMigration(nova, server.id, 'error');
      expect(await untilExplained(nova, server.id, requestId)).toMatch(/No valid host was found/u);
      expect(await waitForServer(counterpart.admin, server.id, 'ACTIVE')).toMatchObject({
        'OS-EXT-SRV-ATTR:host': 'node-1',
      });
    }
  });

  test('a crash leaves the migration running, the next start of nova-compute ends it', async (counterpart) => {
    const nova = createNovaClient(counterpart.connect());
    const server = await seedScripted(counterpart, 'crashing', ['hang']);
    await nova.liveMigrate(server.id, { host: null }, never);
    const { id } = await untilRunning(nova, server.id);
    await counterpart.fleet.crash('node-1');
    expect((await counterpart.fleet.hosts())['node-1']).toMatchObject({ running: false });
    expect(await nova.server(server.id, never)).toMatchObject({ status: 'MIGRATING' });
    expect(await nova.serverMigration(server.id, id, never)).toMatchObject({ status: 'running' });
    await counterpart.fleet.start('node-1');
    expect((await waitForServer(counterpart.admin, server.id, 'ACTIVE'))['OS-EXT-SRV-ATTR:host']).toBe('node-1');
    expect((await nova.migrationsOf(server.id, never))[0]).toMatchObject({ id, status: 'error' });
  });
}

function describeRefusals(test: ContractTest): void {
  const refusals: [what: string, spec: Partial<InstanceSpec>, host: string | null, code: string, reason: RegExp][] = [
    ['an unknown target', {}, 'node-99', 'MigrationRefused', /answered 400 .*Compute host node-99 could not be found/u],
    [
      'a suspended server',
      { state: 'SUSPENDED' },
      null,
      'InstanceStateRefused',
      /answered 409 .*while it is in vm_state suspended/u,
    ],
    [
      'a server in rescue',
      { state: 'RESCUE' },
      null,
      'InstanceStateRefused',
      /answered 409 .*while it is in vm_state rescued/u,
    ],
    [
      'a stopped server',
      { state: 'SHUTOFF' },
      null,
      'InstanceStateRefused',
      /answered 409 .*while it is in vm_state stopped/u,
    ],
    [
      'a server in error',
      { state: 'ERROR' },
      null,
      'InstanceStateRefused',
      /answered 409 .*while it is in vm_state error/u,
    ],
  ];
  for (const [what, spec, host, code, reason] of refusals) {
    test(`a live migration of ${what} is refused at once`, async (counterpart) => {
      const nova = createNovaClient(counterpart.connect());
      const server = await seed(counterpart, what.replaceAll(' ', '-'), spec);
      await expect(nova.liveMigrate(server.id, { host }, never)).rejects.toMatchObject({
        type: code,
        message: expect.stringMatching(reason),
      });
      expect(await nova.migrationsOf(server.id, never)).toEqual([]);
    });
  }

  test('a server with a virtual TPM is made only where its traits are, and refused at once while it runs', async (counterpart) => {
    const nova = createNovaClient(counterpart.connect());
    const flavor = await ensureTpmFlavor(counterpart.admin);
    await counterpart.fleet.change('node-1', { traits: tpmTraits });
    const server = await seed(counterpart, 'tpm', { flavor });
    await expect(nova.liveMigrate(server.id, { host: null }, never)).rejects.toMatchObject({
      type: 'MigrationRefused',
      message: expect.stringContaining(
        `Operation 'live-migration' not supported for vTPM-enabled instance (${server.id}).`,
      ),
    });
    expect(await nova.migrationsOf(server.id, never)).toEqual([]);
    const elsewhere = await requestInstance(counterpart.admin, { name: 'tpm-elsewhere', host: 'node-2', flavor });
    expect((await waitForServer(counterpart.admin, elsewhere, 'ERROR')).fault?.message).toContain(
      'No valid host was found',
    );
  });

  test('a server that is gone is not migrated, and has no migrations', async (counterpart) => {
    const nova = createNovaClient(counterpart.connect());
    await expect(nova.liveMigrate(unknownId, { host: null }, never)).rejects.toMatchObject({
      type: 'InstanceNotFound',
      message: expect.stringMatching(/answered 404 .*could not be found/u),
    });
    expect(await nova.migrationsOf(unknownId, never)).toEqual([]);
  });
}
