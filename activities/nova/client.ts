import type { ErrorCode } from '../../contracts/errors.ts';
import { droverFailure } from '../../runtime/failure.ts';
import type { KeystoneSession } from '../keystone/types.ts';
import { type Call, type Endpoint, openEndpoint } from '../openstack/endpoint.ts';
import type { Refusal } from '../openstack/faults.ts';
import { allPages } from '../openstack/pages.ts';
import { abortFaults, confirmFaults, forceCompleteFaults, serverActionFaults, serviceFaults } from './faults.ts';
import { hostCalls, hypervisorsMicroversion, newServerCalls } from './host-calls.ts';
import type { Accepted, Aggregate, ComputeServiceRecord, Hypervisor, NovaClient, ServiceChange } from './types.ts';
import { toComputeService, toHypervisor } from './wire-map.ts';
import {
  readMigrationsChangedSince,
  readMigrationsCopying,
  readMigrationsInProgress,
  readMigrationsOf,
  readServerMigration,
} from './wire-migrations.ts';
import {
  readActionFailure,
  readServer,
  readServerGroups,
  readServers,
  richServerMicroversion,
} from './wire-servers.ts';
import * as wire from './wire.ts';

/**
 * What drover needs at least: Nova of 2023.1 has 2.95. It also keeps evacuated servers running, which 2.95 does not
 * (docs/compatibility.md#how-nova-answers).
 */
const baseMicroversion = '2.94';

/** Nova over HTTP. One client per region; it holds no state but what the service can do. */
export function createNovaClient(session: KeystoneSession): NovaClient {
  const nova = openEndpoint(session, { service: 'Nova', type: 'compute', base: versionedBase });
  const serverMicroversion = discoverServerMicroversion(nova);
  return {
    ...hostCalls(nova),
    ...newServerCalls(nova, serverMicroversion),
    computeServices: (signal) => readComputeServices(nova, signal),
    updateService: (id, change, signal) => updateService(nova, id, change, signal),
    hypervisors: (signal) => readHypervisors(nova, signal),
    servers: async (filter, signal) => readServers(nova, await serverMicroversion(signal), filter, signal),
    server: async (id, signal) => readServer(nova, await serverMicroversion(signal), id, signal),
    serverGroups: (signal) => readServerGroups(nova, signal),
    aggregates: (signal) => readAggregates(nova, signal),
    migrationsInProgress: ({ host }, signal) => readMigrationsInProgress(nova, host, signal),
    migrationsCopying: (signal) => readMigrationsCopying(nova, signal),
    migrationsChangedSince: (time, signal) => readMigrationsChangedSince(nova, time, signal),
    serverMigration: (instanceId, id, signal) => readServerMigration(nova, instanceId, id, signal),
    migration: async (instanceId, id, signal) =>
      (await readMigrationsOf(nova, instanceId, signal)).find((migration) => migration.id === id) ?? null,
    migrationsOf: (instanceId, signal) => readMigrationsOf(nova, instanceId, signal),
    liveMigrate: (id, { host }, signal) =>
      act(nova, server(id), { 'os-migrateLive': { host, block_migration: 'auto' } }, serverActionFaults, signal),
    coldMigrate: (id, { host }, signal) =>
      act(nova, server(id), { migrate: host === null ? null : { host } }, serverActionFaults, signal),
    abortMigration: (instanceId, id, signal) =>
      accepted(
        nova,
        {
          method: 'DELETE',
          path: `${server(instanceId)}/migrations/${id}`,
          microversion: baseMicroversion,
          refused: abortFaults,
        },
        signal,
      ),
    forceCompleteMigration: (instanceId, id, signal) =>
      act(nova, `${server(instanceId)}/migrations/${id}`, { force_complete: null }, forceCompleteFaults, signal),
    confirmResize: (id, signal) => act(nova, server(id), { confirmResize: null }, confirmFaults, signal),
    lastActionFailure: async (instanceId, action, signal) =>
      (await readActionFailure(nova, instanceId, action, signal)) ??
      (await readServer(nova, await serverMicroversion(signal), instanceId, signal))?.fault ??
      null,
  };
}

/**
 * Catalogs name Nova's endpoint with or without the version, and old ones with the project, which Nova has not needed
 * since 2.18.
 */
