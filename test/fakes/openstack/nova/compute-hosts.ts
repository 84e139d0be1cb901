import type { HostProfile } from '../../../../lab/openstack/host-profile.ts';
import type { Cloud } from '../cloud.ts';
import { uuidOf } from '../ids.ts';
import type { ComputeHost, Inventory, Provider, Service } from '../model.ts';
import { consumersOf, dropAllocation } from '../placement/state.ts';
import { computeTraits } from '../seed-model.ts';
import { destroy } from './builds.ts';
import { dropEvacuated } from './evacuation.ts';
import { changeServer, nodeName, serversOn, serviceOf, setStatus } from './records.ts';

/** Defaults of `lab/openstack/controlplane/fleet.py`. */
export const defaultProfile: HostProfile = {
  vcpus: 64,
  memoryMiB: 262_144,
  diskGiB: 4_000,
  inventory: {},
  traits: [],
  hypervisorVersion: 9_002_000,
  migrate: 'ok',
  seconds: 1,
  accept: true,
  maxConcurrentLiveMigrations: 1,
  buildDelaySeconds: 0,
  destroySeconds: 0,
};

/** A machine, not started yet. */
export function addHost({ model }: Cloud, name: string, profile: Partial<HostProfile>): ComputeHost {
  const host: ComputeHost = {
    name,
    profile: { ...defaultProfile, ...profile },
    isRunning: false,
    incarnation: 0,
    lastReportMs: 0,
    guests: new Set(),
    mailbox: [],
    leaving: [],
    copying: new Set(),
  };
  model.hosts.set(name, host);
  return host;
}

/** nova-compute starts: it registers where Nova does not know it, and puts in order what the last one left. */
export function startCompute(cloud: Cloud, host: ComputeHost): void {
  const known = serviceOf(cloud, host.name);
  if (known === undefined && host.guests.size > 0)
    throw new Error(`My hypervisor has existing instances, but I appear to be a new service (${host.name})`);
  const service = known ?? register(cloud, host);
  host.isRunning = true;
  host.incarnation += 1;
  reportResources(cloud, host);
  showStatus(cloud, service);
  dropEvacuated(cloud, host);
  initServers(cloud, host);
  for (const message of host.mailbox.splice(0)) cloud.soonOn(host, message);
}

function register(cloud: Cloud, host: ComputeHost): Service {
  const { model } = cloud;
  const service: Service = {
    id: cloud.uuid(),
    binary: 'nova-compute',
    host: host.name,
    isDisabled: false,
    disabledReason: null,
    isForcedDown: false,
    updatedMs: cloud.nowMs(),
  };
  model.services.push(service);
  const hostname = nodeName(host.name);
  const id = uuidOf(hostname);
  model.hypervisors.set(host.name, { id, hostname, host: host.name, serviceId: service.id });
  if (!model.placement.providers.has(id)) {
    model.placement.providers.set(id, {
      uuid: id,
      name: hostname,
      generation: 0,
      parentUuid: null,
      rootUuid: id,
      inventories: {},
      traits: new Set(),
      aggregates: new Set(),
    });
  }
  return service;
}

/** Reports size, inventory and traits of a host to Placement; traits that others have set stay. */
export function reportResources({ model }: Cloud, { name, profile }: ComputeHost): void {
  const provider = model.placement.providers.get(model.hypervisors.get(name)?.id ?? '');
  if (provider === undefined) return;
  const { vcpus, memoryMiB, diskGiB } = profile;
  const inventories = {
    VCPU: inventory(vcpus, 4),
    MEMORY_MB: inventory(memoryMiB, 1),
    DISK_GB: inventory(diskGiB, 1),
    ...Object.fromEntries(
      Object.entries(profile.inventory).map(([resource, total]) => [resource, inventory(total, 1)]),
    ),
  };
  if (JSON.stringify(inventories) !== JSON.stringify(provider.inventories)) {
    provider.inventories = inventories;
    provider.generation += 1;
  }
  for (const trait of profile.traits) model.placement.traits.add(trait);
  setTraits(provider, new Set([...provider.traits, ...computeTraits, ...profile.traits]));
}

const inventory = (total: number, ratio: number): Inventory => ({
  total,
  reserved: 0,
  min_unit: 1,
  max_unit: total,
  step_size: 1,
  allocation_ratio: ratio,
});

