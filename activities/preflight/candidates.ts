import type { AllocationCandidates, PlacementClient, Resources } from '../placement/types.ts';
import type { Requirements } from './requirements.ts';
import { leastOf, requirementsKey } from './requirements.ts';

/** Placement's answer, by host: ids are those of the hosts' root providers, which are the hypervisors'. */
export interface CandidateHosts {
  /** Where all of it fits now. */
  roomy: ReadonlySet<string>;
  /** Where that kind could be; the same unless there is room nowhere. */
  suitable: ReadonlySet<string>;
  /** What is left on each host that occurred. */
  free: ReadonlyMap<string, Resources>;
}

/** Requests that Placement is sent at once. */
const atOnce = 4;

/**
 * Asks Placement once per distinct requirement, and a second time for the least of its kind where there is room nowhere: to tell "no such
 * host" from "no room". Placement applies traits, resource classes, pinned CPUs and devices as it does for the scheduler.
 */
export async function askPlacement(
  placement: PlacementClient,
  all: readonly Requirements[],
  signal: AbortSignal,
): Promise<Map<string, CandidateHosts>> {
  const distinct = [...new Map(all.map((requirements) => [requirementsKey(requirements), requirements]))];
  const answers = await mapAtOnce(
    distinct,
    atOnce,
    async ([key, requirements]) => [key, await ask(placement, requirements, signal)] as const,
  );
  return new Map(answers);
}

async function ask(
  placement: PlacementClient,
  requirements: Requirements,
  signal: AbortSignal,
): Promise<CandidateHosts> {
  const query = (wanted: Requirements) =>
    placement.allocationCandidates({ ...wanted, forbidden: [...wanted.forbidden, disabled] }, signal);
  const answer = await query(requirements);
  const roomy = rootsOf(answer);
  if (roomy.size > 0) return { roomy, suitable: roomy, free: freeOf(answer) };
  const least = await query(leastOf(requirements));
  return { roomy, suitable: rootsOf(least), free: freeOf(least) };
}

/** Nova puts it on hosts whose service is disabled, and keeps the scheduler off them by it. */
const disabled = 'COMPUTE_STATUS_DISABLED';

const rootsOf = ({ candidates, providers }: AllocationCandidates): Set<string> =>
  new Set(
    candidates.flatMap(({ allocations }) =>
      Object.keys(allocations).map((provider) => providers[provider]?.rootUuid ?? provider),
    ),
  );

const freeOf = ({ providers }: AllocationCandidates): Map<string, Resources> =>
  new Map(
    Object.entries(providers)
      .filter(([uuid, { rootUuid }]) => uuid === rootUuid)
      .map(([uuid, { resources }]) => [
        uuid,
        Object.fromEntries(Object.entries(resources).map(([name, { capacity, used }]) => [name, capacity - used])),
      ]),
  );

/** `Promise.all` over a few at a time. */
export async function mapAtOnce<Item, Result>(
  items: readonly Item[],
  most: number,
  action: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results = new Map<number, Result>();
  const rest = [...items.entries()].values();
  await Promise.all(
    Array.from({ length: Math.min(most, items.length) }, async () => {
      for (const [index, item] of rest) results.set(index, await action(item));
    }),
  );
  return items.map((_, index) => results.get(index)!);
}
