import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { openSession as openKeystone } from '../../activities/keystone/client.ts';
import type { KeystoneSession } from '../../activities/keystone/types.ts';
import { createAllowanceActivities, createHostActivities, createInstanceActivities } from '../../activities/nova/activities.ts';
import { createNovaClient } from '../../activities/nova/client.ts';
import type { HostDependencies, InstanceDependencies } from '../../activities/nova/dependencies.ts';
import type { ActivityScope } from '../../activities/nova/scope.ts';
import { createPlacementClient } from '../../activities/placement/client.ts';
import type { Eviction } from '../../contracts/crds/eviction.ts';
import type { Migration } from '../../contracts/instance.ts';
import type { MigrationEnd, MigrationReport, MigrationStart } from '../../contracts/migrate-instance.ts';
import { type Lab, startLab, stopLab } from '../../lab/lab.ts';
import { connectFleet, type Fleet } from '../../lab/openstack/fleet.ts';
import type { MigrateMode } from '../../lab/openstack/host-profile.ts';
import { changeService, createAggregate, findService } from '../../lab/openstack/hosts.ts';
import { readApiCalls } from '../../lab/openstack/journal.ts';
import { coldMigrate, listMigrations, liveMigrate, waitForMigration } from '../../lab/openstack/migrations.ts';
import { resetOpenStack } from '../../lab/openstack/reset.ts';
import { act, createInstance, createInstances, createServerGroup, deleteInstances, getServer, type InstanceSpec, listServers, type Server } from '../../lab/openstack/seed.ts';
import { openSession, type Session } from '../../lab/openstack/session.ts';
import type { AuditEntry } from '../../runtime/audit.ts';
import { systemClock } from '../../runtime/clock.ts';
import { droverFailure } from '../../runtime/failure.ts';
import { loadOpenStackSettings } from '../../runtime/openstack-settings.ts';
import { until } from './until.ts';

/** The first run on a machine installs OpenStack from PyPI. */
const startTimeoutMs = 15 * 60_000;

let dir: string | null = null;
let lab: Lab<'openstack'>;
let session: Session;
let fleet: Fleet;
let keystone: KeystoneSession;

beforeAll(async () => {
  // A lab of its own: what hangs here for good must not be in anybody's way.
  dir = mkdtempSync(join(tmpdir(), 'drover-nova-'));
  lab = await startLab({ dir, parts: ['openstack'] });
  session = await openSession(lab.handles.openstack);
  fleet = connectFleet(lab.handles.openstack);
  keystone = openKeystone(loadOpenStackSettings({ OS_CLIENT_CONFIG_FILE: lab.handles.openstack.cloudsFile, OS_CLOUD: 'lab' }), { clock: systemClock });
}, startTimeoutMs);

afterAll(async () => {
  await dropLeftAllocations();
  await keystone?.close();
  if (dir === null) return;
  await stopLab({ dir, parts: ['openstack'] });
  rmSync(dir, { recursive: true, force: true });
});

beforeEach(async () => {
  await resetOpenStack(lab.handles.openstack);
  await dropLeftAllocations();
});

/** Nova forgets the share of a migration whose server is deleted on the way. Nobody else's server may be here now. */
async function dropLeftAllocations(): Promise<void> {
  const { resource_providers: providers } = await session.placement<{ resource_providers: { uuid: string }[] }>('GET', '/resource_providers');
  for (const { uuid } of providers) {
    const { allocations } = await session.placement<{ allocations: object }>('GET', `/resource_providers/${uuid}/allocations`);
    const servers = new Set((await listServers(session)).map(({ id }) => id));
    for (const consumer of Object.keys(allocations)) if (!servers.has(consumer)) await session.placement('DELETE', `/allocations/${consumer}`);
  }
}

/** A copy that hangs holds its host's one slot, even when its server is gone. */
afterEach(async () => {
  const nova = createNovaClient(keystone);
  await until('every copy to end', 60_000, async () => {
    const copying = await nova.migrationsCopying(AbortSignal.timeout(30_000));
    await Promise.all(copying.map(({ instanceId }) => fleet.script(instanceId, ['ok'])));
    return copying.length === 0 || copying.map(({ id, status }) => `${id} ${status}`).join(', ');
  });
}, 120_000);

