import pMap, { pMapSkip } from 'p-map';
import { findCondition } from '../../contracts/conditions.ts';
import type { Hypervisor } from '../../contracts/crds/hypervisor.ts';
import { hypervisorConditions } from '../../contracts/hypervisor/conditions.ts';
import type { Drift, DriftFindings } from '../../contracts/hypervisor/drift.ts';
import { failureCode } from '../../runtime/failure.ts';
import type { ActivityScope } from '../lib/context.ts';
import { matchRegistration } from '../nova/find-registration.ts';
import type { Aggregate, ComputeServiceRecord, NovaClient } from '../nova/types.ts';
import type { PlacementClient } from '../placement/types.ts';
import { judgeDrift, saysFailure } from './judge-drift.ts';

export interface DriftTools {
  nova: Pick<NovaClient, 'computeServices' | 'aggregates'>;
  placement: Pick<PlacementClient, 'existingTraits' | 'resourceProviders'>;
  scope: Pick<ActivityScope, 'signal'>;
  nowMs: number;
  /** Of the kind Hypervisor. */
  mode: 'off' | 'observe' | 'act';
  listHypervisors: (signal: AbortSignal) => Promise<Hypervisor[]>;
  /** Null: failed hosts are not handled. */
  isFailureRunOpen: ((hypervisor: string, signal: AbortSignal) => Promise<boolean>) | null;
  /** Signals the hypervisor's own run, starting it if need be. */
  signal: (drift: Drift) => Promise<void>;
}

/** How many runs one comparison may start: what differs everywhere at once is rather Nova's trouble than the hosts'. */
const mostSignalled = 100;
/** For a result that people read. */
const mostShown = 20;

/**
 * Lists Nova's services and aggregates, and in Placement who has each custom trait, once for all hosts, and signals the
 * runs of those hypervisors that differ from what they say: systems without a watch get a Schedule that lists once and
 * signals only what differs. Four requests and one for each custom trait, however many hosts there are.
 */
export async function findDrift(tools: DriftTools): Promise<DriftFindings> {
  const { nova, scope, mode, listHypervisors, signal } = tools;
  if (mode !== 'act') return { outcome: 'NothingToDo', compared: 0, differing: 0, signalled: [] };
  // The objects first: a change that drover makes meanwhile is then newer in Nova, and its own run observes it again.
  const hypervisors = await listHypervisors(scope.signal);
  const [services, aggregates, holders, unjudged] = await Promise.all([
    nova.computeServices(scope.signal),
    nova.aggregates(scope.signal),
    holdersOf(tools.placement, hypervisors, scope.signal),
    findUnjudged(tools, hypervisors),
  ]);
  // What lies in a cell that does not answer is not known; it may be any that is missing.
  const isBlind = services.some(({ cellDown }) => cellDown);
  const byId = new Map(services.map((service) => [service.id, service]));
  const memberships = aggregatesByHost(aggregates);
  const drifts = hypervisors.flatMap((hypervisor): Drift[] => {
    const service = serviceOf(hypervisor, byId, services);
    if (service === null ? isBlind : service.cellDown) return [];
    const lostTraits = reportedTraits(hypervisor).filter(
      (trait) => holders.get(trait)?.has(hypervisor.status?.hypervisorId ?? '') !== true,
    );
    const why = judgeDrift(hypervisor, {
      service,
      aggregates: service === null ? [] : (memberships.get(service.host) ?? []),
      lostTraits,
      isFailureRunMissing: unjudged.has(hypervisor.metadata.name),
      nowMs: tools.nowMs,
    });
    return why === null ? [] : [{ hypervisor: hypervisor.metadata.name, why }];
  });
  const signalled = drifts.slice(0, mostSignalled);
  for (const drift of signalled) await signal(drift);
  return {
    outcome: 'Compared',
    compared: hypervisors.length,
    differing: drifts.length,
    signalled: signalled.slice(0, mostShown),
  };
}

/** Of how many hosts Temporal is asked at once. */
const askedAtOnce = 20;

/** The hosts that a run of their failure is missing for. */
async function findUnjudged(
  { isFailureRunOpen, scope }: DriftTools,
  hypervisors: readonly Hypervisor[],
): Promise<ReadonlySet<string>> {
  if (isFailureRunOpen === null) return new Set();
  const names = hypervisors.filter(saysFailure).map(({ metadata }) => metadata.name);
  const found = await pMap(names, async (name) => ((await isFailureRunOpen(name, scope.signal)) ? pMapSkip : name), {
    concurrency: askedAtOnce,
  });
  return new Set(found);
}

/**
 * The one that the host was registered as; of one that has no record, or was taken out of Nova, the one of its name.
 */
function serviceOf(
  { metadata, status }: Hypervisor,
  byId: ReadonlyMap<string, ComputeServiceRecord>,
  services: readonly ComputeServiceRecord[],
): ComputeServiceRecord | null {
  const recorded = status?.serviceId ? byId.get(status.serviceId) : undefined;
  if (recorded !== undefined) return recorded;
  const isOut = findCondition(status?.conditions, hypervisorConditions.offboarded)?.status === 'True';
  if (status?.serviceId && !isOut) return null;
  try {
    const match = matchRegistration(metadata.name, services, []);
    return services.find(({ host }) => host === match?.serviceHost) ?? null;
  } catch (error) {
    if (failureCode(error) === 'HostAmbiguous') return null;
    throw error;
  }
}

function aggregatesByHost(aggregates: readonly Aggregate[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { name, hosts } of aggregates)
    for (const host of hosts) found.set(host, [...(found.get(host) ?? []), name]);
  return found;
}

/** The custom traits that a Hypervisor asks for and says are there. */
const reportedTraits = ({ spec, status }: Hypervisor): string[] =>
  (spec?.customTraits ?? []).filter(
    (trait) => trait.startsWith('CUSTOM_') && status?.hypervisorId && status.traits?.includes(trait),
  );

/** By custom trait, the ids of the providers that have it. */
async function holdersOf(
  placement: DriftTools['placement'],
  hypervisors: readonly Hypervisor[],
  signal: AbortSignal,
): Promise<Map<string, ReadonlySet<string>>> {
  const names = [...new Set(hypervisors.flatMap(reportedTraits))];
  // Placement refuses to search for a trait that it does not know.
  const known = await placement.existingTraits(names, signal);
  const found = new Map<string, ReadonlySet<string>>();
  for (const trait of known)
    found.set(
      trait,
      new Set((await placement.resourceProviders({ required: [trait] }, signal)).map(({ uuid }) => uuid)),
    );
  return found;
}
