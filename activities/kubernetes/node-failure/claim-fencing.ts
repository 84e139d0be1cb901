import { z } from 'zod';

import { fencingLease } from '../../../contracts/ids.ts';
import type { FencingClaim } from '../../../contracts/node-failure/activities.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import type { Kubernetes } from '../../../runtime/kubernetes/kubernetes.ts';
import { openObjects } from '../../../runtime/kubernetes/objects.ts';
import { retryConflicts } from '../../../runtime/kubernetes/retry-conflicts.ts';
import type { ActivityContext } from '../../lib/context.ts';
import { mutate } from '../../lib/mutate.ts';

const leases = {
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  plural: 'leases',
  schema: z.object({
    metadata: z.object({ resourceVersion: z.string().min(1) }),
    spec: z.object({ holderIdentity: z.string().nullish(), renewTime: z.string().nullish() }).prefault({}),
  }),
};

/** Which host drover fenced last by itself, and when, in milliseconds since the epoch. */
export interface LastFencing {
  host: string;
  atMs: number;
}

/** Null: no host yet. What is no time counts as now: nothing is fenced on what is not understood. */
export async function readLastFencing(
  kubernetes: Kubernetes,
  namespace: string,
  nowMs: number,
  signal: AbortSignal,
): Promise<LastFencing | null> {
  return (await readLease(kubernetes, namespace, nowMs, signal))?.last ?? null;
}

/**
 * Claims the right to fence. Two hosts that ask at the same moment write one version of one Lease, so only one gets it. The time is that of
 * the worker that asks; a clock that is wrong by minutes makes the distance shorter by as much, and no two hosts claim it at once.
 *
 * @throws ObjectConflict when others write all the time; Stopped; what the client throws
 */
export function claimFencing(
  tools: ActivityContext & { kubernetes: Kubernetes; systemNamespace: string },
  { host, cycleMs }: { host: string; cycleMs: number },
): Promise<FencingClaim> {
  const { kubernetes, systemNamespace: namespace, clock, scope } = tools;
  const nowMs = clock.now();
  return retryConflicts(async (): Promise<FencingClaim> => {
    const found = await readLease(kubernetes, namespace, nowMs, scope.signal);
    const before = found?.last ?? null;
    const refused = refusedBy(before, { host, cycleMs }, nowMs);
    if (refused !== null) return { granted: false, host: refused };
    const mutation = {
      action: 'claimFencing',
      cause: `${host} has failed, and drover acts on it by itself`,
      object: `lease/${namespace}/${fencingLease}`,
      before,
      after: { host, atMs: nowMs },
    };
    await mutate(tools, mutation, () =>
      write(kubernetes, namespace, found?.resourceVersion ?? null, host, nowMs, scope.signal),
    );
    return { granted: true };
  });
}

/** Which other host has the claim; null: it may be made. Pure. */
export const refusedBy = (
  last: LastFencing | null,
  { host, cycleMs }: { host: string; cycleMs: number },
  nowMs: number,
): string | null => (last === null || last.host === host || nowMs - last.atMs >= cycleMs ? null : last.host);

async function readLease(
  kubernetes: Kubernetes,
  namespace: string,
  nowMs: number,
  signal: AbortSignal,
): Promise<{ last: LastFencing | null; resourceVersion: string } | null> {
  const found = await openObjects(kubernetes).get(leases, { namespace, name: fencingLease }, signal);
  if (found === null) return null;
  const { metadata, spec } = found;
  const atMs = Date.parse(spec.renewTime ?? '');
  const host = spec.holderIdentity ?? '';
  return {
    last: host === '' ? null : { host, atMs: Number.isNaN(atMs) ? nowMs : atMs },
    resourceVersion: metadata.resourceVersion,
  };
}

async function write(
  kubernetes: Kubernetes,
  namespace: string,
  resourceVersion: string | null,
  host: string,
  nowMs: number,
  signal: AbortSignal,
): Promise<void> {
  const objects = openObjects(kubernetes);
  const metadata = { namespace, name: fencingLease };
  const spec = { holderIdentity: host, renewTime: new Date(nowMs).toISOString().replace('Z', '000Z') };
  if (resourceVersion !== null)
    await objects.replace(leases, { metadata: { ...metadata, resourceVersion }, spec }, signal);
  else if ((await objects.create(leases, { metadata, spec }, signal)) === null)
    throw droverFailure('ObjectConflict', `Lease ${namespace}/${fencingLease} was made in this moment`);
}