/** drover's activities as one attempt after another of the same worker would run them. */
function openActivities(change: Partial<HostDependencies & InstanceDependencies> & { details?: unknown } = {}) {
  const reports: MigrationReport[] = [];
  const audited: AuditEntry[] = [];
  const beats: unknown[] = [];
  const cancelled = new AbortController();
  const scope = (): ActivityScope => ({
    signal: cancelled.signal,
    deadlineMs: Date.now() + 60_000,
    heartbeatDetails: change.details,
    run: { workflowId: 'migration/test', runId: 'test' },
    heartbeat: (details) => void beats.push(details),
  });
  const shared = {
    nova: createNovaClient(keystone),
    placement: createPlacementClient(keystone),
    stopGate: async () => {},
    audit: { record: async (entry: AuditEntry) => void audited.push(entry) },
    clock: systemClock,
    report: async (report: MigrationReport) => void reports.push(report),
    listHypervisors: async () => [],
    listEvictions: async () => [],
    localDisks: false,
    scope,
    ...change,
  };
  return {
    ...createHostActivities(shared),
    ...createInstanceActivities(shared),
    ...createAllowanceActivities({ nova: shared.nova, limit: 8, checkMs: 1_000, silentMs: 2_000, scope, clock: systemClock }),
    reports,
    audited,
    beats,
    cancelled,
  };
}

type Activities = ReturnType<typeof openActivities>;

/** Judged within seconds instead of minutes. */
const limits = { stuck: { msPerGiB: 1_000, floorMs: 20_000, noProgressMs: 2_000, startMs: 20_000 }, poll: { minMs: 100, maxMs: 1_000 }, gibibytes: 0.5 };

const subject = (instanceId: string) => ({ instanceId, sourceHost: 'node-1', eviction: { name: 'node-1', uid: 'eviction-uid' }, attempt: 1 });
const hostOf = async (id: string): Promise<string | null> => (await getServer(session, id))['OS-EXT-SRV-ATTR:host'];
const boot = (spec: Partial<InstanceSpec> = {}): Promise<Server> => createInstance(session, { name: 'vm', host: 'node-1', seconds: 0.3, ...spec });

function started(start: MigrationStart): Migration {
  if (start.outcome !== 'started') throw new Error(`not started: ${JSON.stringify(start)}`);
  return start.migration;
}

async function moveLive(activities: Activities, id: string): Promise<MigrationEnd> {
  const { id: migrationId } = started(await activities.startLiveMigration({ ...subject(id), perTarget: 2 }));
  return activities.awaitMigration({ ...subject(id), migrationId, ...limits });
}

