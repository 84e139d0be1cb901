import type { Flavor, Server } from '../model.ts';
import { novaRefusal, type Routes } from '../wire.ts';
import { conductBuild, deleteServer } from './builds.ts';
import { findServer, needAdmin, ok, pageOf, type NovaCall } from './call.ts';
import { startAction, statusOf } from './records.ts';
import { viewServer, viewServerGroup, viewServerName, viewFlavor } from './views.ts';

const isAdmin = ({ request }: NovaCall): boolean => request.user.roles.includes('admin');

const isTrue = (value: string | null): boolean =>
  value !== null && ['1', 'true', 'yes', 'on'].includes(value.toLowerCase());

/** Newest first, as Nova sorts them. */
function listed(call: NovaCall): Server[] {
  const { query } = call.request;
  const all = isTrue(query.get('all_tenants'));
  if (all) needAdmin(call, 'os_compute_api:servers:detail:get_all_tenants');
  const [host, name, status] = [query.get('host'), query.get('name'), query.get('status')];
  return [...call.cloud.model.servers.values()]
    .filter((server) => !server.isDeleted)
    .filter((server) => all || server.projectId === call.cloud.model.keystone.projectId)
    .filter((server) => host === null || !isAdmin(call) || server.host === host)
    .filter((server) => name === null || new RegExp(name, 'iu').test(server.name))
    .filter((server) => status === null || statusOf(server) === status.toUpperCase())
    .toReversed();
}

function list(call: NovaCall, path: string, view: (server: Server) => object) {
  const { page, links } = pageOf(listed(call), call.request, ({ id }) => id, path);
  return ok({ servers: page.map(view), ...(links === undefined ? {} : { servers_links: links }) });
}

interface NewServer {
  server: {
    name: string;
    flavorRef: string;
    imageRef: string;
    networks?: 'none' | 'auto';
    host?: string;
    availability_zone?: string;
    metadata?: Record<string, string>;
  };
  'os:scheduler_hints'?: { group?: string };
}

function create(call: NovaCall) {
  const { cloud, request } = call;
  const { server: wanted, 'os:scheduler_hints': hints } = call.request.body as NewServer;
  const flavor: Flavor | undefined = cloud.model.flavors.get(wanted.flavorRef);
  if (flavor === undefined) throw novaRefusal(400, `Flavor ${wanted.flavorRef} could not be found.`);
  if (!cloud.model.images.has(wanted.imageRef)) throw novaRefusal(400, 'Can not find requested image');
  // Of networks there are none to attach.
  if (wanted.networks !== 'none')
    throw novaRefusal(
      400,
      `Invalid input for field/attribute server. Value: ${JSON.stringify(wanted)}. 'networks' is a required property`,
    );
  const [zone = null, zoneHost = null] = wanted.availability_zone?.split(':') ?? [];
  const host = wanted.host ?? zoneHost;
  if (wanted.host !== undefined && zoneHost !== null)
    throw novaRefusal(400, 'Forced destination by both availability_zone and host is not supported.');
  if (host !== null && !cloud.model.hypervisors.has(host))
    throw novaRefusal(400, `Compute host ${host} could not be found.`);
  if (
    zone !== null &&
    zone !== 'nova' &&
    !cloud.model.aggregates.some(({ metadata }) => metadata['availability_zone'] === zone)
  )
    throw novaRefusal(400, 'The requested availability zone is not available');
  const group = hints?.group === undefined ? null : cloud.model.serverGroups.find(({ id }) => id === hints.group);
  if (group === undefined) throw novaRefusal(400, `Instance group ${hints?.group} could not be found.`);
  const server: Server = {
    id: cloud.uuid(),
    name: wanted.name,
    projectId: cloud.model.keystone.projectId,
    userId: request.user.id,
    flavor: { ...flavor, extraSpecs: { ...flavor.extraSpecs } },
    imageId: wanted.imageRef,
    metadata: { ...wanted.metadata },
    host: null,
    vmState: 'building',
    oldVmState: 'active',
    taskState: 'scheduling',
    powerState: 0,
    isLocked: false,
    pinnedZone: zone,
    fault: null,
    createdMs: cloud.nowMs(),
    updatedMs: cloud.nowMs(),
    launchedMs: null,
    actions: [],
    isDeleted: false,
  };
  cloud.model.servers.set(server.id, server);
  group?.members.push(server.id);
  conductBuild(cloud, server, host, startAction(cloud, server, 'create', request.requestId));
  return {
    status: 202,
    body: {
      server: { id: server.id, links: [], 'OS-DCF:diskConfig': 'MANUAL', security_groups: [{ name: 'default' }] },
    },
  };
}

