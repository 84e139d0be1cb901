import { hypervisorAnnotations } from '../../contracts/ids.ts';
import type { DesiredHypervisor, HypervisorObservation } from '../../contracts/hypervisor/hypervisor.ts';
import type { Draft } from './types.ts';

/** Names that Placement lets every user make; all others are its own. */
const custom = /^CUSTOM_[A-Z0-9_]{1,248}$/;

/** What Placement takes for a trait at all. */
const standard = /^(?!CUSTOM_)[A-Z0-9_]{1,255}$/;

export interface TraitsPlan {
  /** Empty: the traits are as they should be, as far as they can be. */
  steps: Draft[];
  /** What the object has to say of whose traits they are, before the step; null: it says so. */
  annotations: Record<string, string | null> | null;
  /** Names that are no traits. */
  invalid: string[];
  /** Standard traits, which Nova sets as the host has them: left alone. */
  standard: string[];
}

/**
 * The way from the provider's traits to those that the spec asks for. Only custom traits are put there, and only those
 * that drover has put there are taken away: a trait of the hardware or of another party stays. What is about to be put
 * there is noted in the object first, so that it can be taken away whatever happens in between. Pure.
 *
 * @param wanted of the spec; none where the host is taken out of Nova
 */
export function planTraits(
  wanted: readonly string[],
  { name, appliedTraits }: Pick<DesiredHypervisor, 'name' | 'appliedTraits'>,
  { provider }: Pick<HypervisorObservation, 'provider'>,
): TraitsPlan {
  const unique = [...new Set(wanted)].toSorted();
  const managed = unique.filter((trait) => custom.test(trait));
  const judged = {
    standard: unique.filter((trait) => standard.test(trait)),
    invalid: unique.filter((trait) => !custom.test(trait) && !standard.test(trait)),
  };
  if (provider === null) return { ...judged, steps: [], annotations: null };

  const has = new Set(provider.traits);
  const add = managed.filter((trait) => !has.has(trait));
  const remove = appliedTraits
    .filter((trait) => custom.test(trait) && has.has(trait) && !managed.includes(trait))
    .toSorted();
  const applied = [...managed, ...remove].toSorted().join(',');
  const annotations =
    applied === appliedTraits.toSorted().join(',')
      ? null
      : { [hypervisorAnnotations.appliedTraits]: applied === '' ? null : applied };
  if (add.length + remove.length === 0) return { ...judged, steps: [], annotations };
  const summary = [
    ...(add.length > 0 ? [`put ${add.join(', ')} on`] : []),
    ...(remove.length > 0 ? [`take ${remove.join(', ')} off`] : []),
  ].join(' and ');
  const step: Draft = {
    kind: 'updateTraits',
    providerId: provider.uuid,
    add,
    remove,
    summary: `${summary.charAt(0).toUpperCase()}${summary.slice(1)} ${name}`,
    ...(annotations !== null && { publish: 'before' }),
  };
  return { ...judged, steps: [step], annotations };
}