describe('a host', () => {
  test('is observed with everything that holds on to it', async () => {
    const [server, leaving] = await createInstances(session, [{ name: 'stays', host: 'node-1' }, { name: 'hangs', host: 'node-1', migrate: 'hang' }]);
    const moved = await boot({ name: 'moved', state: 'SHUTOFF' });
    await waitForMigration(session, moved.id, await coldMigrate(session, moved.id), ['finished']);
    await waitForMigration(session, leaving!.id, await liveMigrate(session, leaving!.id), ['running']);
    const host = await openActivities().observeHost({ hypervisor: 'node-1' });
    expect(host).toMatchObject({ host: 'node-1', hypervisorHostname: 'node-1.lab.drover.dev', service: { status: 'enabled', state: 'up' }, schedulingDisabled: false });
    expect(host.instances.map(({ name }) => name).sort()).toEqual(['hangs', 'stays']);
    expect(host.instances.find(({ name }) => name === 'stays')).toEqual({
      id: server!.id,
      name: 'stays',
      status: 'ACTIVE',
      taskState: null,
      vmState: 'active',
      host: 'node-1',
      locked: false,
      memoryMiB: 512,
      vcpus: 1,
      localDiskGiB: 1,
      serverGroups: [],
      fault: null,
    });
    expect(host.migrations.map(({ type, status }) => `${type} ${status}`).sort()).toEqual(['live-migration running', 'migration finished']);
    expect(host.unconfirmedResizes).toEqual([moved.id]);
    // The server that stays, the record that holds the share of the one that leaves, and that of the one that has left.
    expect(host.allocations).toHaveLength(3);
    expect(host.allocations).toContain(server!.id);
  });

  test('is not found by a part of its name', async () => {
    const activities = openActivities();
    await expect(activities.observeHost({ hypervisor: 'node' })).rejects.toMatchObject({ type: 'HostNotFound', nonRetryable: true });
    await expect(activities.observeHost({ hypervisor: 'node-1.example.com' })).resolves.toMatchObject({ host: 'node-1' });
  });

  test('is disabled and enabled by its owner only, and leaves a line for each change', async () => {
    const activities = openActivities();
    const reason = 'drover: eviction node-1, CHG-1';
    await expect(activities.ensureServiceDisabled({ host: 'node-1', reason })).resolves.toMatchObject({ status: 'disabled', disabledReason: reason });
    await expect(activities.ensureServiceDisabled({ host: 'node-1', reason: 'drover: another' })).resolves.toMatchObject({ disabledReason: reason });
    await until('Placement to show it', 10_000, async () => (await activities.observeHost({ hypervisor: 'node-1' })).schedulingDisabled || 'not disabled');
    await expect(activities.ensureServiceEnabled({ host: 'node-1' })).resolves.toBe(true);
    await expect(activities.ensureServiceEnabled({ host: 'node-1' })).resolves.toBe(true);
    expect(activities.audited).toMatchObject([
      { action: 'ensureServiceDisabled', object: 'compute-service/node-1', before: { status: 'enabled' }, after: { status: 'disabled' }, run: { runId: 'test' } },
      { action: 'ensureServiceEnabled', before: { disabledReason: reason }, after: { status: 'enabled' } },
    ]);
    expect(activities.audited[0]?.requestId).toMatch(/^req-/u);

    await changeService(session, 'node-1', { status: 'disabled', disabled_reason: 'broken fan' });
    await expect(activities.ensureServiceDisabled({ host: 'node-1', reason })).resolves.toMatchObject({ disabledReason: 'broken fan' });
    await expect(activities.ensureServiceEnabled({ host: 'node-1' })).resolves.toBe(false);
    expect(await findService(session, 'node-1')).toMatchObject({ status: 'disabled', disabled_reason: 'broken fan' });
    expect(activities.audited).toHaveLength(2);
  });

  test('is left alone while drover is stopped', async () => {
    const stopGate = async () => {
      throw droverFailure('Stopped', 'Stopped by a test');
    };
    const { id } = await boot();
    const activities = openActivities({ stopGate });
    await expect(activities.ensureServiceDisabled({ host: 'node-1', reason: 'drover: x' })).rejects.toMatchObject({ type: 'Stopped' });
    await expect(activities.startLiveMigration({ ...subject(id), perTarget: 2 })).rejects.toMatchObject({ type: 'Stopped' });
    expect(await findService(session, 'node-1')).toMatchObject({ status: 'enabled' });
    expect(await listMigrations(session, id)).toEqual([]);
    expect(activities.audited).toEqual([]);
  });
});

