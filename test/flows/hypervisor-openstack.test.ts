import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { ApplicationFailure } from '@temporalio/common';

import { openSession as openKeystone } from '../../activities/keystone/client.ts';
import type { KeystoneSession } from '../../activities/keystone/types.ts';
import { createNovaClient } from '../../activities/nova/client.ts';
import type { Registration } from '../../activities/nova/find-registration.ts';
import { createHypervisorActivities } from '../../activities/nova/hypervisor-activities.ts';
import { createPlacementClient } from '../../activities/placement/client.ts';
import type { ForcedDownProof } from '../../contracts/fencing.ts';
import type { MigrationEnd, MigrationStart } from '../../contracts/migrate-instance.ts';
import { type Lab, startLab, stopLab } from '../../lab/lab.ts';
import { connectFleet, type Fleet } from '../../lab/openstack/fleet.ts';
import { changeService, createAggregate, findService } from '../../lab/openstack/hosts.ts';
import { resetOpenStack } from '../../lab/openstack/reset.ts';
import { createInstance, deleteInstances, listServers, waitForServer } from '../../lab/openstack/seed.ts';
import { openSession, type Session } from '../../lab/openstack/session.ts';
import type { AuditEntry } from '../../runtime/audit.ts';
import { systemClock } from '../../runtime/clock.ts';
import { loadOpenStackSettings } from '../../runtime/openstack-settings.ts';
import { until } from './until.ts';

/** The first run on a machine installs OpenStack from PyPI. */
const startTimeoutMs = 15 * 60_000;
const deadlineMs = 120_000;
const never = new AbortController().signal;

/** The host that comes and goes; it is in nobody's fleet when the lab starts. */
const host = 'node-9';

let dir: string | null = null;
let lab: Lab<'openstack'>;
let session: Session;
let fleet: Fleet;
let keystone: KeystoneSession;
let audited: AuditEntry[];
let drover: ReturnType<typeof createHypervisorActivities>;

beforeAll(async () => {
  // A lab of its own: hosts that were added stay.
  dir = mkdtempSync(join(tmpdir(), 'drover-hypervisor-'));
  lab = await startLab({ dir, parts: ['openstack'], openstack: { hosts: { 'node-1': {}, 'node-2': {} } } });
  session = await openSession(lab.handles.openstack);
  fleet = connectFleet(lab.handles.openstack);
  keystone = openKeystone(loadOpenStackSettings({ OS_CLIENT_CONFIG_FILE: lab.handles.openstack.cloudsFile, OS_CLOUD: 'lab' }), { clock: systemClock });
  const scope = () => ({ signal: never, deadlineMs: Date.now() + deadlineMs, heartbeatDetails: undefined, run: { workflowId: 'hypervisor/node-9', runId: 'test' }, heartbeat: () => {} });
  const audit = { record: async (entry: AuditEntry) => void audited.push(entry) };
  drover = createHypervisorActivities({ nova: createNovaClient(keystone), placement: createPlacementClient(keystone), stopGate: async () => {}, audit, scope, clock: systemClock });
}, startTimeoutMs);

afterAll(async () => {
  await keystone?.close();
  if (dir === null) return;
  await stopLab({ dir, parts: ['openstack'] });
  rmSync(dir, { recursive: true, force: true });
}, startTimeoutMs);

/** The host as a new one that has registered. */
async function newHost(): Promise<Registration & { hypervisor: NonNullable<Registration['hypervisor']> }> {
  const { [host]: known } = await fleet.hosts();
  if (known === undefined) await fleet.change(host, {});
  else if (!known.running) await fleet.reinstall(host);
  return until('the host to register', deadlineMs, async () => {
    const found = await drover.findRegistration({ hypervisor: host });
    if (found === null || found.hypervisor === null || found.service.state !== 'up') return JSON.stringify(found);
    return { ...found, hypervisor: found.hypervisor };
  });
}

beforeEach(async () => {
  audited = [];
  await resetOpenStack(lab.handles.openstack);
  // Traits that a test left on a provider.
  const found = await drover.findRegistration({ hypervisor: host });
  if (found?.hypervisor) await drover.ensureTraits({ providerId: found.hypervisor.id, wanted: [], owned: traits });
}, startTimeoutMs);

