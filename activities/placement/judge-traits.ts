/** Names that Placement lets anybody make; all others are its own. */
const custom = /^CUSTOM_[A-Z0-9_]{1,248}$/u;

export interface TraitsChange {
  /** Names that are no custom traits; nothing is done about any trait while there are some. */
  invalid: string[];
  /** What the provider has afterwards, sorted. */
  traits: string[];
  added: string[];
  removed: string[];
}

/**
 * What becomes of a provider's traits. Pure. What drover has not put there stays: the hardware's, `COMPUTE_STATUS_DISABLED`, those of
 * other people (hypervisor.md B.3).
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
