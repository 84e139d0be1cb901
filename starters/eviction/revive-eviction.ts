import { findCondition } from '../../contracts/conditions.ts';
import { readEvictionAnnotations } from '../../contracts/eviction/annotations.ts';
import { evictingReasons, evictionConditions } from '../../contracts/eviction/conditions.ts';
import { annotations } from '../../contracts/ids.ts';
import { retryConflicts } from '../../runtime/kubernetes/retry-conflicts.ts';
import { CommandError } from '../command/error.ts';
import { chooseEviction, knownObstacles } from './eviction-description.ts';
import type { EvictionObject } from './eviction-objects.ts';
import { exitCodes } from '../command/exit-codes.ts';
import type { KubernetesAccess } from '../command/kubernetes-access.ts';
import { refuseOtherCluster } from '../command/own-cluster.ts';
import { formatTime } from '../render/duration.ts';
import { followSource } from './follow.ts';
import { signalChange, tellBeginning } from './start-eviction.ts';
import type { TemporalAccess } from '../command/temporal-access.ts';

/** What a person adds to an Eviction when they try it again. */
export interface Revival {
  accept: readonly string[];
  consent: readonly string[];
  by: string;
}

/**
 * Starts the eviction of a host again: its last Eviction is annotated, which the bridge sees, and its run is started,
 * which also works without a bridge. Returns the Eviction.
 *
 * @throws CommandError notFound when the host has no Eviction; refused as {@link refuseAcceptance}
 */
export async function reviveEviction(
  temporal: TemporalAccess,
  kubernetes: KubernetesAccess,
  host: string,
  revival: Revival,
): Promise<EvictionObject> {
  const eviction = await lastEviction(kubernetes, host);
  refuseAcceptance(eviction, revival);
  await refuseOtherCluster(temporal, kubernetes);
  const nowMs = temporal.context.clock.now();
  const revived = await annotateEviction(kubernetes, eviction, (current) => {
    refuseAcceptance(current, revival);
    return {
      ...consentAnnotations(current, revival, formatTime(nowMs)),
      [annotations.retry]: new Date(nowMs).toISOString(),
    };
  });
  await signalChange(temporal, revived, 'retry', revival.by);
  return revived;
}

/**
 * Annotates the Eviction that was found. One that was made since under its name is another, of which nobody has
 * accepted anything; what it says is read anew, so that nothing is lost of what another user accepts at the same time.
 *
 * @param decide what is written, of what the Eviction says now; is asked again where it changes meanwhile
 * @throws CommandError refused where it is gone, or about to be; what `decide` throws
 */
export const annotateEviction = (
  kubernetes: KubernetesAccess,
  { uid, name, host }: EvictionObject,
  decide: (eviction: EvictionObject) => Record<string, string>,
): Promise<EvictionObject> =>
  retryConflicts(async () => {
    const eviction = (await kubernetes.evictions()).find((object) => object.uid === uid);
    if (eviction === undefined)
      throw new CommandError(
        `Eviction ${name} of ${host} was deleted meanwhile. Nothing was written to any other.`,
        exitCodes.refused,
        `\`drover describe ${host}\` shows whether there is another one.`,
      );
    refuseDeleted(eviction);
    return await kubernetes.annotate(eviction, decide(eviction));
  });

/**
 * Refuses to accept anything of an Eviction without a run that asks for nothing any more, as that would empty its host
 * again, and obstacles that nobody has met. A retry accepts nothing, and may do the former.
 *
 * @throws CommandError refused
 */
export function refuseAcceptance(
  eviction: Pick<EvictionObject, 'name' | 'host' | 'reconciled' | 'conditions' | 'generation'>,
  { accept, consent }: Pick<Revival, 'accept' | 'consent'>,
): void {
  if (accept.length + consent.length === 0) return;
  const { name, host, reconciled, conditions } = eviction;
  const nothing = 'Nothing was accepted.';
  const ends = [evictionConditions.evicting, evictionConditions.observed].map(
    (type) => findCondition(conditions, type)?.reason,
  );
  if (reconciled && ends.includes(evictingReasons.succeeded))
    throw new CommandError(
      `Eviction ${name} of ${host} has succeeded. ${nothing}`,
      exitCodes.refused,
      `To empty the host again: drover evict ${host} --reason "…"`,
    );
  if (reconciled && ends.includes(evictingReasons.stopped))
    throw new CommandError(
      `Eviction ${name} of ${host} was stopped by a user. ${nothing}`,
      exitCodes.refused,
      `\`drover retry ${host}\` starts it again; then accept what stands in its way.`,
    );
  const known = knownObstacles(eviction);
  const unknown = known === null ? undefined : accept.find((id) => !known.includes(id));
  if (known !== null && unknown !== undefined)
    throw new CommandError(
      `There is no obstacle ${unknown}. There are: ${known.join(', ') || 'none'}. ${nothing}`,
      exitCodes.refused,
      `\`drover describe ${host}\` shows what stands in the way; \`drover retry ${host}\` tries again without.`,
    );
}

/** Shows how it begins again. */
export const tellRevival = (
  temporal: TemporalAccess,
  kubernetes: KubernetesAccess,
  { host, annotations: given }: EvictionObject,
): Promise<void> =>
  tellBeginning(followSource(temporal, kubernetes, host), temporal, {
    host,
    // A plan is the end that was wanted only of an Eviction that asks for no more.
    observe: readEvictionAnnotations(given).asked.mode === 'observe',
  });

async function lastEviction(kubernetes: KubernetesAccess, host: string): Promise<EvictionObject> {
  const eviction = chooseEviction(
    (await kubernetes.evictions()).filter((object) => object.host === host),
    null,
  );
  if (eviction === null)
    throw new CommandError(
      `There is no Eviction of ${host}.`,
      exitCodes.notFound,
      `Start one: drover evict ${host} --reason "…"`,
    );
  refuseDeleted(eviction);
  return eviction;
}

/** @throws CommandError refused */
export function refuseDeleted({ name, host, deleting }: EvictionObject): void {
  if (deleting)
    throw new CommandError(
      `Eviction ${name} of ${host} is being deleted.`,
      exitCodes.refused,
      `When it is gone: drover evict ${host} --reason "…"`,
    );
}

/**
 * What was accepted and consented to before stays, and who did so last is recorded.
 *
 * @param now RFC 3339
 */
export function consentAnnotations(
  eviction: Pick<EvictionObject, 'annotations'>,
  { accept, consent, by }: Revival,
  now: string,
): Record<string, string> {
  if (accept.length + consent.length === 0) return {};
  const { asked } = readEvictionAnnotations(eviction.annotations);
  const union = (before: readonly string[], added: readonly string[]): string =>
    [...new Set([...before, ...added])].join(',');
  return {
    ...(accept.length > 0 && { [annotations.acceptObstacles]: union(asked.acceptedObstacles, accept) }),
    ...(consent.length > 0 && { [annotations.consent]: union(asked.consent, consent) }),
    [annotations.consentBy]: `${by} ${now}`,
  };
}
