import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Lab, startLab, stopLab } from '../../lab/lab.ts';
import { killOpenStack, restartOpenStack } from '../../lab/openstack/faults.ts';
import { type Attempt, connectFleet, type Fleet } from '../../lab/openstack/fleet.ts';
import type { MigrateMode } from '../../lab/openstack/host-profile.ts';
import { changeService, findService } from '../../lab/openstack/hosts.ts';
import { readApiCalls, readMigrationEvents } from '../../lab/openstack/journal.ts';
import {
  abortMigration,
  coldMigrate,
  forceCompleteMigration,
  listMigrations,
  listMigrationsInProgress,
  liveMigrate,
  waitForMigration,
} from '../../lab/openstack/migrations.ts';
import { resetOpenStack } from '../../lab/openstack/reset.ts';
import {
  act,
  createInstance,
  createInstances,
  deleteInstances,
  getServer,
  listServers,
  requestInstance,
  type SeedState,
  type Server,
  waitForServer,
} from '../../lab/openstack/seed.ts';
import { openSession, type Session } from '../../lab/openstack/session.ts';
import { readProcesses } from '../../lab/processes.ts';

/** The first run on a machine installs OpenStack from PyPI. */
const START_TIMEOUT_MS = 15 * 60_000;
const hostOf = (server: Server) => server['OS-EXT-SRV-ATTR:host'];

let folders: string[];
let lab: Lab<'openstack'>;
let other: Lab<'openstack'>;
let session: Session;
let fleet: Fleet;
/** 24 of them, on node-1 at first; every test takes its own. */
let servers: Server[];
const takeServer = () => servers.shift()!.id;
const makeServers = async (count: number): Promise<void> => {
  const specs = Array.from({ length: count }, (_, index) => ({
    name: `vm-${index + 1}`,
    host: 'node-1',
    seconds: 0.2,
  }));
  servers = await createInstances(session, specs);
};

beforeAll(async () => {
  folders = [1, 2].map(() => mkdtempSync(join(tmpdir(), 'drover-openstack-')));
  lab = await startLab({ dir: folders[0]!, parts: ['openstack'] });
  other = await startLab({
    dir: folders[1]!,
    parts: ['openstack'],
    openstack: { hosts: { left: { seconds: 0 }, right: { memoryMiB: 4096 } } },
  });
  session = await openSession(lab.handles.openstack);
  fleet = connectFleet(lab.handles.openstack);
  await makeServers(24);
}, START_TIMEOUT_MS);

/** Second attempts come last, after a reset that has taken all servers. */
beforeEach(async () => {
  if (servers.length === 0) await makeServers(4);
});

afterAll(async () => {
  await Promise.all(folders.map((dir) => stopLab({ dir, parts: ['openstack'] })));
  for (const dir of folders) rmSync(dir, { recursive: true, force: true });
});

/** Live-migrates a server that behaves so, to the expected end, and reads it afterwards. */
async function moveLive(attempts: readonly Attempt[], end: string, host?: string): Promise<Server> {
  const id = takeServer();
  await fleet.script(id, attempts);
  await waitForMigration(session, id, await liveMigrate(session, id, host), [end]);
  return waitForServer(session, id, end === 'error' && attempts.includes('error') ? 'ERROR' : 'ACTIVE');
}

async function startHanging(mode: MigrateMode): Promise<{ id: string; migration: number }> {
  const id = takeServer();
  await fleet.script(id, [mode, 'ok']);
  const migration = await liveMigrate(session, id);
  await waitForMigration(session, id, migration, ['running']);
  return { id, migration };
}

/** Bytes that the migration in progress still has to copy, as often as asked, half a second apart. */
async function watchRemaining(id: string, times: number): Promise<number[]> {
  const counts: number[] = [];
  while (counts.length < times) {
    const [migration] = await listMigrationsInProgress(session, id);
    if (typeof migration?.memory_remaining_bytes === 'number') counts.push(migration.memory_remaining_bytes);
    await delay(500);
  }
  return counts;
}

