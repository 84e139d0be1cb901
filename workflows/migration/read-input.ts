import { ApplicationFailure } from '@temporalio/workflow';
import type { MigrateInstanceInput } from '../../contracts/eviction/migrate-instance.ts';

/** Where a path of the input leads to what the run cannot begin without. */
const needed: readonly [path: readonly string[], type: 'string' | 'object' | 'number' | 'boolean'][] = [
  [['instance', 'id'], 'string'],
  [['instance', 'name'], 'string'],
  [['sourceHost'], 'string'],
  [['eviction', 'name'], 'string'],
  [['eviction', 'uid'], 'string'],
  [['consent'], 'object'],
  [['accepted'], 'boolean'],
  [['settings', 'region'], 'string'],
  [['settings', 'maxAttempts'], 'number'],
  [['settings', 'stuck'], 'object'],
  [['settings', 'poll'], 'object'],
];

/**
 * The input of `migrateInstance` as it came. Its parent gives all of it; a person who starts one by hand is told what to start instead.
 *
 * @throws InvalidInput
 */
export function readMigrateInput(given: unknown): MigrateInstanceInput {
  for (const [path, type] of needed) {
    const value = path.reduce<unknown>((from, key) => (Object(from) as Record<string, unknown>)[key], given);
    if (typeof value === type && value !== null) continue;
    const message = `The input has no ${path.join('.')}. This run is a child of evictHypervisor: start that one, as in {"hypervisor": "node-1", "reason": "new firmware"}. Nothing was started.`;
    throw ApplicationFailure.create({ type: 'InvalidInput', message, nonRetryable: true });
  }
  return given as MigrateInstanceInput;
}
