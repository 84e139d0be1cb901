import pMap from 'p-map';

import type { Clock } from '../../runtime/clock.ts';
import { shareByKey } from '../lib/share.ts';
import type { AllocationCandidates, PlacementClient, Resources } from '../placement/types.ts';
import { leastOf, type Requirements, requirementsKey } from './scheduler-rules.ts';

/** Placement's answer, by host: ids are those of the hosts' root providers, which are the hypervisors'. */
export interface CandidateHosts {
  /** Where all of it fits now. */
  roomy: ReadonlySet<string>;
  /** Where that kind could be; the same unless there is room nowhere. */
  suitable: ReadonlySet<string>;
  /** What is left on each host that occurred. */
  free: ReadonlyMap<string, Resources>;
}

/** By {@link requirementsKey}. */
export type CandidatesByKey = ReadonlyMap<string, CandidateHosts>;

/** What many preflights ask Placement, asked once for all of them. One per worker process. */
export interface CandidateReads {
  /** @param trustedMs how long ago the question may have been asked; 0: it is asked now */
  read: (all: readonly Requirements[], trustedMs: number, signal: AbortSignal) => Promise<CandidatesByKey>;
}

/** Requests that Placement is sent at once. */
const atOnce = 4;

/**
 * Asks Placement once per distinct requirement, and a second time for the least of its kind where there is room
 * nowhere: to distinguish "no such host" from "no room". Placement applies traits, resource classes, pinned CPUs and
 * devices as it does for the scheduler.
 */
export function createCandidateReads(placement: PlacementClient, clock: Clock): CandidateReads {
  const answers = shareByKey(clock, (key, signal) => ask(placement, JSON.parse(key) as Requirements, signal));
  return {
    read: async (all, trustedMs, signal) =>
      new Map(
        await pMap(
          new Set(all.map(requirementsKey)),
          async (key) => [key, await answers.read(key, trustedMs, signal)] as const,
          { concurrency: atOnce },
        ),
      ),
  };
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