describe('the fleet', () => {
  test('has six hosts with guests where they were asked for, named as libvirt names them', async () => {
    expect(Object.keys(await fleet.hosts())).toEqual(['node-1', 'node-2', 'node-3', 'node-4', 'node-5', 'node-6']);
    expect(servers).toHaveLength(24);
    expect(new Set(servers.map(hostOf))).toEqual(new Set(['node-1']));
    expect(servers[0]!['OS-EXT-SRV-ATTR:hypervisor_hostname']).toBe('node-1.lab.drover.dev');
  });

  test('refuses invalid requests, and requests without a token', async () => {
    await expect(fleet.change('node-1', { migrate: 'teleport' as MigrateMode })).rejects.toThrow(
      "unknown mode 'teleport'",
    );
    await expect(fleet.change('node-1', { colour: 'blue' } as object)).rejects.toThrow("unknown field 'colour'");
    await expect(fleet.crash('node-77')).rejects.toThrow('there is no host node-77');
    expect((await fetch(`${lab.handles.openstack.controlUrl}/fleet`)).status).toBe(401);
  });

  test('adds a host while it runs', async () => {
    expect(await fleet.change('node-7', { vcpus: 8, traits: ['CUSTOM_LAB'], inventory: { VGPU: 1 } })).toMatchObject({
      vcpus: 8,
      running: true,
    });
    expect(await findService(session, 'node-7')).toMatchObject({ state: 'up', status: 'enabled' });
    const [traited, accelerated] = await createInstances(session, [
      { name: 'traited', flavor: 'lab.trait' },
      { name: 'accelerated', flavor: 'lab.vgpu' },
    ]);
    expect([hostOf(traited!), hostOf(accelerated!)]).toEqual(['node-7', 'node-7']);
  });

  test('archives deleted servers as often as asked, though SQLite gives their ids out again', async () => {
    for (const name of ['first', 'second']) {
      const [server] = await createInstances(session, [{ name }]);
      await deleteInstances(session, [server!.id]);
      expect((await fleet.archive()).rows).toBeGreaterThan(0);
    }
  });
});

describe('live migration', () => {
  test.each<[MigrateMode, string, string]>([
    ['ok', 'completed', 'ACTIVE'],
    ['fail', 'failed', 'ACTIVE'],
    ['error', 'error', 'ERROR'],
    ['prefail', 'failed', 'ACTIVE'],
    ['precheck-dest', 'error', 'ACTIVE'],
    ['precheck-source', 'error', 'ACTIVE'],
  ])('%s: the migration is %s, the server %s', async (mode, migration, status) => {
    const server = await moveLive([mode], migration, 'node-2');
    expect(server.status).toBe(status);
    expect(hostOf(server)).toBe(mode === 'ok' ? 'node-2' : 'node-1');
  });

  test('hang: nothing moves until it is aborted; the second attempt goes as the list says', async () => {
    const { id, migration } = await startHanging('hang');
    expect(new Set(await watchRemaining(id, 4)).size).toBe(1);
    await abortMigration(session, id, migration);
    await waitForMigration(session, id, migration, ['cancelled']);
    expect(hostOf(await waitForServer(session, id, 'ACTIVE'))).toBe('node-1');
    await waitForMigration(session, id, await liveMigrate(session, id), ['completed']);
    expect(hostOf(await getServer(session, id))).not.toBe('node-1');
    expect(await fleet.guest(id)).toEqual({ attempts: [{ migrate: 'hang' }, { migrate: 'ok' }], started: 2 });
  });

  test('slow: what remains goes up and down until it is forced', async () => {
    const { id, migration } = await startHanging('slow');
    const counts = await watchRemaining(id, 10);
    expect(counts.some((bytes, index) => index > 0 && bytes > counts[index - 1]!)).toBe(true);
    expect(counts.some((bytes, index) => index > 0 && bytes < counts[index - 1]!)).toBe(true);
    await forceCompleteMigration(session, id, migration);
    await waitForMigration(session, id, migration, ['completed']);
  });

  test('what exceeds the limit of a host is queued, and can be aborted there', async () => {
    const first = await startHanging('hang');
    const [aborted, queued] = [takeServer(), takeServer()];
    const abortedMigration = await liveMigrate(session, aborted);
    const queuedMigration = await liveMigrate(session, queued);
    await waitForMigration(session, aborted, abortedMigration, ['queued']);
    await abortMigration(session, aborted, abortedMigration);
    await waitForMigration(session, aborted, abortedMigration, ['cancelled']);
    expect((await waitForMigration(session, queued, queuedMigration, ['queued'])).status).toBe('queued');
    await fleet.change('node-1', { maxConcurrentLiveMigrations: 2 });
    await waitForMigration(session, queued, queuedMigration, ['completed']);
    await abortMigration(session, first.id, first.migration);
    await waitForMigration(session, first.id, first.migration, ['cancelled']);
  });

  test('a paused server moves and stays paused', async () => {
    const id = takeServer();
    await act(session, id, { pause: null });
    await waitForServer(session, id, 'PAUSED');
    await waitForMigration(session, id, await liveMigrate(session, id), ['completed']);
    expect(await waitForServer(session, id, 'PAUSED')).toMatchObject({ 'OS-EXT-STS:power_state': 3 });
  });

  test('a host that does not accept refuses in the pre-check', async () => {
    await fleet.change('node-3', { accept: false });
    expect(hostOf(await moveLive(['ok'], 'error', 'node-3'))).toBe('node-1');
  });
});

