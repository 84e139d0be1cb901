import { isDeepStrictEqual } from 'node:util';

import { clonePolicyName } from '../../../contracts/data-volume/metadata.ts';
import { storageResources } from '../../../runtime/kubernetes/storage-resources.ts';
import type { VolumeTools } from './dependencies.ts';
import { timeMs } from './volume-facts.ts';

/** What kube-apiserver fills in. */
const ruleDefaults = { scope: '*' };
const matchDefaults = { matchPolicy: 'Equivalent', namespaceSelector: {}, objectSelector: {} };

type Fields = Record<string, unknown>;
const fields = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {});

const filledMatch = (match: unknown): unknown => {
  if (match === undefined || match === null) return undefined;
  const { resourceRules, ...more } = fields(match);
  const rules = Array.isArray(resourceRules) ? resourceRules.map((rule) => ({ ...ruleDefaults, ...fields(rule) })) : [];
  return { ...matchDefaults, ...more, resourceRules: rules };
};

/** A spec with what kube-apiserver fills in. Pure. */
function filled(spec: unknown, own: Fields): Fields {
  const { matchConstraints, matchResources, ...more } = fields(spec);
  return JSON.parse(
    JSON.stringify({
      ...own,
      ...more,
      matchConstraints: filledMatch(matchConstraints),
      matchResources: filledMatch(matchResources),
    }),
  ) as Fields;
}

/** Whether a policy, or a binding, is the one that drover generates: neither more nor less. Pure. */
export const isAsGenerated = (spec: unknown, generated: unknown, kind: 'policy' | 'binding'): boolean => {
  const own: Fields = kind === 'policy' ? { failurePolicy: 'Fail' } : {};
  return isDeepStrictEqual(filled(spec, own), filled(generated, own));
};

interface Written {
  creationTimestamp: string;
  generation?: unknown;
  managedFields?: unknown;
}

/**
 * When its spec was written last: what was changed for a while and put back was not in force meanwhile. kube-apiserver counts the writes of a
 * spec in the generation, and notes who wrote it last, and when. Infinity: it does not say. Pure.
 */
export function writtenMs({ creationTimestamp, generation = 1, managedFields }: Written): number {
  const made = timeMs(creationTimestamp) ?? Infinity;
  if (generation === 1) return made;
  const writers = Array.isArray(managedFields) ? managedFields.map(fields) : [];
  const times = writers
    .filter(({ fieldsV1 }) => Object.hasOwn(fields(fieldsV1), 'f:spec'))
    .map(({ time }) => (typeof time === 'string' ? timeMs(time) : null) ?? Infinity);
  return times.length === 0 ? Infinity : Math.max(made, ...times);
}

/**
 * Whether the DataVolume was created under the policy on sources, which lets nobody name a source that they may not clone. A policy takes
 * effect a moment after it is there.
 */
export async function wasPermitted(
  { client, scope, clonePolicy, policyDelayMs }: VolumeTools,
  createdMs: number,
): Promise<boolean> {
  const name = clonePolicyName;
  const [policy, binding] = await Promise.all([
    client.get(storageResources.ValidatingAdmissionPolicy, { name }, scope.signal),
    client.get(storageResources.ValidatingAdmissionPolicyBinding, { name }, scope.signal),
  ]);
  if (policy === null || binding === null) return false;
  const isCurrent =
    isAsGenerated(policy.spec, clonePolicy.policy, 'policy') &&
    isAsGenerated(binding.spec, clonePolicy.binding, 'binding');
  const sinceMs = Math.max(writtenMs(policy.metadata), writtenMs(binding.metadata));
  return isCurrent && sinceMs + policyDelayMs <= createdMs;
}
