import { clonePolicyName } from '../../../contracts/data-volume/metadata.ts';
import { isAsGenerated } from '../../../runtime/kubernetes/generated-policy.ts';
import { storageResources } from '../../../runtime/kubernetes/storage-resources.ts';
import type { VolumeTools } from './dependencies.ts';
import { timeMs } from './volume-facts.ts';

/** An object may say anything. */
const fields = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

interface Written {
  creationTimestamp: string;
  generation?: unknown;
  managedFields?: unknown;
}

/**
 * When its spec was written last: what was changed for a while and put back was not in force meanwhile. kube-apiserver
 * counts the writes of a spec in the generation, and notes who wrote it last, and when. Infinity: it does
 * not say. Pure.
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
 * Whether the DataVolume was created under the policy on sources, which lets no user name a source that they may not
 * clone. A policy takes effect a moment after it is there.
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