/** Tries again what may be tried again. */
async function asTemporalWould<Result>(attempt: () => Promise<Result>): Promise<Result> {
  const result = await until('an attempt that succeeds or is final', deadlineMs, async () => {
    try {
      return { value: await attempt() };
    } catch (error) {
      if (error instanceof ApplicationFailure && error.nonRetryable !== true) return error.message;
      return { error };
    }
  });
  if ('error' in result) throw result.error;
  return result.value;
}

const traits = ['CUSTOM_LAB', 'CUSTOM_DROVER_FAST', 'CUSTOM_DROVER_GPU', 'CUSTOM_SOMEBODYS'];

const proofOf = (by: ForcedDownProof['by']): ForcedDownProof => ({ incident: 'incident-1', by, witness: 'the test', at: new Date().toISOString() });

/** Without those whose guest is destroyed and whose record Nova has not marked as deleted yet. */
const serverIds = async (): Promise<string[]> => (await listServers(session)).filter(({ status }) => status !== 'DELETED').map(({ id }) => id);

const providerTraits = async (id: string): Promise<string[]> => (await session.placement<{ traits: string[] }>('GET', `/resource_providers/${id}/traits`)).traits;

const aggregatesOf = async (name: string): Promise<string[]> => {
  const { aggregates } = await session.compute<{ aggregates: { name: string; hosts: string[] }[] }>('GET', '/os-aggregates');
  return aggregates.filter(({ hosts }) => hosts.includes(name)).map((aggregate) => aggregate.name).toSorted();
};

test('a host that is added registers, and has the same id in Nova and in Placement', async () => {
  if (!Object.hasOwn(await fleet.hosts(), host)) expect(await drover.findRegistration({ hypervisor: host })).toBeNull();
  const found = await newHost();
  const { id: serviceId } = await findService(session, host);
  expect(found).toMatchObject({ host, serviceId, service: { status: 'enabled', state: 'up', forcedDown: false }, hypervisor: { hostname: `${host}.lab.drover.dev`, type: 'QEMU', version: '9.2.0', servers: 0 } });
  expect(await createPlacementClient(keystone).providerByUuid(found.hypervisor.id, never)).toMatchObject({ name: `${host}.lab.drover.dev` });
  expect(await drover.findRegistration({ hypervisor: `${host}.lab.drover.dev` })).toEqual(found);
  // H12: parts of a name are other hosts' too.
  for (const name of ['node', 'node-', 'node-90', 'ode-9']) expect(await drover.findRegistration({ hypervisor: name })).toBeNull();
  await createInstance(session, { name: 'counted', host });
  expect((await drover.findRegistration({ hypervisor: host }))?.hypervisor?.servers).toBe(1);
}, startTimeoutMs);

test('traits: made, put there, taken away; those of the hardware and of others stay, whoever writes at the same time', async () => {
  const { hypervisor } = await newHost();
  const { id: providerId } = hypervisor;
  const before = await providerTraits(providerId);
  await drover.ensureTraits({ providerId, wanted: ['CUSTOM_SOMEBODYS'], owned: [] });
  await Promise.all([
    drover.ensureTraits({ providerId, wanted: ['CUSTOM_DROVER_FAST', 'CUSTOM_DROVER_GPU'], owned: [] }),
    drover.ensureTraits({ providerId, wanted: ['CUSTOM_DROVER_FAST', 'CUSTOM_DROVER_GPU'], owned: [] }),
    drover.ensureTraits({ providerId, wanted: ['CUSTOM_DROVER_GPU'], owned: [] }),
    // nova-compute writes the provider itself.
    changeService(session, host, { status: 'disabled', disabled_reason: 'CHG-1' }),
  ]);
  await until('nova-compute to have said that it is disabled', deadlineMs, async () => ((await providerTraits(providerId)).includes('COMPUTE_STATUS_DISABLED') ? true : 'not yet'));
  const all = [...before, 'COMPUTE_STATUS_DISABLED', 'CUSTOM_DROVER_FAST', 'CUSTOM_DROVER_GPU', 'CUSTOM_SOMEBODYS'].toSorted();
  expect((await providerTraits(providerId)).toSorted()).toEqual(all);
  const left = await drover.ensureTraits({ providerId, wanted: ['CUSTOM_DROVER_GPU'], owned: ['CUSTOM_DROVER_FAST', 'CUSTOM_DROVER_GPU'] });
  expect(left).toEqual(all.filter((trait) => trait !== 'CUSTOM_DROVER_FAST'));
  expect((await providerTraits(providerId)).toSorted()).toEqual(left);
  await expect(drover.ensureTraits({ providerId: randomUUID(), wanted: ['CUSTOM_DROVER_GPU'], owned: [] })).rejects.toMatchObject({ type: 'HostNotFound' });
}, startTimeoutMs);