describe('cold migration', () => {
  test.each<[SeedState, object]>([
    ['ACTIVE', {}],
    ['SHUTOFF', { 'os-stop': null }],
  ])('%s: waits for confirmation and is what it was', async (status, action) => {
    const id = takeServer();
    if (status !== 'ACTIVE') await act(session, id, action);
    await waitForServer(session, id, status);
    const migration = await coldMigrate(session, id);
    await waitForServer(session, id, 'VERIFY_RESIZE');
    expect((await listMigrations(session, id))[0]).toMatchObject({
      id: migration,
      status: 'finished',
      source_compute: 'node-1',
    });
    await act(session, id, { confirmResize: null });
    await waitForMigration(session, id, migration, ['confirmed']);
    expect(hostOf(await waitForServer(session, id, status))).not.toBe('node-1');
  });

  test('fail: the migration is error, the server as it was', async () => {
    const id = takeServer();
    await fleet.script(id, ['fail']);
    await waitForMigration(session, id, await coldMigrate(session, id), ['error']);
    expect(hostOf(await waitForServer(session, id, 'ACTIVE'))).toBe('node-1');
  });
});

test('seeds servers in the states an eviction meets', async () => {
  const states: SeedState[] = ['SHUTOFF', 'PAUSED', 'SUSPENDED', 'RESCUE', 'ERROR', 'VERIFY_RESIZE'];
  const seeded = await createInstances(
    session,
    states.map((state) => ({ name: state.toLowerCase(), host: 'node-4', state, locked: state === 'PAUSED' })),
  );
  expect(seeded.map(({ status }) => status)).toEqual(states);
  expect(await getServer(session, seeded[1]!.id)).toMatchObject({ locked: true });
});

test('forced_down is down at once, and up again', async () => {
  expect((await changeService(session, 'node-5', { forced_down: true })).state).toBe('down');
  expect((await changeService(session, 'node-5', { forced_down: false })).state).toBe('up');
});

test('a crash leaves the migration running, the next start of nova-compute ends it', async () => {
  const { id } = await startHanging('hang');
  await fleet.crash('node-1');
  expect((await fleet.hosts())['node-1']).toMatchObject({ running: false });
  expect((await getServer(session, id)).status).toBe('MIGRATING');
  await fleet.start('node-1');
  expect((await waitForServer(session, id, 'ACTIVE')).status).toBe('ACTIVE');
  expect((await listMigrations(session, id))[0]!.status).toBe('error');
});

test('a server arrives on a host that was disabled meanwhile', async () => {
  // Longer than it takes to disable the service and to list its servers, on a machine that is busy.
  await fleet.change('node-6', { buildDelaySeconds: 10 });
  const id = await requestInstance(session, { name: 'late', host: 'node-6' });
  while (
    !readApiCalls(lab.handles.openstack, 'placement').some(
      ({ path, method }) => method === 'PUT' && path === `/allocations/${id}`,
    )
  )
    await delay(50);
  await changeService(session, 'node-6', { status: 'disabled', disabled_reason: 'test' });
  expect(await listServers(session, 'node-6')).not.toContainEqual(expect.objectContaining({ id }));
  expect(hostOf(await waitForServer(session, id, 'ACTIVE'))).toBe('node-6');
});