describe('a live migration', () => {
  test('moves a server, at little cost', async () => {
    const { id } = await boot({ seconds: 4 });
    const sinceMs = Date.now();
    const activities = openActivities();
    const end = await moveLive(activities, id);
    const target = await hostOf(id);
    expect(target).not.toBe('node-1');
    expect(end).toMatchObject({ status: 'completed', stuck: null, targetHost: target, message: null, observation: { instance: { host: target, status: 'ACTIVE', taskState: null }, migration: null } });
    const { openstack } = lab.handles;
    const polls = readApiCalls(openstack, 'nova', sinceMs).filter(({ method, path, userAgent }) => method === 'GET' && path.includes('migrations') && userAgent.includes('drover') && userAgent !== 'drover-lab');
    // A start reads about twenty times; then four seconds of looking.
    expect(polls.length).toBeLessThan(60);
    expect(activities.reports.at(-1)).toMatchObject({ migration: { status: 'completed', targetHost: target }, message: null });
    expect(activities.reports.map(({ migration }) => migration?.status)).toContain('running');
    expect(activities.beats.length).toBeGreaterThan(3);
    expect(activities.audited).toMatchObject([{ action: 'startLiveMigration', object: `server/${id}` }]);
  });

  test('is started once, however often it is asked for', async () => {
    const { id } = await boot({ migrate: 'hang' });
    const starts = await Promise.all([1, 2, 3].map(() => openActivities().startLiveMigration({ ...subject(id), perTarget: 2 })));
    const again = await openActivities().startLiveMigration({ ...subject(id), perTarget: 2 });
    expect(new Set([...starts, again].map((start) => started(start).id)).size).toBe(1);
    expect(await listMigrations(session, id)).toHaveLength(1);
  });

  test('whose acknowledgement was lost is found again, even when it has ended', async () => {
    const { id } = await boot({ migrate: 'fail', seconds: 0.1 });
    const first = openActivities();
    const migration = started(await first.startLiveMigration({ ...subject(id), perTarget: 2 }));
    await first.awaitMigration({ ...subject(id), migrationId: migration.id, ...limits });
    const details = first.beats[0];
    expect(started(await openActivities({ details }).startLiveMigration({ ...subject(id), perTarget: 2 })).id).toBe(migration.id);
    expect(await listMigrations(session, id)).toHaveLength(1);
  });

  test.each(['hang', 'slow'] as const)('that does not get on (%s) is stuck, and is aborted', async (migrate) => {
    const { id } = await boot({ migrate });
    const activities = openActivities();
    const end = await moveLive(activities, id);
    expect(end).toMatchObject({ status: 'stuck', stuck: 'NoProgress', observation: { migration: { status: 'running' }, instance: { taskState: 'migrating' } } });
    expect(activities.reports.at(-1)?.message).toMatch(/^Stuck/u);
    const migrationId = end.observation.migration!.id;
    const aborted = await activities.abortMigration({ ...subject(id), migrationId });
    expect(aborted).toMatchObject({ status: 'cancelled', stuck: null, message: null, observation: { instance: { host: 'node-1', status: 'ACTIVE', taskState: null }, migration: null } });
    await expect(activities.abortMigration({ ...subject(id), migrationId })).resolves.toMatchObject({ status: 'cancelled' });
    expect(activities.audited.map(({ action }) => action)).toEqual(['startLiveMigration', 'abortMigration']);
  });

  test('that takes longer than its size allows is stuck', async () => {
    const { id } = await boot({ migrate: 'hang' });
    const activities = openActivities();
    const migrationId = started(await activities.startLiveMigration({ ...subject(id), perTarget: 2 })).id;
    const stuck = { ...limits.stuck, floorMs: 1_000, noProgressMs: 60_000 };
    await expect(activities.awaitMigration({ ...subject(id), migrationId, ...limits, stuck })).resolves.toMatchObject({ stuck: 'TooLong' });
  });

  test('that waits in Nova’s queue has its own deadline', async () => {
    await fleet.change('node-1', { maxConcurrentLiveMigrations: 1 });
    const [first, second] = await createInstances(session, [{ name: 'first', host: 'node-1', migrate: 'hang' }, { name: 'second', host: 'node-1', seconds: 0.2 }]);
    const activities = openActivities();
    const blocking = started(await activities.startLiveMigration({ ...subject(first!.id), perTarget: 2 }));
    await waitForMigration(session, first!.id, blocking.id, ['running']);
    const { id: migrationId } = started(await activities.startLiveMigration({ ...subject(second!.id), perTarget: 2 }));
    const stuck = { ...limits.stuck, startMs: 1_500 };
    await expect(activities.awaitMigration({ ...subject(second!.id), migrationId, ...limits, stuck })).resolves.toMatchObject({ stuck: 'NotStarted', observation: { migration: { status: 'queued' } } });
    await expect(activities.abortMigration({ ...subject(second!.id), migrationId })).resolves.toMatchObject({ status: 'cancelled', observation: { instance: { host: 'node-1', taskState: null } } });
  });

  test('is finished by force', async () => {
    const { id } = await boot({ migrate: 'hang' });
    const activities = openActivities();
    const stuck = await moveLive(activities, id);
    const migrationId = stuck.observation.migration!.id;
    await activities.forceCompleteMigration({ ...subject(id), migrationId });
    await expect(activities.awaitMigration({ ...subject(id), migrationId, ...limits })).resolves.toMatchObject({ status: 'completed', message: null });
    await activities.forceCompleteMigration({ ...subject(id), migrationId });
    expect(activities.audited.map(({ action }) => action)).toEqual(['startLiveMigration', 'forceCompleteMigration']);
  });

  type Failure = [migrate: MigrateMode, status: string, server: string, words: RegExp];
  const failures: Failure[] = [
    ['fail', 'failed', 'ACTIVE', /gives no reason/u],
    ['error', 'error', 'ERROR', /gives no reason/u],
    // Nova says `error` instead when its roll-back is slow.
    ['prefail', 'failed|error', 'ACTIVE', /prepare/u],
    ['precheck-source', 'error', 'ACTIVE', /shared storage/iu],
    ['precheck-dest', 'error', 'ACTIVE', /No valid host|do not match|CPU/iu],
  ];
  test.each(failures)('that fails (%s) ends with Nova’s words', async (migrate, status, server, words) => {
    const { id } = await boot({ migrate });
    const end = await moveLive(openActivities(), id);
    expect(end).toMatchObject({ status: expect.stringMatching(new RegExp(`^(${status})$`, 'u')), stuck: null, observation: { instance: { host: 'node-1', status: server, taskState: null }, migration: null } });
    expect(end.message).toMatch(words);
  });

  test('without any target is refused by the scheduler, afterwards (H6)', async () => {
    const { id } = await boot();
    for (const host of ['node-2', 'node-3', 'node-4', 'node-5', 'node-6']) await changeService(session, host, { status: 'disabled', disabled_reason: 'test' });
    const end = await moveLive(openActivities(), id);
    expect(end).toMatchObject({ status: 'error', targetHost: null });
    expect(end.message).toMatch(/No valid host/u);
  });

  test('moves a paused server, and a locked one for an administrator', async () => {
    const [paused, locked] = await createInstances(session, [{ name: 'paused', host: 'node-1', seconds: 0.2, state: 'PAUSED' }, { name: 'locked', host: 'node-1', seconds: 0.2, locked: true }]);
    await expect(moveLive(openActivities(), paused!.id)).resolves.toMatchObject({ status: 'completed', observation: { instance: { vmState: 'paused' } } });
    await expect(moveLive(openActivities(), locked!.id)).resolves.toMatchObject({ status: 'completed' });
  });

  test('is not asked for where it is not needed, or of no use', async () => {
    const [suspended, elsewhere, gone] = await createInstances(session, [
      { name: 'suspended', host: 'node-1', state: 'SUSPENDED' },
      { name: 'elsewhere', host: 'node-2' },
      { name: 'gone', host: 'node-1' },
    ]);
    await deleteInstances(session, [gone!.id]);
    const activities = openActivities();
    const start = (id: string) => activities.startLiveMigration({ ...subject(id), perTarget: 2 });
    await expect(start(suspended!.id)).resolves.toMatchObject({ outcome: 'changed', observation: { instance: { vmState: 'suspended' } } });
    await expect(start(elsewhere!.id)).resolves.toMatchObject({ outcome: 'changed', observation: { instance: { host: 'node-2' } } });
    await expect(start(gone!.id)).resolves.toEqual({ outcome: 'changed', observation: { instance: null, migration: null } });
    await expect(activities.observeInstance({ instanceId: gone!.id })).resolves.toEqual({ instance: null, migration: null });
    expect(activities.audited).toEqual([]);
  });

  test('waits for room on a target, and a wait ends when there is some', async () => {
    for (const host of ['node-3', 'node-4', 'node-5', 'node-6']) await changeService(session, host, { status: 'disabled', disabled_reason: 'test' });
    const [first, second] = await createInstances(session, [{ name: 'first', host: 'node-1', migrate: 'hang' }, { name: 'second', host: 'node-1', seconds: 0.2 }]);
    const activities = openActivities();
    const { id: migrationId } = started(await activities.startLiveMigration({ ...subject(first!.id), perTarget: 1 }));
    await expect(activities.startLiveMigration({ ...subject(second!.id), perTarget: 1 })).resolves.toEqual({ outcome: 'targetsBusy' });
    await expect(activities.awaitTargetRoom({ sourceHost: 'node-1', perTarget: 1, deadlineMs: 500 })).resolves.toBe(false);
    await expect(activities.observeAllowance({ region: 'RegionOne' })).resolves.toEqual({ limit: 8, checkMs: 1_000, silentMs: 2_000, inProgress: { 'node-1': 1 } });
    const room = activities.awaitTargetRoom({ sourceHost: 'node-1', perTarget: 1, deadlineMs: 30_000 });
    await waitForMigration(session, first!.id, migrationId, ['running']);
    await activities.abortMigration({ ...subject(first!.id), migrationId });
    await expect(room).resolves.toBe(true);
    await expect(moveLive(activities, second!.id)).resolves.toMatchObject({ status: 'completed', targetHost: 'node-2' });
  });

  test('of a server that is deleted meanwhile ends with nothing', async () => {
    const { id } = await boot({ migrate: 'hang' });
    const activities = openActivities();
    const { id: migrationId } = started(await activities.startLiveMigration({ ...subject(id), perTarget: 2 }));
    await waitForMigration(session, id, migrationId, ['running']);
    const end = activities.awaitMigration({ ...subject(id), migrationId, ...limits });
    await deleteInstances(session, [id]);
    await fleet.script(id, ['ok']);
    await expect(end).resolves.toMatchObject({ observation: { instance: null, migration: null } });
  });

  test('is let go by a wait that is cancelled', async () => {
    const { id } = await boot({ migrate: 'hang' });
    const activities = openActivities();
    const { id: migrationId } = started(await activities.startLiveMigration({ ...subject(id), perTarget: 2 }));
    const waiting = activities.awaitMigration({ ...subject(id), migrationId, ...limits });
    activities.cancelled.abort(new Error('cancelled by a test'));
    await expect(waiting).rejects.toThrow('cancelled by a test');
    expect((await listMigrations(session, id)).map(({ status }) => status)).not.toContain('cancelled');
  });
});

