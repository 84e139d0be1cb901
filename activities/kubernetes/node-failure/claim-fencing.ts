import { z } from 'zod';

import { fencingLease, silentFencingsAnnotation } from '../../../contracts/ids.ts';
import type {
  FencingClaim,
  FencingClaimRequest,
  GrantedClaim,
  LastFencing,
} from '../../../contracts/node-failure/activities.ts';
import { silenceBudgetMs, type SilentFencing } from '../../../contracts/node-failure/node-failure.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import type { Kubernetes } from '../../../runtime/kubernetes/kubernetes.ts';
import { openObjects } from '../../../runtime/kubernetes/objects.ts';
import { retryConflicts } from '../../../runtime/kubernetes/retry-conflicts.ts';
import type { ActivityContext } from '../../lib/context.ts';
import { audited, mutate } from '../../lib/mutate.ts';
import { leaseKind } from './node-lease.ts';

const leases = {
  ...leaseKind,
  schema: z.object({
    metadata: z.object({
      resourceVersion: z.string().min(1),
      annotations: z.record(z.string(), z.string()).optional(),
    }),
    spec: z.object({ holderIdentity: z.string().nullish(), renewTime: z.string().nullish() }).prefault({}),
  }),
};

const silentFencings = z.array(z.strictObject({ host: z.string(), incident: z.string(), at: z.iso.datetime() }));

/**
 * What drover has fenced by itself. `last` null: no host yet. `silent`: hosts that had power, within the last hour;
 * null: it is not understood.
 */
export interface FencingLog {
  last: LastFencing | null;
  silent: SilentFencing[] | null;
}

type LeaseTools = ActivityContext & { kubernetes: Kubernetes; systemNamespace: string };

/** What is no time counts as now: nothing is fenced on what is not understood. */
export async function readFencingLog(
  kubernetes: Kubernetes,
  namespace: string,
  nowMs: number,
  signal: AbortSignal,
): Promise<FencingLog> {
  const { last, silent } = (await readLease(kubernetes, namespace, nowMs, signal)) ?? { last: null, silent: [] };
  return { last, silent };
}

/**
 * Claims the right to fence. Two hosts that ask at the same moment write one version of one Lease, so only one gets it,
 * and a budget is never overdrawn. The time is that of the worker that asks; a clock that is wrong by minutes makes the
 * distance shorter by as much, and no two hosts claim it at once.
 *
 * @throws ObjectConflict when others write all the time; Stopped; what the client throws
 */
export function claimFencing(tools: LeaseTools, request: FencingClaimRequest): Promise<FencingClaim> {
  const { kubernetes, systemNamespace: namespace, clock, scope } = tools;
  const { host, budget } = request;
  const nowMs = clock.now();
  return retryConflicts(async (): Promise<FencingClaim> => {
    const found = await readLease(kubernetes, namespace, nowMs, scope.signal);
    const before: FencingLog = { last: found?.last ?? null, silent: found === null ? [] : found.silent };
    const refused = refusedBy(before, request, nowMs);
    if (refused !== null) return refused;
    const silent = afterClaim(before.silent, request, nowMs);
    const mutation = {
      action: 'claimFencing',
      cause: `${host} has failed, and drover acts on it by itself`,
      object: `lease/${namespace}/${fencingLease}`,
      before: before.last,
      after: { host, atMs: nowMs, ...(budget && { incident: budget.incident, silent: silent?.length }) },
    };
    const claimed = {
      last: { host, atMs: nowMs },
      silent: silent === null ? (found?.text ?? null) : textOf(silent),
    };
    await mutate(tools, mutation, () =>
      write(kubernetes, namespace, found?.resourceVersion ?? null, claimed, scope.signal),
    );
    return { granted: true, atMs: nowMs, before: before.last };
  });
}

/**
 * Takes a claim back by which no host was fenced. Another host's that stood there before was old enough to be passed
 * over; the host's own, by which it was fenced, counts again. Also while drover is stopped, which may be why it was not
 * fenced.
 *
 * @throws ObjectConflict when others write all the time; what the client throws
 */