function setTraits(provider: Provider, traits: Set<string>): void {
  if (traits.size === provider.traits.size && [...traits].every((trait) => provider.traits.has(trait))) return;
  provider.traits = traits;
  provider.generation += 1;
}

/**
 * What a running nova-compute does when its service is enabled or disabled: the scheduler's Placement query leaves the
 * host out by that trait.
 */
export function showStatus(cloud: Cloud, service: Service): void {
  const provider = cloud.model.placement.providers.get(cloud.model.hypervisors.get(service.host)?.id ?? '');
  if (provider === undefined) return;
  const traits = new Set(provider.traits);
  if (service.isDisabled) traits.add('COMPUTE_STATUS_DISABLED');
  else traits.delete('COMPUTE_STATUS_DISABLED');
  setTraits(provider, traits);
}

/** How often a nova-compute puts right what Placement has of it. */
const periodMs = 60_000;

/**
 * nova-compute reads the traits and writes them a moment later. Where another write came between, it leaves it to its
 * periodic task.
 *
 * @param done called when it has tried
 */
export function syncStatus(cloud: Cloud, host: ComputeHost, service: Service, done: () => void): void {
  const provider = cloud.model.placement.providers.get(cloud.model.hypervisors.get(service.host)?.id ?? '');
  const generation = provider?.generation;
  cloud.soonOn(host, () => {
    if (provider?.generation === generation) showStatus(cloud, service);
    else cloud.after(cloud.random() * periodMs, () => (host.isRunning ? showStatus(cloud, service) : undefined));
    done();
  });
}

/** @see nova/compute/manager.py, _init_instance */
function initServers(cloud: Cloud, host: ComputeHost): void {
  for (const server of serversOn(cloud, host.name)) {
    const { vmState, taskState } = server;
    if (taskState === 'deleting') cloud.soonOn(host, () => destroy(cloud, server));
    else if (vmState === 'error') continue;
    else if (vmState === 'building' || (taskState?.startsWith('rebuild') ?? false))
      changeServer(cloud, server, { vmState: 'error', taskState: null });
    else if (taskState === 'resize_prep' || taskState === 'resize_migrating')
      changeServer(cloud, server, { taskState: null });
    else if (taskState === 'migrating') {
      // Only one that ran is ended; a record that was queued or prepared is left as it is.
      const running = cloud.model.migrations.findLast(
        ({ instanceId, status }) => instanceId === server.id && status === 'running',
      );
      if (running !== undefined) setStatus(cloud, running, 'error');
      changeServer(cloud, server, { taskState: null });
    }
  }
}

/** nova-compute dies without a farewell; its guests run on. What it was about ends without a trace. */
export function crashCompute(cloud: Cloud, host: ComputeHost): void {
  const reportIntervalMs = 3_000;
  host.isRunning = false;
  host.incarnation += 1;
  host.lastReportMs = cloud.nowMs() - Math.floor(cloud.random() * reportIntervalMs);
  for (const { transfer } of host.leaving.splice(0)) transfer?.end('crashed');
  for (const transfer of host.copying) transfer.end('crashed');
  host.copying.clear();
}

/** Deletes a service with what belongs to it: hypervisor, memberships of aggregates, resource provider. */
export function removeService(cloud: Cloud, service: Service): void {
  const { model } = cloud;
  model.services.splice(model.services.indexOf(service), 1);
  for (const { hosts } of model.aggregates)
    if (hosts.includes(service.host)) hosts.splice(hosts.indexOf(service.host), 1);
  const hypervisor = model.hypervisors.get(service.host);
  if (hypervisor === undefined) return;
  model.hypervisors.delete(service.host);
  for (const { type, source, status, instanceId } of model.migrations) {
    if (type === 'evacuation' && source === service.host && status === 'done')
      dropAllocation(model.placement, instanceId, hypervisor.id);
  }
  // With allocations left Placement refuses, and Nova only writes that into its log, as when it does not answer.
  const isLost = model.lostProviders.has(service.host);
  if (!isLost && consumersOf(model.placement, hypervisor.id).length === 0)
    model.placement.providers.delete(hypervisor.id);
}
