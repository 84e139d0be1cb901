import { droverFailure, failureCode } from '../../runtime/failure.ts';
import { mutate } from '../lib/mutate.ts';
import type { PlacementTools } from './types.ts';

export interface TraitsRequest {
  /** Of the host's resource provider, which is its hypervisor's. */
  providerId: string;
  /** Custom traits that it shall have. */
  wanted: readonly string[];
  /** Those that drover has put there before, or was about to: what of them is not wanted any more goes. */
  owned: readonly string[];
}

/** nova-compute writes the same provider, usually once a minute. */
const mostAttempts = 5;
const firstPauseMs = 50;

/**
 * Gives a resource provider the wanted custom traits, makes those that do not exist, and takes away what drover had put
 * there and no user wants any more; all others stay. Safe to repeat and to run twice at once: each write names the
 * generation that was read, and one that another client overtook reads again.
 *
 * @returns all traits of the provider, sorted
 * @throws InvalidInput names that are no custom traits, all of them
 * @throws HostNotFound there is no such provider
 * @throws ProviderConflict another client keeps changing it; Stopped
 * @see Placement API, "Update resource provider traits"
 */
export async function ensureTraits(tools: PlacementTools, request: TraitsRequest): Promise<string[]> {
  const { placement, scope, clock } = tools;
  for (let attempt = 1; ; attempt += 1) {
    const { generation, traits } = await placement.traitsWithGeneration(request.providerId, scope.signal);
    const change = judgeTraits(traits, request.wanted, request.owned);
    if (change.invalid.length > 0)
      throw droverFailure(
        'InvalidInput',
        `These are no names of custom traits (CUSTOM_ and A-Z, 0-9, _): ${change.invalid.join(', ')}`,
      );
    if (change.added.length + change.removed.length === 0) return traits;
    await ensureTraitsExist(tools, change.added, `resource-provider/${request.providerId}`);
    try {
      const mutation = {
        action: 'ensureTraits',
        cause: 'the traits of its Hypervisor',
        object: `resource-provider/${request.providerId}`,
        before: { generation, traits },
        after: { added: change.added, removed: change.removed },
      };
      await mutate(tools, mutation, () =>
        placement.replaceTraits(request.providerId, { generation, traits: change.traits }, scope.signal),
      );
      return change.traits;
    } catch (error) {
      if (failureCode(error) !== 'ProviderConflict' || attempt === mostAttempts) throw error;
      await clock.sleep(firstPauseMs * 2 ** (attempt - 1), scope.signal);
    }
  }
}

/** Makes custom traits that do not exist yet: Placement gives no provider another one. */
async function ensureTraitsExist(tools: PlacementTools, traits: readonly string[], cause: string): Promise<void> {
  const { placement, scope } = tools;
  const known = await placement.existingTraits(traits, scope.signal);
  for (const trait of traits) {
    if (known.includes(trait)) continue;
    await mutate(
      tools,
      { action: 'createTrait', cause, object: `trait/${trait}`, before: null, after: { exists: true } },
      () => placement.createTrait(trait, scope.signal),
    );
  }
}

/** Names that Placement lets every client make; all others are its own. */
const custom = /^CUSTOM_[A-Z0-9_]{1,248}$/u;

interface TraitsChange {
  /** Names that are no custom traits; nothing is done about any trait while there are some. */
  invalid: string[];
  /** What the provider has afterwards, sorted. */
  traits: string[];
  added: string[];
  removed: string[];
}

/**
 * What becomes of a provider's traits. Pure. What drover has not put there stays: the hardware's,
 * `COMPUTE_STATUS_DISABLED`, those of other people (docs/compatibility.md#traits).
 *
 * @param owned what drover has put there before, or was about to
 */
export function judgeTraits(
  current: readonly string[],
  wanted: readonly string[],
  owned: readonly string[],
): TraitsChange {
  const invalid = [...new Set(wanted)].filter((trait) => !custom.test(trait)).toSorted();
  const added = [...new Set(wanted)].filter((trait) => !current.includes(trait)).toSorted();
  const removed = current
    .filter((trait) => custom.test(trait) && owned.includes(trait) && !wanted.includes(trait))
    .toSorted();
  return {
    invalid,
    added,
    removed,
    traits: [...current.filter((trait) => !removed.includes(trait)), ...added].toSorted(),
  };
}
