import { readEvictionAnnotations } from '../../contracts/eviction/annotations.ts';
import { annotations } from '../../contracts/ids.ts';
import { CommandError } from '../command/error.ts';
import { chooseEviction } from './eviction-description.ts';
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
 * @throws CommandError notFound when the host has no Eviction
 */
export async function reviveEviction(
  temporal: TemporalAccess,
  kubernetes: KubernetesAccess,
  host: string,
  revival: Revival,
): Promise<EvictionObject> {
  const eviction = await lastEviction(kubernetes, host);
  await refuseOtherCluster(temporal, kubernetes);
  const nowMs = temporal.context.clock.now();
  const revived = await kubernetes.annotate(eviction.name, {
    ...consentAnnotations(eviction, revival, formatTime(nowMs)),
    [annotations.retry]: new Date(nowMs).toISOString(),
  });
  await signalChange(temporal, revived, 'retry', revival.by);
  return revived;
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

export async function lastEviction(kubernetes: KubernetesAccess, host: string): Promise<EvictionObject> {
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
  if (eviction.deleting)
    throw new CommandError(
      `Eviction ${eviction.name} of ${host} is being deleted.`,
      exitCodes.refused,
      `When it is gone: drover evict ${host} --reason "…"`,
    );
  return eviction;
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