export function giveUpFencing(
  tools: LeaseTools,
  { host, atMs, before }: Pick<FencingClaimRequest, 'host'> & GrantedClaim,
): Promise<void> {
  const { kubernetes, systemNamespace: namespace, clock, scope } = tools;
  return retryConflicts(async () => {
    const found = await readLease(kubernetes, namespace, clock.now(), scope.signal);
    if (found?.last?.host !== host || found.last.atMs !== atMs) return;
    const mutation = {
      action: 'giveUpFencing',
      cause: `${host} was not fenced`,
      object: `lease/${namespace}/${fencingLease}`,
      before: found.last,
      after: before,
    };
    const { resourceVersion, text: silent } = found;
    await audited(tools, mutation, () =>
      write(kubernetes, namespace, resourceVersion, { last: before, silent }, scope.signal),
    );
  });
}

/** Why the claim may not be made; null: it may. Pure. */
export function refusedBy(
  { last, silent }: FencingLog,
  { host, cycleMs, budget }: FencingClaimRequest,
  nowMs: number,
): Extract<FencingClaim, { granted: false }> | null {
  if (last !== null && last.host !== host && !(nowMs - last.atMs >= cycleMs))
    return { granted: false, reason: 'OneAtATime', host: last.host };
  if (budget === null) return null;
  if (silent === null)
    return { granted: false, reason: 'BudgetSpent', host: 'what the Lease says, which is not understood' };
  const others = silent.filter(({ incident }) => incident !== budget.incident);
  if (others.length < budget.mostPerHour) return null;
  return { granted: false, reason: 'BudgetSpent', host: others.map((one) => one.host).join(', ') };
}

/** One incident counts once, from its first claim on. Null: as it was. Pure. */
function afterClaim(
  silent: readonly SilentFencing[] | null,
  { host, budget }: FencingClaimRequest,
  nowMs: number,
): SilentFencing[] | null {
  if (silent === null) return null;
  const isNew = budget !== null && !silent.some(({ incident }) => incident === budget.incident);
  return isNew ? [...silent, { host, incident: budget.incident, atMs: nowMs }] : [...silent];
}

const textOf = (silent: readonly SilentFencing[]): string | null =>
  silent.length === 0
    ? null
    : JSON.stringify(silent.map(({ host, incident, atMs }) => ({ host, incident, at: new Date(atMs).toISOString() })));

interface ReadLease extends FencingLog {
  /** Of the annotation that `silent` stands in. */
  text: string | null;
  resourceVersion: string;
}

async function readLease(
  kubernetes: Kubernetes,
  namespace: string,
  nowMs: number,
  signal: AbortSignal,
): Promise<ReadLease | null> {
  const found = await openObjects(kubernetes).get(leases, { namespace, name: fencingLease }, signal);
  if (found === null) return null;
  const { metadata, spec } = found;
  const atMs = Date.parse(spec.renewTime ?? '');
  const host = spec.holderIdentity ?? '';
  const text = metadata.annotations?.[silentFencingsAnnotation] ?? null;
  return {
    last: host === '' ? null : { host, atMs: Number.isNaN(atMs) ? nowMs : atMs },
    silent: readSilentFencings(text, nowMs),
    text,
    resourceVersion: metadata.resourceVersion,
  };
}

/** Those of the last hour; one of the future is of it. Null: it is not understood. Pure. */
export function readSilentFencings(text: string | null, nowMs: number): SilentFencing[] | null {
  if (text === null) return [];
  try {
    return silentFencings
      .parse(JSON.parse(text))
      .map(({ host, incident, at }) => ({ host, incident, atMs: Date.parse(at) }))
      .filter(({ atMs }) => !(nowMs - atMs >= silenceBudgetMs));
  } catch {
    return null;
  }
}

async function write(
  kubernetes: Kubernetes,
  namespace: string,
  resourceVersion: string | null,
  { last, silent }: { last: LastFencing | null; silent: string | null },
  signal: AbortSignal,
): Promise<void> {
  const objects = openObjects(kubernetes);
  const annotations = silent === null ? undefined : { [silentFencingsAnnotation]: silent };
  const metadata = { namespace, name: fencingLease, ...(annotations && { annotations }) };
  const spec =
    last === null
      ? {}
      : { holderIdentity: last.host, renewTime: new Date(last.atMs).toISOString().replace('Z', '000Z') };
  if (resourceVersion !== null)
    await objects.replace(leases, { metadata: { ...metadata, resourceVersion }, spec }, signal);
  else if ((await objects.create(leases, { metadata, spec }, signal)) === null)
    throw droverFailure('ObjectConflict', `Lease ${namespace}/${fencingLease} was made in this moment`);
}