test('aggregates: isolated with the test aggregate and back, in Nova and in Placement', async () => {
  const { hypervisor } = await newHost();
  for (const name of ['tests', 'fast']) await createAggregate(session, { name, hosts: ['node-1'] });
  await createAggregate(session, { name: 'az-a', availabilityZone: 'a' });
  await createAggregate(session, { name: 'az-b', availabilityZone: 'b' });

  const isolated = await drover.ensureInAggregates({ host, names: ['az-a', 'tests'] });
  expect(isolated).toEqual([{ name: 'az-a', uuid: expect.any(String), metadata: { availability_zone: 'a' } }, { name: 'tests', uuid: expect.any(String), metadata: {} }]);
  expect(await createPlacementClient(keystone).providerAggregates(hypervisor.id, never)).toEqual(expect.arrayContaining(isolated.map(({ uuid }) => uuid)));

  await Promise.all([drover.ensureInAggregates({ host, names: ['az-a', 'fast'] }), drover.ensureInAggregates({ host, names: ['az-a', 'fast'] })]);
  expect(await aggregatesOf(host)).toEqual(['az-a', 'fast']);
  expect(await aggregatesOf('node-1')).toEqual(['fast', 'tests']);

  await expect(drover.ensureInAggregates({ host, names: ['gold', 'fast', 'silver'] })).rejects.toMatchObject({ type: 'AggregateNotFound', message: expect.stringContaining('gold, silver') });
  await expect(drover.ensureInAggregates({ host, names: ['az-b', 'tests'] })).rejects.toMatchObject({ type: 'AggregateRefused', message: expect.stringMatching(/already in availability zone/u) });
  // What could be added was, and nothing was taken away.
  expect(await aggregatesOf(host)).toEqual(['az-a', 'fast', 'tests']);
  await expect(drover.ensureInAggregates({ host: 'node-77', names: ['fast'] })).rejects.toMatchObject({ type: 'HostNotFound' });
  expect(await drover.ensureInAggregates({ host, names: [] })).toEqual([]);
  expect(await aggregatesOf(host)).toEqual([]);
}, startTimeoutMs);

test('disabled by two at once; what somebody else disabled is theirs, unless the caller has proof', async () => {
  await newHost();
  const reason = 'drover: maintenance manual';
  const states = await Promise.all([1, 2, 3].map(() => drover.ensureServiceDisabled({ host, reason })));
  for (const state of states) expect(state).toMatchObject({ status: 'disabled', disabledReason: reason });
  expect(await Promise.all([drover.ensureServiceEnabled({ host }), drover.ensureServiceEnabled({ host })])).toEqual([true, true]);
  expect(await findService(session, host)).toMatchObject({ status: 'enabled' });

  await changeService(session, host, { status: 'disabled', disabled_reason: 'CHG-1' });
  expect(await drover.ensureServiceDisabled({ host, reason })).toMatchObject({ disabledReason: 'CHG-1' });
  expect(await drover.ensureServiceEnabled({ host })).toBe(false);
  expect(await drover.ensureServiceEnabled({ host, carrying: 'CHG-2' })).toBe(false);
  expect(await drover.ensureServiceEnabled({ host, carrying: 'CHG-1' })).toBe(true);
}, startTimeoutMs);

const smoke = (change: object = {}) => ({
  owner: { host, hypervisor: host, uid: 'uid-1' },
  flavorId: 'lab.tiny',
  imageId: lab.handles.openstack.imageId,
  console: 'hostname' as const,
  deadlineMs: 60_000,
  cleanUpMs: 60_000,
  ...change,
});

test('a server on exactly that host comes up, shows a login, and is gone again; another of its name stays', async () => {
  await newHost();
  const foreign = await createInstance(session, { name: `drover-smoke-${host}`, host: 'node-1' });
  const findings = await drover.runSmokeCheck(smoke());
  expect(findings).toMatchObject([{ name: 'server', seen: `ACTIVE on ${host}`, code: null }, { name: 'console', code: null }]);
  expect(await serverIds()).toEqual([foreign.id]);
  expect(audited.map(({ action }) => action)).toEqual(['ensureSmokeServer', 'deleteSmokeServer']);
}, startTimeoutMs);

