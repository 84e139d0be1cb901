import type { Aggregate, Service } from '../model.ts';
import { novaBroken, novaRefusal, type Routes, type WireAnswer } from '../wire.ts';
import { askCompute, checkToWrite, needAdmin, ok, pageOf, type NovaCall } from './call.ts';
import { removeService, showStatus, syncStatus } from './compute-hosts.ts';
import { existing, isUp, serversOn, zoneOf } from './records.ts';
import { viewAggregate, viewHypervisor, viewService } from './views.ts';

function findService({ cloud }: NovaCall, id: string): Service {
  const service = cloud.model.services.find((one) => one.id === id);
  if (service === undefined) throw novaRefusal(404, `Service ${id} could not be found.`);
  return service;
}

interface ServiceBody {
  status?: 'enabled' | 'disabled';
  disabled_reason?: string;
  forced_down?: boolean;
}

async function updateService(call: NovaCall, id: string): Promise<WireAnswer> {
  needAdmin(call, 'os_compute_api:os-services:update');
  const { cloud } = call;
  const service = findService(call, id);
  if (service.binary !== 'nova-compute')
    throw novaRefusal(
      400,
      `Updating a ${service.binary} service is not supported. Only nova-compute services can be updated.`,
    );
  const { status, disabled_reason: reason, forced_down: forcedDown } = call.request.body as ServiceBody;
  if (status === 'enabled' && reason !== undefined && reason !== '')
    throw novaRefusal(400, "Specifying 'disabled_reason' with status 'enabled' is invalid.");
  if (status === undefined && forcedDown === undefined)
    throw novaRefusal(400, "No updates were requested. Fields 'status' or 'forced_down' should be specified.");
  const isEvacuating = existing(cloud).some(
    ({ type, source, status: its }) => type === 'evacuation' && source === service.host && its === 'done',
  );
  if (forcedDown === false && isEvacuating) {
    const message = `Unable to force up host ${service.host} as \`done\` evacuation migration records remain associated with the host.`;
    throw novaRefusal(
      400,
      `${message} Ensure the compute service has been restarted, allowing these records to move to \`completed\` before retrying this request.`,
    );
  }
  if (status !== undefined)
    Object.assign(service, {
      isDisabled: status === 'disabled',
      disabledReason: status === 'disabled' ? (reason ?? null) : null,
    });
  if (forcedDown !== undefined) service.isForcedDown = forcedDown;
  service.updatedMs = cloud.nowMs();
  // Of one that counts as up, the answer waits for its nova-compute to show it in Placement; a dead one does when
  // it is back.
  const host = cloud.model.hosts.get(service.host);
  if (status !== undefined && isUp(cloud, service) && host !== undefined) {
    if (!call.takesTime && host.isRunning) showStatus(cloud, service);
    else await askCompute(call, host, 'long', (answer) => syncStatus(cloud, host, service, answer));
  }
  return ok({ service: viewService(cloud, service) });
}

/** What keeps a service: cold migrations that wait for their confirmation are in progress too. */
const inProgress: readonly string[] = [
  'accepted',
  'queued',
  'preparing',
  'pre-migrating',
  'running',
  'migrating',
  'post-migrating',
  'finished',
  'confirming',
  'reverting',
];

async function deleteService(call: NovaCall, id: string): Promise<WireAnswer> {
  needAdmin(call, 'os_compute_api:os-services:delete');
  const { cloud } = call;
  const service = cloud.model.services.find((one) => one.id === id);
  if (service === undefined) throw novaRefusal(404, `Service ${id} not found.`);
  if (serversOn(cloud, service.host).length > 0)
    throw novaRefusal(
      409,
      'Unable to delete compute service that is hosting instances. Migrate or delete the instances first.',
    );
  const migrations = existing(cloud).filter(
    ({ source, dest, status }) => (source === service.host || dest === service.host) && inProgress.includes(status),
  );
  if (migrations.length > 0)
    throw novaRefusal(
      409,
      'Unable to delete compute service that has in-progress migrations. Complete the migrations or delete the instances first.',
    );
  // Of two at once, one finds half of it done.
  const isMember = cloud.model.aggregates.some(({ hosts }) => hosts.includes(service.host));
  await checkToWrite(call);
  if (!cloud.model.services.includes(service))
    throw isMember ? novaBroken('nova.exception.AggregateHostNotFound') : novaRefusal(404, `Service ${id} not found.`);
  removeService(cloud, service);
  return { status: 204 };
}