interface NewGroup {
  server_group: { name: string; policy: string; rules?: { max_server_per_host?: number } };
}

interface NewFlavor {
  flavor: { name: string; id?: string; vcpus: number; ram: number; disk: number };
}

export const serverRoutes: Routes<NovaCall> = {
  'GET /servers': (call) => list(call, '/servers', viewServerName),
  'GET /servers/detail': (call) =>
    list(call, '/servers/detail', (server) =>
      viewServer(call.cloud, server, { minor: call.request.minor, isAdmin: isAdmin(call), isAlone: false }),
    ),
  'GET /servers/{}': (call, id) =>
    ok({
      server: viewServer(call.cloud, findServer(call, id ?? ''), {
        minor: call.request.minor,
        isAdmin: isAdmin(call),
        isAlone: true,
      }),
    }),
  'POST /servers': create,
  'DELETE /servers/{}': (call, id) => {
    const server = findServer(call, id ?? '');
    startAction(call.cloud, server, 'delete', call.request.requestId);
    deleteServer(call.cloud, server);
    return { status: 204 };
  },
  'POST /servers/{}/metadata': (call, id) => {
    const server = findServer(call, id ?? '');
    Object.assign(server.metadata, (call.request.body as { metadata: Record<string, string> }).metadata);
    for (const host of call.cloud.model.hosts.values()) for (const { transfer } of host.leaving) transfer?.reconsider();
    return ok({ metadata: server.metadata });
  },
  'GET /os-server-groups': (call) => {
    const offset = Number(call.request.query.get('offset') ?? 0);
    const most = Number(call.request.query.get('limit') ?? 1_000);
    const { serverGroups, keystone } = call.cloud.model;
    return ok({
      server_groups: serverGroups
        .slice(offset, offset + most)
        .map((group) => viewServerGroup(group, keystone.projectId)),
    });
  },
  'POST /os-server-groups': (call) => {
    const { name, policy, rules } = (call.request.body as NewGroup).server_group;
    const group = {
      id: call.cloud.uuid(),
      name,
      policy,
      maxServersPerHost: rules?.max_server_per_host ?? 1,
      members: [],
    };
    call.cloud.model.serverGroups.push(group);
    return ok({ server_group: viewServerGroup(group, call.cloud.model.keystone.projectId) });
  },
  'DELETE /os-server-groups/{}': (call, id) => {
    const { serverGroups } = call.cloud.model;
    const index = serverGroups.findIndex((group) => group.id === id);
    if (index === -1) throw novaRefusal(404, `Instance group ${id} could not be found.`);
    serverGroups.splice(index, 1);
    return { status: 204 };
  },
  'GET /flavors': (call) =>
    ok({ flavors: [...call.cloud.model.flavors.values()].map(({ id, name }) => ({ id, name, links: [] })) }),
  'GET /flavors/detail': (call) => ok({ flavors: [...call.cloud.model.flavors.values()].map(viewFlavor) }),
  'GET /flavors/{}': (call, id) => {
    const flavor = call.cloud.model.flavors.get(id ?? '');
    if (flavor === undefined) throw novaRefusal(404, `Flavor ${id} could not be found.`);
    return ok({ flavor: viewFlavor(flavor) });
  },
  'POST /flavors': (call) => {
    const { name, id = call.cloud.uuid(), vcpus, ram, disk } = (call.request.body as NewFlavor).flavor;
    if (call.cloud.model.flavors.has(id)) throw novaRefusal(409, `Flavor with ID ${id} already exists.`);
    const flavor: Flavor = { id, name, vcpus, memoryMiB: ram, diskGiB: disk, extraSpecs: {} };
    call.cloud.model.flavors.set(id, flavor);
    return ok({ flavor: viewFlavor(flavor) });
  },
  'POST /flavors/{}/os-extra_specs': (call, id) => {
    const flavor = call.cloud.model.flavors.get(id ?? '');
    if (flavor === undefined) throw novaRefusal(404, `Flavor ${id} could not be found.`);
    flavor.extraSpecs = {
      ...flavor.extraSpecs,
      ...(call.request.body as { extra_specs: Record<string, string> }).extra_specs,
    };
    return ok({ extra_specs: flavor.extraSpecs });
  },
};