test('two checks at once end alike and leave nothing', async () => {
  await newHost();
  const both = await Promise.all([1, 2].map(() => asTemporalWould(() => drover.runSmokeCheck(smoke()))));
  for (const findings of both) expect(findings.map(({ code }) => code)).toEqual([null, null]);
  expect(await serverIds()).toEqual([]);
}, startTimeoutMs);

type Smoke = [what: string, change: () => object, finding: object];
const failures: Smoke[] = [
  ['no host can take it', () => ({ flavorId: 'lab.trait' }), { name: 'server', seen: expect.stringMatching(/^ERROR on no host: No valid host/u), code: 'SmokeServerFailed' }],
  ['there is no such flavor', () => ({ flavorId: 'nope' }), { name: 'server', seen: expect.stringMatching(/nope/u), code: 'SmokeServerRefused' }],
  ['there is no such host', () => ({ owner: { host: 'node-77', hypervisor: 'node-77', uid: 'u' } }), { name: 'server', seen: expect.stringMatching(/node-77/u), code: 'SmokeServerRefused' }],
  ['its console never says it', () => ({ console: { text: 'Welcome to the machine' }, deadlineMs: 20_000 }), { name: 'console', seen: expect.stringMatching(/Booting.*login/su), code: 'SmokeServerFailed' }],
];
test.each(failures)('%s: a finding, and nothing is left', async (_, change, finding) => {
  await newHost();
  const findings = await drover.runSmokeCheck(smoke(change()));
  expect(findings.at(-1)).toMatchObject(finding);
  expect(await serverIds()).toEqual([]);
}, startTimeoutMs);

test('what an aborted check left is taken away', async () => {
  await newHost();
  // Drover's own mark, as a check makes it that nobody waits for.
  const metadata = { 'drover:purpose': 'smoke-test', 'drover:host': host, 'drover:hypervisor': host, 'drover:hypervisor-uid': 'uid-1' };
  const left = await createInstance(session, { name: `drover-smoke-${host}`, host, metadata });
  expect(await drover.findSmokeServers({ host })).toEqual([left.id]);
  expect(await drover.ensureSmokeServerGone({ host, deadlineMs: 60_000 })).toBe(true);
  expect(await serverIds()).toEqual([]);
}, startTimeoutMs);

const started = (answer: MigrationStart): number => {
  if (answer.outcome !== 'started') throw new Error(`not started: ${JSON.stringify(answer)}`);
  return answer.migration.id;
};
const ended = (instanceId: string, migrationId: number): Promise<MigrationEnd> =>
  drover.awaitEvacuation({ instanceId, sourceHost: host, migrationId, deadlineMs: 60_000, poll: { minMs: 100, maxMs: 1_000 } });

test('a dead host: forced down with proof, its servers started elsewhere as they were, and forced up only once it has dropped them', async () => {
  await newHost();
  const [running, stopped] = [await createInstance(session, { name: 'running', host }), await createInstance(session, { name: 'stopped', host, state: 'SHUTOFF' })];
  const request = (instanceId: string) => ({ instanceId, sourceHost: host, targetHost: null, incident: 'incident-1' });

  await expect(drover.startEvacuation(request(running.id))).rejects.toMatchObject({ type: 'HostNotFenced' });
  await expect(drover.ensureForcedDown({ host, forcedDown: true, proof: proofOf('person') })).rejects.toMatchObject({ type: 'HostUp' });
  await fleet.crash(host);
  const down = await Promise.all([1, 2].map(() => drover.ensureForcedDown({ host, forcedDown: true, proof: proofOf('power-off') })));
  for (const state of down) expect(state).toMatchObject({ forcedDown: true, state: 'down', status: 'enabled' });

  const ids = (await Promise.all([1, 2].map(() => drover.startEvacuation(request(running.id))))).map(started);
  expect(new Set(ids).size).toBe(1);
  expect(await ended(running.id, ids[0] ?? 0)).toMatchObject({ status: 'done', stuck: null, message: null, observation: { instance: { status: 'ACTIVE', host: expect.stringMatching(/^node-[12]$/u) } } });
  const named = started(await drover.startEvacuation({ ...request(stopped.id), targetHost: 'node-2' }));
  expect(await ended(stopped.id, named)).toMatchObject({ status: 'done', targetHost: 'node-2', observation: { instance: { status: 'SHUTOFF', host: 'node-2' } } });
  expect(await drover.startEvacuation(request(running.id))).toMatchObject({ outcome: 'changed', observation: { migration: null } });

  await expect(drover.ensureForcedDown({ host, forcedDown: false, proof: proofOf('restart') })).rejects.toMatchObject({ type: 'EvacuationsUnsettled' });
  await fleet.start(host);
  const up = await until('nova-compute to have dropped the guests', deadlineMs, () => drover.ensureForcedDown({ host, forcedDown: false, proof: proofOf('restart') }));
  expect(up).toMatchObject({ forcedDown: false });
  // Of two at once, both may have done it: Nova takes both.
  const causes = audited.filter(({ action }) => action === 'ensureForcedDown').map(({ cause }) => cause);
  expect(causes.at(0)).toMatch(/^incident incident-1: power-off, the test at /u);
  expect(causes.at(-1)).toMatch(/^incident incident-1: restart, the test at /u);
}, startTimeoutMs);