export const versionedBase = (url: string): string =>
  `${url.replace(/\/+$/u, '').replace(/\/v2\.1(\/[^/]+)?$/u, '')}/v2.1`;

const server = (id: string): string => `/servers/${encodeURIComponent(id)}`;

const act = (
  nova: Endpoint,
  path: string,
  body: unknown,
  refused: (refusal: Refusal) => ErrorCode | undefined,
  signal: AbortSignal,
): Promise<Accepted> =>
  accepted(nova, { method: 'POST', path: `${path}/action`, microversion: baseMicroversion, body, refused }, signal);

async function accepted(nova: Endpoint, call: Call<unknown>, signal: AbortSignal): Promise<Accepted> {
  const { requestId } = await nova.call(call, signal);
  return { requestId };
}

/** Asks Nova once what it can do; a failed question is asked again. */
function discoverServerMicroversion(nova: Endpoint): (signal: AbortSignal) => Promise<string> {
  let known: string | undefined;
  return async (signal) => {
    known ??= serverMicroversionOf(await readLatestMicroversion(nova, signal));
    return known;
  };
}

async function readLatestMicroversion(nova: Endpoint, signal: AbortSignal): Promise<string> {
  const { value } = await nova.call(
    { method: 'GET', path: '/', microversion: '2.1', answer: wire.versionDocument },
    signal,
  );
  return value.version.version;
}

function serverMicroversionOf(latest: string): string {
  const minor = (version: string): number => Number(version.split('.')[1]);
  if (minor(latest) < minor(baseMicroversion))
    throw droverFailure(
      'RequestRefused',
      `This Nova ends at microversion ${latest}; drover needs ${baseMicroversion}, which came with 2023.1.`,
    );
  return minor(latest) < minor(richServerMicroversion) ? baseMicroversion : richServerMicroversion;
}

async function readComputeServices(nova: Endpoint, signal: AbortSignal): Promise<ComputeServiceRecord[]> {
  const { value } = await nova.call(
    {
      method: 'GET',
      path: '/os-services',
      query: [['binary', 'nova-compute']],
      microversion: baseMicroversion,
      answer: wire.serviceList,
    },
    signal,
  );
  return value.services.filter((service) => service.binary === 'nova-compute').map(toComputeService);
}

async function updateService(
  nova: Endpoint,
  id: string,
  change: ServiceChange,
  signal: AbortSignal,
): Promise<Accepted & { service: ComputeServiceRecord }> {
  const body =
    'forcedDown' in change
      ? { forced_down: change.forcedDown }
      : {
          status: change.status,
          ...(change.disabledReason === undefined ? {} : { disabled_reason: change.disabledReason }),
        };
  const path = `/os-services/${encodeURIComponent(id)}`;
  const { value, requestId } = await nova.call(
    { method: 'PUT', path, microversion: baseMicroversion, body, answer: wire.serviceAnswer, refused: serviceFaults },
    signal,
  );
  return { service: toComputeService(value.service), requestId };
}

async function readHypervisors(nova: Endpoint, signal: AbortSignal): Promise<Hypervisor[]> {
  const hypervisors = await allPages(
    async (marker) => {
      const query: [string, string][] = marker === undefined ? [] : [['marker', marker]];
      const { value } = await nova.call(
        {
          method: 'GET',
          path: '/os-hypervisors/detail',
          query,
          microversion: hypervisorsMicroversion,
          answer: wire.hypervisorPage,
        },
        signal,
      );
      return { items: value.hypervisors, links: value.hypervisors_links };
    },
    (hypervisor) => hypervisor.id,
  );
  return hypervisors.map(toHypervisor);
}

async function readAggregates(nova: Endpoint, signal: AbortSignal): Promise<Aggregate[]> {
  const { value } = await nova.call(
    { method: 'GET', path: '/os-aggregates', microversion: baseMicroversion, answer: wire.aggregateList },
    signal,
  );
  return value.aggregates.map(({ id, uuid, name, hosts, metadata, availability_zone: availabilityZone }) => ({
    id,
    uuid,
    name,
    hosts,
    metadata,
    availabilityZone,
  }));
}