function listHypervisors(call: NovaCall): WireAnswer {
  needAdmin(call, 'os_compute_api:os-hypervisors:list-detail');
  const { query, minor } = call.request;
  const pattern = query.get('hypervisor_hostname_pattern');
  const withServers = ['1', 'true', 'yes'].includes((query.get('with_servers') ?? '').toLowerCase());
  const found = [...call.cloud.model.hypervisors.values()].filter(
    ({ hostname }) => pattern === null || hostname.includes(pattern),
  );
  if (pattern !== null && found.length === 0)
    throw novaRefusal(404, `No hypervisor matching '${pattern}' could be found.`);
  const { page, links } = pageOf(found, call.request, ({ id }) => id, '/os-hypervisors/detail');
  return ok({
    hypervisors: page.map((one) => viewHypervisor(call.cloud, one, minor, withServers)),
    ...(links === undefined ? {} : { hypervisors_links: links }),
  });
}

function findAggregate({ cloud }: NovaCall, id: string): Aggregate {
  const aggregate = cloud.model.aggregates.find((one) => String(one.id) === id);
  if (aggregate === undefined) throw novaRefusal(404, `Aggregate ${id} could not be found.`);
  return aggregate;
}

interface AggregateAction {
  add_host?: { host: string };
  remove_host?: { host: string };
  set_metadata?: { metadata: Record<string, string | null> };
}

function changeAggregate(call: NovaCall, id: string): WireAnswer {
  needAdmin(call, 'os_compute_api:os-aggregates:update');
  const { add_host: add, remove_host: remove, set_metadata: set } = call.request.body as AggregateAction;
  if (add !== undefined) return addHost(call, id, add.host);
  if (remove !== undefined) return removeHost(call, id, remove.host);
  const aggregate = findAggregate(call, id);
  for (const [name, value] of Object.entries(set?.metadata ?? {})) {
    if (value === null) delete aggregate.metadata[name];
    else aggregate.metadata[name] = value;
  }
  return ok({ aggregate: viewAggregate(aggregate) });
}

/** The zone of a host with servers cannot change: Nova's message. */
const zoneWords = (what: string, from: string | null, to: string | null, count: number): string =>
  `The host cannot be ${what} the aggregate as the availability zone of the host would change from '${from ?? 'None'}' to '${to ?? 'None'}' but the host already has ${count} instance(s).` +
  ' Changing the AZ of an existing instance is not supported by this action. Move the instances away from this host then try again. If you need to move the instances between AZs then you can use shelve_offload and unshelve to achieve this.';

function addHost(call: NovaCall, id: string, host: string): WireAnswer {
  const { cloud } = call;
  const hypervisor = cloud.model.hypervisors.get(host);
  if (hypervisor === undefined) throw novaRefusal(404, `Compute host ${host} could not be found.`);
  const aggregate = findAggregate(call, id);
  const wanted = aggregate.metadata['availability_zone'] ?? null;
  const zones = new Set(
    cloud.model.aggregates
      .filter(({ hosts }) => hosts.includes(host))
      .flatMap(({ metadata }) => metadata['availability_zone'] ?? []),
  );
  const refused = (reason: string) => novaRefusal(409, `Cannot add host to aggregate ${id}. Reason: ${reason}.`);
  const conflicting = [...zones].filter((zone) => wanted !== null && zone !== wanted);
  if (conflicting.length > 0)
    throw refused(
      `One or more hosts already in availability zone(s) [${conflicting.map((zone) => `'${zone}'`).join(', ')}]`,
    );
  const count = serversOn(cloud, host).length;
  const current = [...zones][0] ?? null;
  if (wanted !== null && current !== wanted && count > 0) throw refused(zoneWords('added to', current, wanted, count));
  if (aggregate.hosts.includes(host)) throw novaRefusal(409, `Aggregate ${id} already has host ${host}.`);
  aggregate.hosts.push(host);
  mirror(call, hypervisor.id, aggregate, true);
  return ok({ aggregate: viewAggregate(aggregate) });
}

