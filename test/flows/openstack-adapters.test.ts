import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { openSession as openKeystoneSession, type SessionOptions } from '../../activities/keystone/client.ts';
import type { KeystoneSession } from '../../activities/keystone/types.ts';
import { createNovaClient } from '../../activities/nova/client.ts';
import type { NovaClient } from '../../activities/nova/types.ts';
import { createPlacementClient } from '../../activities/placement/client.ts';
import type { PlacementClient } from '../../activities/placement/types.ts';
import type { Migration } from '../../contracts/instance.ts';
import { startLab, type Lab } from '../../lab/lab.ts';
import { connectFleet, type Attempt, type Fleet } from '../../lab/openstack/fleet.ts';
import type { CloudName, OpenStackHandle } from '../../lab/openstack/handle.ts';
import { createAggregate } from '../../lab/openstack/hosts.ts';
import { readApiCalls } from '../../lab/openstack/journal.ts';
import { resetOpenStack } from '../../lab/openstack/reset.ts';
import { createInstance, createInstances, createServerGroup, waitForServer, type InstanceSpec, type Server } from '../../lab/openstack/seed.ts';
import { openSession as openLabSession, type Session } from '../../lab/openstack/session.ts';
import { systemClock } from '../../runtime/clock.ts';
import { loadOpenStackSettings, type OpenStackSettings } from '../../runtime/openstack-settings.ts';
import { startScriptedService, type Received, type Reply } from '../scripted-service.ts';
import { until } from './until.ts';

/** The first run on a machine installs OpenStack from PyPI. */
const startTimeoutMs = 15 * 60_000;
const deadlineMs = 30_000;
const nobody = '00000000-0000-4000-8000-000000000000';
const never = new AbortController().signal;

let dir: string;
let lab: Lab<'openstack'>;
let handle: OpenStackHandle;
let labSession: Session;
let fleet: Fleet;
let session: KeystoneSession;
let nova: NovaClient;
let placement: PlacementClient;
const open: { close(): Promise<void> }[] = [];

const settingsOf = (cloud: CloudName, of = handle): OpenStackSettings => loadOpenStackSettings({ OS_CLIENT_CONFIG_FILE: of.cloudsFile, OS_CLOUD: cloud });

function connect(settings: OpenStackSettings, options: Partial<SessionOptions> = {}): KeystoneSession {
  const opened = openKeystoneSession(settings, { clock: systemClock, ...options });
  open.push(opened);
  return opened;
}

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'drover-adapters-'));
  // A lab of its own: what is broken here for good must not be in anybody's way.
  lab = await startLab({ dir: join(dir, 'lab'), parts: ['openstack'] });
  handle = lab.handles.openstack;
  await resetOpenStack(handle);
  labSession = await openLabSession(handle);
  fleet = connectFleet(handle);
  session = connect(settingsOf('lab'));
  nova = createNovaClient(session);
  placement = createPlacementClient(session);
}, startTimeoutMs);

afterAll(async () => {
  await Promise.all(open.map((one) => one.close()));
  await lab?.stop();
  rmSync(dir, { recursive: true, force: true });
});

const seed = (name: string, spec: Partial<InstanceSpec> = {}): Promise<Server> => createInstance(labSession, { name, host: 'node-1', seconds: 0.2, ...spec });

/** A server whose moves go as scripted. */
async function seedScripted(name: string, attempts: readonly Attempt[]): Promise<Server> {
  const server = await seed(name);
  await fleet.script(server.id, attempts);
  return server;
}

/** Waits until the server's newest migration has the status, as drover's adapter tells it. */
const untilMigration = (instanceId: string, status: string): Promise<Migration> =>
  until(`a migration of ${instanceId} to be ${status}`, deadlineMs, async () => {
    const [newest] = await nova.migrationsOf(instanceId, never);
    return newest?.status === status ? newest : (newest?.status ?? 'no record');
  });

