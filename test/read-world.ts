import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import type { Eviction } from '../contracts/crds/eviction.ts';
import type { Migration } from '../contracts/crds/migration.ts';
import type { VirtualMachine } from '../contracts/crds/virtual-machine.ts';
import { findCondition } from '../contracts/conditions.ts';
import { migrationAllowanceId, workflowTypes } from '../contracts/ids.ts';
import type { DroverLab } from '../lab/drover.ts';
import { listServices } from '../lab/openstack/hosts.ts';
import type { ApiCall } from '../lab/openstack/journal.ts';
import { readApiCalls, readMigrationEvents } from '../lab/openstack/journal.ts';
import { listServers } from '../lab/openstack/seed.ts';
import type { Session } from '../lab/openstack/session.ts';
import { readFileIfThere } from '../lab/private-files.ts';
import { listVms } from '../lab/vsphere/list-vms.ts';
import { resourcePath } from '../runtime/kubernetes.ts';
import type { World } from './flows/world.ts';
import type { RunFacts, Snapshot } from './violations.ts';

/** What of a world is looked at; nothing of OpenStack, and nothing of a vCenter, where there is none. */
export type Observed = Pick<World, 'api' | 'client' | 'dir' | 'sinceMs'> & {
  lab: Pick<DroverLab, 'handles'>;
  drover: Pick<World['drover'], 'worker' | 'bridge' | 'metricsUrls'>;
  vms?: ObservedVms;
} & Partial<OfRegion & Pick<World, 'planted' | 'outputs'>>;

type OfRegion = Pick<World, 'evictions' | 'expected' | 'fleet' | 'ownChanges' | 'session'>;

/** VMs of one namespace, and what in the vCenter is not drover's. */
export interface ObservedVms {
  namespace: string;
  strangers: readonly { what: string; before: string; read: () => Promise<string | null> }[];
}

/** Takes the snapshot that the checks are about: Kubernetes first, so that what it claims is compared with what is true after. */
export async function readWorld(world: Observed, hosts: readonly string[] | null = null): Promise<Snapshot> {
  const { api, lab } = world;
  const list = async <Kind>(path: string): Promise<Kind[]> => ((await api.request({ method: 'GET', path }, AbortSignal.timeout(20_000))) as { items: Kind[] }).items;
  const [evictions, migrations, virtualMachines, events] = await Promise.all([
    list<Eviction>(resourcePath('kvm.cloud.sap/v1', 'evictions')),
    list<Migration>(resourcePath('kvm.cloud.sap/v1alpha1', 'migrations', { namespace: 'monsoon3' })),
    world.vms === undefined ? [] : list<VirtualMachine>(resourcePath('vmoperator.vmware.com/v1alpha6', 'virtualmachines', { namespace: world.vms.namespace })),
    list<object>(resourcePath('events.k8s.io/v1', 'events')),
  ]);
  const runs = await readRuns(world);
  const succeeded = evictions.filter(({ status }) => findCondition(status?.conditions, 'Evicting')?.reason === 'Succeeded').map(({ spec }) => spec.hypervisor);
  return {
    atMs: Date.now(),
    hosts,
    runs: runs.map(({ facts }) => facts),
    ...(await readRegion(world, succeeded.filter((host) => hosts === null || hosts.includes(host)))),
    ...(await readVms(world)),
    serviceChanges: readServiceChanges(world),
    fencings: readFencings(world),
    evictions,
    evictionEvents: [...(world.evictions?.events ?? [])],
    migrations,
    virtualMachines,
    secrets: [...readSecrets(lab.handles), ...readAccountTokens(world), ...(world.planted ?? [])],
    texts: [
      ...runs.map(({ facts, text }) => ({ where: `the history of ${facts.workflowId} (${facts.runId})`, text })),
      ...readLogs(world),
      ...(await readMetrics(world)),
      ...(world.outputs ?? []),
      { where: 'the Evictions', text: JSON.stringify(evictions) },
      { where: 'the Migrations', text: JSON.stringify(migrations) },
      { where: 'the VirtualMachines', text: JSON.stringify(virtualMachines) },
      { where: 'the events', text: JSON.stringify(events) },
    ],
  };
}

type RegionFacts = Pick<Snapshot, 'expectedServers' | 'servers' | 'guests' | 'services' | 'servicesAsked' | 'allocations' | 'migrationEvents'>;