function removeHost(call: NovaCall, id: string, host: string): WireAnswer {
  const { cloud } = call;
  const aggregate = cloud.model.aggregates.find((one) => String(one.id) === id);
  const hypervisor = cloud.model.hypervisors.get(host);
  if (aggregate === undefined || hypervisor === undefined || !aggregate.hosts.includes(host))
    throw novaRefusal(404, `Cannot remove host ${host} in aggregate ${id}: not found`);
  const count = serversOn(cloud, host).length;
  const zone = aggregate.metadata['availability_zone'];
  const left =
    cloud.model.aggregates.find(
      (one) => one !== aggregate && one.hosts.includes(host) && one.metadata['availability_zone'] !== undefined,
    )?.metadata['availability_zone'] ?? null;
  if (zone !== undefined && zone !== left && count > 0)
    throw novaRefusal(
      409,
      `Cannot remove host ${host} in aggregate ${id}: ${zoneWords('removed from', zone, left, count)}`,
    );
  aggregate.hosts.splice(aggregate.hosts.indexOf(host), 1);
  mirror(call, hypervisor.id, aggregate, false);
  return ok({ aggregate: viewAggregate(aggregate) });
}

/** Nova mirrors memberships in Placement. */
function mirror({ cloud }: NovaCall, providerId: string, { uuid }: Aggregate, isMember: boolean): void {
  const provider = cloud.model.placement.providers.get(providerId);
  if (provider === undefined || provider.aggregates.has(uuid) === isMember) return;
  if (isMember) provider.aggregates.add(uuid);
  else provider.aggregates.delete(uuid);
  provider.generation += 1;
}

interface NewAggregate {
  aggregate: { name: string; availability_zone?: string | null };
}

export const hostRoutes: Routes<NovaCall> = {
  'GET /os-services': (call) => {
    needAdmin(call, 'os_compute_api:os-services:list');
    const [binary, host] = [call.request.query.get('binary'), call.request.query.get('host')];
    const found = call.cloud.model.services.filter(
      (one) => (binary === null || one.binary === binary) && (host === null || one.host === host),
    );
    return ok({ services: found.map((service) => viewService(call.cloud, service)) });
  },
  'PUT /os-services/{}': (call, id) => updateService(call, id ?? ''),
  'DELETE /os-services/{}': (call, id) => deleteService(call, id ?? ''),
  'GET /os-hypervisors/detail': listHypervisors,
  'GET /os-aggregates': (call) => {
    needAdmin(call, 'os_compute_api:os-aggregates:index');
    return ok({ aggregates: call.cloud.model.aggregates.map(viewAggregate) });
  },
  'GET /os-aggregates/{}': (call, id) => ok({ aggregate: viewAggregate(findAggregate(call, id ?? '')) }),
  'POST /os-aggregates': (call) => {
    needAdmin(call, 'os_compute_api:os-aggregates:create');
    const { name, availability_zone: zone } = (call.request.body as NewAggregate).aggregate;
    if (call.cloud.model.aggregates.some((one) => one.name === name))
      throw novaRefusal(409, `Aggregate ${name} already exists.`);
    const metadata: Record<string, string> = zone === null || zone === undefined ? {} : { availability_zone: zone };
    const aggregate: Aggregate = {
      id: call.cloud.next('aggregate'),
      uuid: call.cloud.uuid(),
      name,
      hosts: [],
      metadata,
      createdMs: call.cloud.nowMs(),
    };
    call.cloud.model.aggregates.push(aggregate);
    const { hosts: _, metadata: __, ...view } = viewAggregate(aggregate) as Record<string, unknown>;
    return ok({ aggregate: view });
  },
  'DELETE /os-aggregates/{}': (call, id) => {
    const { aggregates } = call.cloud.model;
    const aggregate = findAggregate(call, id ?? '');
    if (aggregate.hosts.length > 0)
      throw novaRefusal(400, `Cannot remove host from aggregate ${id}. Reason: Host aggregate is not empty.`);
    aggregates.splice(aggregates.indexOf(aggregate), 1);
    return ok(undefined);
  },
  'POST /os-aggregates/{}/action': (call, id) => changeAggregate(call, id ?? ''),
  'GET /os-availability-zone': (call) => {
    const zones = new Set([...call.cloud.model.hypervisors.keys()].map((host) => zoneOf(call.cloud, host)));
    return ok({
      availabilityZoneInfo: [...zones].map((zoneName) => ({ zoneName, zoneState: { available: true }, hosts: null })),
    });
  },
};
