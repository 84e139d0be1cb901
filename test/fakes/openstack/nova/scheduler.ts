import type { Cloud } from '../cloud.ts';
import type { ComputeHost, Server } from '../model.ts';
import { hasRoom, usedOf } from '../placement/state.ts';
import { isUp, resourcesOf, serversOn, serviceOf, zoneOf } from './records.ts';
import { tpmTraitsOf } from './vtpm.ts';

export interface Choice {
  readonly ignored?: readonly string[];
  /** Only this host; it is checked all the same. */
  readonly only?: string | null;
}

/** Nova's reason where nothing is left: Placement has no candidate, or the scheduler's filters let none through. */
export const noValidHost = {
  noCandidates: 'No valid host was found. ',
  filtered: 'No valid host was found. There are not enough hosts available.',
} as const;

/** A host for a server, or Nova's reason why there is none. */
export function selectHost(
  cloud: Cloud,
  server: Server,
  { ignored = [], only = null }: Choice,
): { host: ComputeHost } | { reason: string } {
  const candidates = [...cloud.model.hosts.values()].filter(
    (host) => isCandidate(cloud, server, host) && (only === null || host.name === only),
  );
  if (candidates.length === 0) return { reason: noValidHost.noCandidates };
  const passing = candidates.filter((host) => !ignored.includes(host.name) && passes(cloud, server, host));
  if (passing.length === 0) return { reason: noValidHost.filtered };
  // The emptiest memory wins; of equal ones, any.
  const free = new Map(passing.map((host) => [host, freeMemory(cloud, host)]));
  const most = Math.max(...free.values());
  const best = passing.filter((host) => free.get(host) === most);
  return { host: best[Math.floor(cloud.random() * best.length)] as ComputeHost };
}

/** What Placement is asked: room, traits, availability zone, isolated aggregates. */
function isCandidate(cloud: Cloud, server: Server, { name }: ComputeHost): boolean {
  const hypervisor = cloud.model.hypervisors.get(name);
  const provider = hypervisor === undefined ? undefined : cloud.model.placement.providers.get(hypervisor.id);
  if (provider === undefined || provider.traits.has('COMPUTE_STATUS_DISABLED')) return false;
  if (!requiredTraits(server).every((trait) => provider.traits.has(trait))) return false;
  if (server.pinnedZone !== null && zoneOf(cloud, name) !== server.pinnedZone) return false;
  if (!isolationAllows(cloud, server, name)) return false;
  return hasRoom(cloud.model.placement, provider, resourcesOf(server));
}

const requiredTraits = ({ flavor }: Server): string[] => [
  ...Object.entries(flavor.extraSpecs).flatMap(([name, value]) =>
    name.startsWith('trait:') && value === 'required' ? [name.slice('trait:'.length)] : [],
  ),
  ...tpmTraitsOf(flavor),
];

/** An aggregate that demands traits (`trait:X=required`) takes only servers that demand the same. */
const isolationAllows = ({ model }: Cloud, server: Server, host: string): boolean =>
  model.aggregates
    .filter(({ hosts }) => hosts.includes(host))
    .every(({ metadata }) =>
      Object.entries(metadata).every(
        ([name, value]) =>
          !name.startsWith('trait:') || value !== 'required' || server.flavor.extraSpecs[name] === 'required',
      ),
    );

function passes(cloud: Cloud, server: Server, host: ComputeHost): boolean {
  const service = serviceOf(cloud, host.name);
  if (service === undefined || service.isDisabled || !isUp(cloud, service)) return false;
  return extraSpecsAllow(cloud, server, host.name) && groupAllows(cloud, server, host.name);
}

/** AggregateInstanceExtraSpecsFilter. */
function extraSpecsAllow({ model }: Cloud, { flavor }: Server, host: string): boolean {
  const here = model.aggregates.filter(({ hosts }) => hosts.includes(host));
  return Object.entries(flavor.extraSpecs).every(([name, value]) => {
    const [scope, ...rest] = name.split(':');
    if (rest.length > 0 && scope !== 'aggregate_instance_extra_specs') return true;
    const key = rest.length > 0 ? rest.join(':') : name;
    return here.some(({ metadata }) => metadata[key] === value);
  });
}

/** Strict policies of server groups. */
export function groupAllows(cloud: Cloud, server: Server, host: string): boolean {
  const group = cloud.model.serverGroups.find(({ members }) => members.includes(server.id));
  if (group === undefined) return true;
  const others = group.members
    .filter((id) => id !== server.id)
    .flatMap((id) => cloud.model.servers.get(id) ?? [])
    .filter(({ isDeleted }) => !isDeleted);
  if (group.policy === 'anti-affinity')
    return others.filter((other) => other.host === host).length < group.maxServersPerHost;
  if (group.policy !== 'affinity') return true;
  const hosts = new Set(others.flatMap((other) => other.host ?? []));
  return hosts.size === 0 || hosts.has(host);
}

function freeMemory(cloud: Cloud, host: ComputeHost): number {
  const id = cloud.model.hypervisors.get(host.name)?.id ?? '';
  const used = usedOf(cloud.model.placement, id)['MEMORY_MB'] ?? 0;
  return (
    host.profile.memoryMiB -
    Math.max(
      used,
      serversOn(cloud, host.name).reduce((sum, { flavor }) => sum + flavor.memoryMiB, 0),
    )
  );
}