test('an evacuation that finds no host ends in error with Nova’s words, and can be asked for again', async () => {
  const { hypervisor } = await newHost();
  await drover.ensureTraits({ providerId: hypervisor.id, wanted: ['CUSTOM_LAB'], owned: [] });
  const { id } = await createInstance(session, { name: 'picky', host, flavor: 'lab.trait' });
  await fleet.crash(host);
  await drover.ensureForcedDown({ host, forcedDown: true, proof: proofOf('power-off') });
  const request = { instanceId: id, sourceHost: host, targetHost: null, incident: 'incident-2' };
  const first = started(await drover.startEvacuation(request));
  expect(await ended(id, first)).toMatchObject({ status: 'error', message: expect.stringMatching(/No valid host/u), observation: { instance: { status: 'ERROR', host } } });
  const second = started(await drover.startEvacuation(request));
  expect(second).toBeGreaterThan(first);
  expect(await ended(id, second)).toMatchObject({ status: 'error' });
  await deleteInstances(session, [id]);
}, startTimeoutMs);

test('a host leaves Nova and Placement only when it is disabled, down and empty; one that registered since is another', async () => {
  const { serviceId, hypervisor } = await newHost();
  await createAggregate(session, { name: 'fast', hosts: [host, 'node-1'] });
  const { id: server } = await createInstance(session, { name: 'last', host });
  const deletion = { host, serviceId };

  await expect(drover.ensureServiceDeleted(deletion)).rejects.toMatchObject({ type: 'HostEnabled' });
  await drover.ensureServiceDisabled({ host, reason: 'drover: maintenance termination' });
  await expect(drover.ensureServiceDeleted(deletion)).rejects.toMatchObject({ type: 'HostUp' });
  await expect(drover.ensureProviderGone({ providerId: hypervisor.id })).rejects.toMatchObject({ type: 'ProviderInUse', message: expect.stringContaining(server) });
  await fleet.crash(host);
  await until('Nova to see it down', deadlineMs, async () => ((await findService(session, host)).state === 'down' ? true : 'up'));
  await expect(drover.ensureServiceDeleted(deletion)).rejects.toMatchObject({ type: 'HostNotEmpty', message: expect.stringContaining(server) });
  // Its nova-compute must be there to delete it.
  await fleet.start(host);
  await waitForServer(session, server, 'ACTIVE');
  await deleteInstances(session, [server]);
  await fleet.crash(host);
  await until('Nova to see it down', deadlineMs, async () => ((await findService(session, host)).state === 'down' ? true : 'up'));

  // Nova answers 500 to one of two.
  await Promise.all([1, 2].map(() => asTemporalWould(() => drover.ensureServiceDeleted(deletion))));
  expect(await drover.findRegistration({ hypervisor: host })).toBeNull();
  expect(await aggregatesOf(host)).toEqual([]);
  await drover.ensureProviderGone({ providerId: hypervisor.id });
  expect(await createPlacementClient(keystone).providerByUuid(hypervisor.id, never)).toBeNull();
  await drover.ensureServiceDeleted(deletion);

  const again = await newHost();
  expect(again.serviceId).not.toBe(serviceId);
  await drover.ensureServiceDeleted(deletion);
  expect(await drover.findRegistration({ hypervisor: host })).toMatchObject({ serviceId: again.serviceId });
}, startTimeoutMs);

