import { droverFailure } from '../../runtime/failure.ts';
import type { Endpoint } from '../openstack/endpoint.ts';
import { allByOffset, allPages } from '../openstack/pages.ts';
import type { InstanceActionName, InstanceDetail, ServerGroup } from './types.ts';
import { failureOf, toInstance, toServerGroup } from './wire-map.ts';
import * as wire from './wire.ts';

/** Since this one, a server says which zone it was pinned to (2.96) and which properties its image had (2.98). */
export const richServerMicroversion = '2.98';

/** @throws HostNotFound, HostAttributeMissing as {@link NovaClient.servers} says */
export async function readServers(
  nova: Endpoint,
  microversion: string,
  { host, groups: known }: { host: string; groups?: readonly ServerGroup[] },
  signal: AbortSignal,
): Promise<InstanceDetail[]> {
  const [servers, groups] = await Promise.all([
    listServers(nova, microversion, host, signal),
    known ?? readServerGroups(nova, signal),
  ]);
  if (servers.length === 0) await assertHostTold(nova, host, signal);
  const groupsOf = groupsByMember(groups);
  // Nova drops a filter that its policy does not allow instead of refusing it, so the answer may hold servers
  // of other hosts.
  return servers
    .map((server) => toInstance(server, groupsOf.get(server.id) ?? []))
    .filter((instance) => instance.host === host && !isDeleted(instance));
}

/**
 * Nova writes `deleted` into the server when its guest is destroyed, and only then marks the record as deleted: between
 * the two the API still lists it.
 */
const isDeleted = ({ vmState }: InstanceDetail): boolean => vmState === 'deleted';

const listServers = (
  nova: Endpoint,
  microversion: string,
  host: string,
  signal: AbortSignal,
): Promise<wire.WireServer[]> =>
  allPages(
    async (marker) => {
      const query: [string, string][] = [
        ['all_tenants', 'true'],
        ['host', host],
        ...(marker === undefined ? [] : [['marker', marker] as [string, string]]),
      ];
      const { value } = await nova.call(
        { method: 'GET', path: '/servers/detail', query, microversion, answer: wire.serverPage },
        signal,
      );
      return { items: value.servers, links: value.servers_links };
    },
    (server) => server.id,
  );

/**
 * "No servers" is also what Nova says of a host it does not know, and of one whose cell is down. Only a service that
 * answers for itself makes it true (docs/compatibility.md#how-nova-answers).
 */
async function assertHostTold(nova: Endpoint, host: string, signal: AbortSignal): Promise<void> {
  const query: [string, string][] = [
    ['binary', 'nova-compute'],
    ['host', host],
  ];
  const { value } = await nova.call(
    { method: 'GET', path: '/os-services', query, microversion: '2.94', answer: wire.serviceList },
    signal,
  );
  const service = value.services.find((candidate) => candidate.host === host);
  if (service === undefined) throw droverFailure('HostNotFound', `Nova has no nova-compute service on host ${host}.`);
  if (service.status === 'UNKNOWN') throw droverFailure('HostAttributeMissing', `The cell of host ${host} is down.`);
}

/** Null when there is none, deleted ones included. */
export async function readServer(
  nova: Endpoint,
  microversion: string,
  instanceId: string,
  signal: AbortSignal,
): Promise<InstanceDetail | null> {
  const path = `/servers/${encodeURIComponent(instanceId)}`;
  const answer = await nova.find({ method: 'GET', path, microversion, answer: wire.serverAnswer }, signal);
  const instance = answer === null ? null : toInstance(answer.value.server);
  return instance === null || isDeleted(instance) ? null : instance;
}

export async function readServerGroups(nova: Endpoint, signal: AbortSignal): Promise<ServerGroup[]> {
  const groups = await allByOffset(
    async (offset) => {
      const query: [string, string][] = [
        ['all_projects', 'true'],
        ...(offset === 0 ? [] : [['offset', String(offset)] as [string, string]]),
      ];
      const { value } = await nova.call(
        { method: 'GET', path: '/os-server-groups', query, microversion: '2.94', answer: wire.serverGroupPage },
        signal,
      );
      return value.server_groups;
    },
    (group) => group.id,
  );
  return groups.map(toServerGroup);
}

function groupsByMember(groups: readonly ServerGroup[]): Map<string, string[]> {
  const byMember = new Map<string, string[]>();
  for (const group of groups)
    for (const member of group.members) byMember.set(member, [...(byMember.get(member) ?? []), group.id]);
  return byMember;
}

/** Events have details since 2.84. Null when the action, or the server, is unknown or did not fail. */
export async function readActionFailure(
  nova: Endpoint,
  instanceId: string,
  action: { requestId: string } | { action: InstanceActionName },
  signal: AbortSignal,
): Promise<string | null> {
  const actions = `/servers/${encodeURIComponent(instanceId)}/os-instance-actions`;
  const requestId =
    'requestId' in action ? action.requestId : await newestRequest(nova, actions, action.action, signal);
  if (requestId === null) return null;
  const path = `${actions}/${encodeURIComponent(requestId)}`;
  const answer = await nova.find({ method: 'GET', path, microversion: '2.94', answer: wire.instanceAction }, signal);
  return answer === null ? null : failureOf(answer.value.instanceAction);
}

/** Actions come newest first. */
async function newestRequest(
  nova: Endpoint,
  path: string,
  name: InstanceActionName,
  signal: AbortSignal,
): Promise<string | null> {
  const answer = await nova.find(
    { method: 'GET', path, microversion: '2.94', answer: wire.instanceActionList },
    signal,
  );
  return answer?.value.instanceActions.find(({ action }) => action === name)?.request_id ?? null;
}