describe('a cold migration', () => {
  test('ends as finished and is confirmed by drover, once', async () => {
    const { id } = await boot({ state: 'SHUTOFF' });
    const activities = openActivities();
    const { id: migrationId } = started(await activities.startColdMigration({ ...subject(id), perTarget: 2 }));
    const end = await activities.awaitMigration({ ...subject(id), migrationId, ...limits });
    expect(end).toMatchObject({ status: 'finished', message: null, observation: { instance: { status: 'VERIFY_RESIZE', vmState: 'resized', taskState: null }, migration: { id: migrationId } } });
    const confirmed = await activities.confirmMigration({ ...subject(id), migrationId });
    expect(confirmed).toMatchObject({ status: 'confirmed', observation: { instance: { status: 'SHUTOFF', host: end.targetHost }, migration: null } });
    await expect(activities.confirmMigration({ ...subject(id), migrationId })).resolves.toMatchObject({ status: 'confirmed' });
    expect(activities.audited.map(({ action }) => action)).toEqual(['startColdMigration', 'confirmMigration']);
    expect((await activities.observeHost({ hypervisor: 'node-1' })).allocations).toEqual([]);
  });

  test('of somebody else is not taken for drover’s own', async () => {
    const { id } = await boot({ state: 'SHUTOFF' });
    await waitForMigration(session, id, await coldMigrate(session, id), ['finished']);
    await expect(openActivities().startColdMigration({ ...subject(id), perTarget: 2 })).resolves.toMatchObject({ outcome: 'changed', observation: { migration: { status: 'finished' } } });
  });

  test('whose acknowledgement was lost is known by what the attempt left behind', async () => {
    const { id } = await boot({ state: 'SHUTOFF' });
    const first = openActivities();
    const migration = started(await first.startColdMigration({ ...subject(id), perTarget: 2 }));
    await waitForMigration(session, id, migration.id, ['finished']);
    await expect(openActivities({ details: first.beats[0] }).startColdMigration({ ...subject(id), perTarget: 2 })).resolves.toMatchObject({ outcome: 'started', migration: { id: migration.id } });
    expect(await listMigrations(session, id)).toHaveLength(1);
  });
});