/** @param emptied hosts whose allocations are read */
async function readRegion({ session, fleet, expected, sinceMs }: Observed, emptied: readonly string[]): Promise<RegionFacts> {
  if (session === undefined || fleet === undefined) return { expectedServers: [], servers: [], guests: {}, services: [], servicesAsked: [], allocations: {}, migrationEvents: [] };
  const [servers, services, machines] = await Promise.all([listServers(session), listServices(session), fleet.hosts()]);
  return {
    expectedServers: [...(expected?.values() ?? [])],
    servers: servers.map((server) => ({ id: server.id, name: server.name, status: server.status, taskState: server['OS-EXT-STS:task_state'], host: server['OS-EXT-SRV-ATTR:host'] })),
    guests: Object.fromEntries(Object.entries(machines).map(([host, { guests }]) => [host, guests])),
    services: services.map(({ host, status, disabled_reason }) => ({ host, status, disabledReason: disabled_reason })),
    servicesAsked: servicesAsked(readApiCalls(session.handle, 'nova', sinceMs), new Map(services.map(({ id, host }) => [id, host]))),
    allocations: await readAllocations(session, emptied),
    migrationEvents: readMigrationEvents(session.handle, sinceMs).map(({ timeMs, id, instance, status, source, dest }) => ({ atMs: timeMs, id, instanceId: instance, status, sourceHost: source, targetHost: dest })),
  };
}

/**
 * Changes of services that Nova has made: one that disables counts from its answer, one that enables from when it was asked. Pure.
 *
 * @param hosts by the service's id; a service that is gone takes no servers
 */
export function servicesAsked(calls: readonly ApiCall[], hosts: ReadonlyMap<string, string>): Snapshot['servicesAsked'] {
  const changes = calls.flatMap(({ method, path, action, status, timeMs, durationMs, userAgent }) => {
    const host = hosts.get(/\/os-services\/([^/]+)$/u.exec(path)?.[1] ?? '');
    if (method !== 'PUT' || host === undefined || status >= 300 || (action !== 'enabled' && action !== 'disabled')) return [];
    const enabled = action === 'enabled';
    return [{ host, atMs: enabled ? timeMs : timeMs + durationMs, enabled, byDrover: userAgent === 'drover' }];
  });
  return changes.toSorted((a, b) => a.atMs - b.atMs);
}

/** By govc, and not by drover's own adapter. */
async function readVms({ lab, vms }: Observed): Promise<Pick<Snapshot, 'vms' | 'strangers'>> {
  const { vsphere } = lab.handles;
  if (vms === undefined || vsphere === undefined) return { vms: [], strangers: [] };
  const [listed, strangers] = await Promise.all([listVms(vsphere), Promise.all(vms.strangers.map(async ({ what, before, read }) => ({ what, before, after: await read() })))]);
  const marked = listed.map(({ id, name, powerState, extraConfig }) => ({ id, name, powerState, namespacedName: extraConfig['vmservice.namespacedName'] ?? null, uid: extraConfig['drover.uid'] ?? null, extraConfig }));
  // Other lanes are other namespaces.
  return { vms: marked.filter(({ namespacedName }) => namespacedName?.startsWith(`${vms.namespace}/`) === true), strangers };
}

/** Histories of closed runs do not change. By run id. */
const closedRuns = new Map<string, { facts: RunFacts; text: string }>();

async function readRuns({ client, sinceMs }: Observed): Promise<{ facts: RunFacts; text: string }[]> {
  const found: { facts: RunFacts; text: string }[] = [];
  for await (const { workflowId, runId, type, status, startTime, closeTime } of client.workflow.list({ query: `StartTime >= "${new Date(sinceMs).toISOString()}"` })) {
    const kept = closedRuns.get(runId);
    if (kept !== undefined) {
      found.push(kept);
      continue;
    }
    const { text, events, moves } = await readHistory(client, workflowId, runId, type);
    const facts: RunFacts = { workflowId, runId, type, status: status.name, events, moves, startedAtMs: startTime.getTime(), closedAtMs: closeTime?.getTime() ?? null };
    if (closeTime !== undefined) closedRuns.set(runId, { facts, text });
    found.push({ facts, text });
  }
  return found;
}

async function readHistory(client: Client, workflowId: string, runId: string, type: string): Promise<{ text: string; events: number; moves: number }> {
  const { events = [] } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
  const all = events ?? [];
  const isMove =
    type === workflowTypes.evictHypervisor
      ? (event: (typeof all)[number]) => event.startChildWorkflowExecutionInitiatedEventAttributes
      : (event: (typeof all)[number]) => /^start(Live|Cold)Migration$/u.test(event.activityTaskScheduledEventAttributes?.activityType?.name ?? '') || undefined;
  // The share-out of a region has no object of its own to be budgeted by.
  const moves = workflowId === migrationAllowanceId('RegionOne') ? 0 : all.filter((event) => isMove(event)).length;
  return { text: all.map((event) => textOf(event)).join('\n'), events: all.length, moves };
}

/** An event as a person reads it: bytes are text. A replacer would come too late for that, as Buffers turn themselves into lists of numbers. */
export const textOf = (event: unknown): string => JSON.stringify(readable(event));

function readable(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  if (Array.isArray(value)) return value.map(readable);
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value).map(([name, item]) => [name, readable(item)])) : value;
}