const untilRunning = (instanceId: string): Promise<Migration> =>
  until(`a live migration of ${instanceId} to run`, deadlineMs, async () => {
    const [record] = await nova.migrationsOf(instanceId, never);
    const live = record === undefined ? null : await nova.serverMigration(instanceId, record.id, never);
    return live?.status === 'running' && live.memoryTotalBytes !== null ? live : (live?.status ?? record?.status ?? 'no record');
  });

describe('credentials', () => {
  test.each(['lab', 'lab-password'] as const)('the cloud %s logs in and sees the services', async (cloud) => {
    const own = connect(settingsOf(cloud));
    expect(await own.identity(never)).toMatchObject({ user: 'drover', project: 'admin', roles: expect.arrayContaining(['admin']) });
    expect(await createNovaClient(own).computeServices(never)).toHaveLength(6);
  });

  const wrong: [cloud: CloudName, change: (settings: OpenStackSettings) => OpenStackSettings][] = [
    ['lab', (settings) => ({ ...settings, credential: { method: 'application_credential', id: 'id' in settings.credential ? settings.credential.id : '', secret: 'not the secret' } })],
    ['lab-password', (settings) => (settings.credential.method === 'password' ? { ...settings, credential: { ...settings.credential, password: 'not the password' } } : settings)],
  ];
  test.each(wrong)('a wrong secret of %s is the credential’s fault, and is not in the failure', async (cloud, change) => {
    const refused = await createNovaClient(connect(change(settingsOf(cloud)))).computeServices(never).catch((error: unknown) => error);
    expect(refused).toMatchObject({ type: 'CredentialRefused', nonRetryable: true, message: expect.stringMatching(/answered 401 to the login: The request you have made requires authentication\. \(request req-/u) });
    expect(JSON.stringify(refused)).not.toMatch(/not the (secret|password)/u);
  });

  test('a region that the catalog does not have is named, with those it has', async () => {
    await expect(createNovaClient(connect({ ...settingsOf('lab'), region: 'Atlantis' })).computeServices(never)).rejects.toMatchObject({
      type: 'EndpointNotFound',
      message: expect.stringMatching(/type compute in region Atlantis; it has public in RegionOne/u),
    });
  });

  test('a member may not do it, and is told nothing that looks like an answer', async () => {
    const server = await seed('seen-by-member');
    const member = createNovaClient(connect(settingsOf('lab-member')));
    const refused = { type: 'NotPermitted', nonRetryable: true };
    await expect(member.computeServices(never)).rejects.toMatchObject(refused);
    await expect(member.hypervisors(never)).rejects.toMatchObject(refused);
    await expect(member.servers({ host: 'node-1' }, never)).rejects.toMatchObject(refused);
    await expect(member.migrationsCopying(never)).rejects.toMatchObject(refused);
    await expect(member.liveMigrate(server.id, { host: null }, never)).rejects.toMatchObject(refused);
    await expect(member.server(server.id, never)).rejects.toMatchObject({ type: 'HostAttributeMissing', nonRetryable: true });
    await expect(createPlacementClient(connect(settingsOf('lab-member'))).resourceProviders({}, never)).rejects.toMatchObject(refused);
  });

  test('a token that was revoked is replaced, and the request sent once more', async () => {
    const own = connect(settingsOf('lab-password'));
    const token = await own.token(never);
    const revoked = await fetch(`${handle.authUrl}/auth/tokens`, { method: 'DELETE', headers: { 'X-Auth-Token': token, 'X-Subject-Token': token } });
    expect(revoked.status).toBe(204);
    const sinceMs = Date.now();
    expect(await createNovaClient(own).aggregates(never)).toEqual(expect.any(Array));
    expect(await own.token(never)).not.toBe(token);
    const asked = readApiCalls(handle, 'nova', sinceMs).filter(({ path, userAgent }) => path.endsWith('/os-aggregates') && userAgent === 'drover');
    expect(asked.map(({ status }) => status)).toEqual([401, 200]);
  });

  test('one token serves all until shortly before it expires', async () => {
    let now = 0;
    const own = connect(settingsOf('lab'), { clock: { ...systemClock, monotonicMs: () => now } });
    const client = createNovaClient(own);
    const sinceMs = Date.now();
    const logins = () => readApiCalls(handle, 'keystone', sinceMs).filter(({ method, userAgent }) => method === 'POST' && userAgent === 'drover').length;
    await Promise.all([client.computeServices(never), client.aggregates(never), client.hypervisors(never)]);
    expect(logins()).toBe(1);
    now = 3_600_000 - 30_000;
    await client.aggregates(never);
    expect(logins()).toBe(2);
  });
});

describe('a token that expires', () => {
  test('is noticed by the 401 where the clock did not tell, and replaced', async () => {
    const own = await startLab({ dir: join(dir, 'short-lived'), parts: ['openstack'], openstack: { hosts: { only: {} }, tokenTtlSeconds: 6 } });
    try {
      const stopped = connect(settingsOf('lab', own.handles.openstack), { clock: { ...systemClock, monotonicMs: () => 0 } });
      const client = createNovaClient(stopped);
      const token = await stopped.token(never);
      const ask = () => fetch(`${own.handles.openstack.computeUrl}/os-aggregates`, { headers: { 'X-Auth-Token': token } });
      await until('the token to expire', deadlineMs, async () => ((await ask()).status === 401 ? true : 'still good'));
      expect(await client.computeServices(never)).toHaveLength(1);
      expect(await stopped.token(never)).not.toBe(token);
      expect(await createPlacementClient(stopped).resourceProviders({}, never)).toHaveLength(1);
    } finally {
      await own.stop();
    }
  }, startTimeoutMs);
});

describe('reading', () => {
  test('services, hypervisors and providers belong together', async () => {
    const services = await nova.computeServices(never);
    const hypervisors = await nova.hypervisors(never);
    expect(services.map(({ host }) => host).toSorted()).toEqual(['node-1', 'node-2', 'node-3', 'node-4', 'node-5', 'node-6']);
    for (const hypervisor of hypervisors) {
      expect(hypervisor).toMatchObject({ hypervisorHostname: `${hypervisor.serviceHost}.lab.drover.dev`, state: 'up', status: 'enabled', hypervisorType: expect.any(String), hypervisorVersion: expect.any(Number) });
      expect(services).toContainEqual({ id: hypervisor.serviceId, host: hypervisor.serviceHost, zone: 'nova', status: 'enabled', disabledReason: null, state: 'up', forcedDown: false, cellDown: false });
    }
    const provider = await placement.providerByName('node-1.lab.drover.dev', never);
    expect(provider?.uuid).toBe(hypervisors.find(({ serviceHost }) => serviceHost === 'node-1')?.id);
    expect(await placement.providerByUuid(provider?.uuid ?? '', never)).toEqual(provider);
    expect(await placement.providerByUuid(nobody, never)).toBeNull();
  });

  test('all pages of servers, hypervisors and groups come through, however small they are', async () => {
    await resetOpenStack(handle);
    const group = await createServerGroup(labSession, 'spread', 'soft-anti-affinity');
    const made = await createInstances(labSession, Array.from({ length: 5 }, (_, index) => ({ name: `page-${index}`, host: 'node-1', ...(index === 0 ? { serverGroup: group } : {}) })));
    await seed('elsewhere', { host: 'node-2' });
    const pager = await startScriptedService((request) => smallPages(request, 2));
    open.push(pager);
    const paged = createNovaClient(connect({ ...settingsOf('lab'), endpointOverrides: { compute: `${pager.url}/v2.1` } }));
    const servers = await paged.servers({ host: 'node-1' }, never);
    expect(servers.map(({ id }) => id).toSorted()).toEqual(made.map(({ id }) => id).toSorted());
    expect(servers.filter(({ serverGroups }) => serverGroups.includes(group)).map(({ id }) => id)).toEqual([made[0]?.id]);
    expect(await paged.hypervisors(never)).toHaveLength(6);
    expect(pager.received.filter(({ path }) => path === '/v2.1/servers/detail')).toHaveLength(3);
    expect(pager.received.filter(({ path }) => path === '/v2.1/os-hypervisors/detail').length).toBeGreaterThanOrEqual(3);
    expect(await nova.serverGroups(never)).toContainEqual({ id: group, name: 'spread', policy: 'soft-anti-affinity', maxServersPerHost: 1, members: [made[0]?.id] });
  });

  /** Nova itself, but no page holds more than `limit`. */
  async function smallPages({ method, path, query, headers, body }: Received, limit: number): Promise<Reply> {
    const url = new URL(handle.computeUrl + path.replace('/v2.1', ''));
    for (const [name, value] of query) url.searchParams.append(name, value);
    if (path.endsWith('/detail') || path.endsWith('/os-server-groups')) url.searchParams.set('limit', String(limit));
    const passed = { 'x-auth-token': String(headers['x-auth-token']), 'openstack-api-version': String(headers['openstack-api-version']) };
    const answer = await fetch(url, { method, headers: passed, body: body === undefined ? null : JSON.stringify(body) });
    return { status: answer.status, text: await answer.text() };
  }

  test('a server with what compatibility checks need', async () => {
    const server = await seed('detailed', { flavor: 'lab.small', metadata: { owner: 'flow' } });
    const found = await nova.server(server.id, never);
    expect(found).toMatchObject({
      id: server.id,
      name: 'detailed',
      status: 'ACTIVE',
      taskState: null,
      vmState: 'active',
      host: 'node-1',
      hypervisorHostname: 'node-1.lab.drover.dev',
      locked: false,
      memoryMiB: 2048,
      vcpus: 1,
      localDiskGiB: 10,
      onlyVolumes: false,
      serverGroups: [],
      fault: null,
      availabilityZone: 'nova',
      pinnedAvailabilityZone: null,
      flavorName: 'lab.small',
      extraSpecs: {},
      imageId: handle.imageId,
      imageProperties: expect.any(Object),
      metadata: { owner: 'flow' },
    });
    const [listed] = (await nova.servers({ host: 'node-1' }, never)).filter(({ id }) => id === server.id);
    expect(listed).toEqual(found);
    expect(await nova.server(nobody, never)).toBeNull();
  });

  test('no servers is an answer of a host that is there, and a failure for one that is not', async () => {
    expect(await nova.servers({ host: 'node-6' }, never)).toEqual([]);
    // H1: the short or the long form of a name must not read as an empty host.
    await expect(nova.servers({ host: 'node-6.lab.drover.dev' }, never)).rejects.toMatchObject({ type: 'HostNotFound' });
  });

  test('aggregates', async () => {
    const id = await createAggregate(labSession, { name: 'rack-a', hosts: ['node-3'], availabilityZone: 'az-a', metadata: { ssd: 'true' } });
    expect(await nova.aggregates(never)).toContainEqual({ id, uuid: expect.any(String), name: 'rack-a', hosts: ['node-3'], metadata: { ssd: 'true', availability_zone: 'az-a' }, availabilityZone: 'az-a' });
    await resetOpenStack(handle);
  });

  test('what Placement knows of a host: traits, inventory, usage, who uses it, and where something would fit', async () => {
    const server = await seed('placed', { host: 'node-5' });
    const uuid = (await placement.providerByName('node-5.lab.drover.dev', never))?.uuid ?? '';
    expect(await placement.providerTraits(uuid, never)).toContain('COMPUTE_NODE');
    expect(await placement.providerAggregates(uuid, never)).toEqual([]);
    expect(await placement.providerAllocations(uuid, never)).toEqual({ [server.id]: { VCPU: 1, MEMORY_MB: 512, DISK_GB: 1 } });
    expect(await placement.consumerAllocations(server.id, never)).toEqual({ [uuid]: { VCPU: 1, MEMORY_MB: 512, DISK_GB: 1 } });
    expect(await placement.consumerAllocations(nobody, never)).toEqual({});
    expect(await placement.usages(uuid, never)).toEqual({ VCPU: 1, MEMORY_MB: 512, DISK_GB: 1 });
    expect(await placement.inventories(uuid, never)).toMatchObject({ MEMORY_MB: { total: expect.any(Number), reserved: expect.any(Number), allocationRatio: 1, minUnit: 1, maxUnit: expect.any(Number), stepSize: 1 } });
    const fits = await placement.allocationCandidates({ resources: { VCPU: 1, MEMORY_MB: 512, DISK_GB: 1 }, required: ['COMPUTE_NODE'], forbidden: ['COMPUTE_STATUS_DISABLED'] }, never);
    expect(fits.candidates).toHaveLength(6);
    expect(fits.candidates).toContainEqual({ allocations: { [uuid]: { VCPU: 1, MEMORY_MB: 512, DISK_GB: 1 } } });
    expect(fits.providers[uuid]).toMatchObject({ resources: { MEMORY_MB: { used: 512 } }, traits: expect.arrayContaining(['COMPUTE_NODE']), rootUuid: uuid, parentUuid: null });
    expect((await placement.allocationCandidates({ resources: { MEMORY_MB: 512 }, limit: 2 }, never)).candidates).toHaveLength(2);
    expect((await placement.allocationCandidates({ resources: { MEMORY_MB: 200_000 }, inTree: uuid }, never)).candidates).toHaveLength(1);
    expect((await placement.allocationCandidates({ resources: { VGPU: 1 } }, never)).candidates).toEqual([]);
    expect(await placement.resourceProviders({ resources: { MEMORY_MB: 512 }, inTree: uuid }, never)).toHaveLength(1);
    await expect(placement.allocationCandidates({ resources: { VCPU: 1 }, required: ['NO_SUCH_TRAIT'] }, never)).rejects.toMatchObject({ type: 'RequestRefused', message: expect.stringMatching(/NO_SUCH_TRAIT/u) });
    await expect(placement.providerAllocations(nobody, never)).rejects.toMatchObject({ type: 'HostNotFound' });
  });
});

describe('the compute service', () => {
  test('is disabled with a reason, which Placement then shows, and enabled again', async () => {
    const service = (await nova.computeServices(never)).find(({ host }) => host === 'node-4');
    const uuid = (await placement.providerByName('node-4.lab.drover.dev', never))?.uuid ?? '';
    const disabled = await nova.updateService(service?.id ?? '', { status: 'disabled', disabledReason: 'drover: flow test' }, never);
    expect(disabled).toMatchObject({ requestId: expect.stringMatching(/^req-/u), service: { host: 'node-4', status: 'disabled', disabledReason: 'drover: flow test' } });
    await until('Placement to leave the host out', deadlineMs, async () => ((await placement.providerTraits(uuid, never)).includes('COMPUTE_STATUS_DISABLED') ? true : 'no trait'));
    const again = await nova.updateService(service?.id ?? '', { status: 'disabled', disabledReason: 'drover: flow test' }, never);
    expect(again.service).toEqual(disabled.service);
    expect((await nova.updateService(service?.id ?? '', { status: 'enabled' }, never)).service).toMatchObject({ status: 'enabled', disabledReason: null });
    await expect(nova.updateService(nobody, { status: 'enabled' }, never)).rejects.toMatchObject({ type: 'HostNotFound' });
  });
});

describe('live migration', () => {
  test('is accepted, leaves a record, and ends where the scheduler chose', async () => {
    const server = await seedScripted('live', ['ok']);
    expect(await nova.migrationsInProgress({ host: 'node-1' }, never)).toEqual([]);
    const { requestId } = await nova.liveMigrate(server.id, { host: null }, never);
    expect(requestId).toMatch(/^req-/u);
    const record = await untilMigration(server.id, 'completed');
    expect(record).toMatchObject({ instanceId: server.id, type: 'live-migration', sourceHost: 'node-1', targetHost: expect.stringMatching(/^node-[2-6]$/u), createdAt: expect.stringMatching(/Z$/u) });
    expect(await nova.migration(server.id, record.id, never)).toEqual(record);
    expect(await nova.migration(server.id, record.id + 1_000, never)).toBeNull();
    expect(await nova.serverMigration(server.id, record.id, never)).toBeNull();
    expect((await nova.server(server.id, never))?.host).toBe(record.targetHost);
    expect(await nova.lastActionFailure(server.id, { requestId }, never)).toBeNull();
  });

  test('in progress it has counters, holds its server, is listed for both hosts, and can be aborted once', async () => {
    const server = await seedScripted('aborted', ['hang']);
    await nova.liveMigrate(server.id, { host: 'node-2' }, never);
    const running = await untilRunning(server.id);
    expect(running).toMatchObject({ type: 'live-migration', sourceHost: 'node-1', targetHost: 'node-2', memoryTotalBytes: 512 * 1024 * 1024, memoryRemainingBytes: expect.any(Number) });
    for (const host of ['node-1', 'node-2']) expect((await nova.migrationsInProgress({ host }, never)).map(({ id }) => id)).toContain(running.id);
    expect((await nova.migrationsCopying(never)).map(({ id }) => id)).toContain(running.id);
    expect((await nova.migrationsInProgress({ host: 'node-6' }, never)).map(({ id }) => id)).not.toContain(running.id);
    await expect(nova.liveMigrate(server.id, { host: null }, never)).rejects.toMatchObject({ type: 'InstanceBusy', message: expect.stringMatching(/task_state migrating \(request req-/u) });
    await expect(nova.coldMigrate(server.id, { host: null }, never)).rejects.toMatchObject({ type: 'InstanceBusy' });
    await nova.abortMigration(server.id, running.id, never);
    await untilMigration(server.id, 'cancelled');
    expect(await nova.server(server.id, never)).toMatchObject({ host: 'node-1', status: 'ACTIVE', taskState: null });
    await expect(nova.abortMigration(server.id, running.id, never)).rejects.toMatchObject({ type: 'MigrationNotAbortable' });
    await expect(nova.abortMigration(nobody, running.id, never)).rejects.toMatchObject({ type: 'MigrationNotFound' });
  });

  test('is completed by force, only while it runs', async () => {
    const server = await seedScripted('forced', ['hang']);
    await nova.liveMigrate(server.id, { host: null }, never);
    const running = await untilRunning(server.id);
    await expect(nova.forceCompleteMigration(server.id, running.id + 1_000, never)).rejects.toMatchObject({ type: 'MigrationNotFound' });
    await nova.forceCompleteMigration(server.id, running.id, never);
    await untilMigration(server.id, 'completed');
    await expect(nova.forceCompleteMigration(server.id, running.id, never)).rejects.toMatchObject({ type: 'MigrationRefused' });
  });

  test('accepted and then refused by the pre-check: the record is in error, the action says why', async () => {
    const server = await seedScripted('prechecked', ['precheck-dest']);
    const { requestId } = await nova.liveMigrate(server.id, { host: null }, never);
    const record = await untilMigration(server.id, 'error');
    expect(record.targetHost).toBeNull();
    expect(await nova.server(server.id, never)).toMatchObject({ host: 'node-1', status: 'ACTIVE' });
    const words = await until('Nova to say why', deadlineMs, async () => {
      const said = await nova.lastActionFailure(server.id, { requestId }, never);
      return said === null ? 'nothing' : { said };
    });
    expect(words.said).toMatch(/^Migration pre-check error: .*; No valid host was found/u);
    expect(await nova.lastActionFailure(server.id, { action: 'live-migration' }, never)).toBe(words.said);
  });

  test('of a server that is lost on the way Nova says nothing, and nothing is invented', async () => {
    const server = await seedScripted('lost', ['error']);
    const { requestId } = await nova.liveMigrate(server.id, { host: null }, never);
    await untilMigration(server.id, 'error');
    const lost = await until('the server to be in ERROR', deadlineMs, async () => {
      const found = await nova.server(server.id, never);
      return found?.status === 'ERROR' ? found : 'not yet';
    });
    expect(lost).toMatchObject({ host: 'node-1', fault: null });
    expect(await nova.lastActionFailure(server.id, { requestId }, never)).toBeNull();
  });

  test('a lock does not keep an administrator from it', async () => {
    const server = await seed('locked', { locked: true });
    expect(await nova.server(server.id, never)).toMatchObject({ locked: true });
    await nova.liveMigrate(server.id, { host: null }, never);
    await untilMigration(server.id, 'completed');
  });

  const refusals: [what: string, spec: Partial<InstanceSpec>, host: string | null, code: string, words: RegExp][] = [
    ['an unknown target', {}, 'node-99', 'MigrationRefused', /Compute host node-99 could not be found/u],
    ['a suspended server', { state: 'SUSPENDED' }, null, 'InstanceStateRefused', /while it is in vm_state suspended/u],
    ['a server in rescue', { state: 'RESCUE' }, null, 'InstanceStateRefused', /while it is in vm_state rescued/u],
    ['a stopped server', { state: 'SHUTOFF' }, null, 'InstanceStateRefused', /while it is in vm_state stopped/u],
  ];
  test.each(refusals)('%s is refused at once', async (what, spec, host, code, words) => {
    const server = await seed(what.replaceAll(' ', '-'), spec);
    await expect(nova.liveMigrate(server.id, { host }, never)).rejects.toMatchObject({ type: code, message: expect.stringMatching(words) });
    expect(await nova.migrationsOf(server.id, never)).toEqual([]);
  });

  test('a server that is gone', async () => {
    await expect(nova.liveMigrate(nobody, { host: null }, never)).rejects.toMatchObject({ type: 'InstanceNotFound' });
    expect(await nova.migrationsOf(nobody, never)).toEqual([]);
  });
});

describe('cold migration', () => {
  test('moves a stopped server, waits for confirmation, and is over when it is confirmed', async () => {
    const server = await seed('cold', { state: 'SHUTOFF' });
    await expect(nova.confirmResize(server.id, never)).rejects.toMatchObject({ type: 'InstanceStateRefused' });
    const { requestId } = await nova.coldMigrate(server.id, { host: null }, never);
    const record = await untilMigration(server.id, 'finished');
    expect(record).toMatchObject({ type: 'migration', sourceHost: 'node-1', targetHost: expect.stringMatching(/^node-[2-6]$/u) });
    await waitForServer(labSession, server.id, 'VERIFY_RESIZE');
    expect((await nova.migrationsInProgress({ host: 'node-1' }, never)).map(({ id }) => id)).toContain(record.id);
    expect(await nova.serverMigration(server.id, record.id, never)).toBeNull();
    expect(await nova.lastActionFailure(server.id, { requestId }, never)).toBeNull();
    await nova.confirmResize(server.id, never);
    await untilMigration(server.id, 'confirmed');
    expect(await until('the server to be idle', deadlineMs, async () => (await nova.server(server.id, never)) ?? 'gone')).toMatchObject({ host: record.targetHost });
    expect((await nova.migrationsInProgress({ host: 'node-1' }, never)).map(({ id }) => id)).not.toContain(record.id);
  });

  test('that fails says why', async () => {
    const server = await seed('cold-failing', { state: 'SHUTOFF' });
    await fleet.script(server.id, ['fail']);
    const { requestId } = await nova.coldMigrate(server.id, { host: null }, never);
    await untilMigration(server.id, 'error');
    const words = await until('Nova to say why', deadlineMs, async () => {
      const said = await nova.lastActionFailure(server.id, { requestId }, never);
      return said === null ? 'nothing' : { said };
    });
    expect(words.said).toMatch(/the disk could not be copied/u);
  });

  test('goes to a host that is named', async () => {
    const server = await seed('cold-named', { state: 'SHUTOFF' });
    await nova.coldMigrate(server.id, { host: 'node-3' }, never);
    expect(await untilMigration(server.id, 'finished')).toMatchObject({ targetHost: 'node-3' });
  });
});

describe('giving up', () => {
  test('an aborted call ends with the signal’s reason and is not sent again', async () => {
    const controller = new AbortController();
    const reason = new Error('cancelled');
    const answer = nova.servers({ host: 'node-1' }, controller.signal);
    controller.abort(reason);
    await expect(answer).rejects.toBe(reason);
  });
});
