import type { DesiredHypervisor, ObservedNode } from '../../contracts/hypervisor/hypervisor.ts';
import { readNode } from '../../contracts/hypervisor/read-node.ts';
import { fencedReasonPrefix, nodeMetadata } from '../../contracts/ids.ts';
import type { HypervisorOfHost, NodeFailureObservation } from '../../contracts/node-failure/activities.ts';
import type { FleetView } from '../../contracts/node-failure/node-failure.ts';
import type { PowerState } from '../../contracts/node-failure/power.ts';
import type { NodeFailureConfig } from '../../runtime/config/node-failure-config.ts';
import type { Node } from '../kubernetes/hypervisor/node-schema.ts';
import type { FencingLog } from '../kubernetes/node-failure/claim-fencing.ts';
import { nodeLeaseMs, type ReadLease } from '../kubernetes/node-failure/node-lease.ts';
import { toNodeSign } from '../kubernetes/node-failure/node-sign.ts';
import { matchRegistration } from '../nova/find-registration.ts';
import { serviceState } from '../nova/observe-host.ts';
import type { Aggregate, ComputeServiceRecord } from '../nova/types.ts';

/** What was read of a host and its fleet; null: it could not be read. */
export interface ReadParts {
  kubernetes: {
    desired: DesiredHypervisor;
    hypervisor: HypervisorOfHost;
    node: Node | null;
    nodes: readonly Node[];
    fencings: FencingLog;
    lease: ReadLease;
  } | null;
  nova: { services: readonly ComputeServiceRecord[]; aggregates: readonly Aggregate[]; schedulersUp: number } | null;
  libvirt: NodeFailureObservation['libvirt'];
  power: PowerState | null;
  placementAnswers: boolean;
  problems: string[];
}

/** Puts together what was read. Whatever was not read counts against acting. Pure. */
export function composeObservation(
  name: string,
  parts: ReadParts,
  config: NodeFailureConfig,
  nowMs: number,
): NodeFailureObservation {
  const { kubernetes, nova, libvirt, power, problems } = parts;
  const service = nova === null ? null : serviceOf(name, nova.services);
  const optedIn =
    service === null
      ? []
      : (nova?.aggregates ?? []).filter(
          (aggregate) => config.automaticAggregates.includes(aggregate.name) && aggregate.hosts.includes(service.host),
        );
  const node = kubernetes?.node ?? null;
  return {
    hypervisor: kubernetes?.hypervisor ?? null,
    mode:
      config.mode === 'automatic' &&
      optedIn.length > 0 &&
      kubernetes !== null &&
      isWanted(kubernetes.desired, node === null ? null : readNode(node), service)
        ? 'automatic'
        : 'recommend',
    node: kubernetes === null ? null : toNodeSign(node),
    compute: service === null ? null : { state: service.state },
    nova: service === null ? null : { host: service.host, service: serviceState(service) },
    hasLeftNova: nova !== null && hasLeft(name, nova.services),
    libvirt,
    power,
    witnesses: kubernetes === null ? [] : agentOf(kubernetes.lease),
    problems,
    fleet: fleetOf(name, parts, service, optedIn, config, nowMs),
  };
}

/** The Lease that a kubelet renews every ten seconds: Kubernetes itself goes by it. */
function agentOf(lease: ReadLease): NodeFailureObservation['witnesses'] {
  if (lease === 'none') return [];
  const { renewTime, durationMs } = lease ?? { renewTime: null, durationMs: nodeLeaseMs };
  const message =
    renewTime === null
      ? 'the Lease of its Node could not be read'
      : `its kubelet has renewed the Lease of its Node at ${renewTime}, by its own clock`;
  return [{ kind: 'agent', mark: renewTime, silentAfterMs: durationMs, message }];
}

/** A cell that is down says nothing of its hosts. */
export function serviceOf(name: string, services: readonly ComputeServiceRecord[]): ComputeServiceRecord | null {
  try {
    const host = matchRegistration(name, services, [])?.serviceHost;
    return services.find((service) => service.host === host && !service.cellDown) ?? null;
  } catch {
    // Two hosts of that short name: neither is known to be the one.
    return null;
  }
}

/**
 * Whether Nova has no compute service of that name. One in a cell that is down may be it, and so may one of two of that
 * short name.
 */
function hasLeft(name: string, services: readonly ComputeServiceRecord[]): boolean {
  try {
    return !services.some(({ cellDown }) => cellDown) && matchRegistration(name, services, []) === null;
  } catch {
    return false;
  }
}

/** Whether drover may act on that host by itself: no user works on it, and its Hypervisor wants it. */
function isWanted(
  { highAvailability, lifecycleEnabled, maintenance, mode, deleting }: DesiredHypervisor,
  node: ObservedNode | null,
  service: ComputeServiceRecord | null,
): boolean {
  const isLeft =
    maintenance === '' &&
    node !== null &&
    !node.cordoned &&
    node.terminatingSinceMs === null &&
    node.deletedAtMs === null;
  return highAvailability && lifecycleEnabled && mode === 'act' && !deleting && isLeft && isInService(service);
}

const isInService = (service: ComputeServiceRecord | null): boolean =>
  service !== null && (service.status === 'enabled' || service.disabledReason?.startsWith(fencedReasonPrefix) === true);

function fleetOf(
  name: string,
  { kubernetes, nova, placementAnswers }: ReadParts,
  own: ComputeServiceRecord | null,
  optedIn: readonly Aggregate[],
  { failureDomainLabel }: NodeFailureConfig,
  nowMs: number,
): FleetView {
  const domainOf = (node: Node | undefined): string | null => node?.metadata.labels?.[failureDomainLabel] || null;
  const services = nova?.services ?? [];
  const hosts = (kubernetes?.nodes ?? [])
    .filter(({ metadata }) => metadata.name === name || metadata.labels?.[nodeMetadata.virtDriver] !== undefined)
    .map((node) => ({ node, service: serviceOf(node.metadata.name, services) }))
    .filter(({ node, service }) => node.metadata.name === name || service?.status === 'enabled');
  const suspects = hosts.flatMap(({ node, service }) => {
    const { ready, readySinceMs } = readNode(node);
    if (ready && service?.state === 'up') return [];
    return [{ host: node.metadata.name, failureDomain: domainOf(node), sinceMs: ready ? nowMs : readySinceMs }];
  });
  const last = kubernetes === null ? { host: '', atMs: nowMs } : kubernetes.fencings.last;
  const isForcedDown = (host: string): boolean =>
    host !== own?.host && services.some((service) => service.host === host && service.forcedDown);
  return {
    host: name,
    failureDomain: domainOf(kubernetes?.nodes.find(({ metadata }) => metadata.name === name)),
    apis: [
      { name: 'kube-apiserver', reachable: kubernetes !== null },
      { name: 'Nova', reachable: nova !== null },
      { name: 'Placement', reachable: placementAnswers },
    ],
    schedulerUp: (nova?.schedulersUp ?? 0) > 0,
    hosts: hosts.length,
    suspects,
    lastFencingMs: last === null || last.host === name ? null : last.atMs,
    silentFencings: kubernetes?.fencings.silent ?? null,
    aggregates: optedIn.map((aggregate) => ({
      name: aggregate.name,
      mostFenced: null,
      fenced: aggregate.hosts.filter(isForcedDown).length,
    })),
  };
}