async function readAllocations(session: Session, hosts: readonly string[]): Promise<Record<string, string[]>> {
  if (hosts.length === 0) return {};
  const { resource_providers: providers } = await session.placement<{ resource_providers: { uuid: string; name: string }[] }>('GET', '/resource_providers');
  const found: Record<string, string[]> = {};
  for (const host of hosts) {
    const provider = providers.find(({ name }) => name === host || name.startsWith(`${host}.`));
    if (provider === undefined) continue;
    const { allocations } = await session.placement<{ allocations: Record<string, object> }>('GET', `/resource_providers/${provider.uuid}/allocations`);
    found[host] = Object.keys(allocations);
  }
  return found;
}

interface AuditLine {
  time: string;
  action: string;
  object: string;
  cause: string;
  before: { host?: string | null } | null;
  after: { disabledReason?: string | null; forcedDown?: boolean } | null;
}

const readAudit = ({ dir }: Observed): AuditLine[] =>
  (readFileIfThere(join(dir, 'audit.jsonl')) ?? '')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as AuditLine);

const readFencings = (world: Observed): Snapshot['fencings'] =>
  readAudit(world).flatMap(({ action, object, cause, before, after }): Snapshot['fencings'] => {
    if (action === 'startEvacuation') return [{ did: 'evacuated', host: before?.host ?? '', object, cause }];
    if (action !== 'ensureForcedDown') return [];
    return [{ did: after?.forcedDown === true ? 'forcedDown' : 'forcedUp', host: object.replace('compute-service/', ''), object, cause }];
  });

/** drover's own, from its audit log, and the test's. */
function readServiceChanges(world: Observed): Snapshot['serviceChanges'] {
  const byDrover = readAudit(world)
    .filter(({ action }) => action === 'ensureServiceDisabled' || action === 'ensureServiceEnabled')
    .map(({ time, action, object, after }) => ({
      host: object.replace('compute-service/', ''),
      atMs: Date.parse(time),
      enabled: action === 'ensureServiceEnabled',
      by: 'drover' as const,
      reason: after?.disabledReason ?? null,
    }));
  return [...byDrover, ...(world.ownChanges ?? []).map((change) => ({ ...change, by: 'test' as const }))].sort((a, b) => a.atMs - b.atMs);
}

/** What drover's processes wrote, and the arguments they were started with, which every local user can read. */
function readLogs({ dir, drover }: Observed): Snapshot['texts'] {
  const files = ['log/worker.log', 'log/worker.log.1', 'log/bridge.log', 'log/bridge.log.1', 'audit.jsonl'];
  const processes = [drover.worker, drover.bridge].filter((record) => record !== null);
  return [
    ...files.map((file) => ({ where: file, text: readFileIfThere(join(dir, file)) ?? '' })),
    ...processes.map(({ name, pid }) => ({ where: `the arguments of ${name}`, text: readFileIfThere(`/proc/${pid}/cmdline`) ?? '' })),
  ];
}

/** What they show to Prometheus; a process that a test has taken away shows nothing. */
const readMetrics = ({ drover: { metricsUrls } }: Observed): Promise<Snapshot['texts']> =>
  Promise.all(
    Object.entries(metricsUrls).map(async ([name, url]) => ({
      where: `the metrics of ${name}`,
      text: await fetch(url, { signal: AbortSignal.timeout(5_000) }).then((answer) => answer.text(), () => ''),
    })),
  );

/** The lab's own: every password and token that drover or anybody else in it uses. */
function readSecrets({ openstack, kubernetes, vsphere }: DroverLab['handles']): Snapshot['secrets'] {
  const fileOf = (file: string): string => readFileSync(file, 'utf8').trim();
  return [
    ...(openstack === undefined ? [] : secretsOfOpenStack(openstack.dir)),
    ...(vsphere === undefined ? [] : [{ name: 'drover’s password at vCenter', value: fileOf(vsphere.passwordFile) }]),
    { name: 'the administrator’s token of Kubernetes', value: fileOf(kubernetes.tokenFile) },
  ];
}

function secretsOfOpenStack(dir: string): Snapshot['secrets'] {
  const { secrets } = JSON.parse(readFileSync(join(dir, 'settings.json'), 'utf8')) as { secrets: Record<string, string> };
  // An id is no secret: it names the credential.
  return Object.entries(secrets).flatMap(([name, value]) => (name === 'applicationCredentialId' ? [] : [{ name, value }]));
}

/** Those that worker and bridge were given. */
const readAccountTokens = ({ dir }: Observed): Snapshot['secrets'] =>
  ['drover-worker', 'drover-bridge'].flatMap((name) => {
    const token = /^\s*token: (\S+)$/mu.exec(readFileIfThere(join(dir, `${name}.kubeconfig`)) ?? '')?.[1];
    return token === undefined ? [] : [{ name: `the token of ${name}`, value: token }];
  });