test('kill -9 of Nova: services and guests are back, and move', async () => {
  const id = takeServer();
  await fleet.change('node-1', { maxConcurrentLiveMigrations: 2 });
  await killOpenStack(lab.handles.openstack, 'nova');
  await restartOpenStack(lab.handles.openstack, 'nova');
  expect(await findService(session, 'node-1')).toMatchObject({ state: 'up' });
  expect(await fleet.change('node-1', {})).toMatchObject({ maxConcurrentLiveMigrations: 2 });
  await waitForMigration(session, id, await liveMigrate(session, id), ['completed']);
});

test('the journals have requests and migrations to the millisecond', async () => {
  const id = takeServer();
  const startMs = Date.now();
  await waitForMigration(session, id, await liveMigrate(session, id), ['completed']);
  const post = readApiCalls(lab.handles.openstack, 'nova', startMs).find(({ action }) => action === 'os-migrateLive');
  expect(post).toMatchObject({
    method: 'POST',
    path: `/v2.1/servers/${id}/action`,
    status: 202,
    userAgent: 'drover-lab',
    requestId: expect.stringMatching(/^req-/),
  });
  const events = readMigrationEvents(lab.handles.openstack, startMs).filter(({ instance }) => instance === id);
  expect(events.map(({ status }) => status)).toEqual(['accepted', 'queued', 'preparing', 'running', 'completed']);
  expect(events.at(-1)!.timeMs - post!.timeMs).toBeGreaterThanOrEqual(200);
});

test('another lab beside it is a cloud of its own', async () => {
  const elsewhere = await openSession(other.handles.openstack);
  expect(await listServers(elsewhere)).toEqual([]);
  const { id } = await createInstance(elsewhere, { name: 'alone', host: 'left' });
  try {
    const record = await waitForMigration(elsewhere, id, await liveMigrate(elsewhere, id), ['completed']);
    expect([record.source_compute, record.dest_compute]).toEqual(['left', 'right']);
    expect(await listServers(session)).not.toContainEqual(expect.objectContaining({ id }));
  } finally {
    // A second attempt begins with an empty cloud, too.
    await deleteInstances(elsewhere, [id]);
  }
  const foreign = { ...other.handles.openstack, authUrl: lab.handles.openstack.authUrl };
  // Keystone's way to say that it knows no such application credential.
  await expect(openSession(foreign)).rejects.toMatchObject({ status: 404 });
});

test('a user without the role may not see services', async () => {
  const member = await openSession(lab.handles.openstack, 'lab-member');
  await expect(member.compute('GET', '/os-services')).rejects.toMatchObject({ status: 403 });
});

test('secrets are in files of mode 0600, and not in process arguments or logs', () => {
  const dir = lab.handles.openstack.dir;
  const files = readdirSync(dir, { recursive: true, withFileTypes: true });
  const openTo = (path: string) => statSync(path).mode & 0o077;
  expect(files.filter((file) => openTo(join(file.parentPath, file.name)) !== 0).map(({ name }) => name)).toEqual([]);
  const { secrets } = JSON.parse(readFileSync(join(dir, 'settings.json'), 'utf8')) as {
    secrets: Record<string, string>;
  };
  const { applicationCredentialId: _, ...hidden } = secrets;
  const processes = readProcesses(dir);
  const visible = [
    ...processes.map(({ args, env }) => JSON.stringify([args, env])),
    ...processes.map(({ logFile }) => readFileSync(logFile, 'utf8')),
  ].join('\n');
  expect(Object.values(hidden).filter((secret) => visible.includes(secret))).toEqual([]);
});

test('a reset empties the cloud, whatever is under way', async () => {
  await startHanging('hang');
  await resetOpenStack(lab.handles.openstack);
  expect(await listServers(session)).toEqual([]);
  expect(await findService(session, 'node-6')).toMatchObject({ status: 'enabled', state: 'up' });
  expect((await fleet.hosts())['node-3']).toMatchObject({ accept: true, guests: 0, running: true });
  servers = [];
});
