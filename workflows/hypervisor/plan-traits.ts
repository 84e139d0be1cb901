import { hypervisorAnnotations } from '../../contracts/ids.ts';
import type { DesiredHypervisor, HypervisorObservation } from '../../contracts/hypervisor/hypervisor.ts';
import type { Step } from './step.ts';

/** Names that Placement lets anybody make; all others are its own. */
const custom = /^CUSTOM_[A-Z0-9_]{1,248}$/;

/** What Placement takes for a trait at all. */
const standard = /^(?!CUSTOM_)[A-Z0-9_]{1,255}$/;

export interface TraitsPlan {
  /** In their order. Empty: the traits are as they should be, as far as they can be. */
  steps: Step[];
  /** Names that are no traits. */
  invalid: string[];
  /** Standard traits, which Nova sets as the host has them: left alone. */
  standard: string[];
}

/**
 * The way from the provider's traits to those that the spec asks for. Only custom traits are put there, and only those that drover has
 * put there are taken away: a trait of the hardware or of somebody else stays. What is about to be put there is noted in the object
 * first, so that it can be taken away whatever happens in between. Source: hypervisor.md B.3; Placement knows no trait that nobody made.
 *
 * @param wanted of the spec; none where the host is taken out of Nova
 */
export function planTraits(
  wanted: readonly string[],
  { name, appliedTraits }: Pick<DesiredHypervisor, 'name' | 'appliedTraits'>,
  { provider, knownTraits }: Pick<HypervisorObservation, 'provider' | 'knownTraits'>,
): TraitsPlan {
  const unique = [...new Set(wanted)].toSorted();
  const managed = unique.filter((trait) => custom.test(trait));
  const judged = {
    standard: unique.filter((trait) => standard.test(trait)),
    invalid: unique.filter((trait) => !custom.test(trait) && !standard.test(trait)),
  };
  if (provider === null) return { ...judged, steps: [] };

  const has = new Set(provider.traits);
  const unknown = managed.filter((trait) => !knownTraits.includes(trait) && !has.has(trait));
  const add = managed.filter((trait) => !has.has(trait));
  const remove = appliedTraits
    .filter((trait) => custom.test(trait) && has.has(trait) && !managed.includes(trait))
    .toSorted();
  const memory = [...managed, ...remove].toSorted().join(',');

  const steps: Step[] = [];
  if (memory !== appliedTraits.toSorted().join(',')) {
    const annotations = { [hypervisorAnnotations.appliedTraits]: memory === '' ? null : memory };
    steps.push({
      do: 'patchHypervisor',
      patches: [{ annotations }],
      words: `Note which traits of ${name} are drover’s`,
    });
  }
  if (unknown.length > 0)
    steps.push({ do: 'createTraits', traits: unknown, words: `Make the traits ${unknown.join(', ')}` });
  if (add.length + remove.length > 0) {
    const words = [
      ...(add.length > 0 ? [`put ${add.join(', ')} on`] : []),
      ...(remove.length > 0 ? [`take ${remove.join(', ')} off`] : []),
    ].join(' and ');
    steps.push({
      do: 'updateTraits',
      providerId: provider.uuid,
      generation: provider.generation,
      add,
      remove,
      words: `${capital(words)} ${name}`,
    });
  }
  return { ...judged, steps };
}

const capital = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
