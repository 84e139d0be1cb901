import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import type { Eviction } from '../contracts/crds/eviction.ts';
import type { Migration } from '../contracts/crds/migration.ts';
import { findCondition } from '../contracts/conditions.ts';
import { migrationAllowanceId, workflowTypes } from '../contracts/ids.ts';
import { listServices } from '../lab/openstack/hosts.ts';
import { readMigrationEvents } from '../lab/openstack/journal.ts';
import { listServers } from '../lab/openstack/seed.ts';
import type { Session } from '../lab/openstack/session.ts';
import { readFileIfThere } from '../lab/private-files.ts';
import { resourcePath } from '../runtime/kubernetes.ts';
import type { World } from './flows/world.ts';
import type { RunFacts, Snapshot } from './violations.ts';

/** What of a world is looked at. */
export type Observed = Pick<World, 'api' | 'client' | 'dir' | 'evictions' | 'expected' | 'fleet' | 'lab' | 'ownChanges' | 'session' | 'sinceMs'> & {
  drover: Pick<World['drover'], 'worker' | 'bridge' | 'metricsUrls'>;
} & Partial<Pick<World, 'planted' | 'outputs'>>;

/** Takes the snapshot that the checks are about: Kubernetes first, so that what it claims is compared with what is true after. */
export async function readWorld(world: Observed, hosts: readonly string[] | null = null): Promise<Snapshot> {
  const { api, session, fleet, sinceMs, lab } = world;
  const list = async <Kind>(path: string): Promise<Kind[]> => ((await api.request({ method: 'GET', path }, AbortSignal.timeout(20_000))) as { items: Kind[] }).items;
  const [evictions, migrations, events] = await Promise.all([
    list<Eviction>(resourcePath('kvm.cloud.sap/v1', 'evictions')),
    list<Migration>(resourcePath('kvm.cloud.sap/v1alpha1', 'migrations', { namespace: 'monsoon3' })),
    list<object>(resourcePath('events.k8s.io/v1', 'events')),
  ]);
  const runs = await readRuns(world);
  const [servers, services, machines] = await Promise.all([listServers(session), listServices(session), fleet.hosts()]);
  const succeeded = evictions.filter(({ status }) => findCondition(status?.conditions, 'Evicting')?.reason === 'Succeeded').map(({ spec }) => spec.hypervisor);
  return {
    atMs: Date.now(),
    hosts,
    runs: runs.map(({ facts }) => facts),
    expectedServers: [...world.expected.values()],
    servers: servers.map((server) => ({ id: server.id, name: server.name, status: server.status, taskState: server['OS-EXT-STS:task_state'], host: server['OS-EXT-SRV-ATTR:host'] })),
    guests: Object.fromEntries(Object.entries(machines).map(([host, { guests }]) => [host, guests])),
    services: services.map(({ host, status, disabled_reason }) => ({ host, status, disabledReason: disabled_reason })),
    allocations: await readAllocations(session, succeeded.filter((host) => hosts === null || hosts.includes(host))),
    migrationEvents: readMigrationEvents(session.handle, sinceMs).map(({ timeMs, id, instance, status, source, dest }) => ({ atMs: timeMs, id, instanceId: instance, status, sourceHost: source, targetHost: dest })),
    serviceChanges: readServiceChanges(world),
    fencings: readFencings(world),
    evictions,
    evictionEvents: [...world.evictions.events],
    migrations,
    secrets: [...readSecrets(lab.handles.openstack.dir, lab.handles.kubernetes.tokenFile), ...readAccountTokens(world), ...(world.planted ?? [])],
    texts: [
      ...runs.map(({ facts, text }) => ({ where: `the history of ${facts.workflowId} (${facts.runId})`, text })),
      ...readLogs(world),
      ...(await readMetrics(world)),
      ...(world.outputs ?? []),
      { where: 'the Evictions', text: JSON.stringify(evictions) },
      { where: 'the Migrations', text: JSON.stringify(migrations) },
      { where: 'the events', text: JSON.stringify(events) },
    ],
  };
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
  return [...byDrover, ...world.ownChanges.map((change) => ({ ...change, by: 'test' as const }))].sort((a, b) => a.atMs - b.atMs);
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
function readSecrets(openstackDir: string, adminTokenFile: string): Snapshot['secrets'] {
  const { secrets } = JSON.parse(readFileSync(join(openstackDir, 'settings.json'), 'utf8')) as { secrets: Record<string, string> };
  const ofOpenStack = Object.entries(secrets)
    // An id is no secret: it names the credential.
    .filter(([name]) => name !== 'applicationCredentialId')
    .map(([name, value]) => ({ name, value }));
  return [...ofOpenStack, { name: 'the administrator’s token of Kubernetes', value: readFileSync(adminTokenFile, 'utf8').trim() }];
}

/** Those that worker and bridge were given. */
const readAccountTokens = ({ dir }: Observed): Snapshot['secrets'] =>
  ['drover-worker', 'drover-bridge'].flatMap((name) => {
    const token = /^\s*token: (\S+)$/mu.exec(readFileIfThere(join(dir, `${name}.kubeconfig`)) ?? '')?.[1];
    return token === undefined ? [] : [{ name: `the token of ${name}`, value: token }];
  });