test('a busy server is waited for', async () => {
  await fleet.change('node-1', { destroySeconds: 2 });
  const { id } = await boot();
  await session.compute('DELETE', `/servers/${id}`);
  const activities = openActivities();
  await expect(activities.awaitInstanceIdle({ instanceId: id, deadlineMs: 50 })).resolves.toMatchObject({ instance: { taskState: 'deleting' } });
  await expect(activities.awaitInstanceIdle({ instanceId: id, deadlineMs: 20_000 })).resolves.toEqual({ instance: null, migration: null });
});

describe('a preflight', () => {
  const preflight = async (change: Parameters<typeof openActivities>[0] = {}): Promise<string[]> => {
    const { obstacles } = await openActivities(change).preflightEviction({ hypervisor: 'node-1', evictionUid: 'own' });
    return obstacles.map(({ id }) => id).filter((id) => id !== 'AgentFactsMissing');
  };
  const ids = (code: string, ...servers: Server[]): string[] => servers.map(({ id }) => `${code}/${id}`);

  test('finds nothing in the way of ordinary servers but the missing node agent', async () => {
    await createInstances(session, [{ name: 'a', host: 'node-1' }, { name: 'b', host: 'node-1', state: 'SHUTOFF' }, { name: 'c', host: 'node-1', state: 'PAUSED' }]);
    const { host, obstacles } = await openActivities().preflightEviction({ hypervisor: 'node-1', evictionUid: 'own' });
    expect(host.instances).toHaveLength(3);
    expect(obstacles).toMatchObject([{ id: 'AgentFactsMissing', instanceId: null }]);
  });

  test('names states and locks', async () => {
    const [suspended, rescued, error, locked] = await createInstances(session, [
      { name: 'suspended', host: 'node-1', state: 'SUSPENDED' },
      { name: 'rescued', host: 'node-1', state: 'RESCUE' },
      { name: 'error', host: 'node-1', state: 'ERROR' },
      { name: 'locked', host: 'node-1', locked: true },
    ]);
    const left = await boot({ name: 'left', state: 'SHUTOFF' });
    await act(session, left.id, { migrate: null });
    await until('the resize', 20_000, async () => (await getServer(session, left.id)).status === 'VERIFY_RESIZE' || 'not yet');
    const found = await preflight();
    expect(found.sort()).toEqual([...ids('InstanceState', suspended!, rescued!, error!), ...ids('InstanceLocked', locked!), ...ids('UnconfirmedResize', left)].sort());
  });

  test('names what the scheduler has no place for', async () => {
    await fleet.change('node-1', { traits: ['CUSTOM_LAB'], inventory: { VGPU: 2 } });
    const [trait, vgpu] = await createInstances(session, [{ name: 'trait', host: 'node-1', flavor: 'lab.trait' }, { name: 'vgpu', host: 'node-1', flavor: 'lab.vgpu' }]);
    expect((await preflight()).sort()).toEqual([...ids('NoValidTarget', trait!, vgpu!), ...ids('Vgpu', vgpu!)].sort());
    await fleet.change('node-2', { traits: ['CUSTOM_LAB'], inventory: { VGPU: 2 } });
    expect(await preflight()).toEqual(ids('Vgpu', vgpu!));
  });

  test('keeps to availability zones', async () => {
    await createAggregate(session, { name: 'zone-a', hosts: ['node-1', 'node-2'], availabilityZone: 'zone-a' });
    const pinned = await createInstance(session, { name: 'pinned', availabilityZone: 'zone-a:node-1', host: 'node-1' }).catch(() => createInstance(session, { name: 'pinned', availabilityZone: 'zone-a' }));
    const at = await hostOf(pinned.id);
    const other = at === 'node-1' ? 'node-2' : 'node-1';
    const look = async () => (await openActivities().preflightEviction({ hypervisor: at!, evictionUid: 'own' })).obstacles.map(({ id }) => id);
    expect(await look()).toEqual(['AgentFactsMissing']);
    await changeService(session, other, { status: 'disabled', disabled_reason: 'test' });
    expect(await look()).toEqual(['AgentFactsMissing', `NoValidTarget/${pinned.id}`]);
  });

  test('says when the whole set does not fit, or there is nowhere to go at all', async () => {
    await createInstances(session, [1, 2].map((number) => ({ name: `large-${number}`, host: 'node-1', flavor: 'lab.large' as const })));
    for (const host of ['node-3', 'node-4', 'node-5', 'node-6']) await changeService(session, host, { status: 'disabled', disabled_reason: 'test' });
    expect(await preflight()).toEqual([]);
    await createInstance(session, { name: 'huge', host: 'node-2', flavor: 'lab.huge' });
    await createInstances(session, Array.from({ length: 6 }, (_, index) => ({ name: `filler-${index}`, host: 'node-2', flavor: 'lab.large' as const })));
    const { obstacles } = await openActivities().preflightEviction({ hypervisor: 'node-1', evictionUid: 'own' });
    expect(obstacles.map(({ id }) => id)).toEqual(['AgentFactsMissing', 'CapacityShort']);
    expect(obstacles[1]?.message).toMatch(/1 of 2 servers do not fit on the 1 possible targets/u);
    await changeService(session, 'node-2', { status: 'disabled', disabled_reason: 'test' });
    expect(await preflight()).toEqual(['NoTargets']);
  });

  test('leaves room for an older eviction, and only for an older one', async () => {
    for (const host of ['node-4', 'node-5', 'node-6']) await changeService(session, host, { status: 'disabled', disabled_reason: 'test' });
    await createInstances(session, [{ name: 'huge-1', host: 'node-1', flavor: 'lab.huge' }, { name: 'huge-2', host: 'node-2', flavor: 'lab.huge' }]);
    expect(await preflight()).toEqual([]);
    const eviction = (uid: string, hypervisor: string, creationTimestamp: string): Eviction => ({
      apiVersion: 'kvm.cloud.sap/v1',
      kind: 'Eviction',
      metadata: { name: hypervisor, uid, resourceVersion: '1', generation: 1, creationTimestamp },
      spec: { hypervisor, reason: 'test' },
    });
    const own = eviction('own', 'node-1', '2026-01-01T12:00:00Z');
    const older = eviction('older', 'node-2', '2026-01-01T11:00:00Z');
    const younger = eviction('younger', 'node-2', '2026-01-01T13:00:00Z');
    expect(await preflight({ listEvictions: async () => [own, older] })).toEqual(['CapacityShort']);
    expect(await preflight({ listEvictions: async () => [own, younger] })).toEqual([]);
  });

  test('knows server groups', async () => {
    const apart = await createServerGroup(session, 'apart', 'anti-affinity');
    const [here] = await createInstances(session, [
      { name: 'here', host: 'node-1', serverGroup: apart },
      { name: 'there', host: 'node-2', serverGroup: apart },
    ]);
    expect(await preflight()).toEqual([]);
    for (const host of ['node-3', 'node-4', 'node-5', 'node-6']) await changeService(session, host, { status: 'disabled', disabled_reason: 'test' });
    expect(await preflight()).toEqual(ids('ServerGroup', here!));
  });

  test('of a host that is down says so', async () => {
    await boot();
    await changeService(session, 'node-1', { forced_down: true });
    expect(await preflight()).toEqual(['HostDown']);
  });

  test('takes newer targets only', async () => {
    await boot();
    for (const host of ['node-2', 'node-3', 'node-4', 'node-5', 'node-6']) await fleet.change(host, { hypervisorVersion: 8_000_000 });
    await until('Nova to notice', 90_000, async () => (await preflight()).includes('TargetTooOld') || 'not yet');
  }, 120_000);
});
