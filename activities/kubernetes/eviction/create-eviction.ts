import { createHash } from 'node:crypto';

import type { Eviction } from '../../../contracts/crds/eviction.ts';
import { consentBy, runIdAnnotation } from '../../../contracts/eviction/annotations.ts';
import type { EvictionInput } from '../../../contracts/eviction/eviction.ts';
import { annotations, copiedLabels } from '../../../contracts/ids.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import { resources } from '../../../runtime/kubernetes/resources.ts';
import { audited } from '../../lib/mutate.ts';
import type { Tools } from './dependencies.ts';

/**
 * Makes the Eviction that a run was started for by hand. It carries the run's id from the first moment, so that a
 * repeat finds it.
 *
 * @throws ObjectConflict when its name was taken in this moment
 */
export async function createEviction(tools: Tools, input: EvictionInput, runId: string): Promise<Eviction> {
  const { client, scope, clock } = tools;
  const hypervisor = await client.get(resources.Hypervisor, { name: input.hypervisor }, scope.signal);
  const metadata = {
    labels: Object.fromEntries(copiedLabels.flatMap((key) => labelOf(hypervisor?.metadata.labels, key))),
    annotations: annotationsOf(input, runId, new Date(clock.now())),
  };
  const spec = { hypervisor: input.hypervisor, reason: input.reason ?? '' };
  for (const name of namesFor(input.hypervisor, runId)) {
    const entry = {
      actor: input.startedBy ?? 'unknown',
      cause: input.reason ?? '',
      action: 'createEviction',
      object: `eviction/${name}`,
      before: null,
      after: { ...metadata, spec },
    };
    const made = await audited(tools, entry, () =>
      client.create(resources.Eviction, { metadata: { name, ...metadata }, spec }, scope.signal),
    );
    if (made !== null) return made;
  }
  throw droverFailure('ObjectConflict', `No name for an Eviction of ${input.hypervisor} is free`);
}

const labelOf = (labels: Readonly<Record<string, string>> | undefined, key: string): [string, string][] => {
  const value = labels?.[key];
  return value === undefined ? [] : [[key, value]];
};

/** The hypervisor's name, which earlier Evictions of it may hold, else that with a suffix of the run's own. */
export function namesFor(hypervisor: string, runId: string): string[] {
  const name = hypervisor
    .toLowerCase()
    .replaceAll('_', '-')
    .replaceAll(/-*\.[-.]+|-+\./gu, '-')
    .slice(0, 240)
    .replace(/[-.]+$/u, '');
  return [name, `${name}-${createHash('sha256').update(runId).digest('hex').slice(0, 8)}`];
}

/** What the input asks for, as annotations of the Eviction. */
export function annotationsOf(input: EvictionInput, runId: string, at: Date): Record<string, string> {
  const consents = (input.consent ?? []).length + (input.acceptObstacles ?? []).length > 0;
  const asked: Record<string, string | undefined> = {
    [annotations.cause]: input.cause,
    [annotations.deadline]: input.deadline,
    [annotations.reEnable]: input.reEnable?.toString(),
    [annotations.parallelism]: input.parallelism?.toString(),
    [annotations.acceptObstacles]: input.acceptObstacles?.join(','),
    [annotations.consent]: input.consent?.join(','),
    [annotations.consentBy]: consents ? consentBy(input.startedBy ?? 'unknown', at) : undefined,
    [annotations.mode]: input.mode,
    [annotations.startedBy]: input.startedBy,
    [runIdAnnotation]: runId,
  };
  return Object.fromEntries(
    Object.entries(asked).flatMap(([key, value]) => (value === undefined || value === '' ? [] : [[key, value]])),
  );
}