test('by consent, what nobody holds any more is taken off a provider: a server’s share elsewhere stays, and the server runs', async () => {
  const { hypervisor } = await newHost();
  const { id: server } = await createInstance(session, { name: 'moved', host: 'node-1' });
  type Held = { allocations: Record<string, { resources: object }>; consumer_generation: number; project_id: string; user_id: string };
  const held = (consumer: string): Promise<Held> => session.placement<Held>('GET', `/allocations/${consumer}`);
  const { allocations: elsewhere, consumer_generation, project_id, user_id } = await held(server);
  // As an aborted move leaves it: the server has a share of this host too; and as one whose server is gone does.
  const resources = { VCPU: 1, MEMORY_MB: 64 };
  const double = { ...elsewhere, [hypervisor.id]: { resources } };
  await session.placement('PUT', `/allocations/${server}`, { body: { allocations: double, consumer_generation, consumer_type: 'INSTANCE', project_id, user_id } });
  const gone = randomUUID();
  await session.placement('PUT', `/allocations/${gone}`, { body: { allocations: { [hypervisor.id]: { resources } }, consumer_generation: null, consumer_type: 'INSTANCE', project_id, user_id } });

  const consentBy = `jane ${new Date().toISOString()}`;
  const release = { providerId: hypervisor.id, consentBy };
  // Of two at once, one may find a consumer that the other has just written.
  await Promise.all([1, 2].map(() => asTemporalWould(() => drover.releaseAllocations(release))));
  // The provider's generation goes up with every change of what it holds.
  const resourcesOf = (allocations: Held['allocations']) => Object.entries(allocations).map(([provider, { resources: its }]) => [provider, its]);
  expect(resourcesOf((await held(server)).allocations)).toEqual(resourcesOf(elsewhere));
  expect((await held(gone)).allocations).toEqual({});
  expect(await createPlacementClient(keystone).providerAllocations(hypervisor.id, never)).toEqual({});
  const written = audited.filter(({ action }) => action === 'releaseAllocations');
  expect(new Set(written.map(({ object }) => object))).toEqual(new Set([`allocations/${server}`, `allocations/${gone}`]));
  for (const { cause, before } of written) expect([cause, before]).toEqual([expect.stringContaining(`consented by ${consentBy}`), { [hypervisor.id]: resources }]);
  expect((await listServers(session)).find(({ id }) => id === server)).toMatchObject({ status: 'ACTIVE' });
}, startTimeoutMs);

test('a provider that Nova left behind goes with those below it, once nothing is allocated or somebody consents', async () => {
  const [top, child, consumer] = [randomUUID(), randomUUID(), randomUUID()];
  await session.placement('POST', '/resource_providers', { body: { name: 'left-behind', uuid: top } });
  await session.placement('POST', '/resource_providers', { body: { name: 'left-behind-gpu', uuid: child, parent_provider_uuid: top } });
  await session.placement('PUT', `/resource_providers/${child}/inventories`, { body: { resource_provider_generation: 0, inventories: { VGPU: { total: 4 } } } });
  const allocation = { allocations: { [child]: { resources: { VGPU: 1 } } }, consumer_generation: null, consumer_type: 'INSTANCE', project_id: 'p', user_id: 'u' };
  await session.placement('PUT', `/allocations/${consumer}`, { body: allocation });

  await expect(drover.ensureProviderGone({ providerId: top })).rejects.toMatchObject({ type: 'ProviderInUse', message: expect.stringContaining(consumer) });
  // A person's consent frees it: what the consumer has below counts as what it has.
  const consented = { providerId: top, consentBy: `jane ${new Date().toISOString()}` };
  await Promise.all([1, 2].map(() => asTemporalWould(() => drover.ensureProviderGone(consented))));
  expect(audited.find(({ action }) => action === 'releaseAllocations')).toMatchObject({ object: `allocations/${consumer}`, before: { [child]: { VGPU: 1 } }, after: null });
  const { resource_providers: left } = await session.placement<{ resource_providers: unknown[] }>('GET', `/resource_providers?in_tree=${top}`);
  expect(left).toEqual([]);
}, startTimeoutMs);
