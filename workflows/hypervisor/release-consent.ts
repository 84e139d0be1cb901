import type { DesiredHypervisor, HypervisorObservation, ProviderFacts } from '../../contracts/hypervisor/hypervisor.ts';
import { remainsOn } from './service.ts';

/** Who consented that leftover allocations are taken away, and when; null: nobody did. */
export const releaseConsent = ({
  consent,
  consentBy,
}: Pick<DesiredHypervisor, 'consent' | 'consentBy'>): string | null =>
  consent.includes('delete-allocations') ? consentBy : null;

/** What a person may do about them. */
export const consentAdvice =
  'Deleting those needs consent: clear them, or say `drover decommission --consent delete-allocations` (the annotations drover.dev/consent and drover.dev/consent-by)';

export const describeConsumers = ({
  consumers,
  someConsumers = [],
}: Pick<ProviderFacts, 'consumers' | 'someConsumers'>): string =>
  `allocations of ${consumers} consumer(s): ${someConsumers.join(', ')}${consumers > someConsumers.length ? ', …' : ''}`;

/** The provider where allocations are all that is left of a host in Nova and Placement, as Nova leaves them behind; else null. */
export function leftoverProvider({
  nova,
  provider,
}: Pick<HypervisorObservation, 'nova' | 'provider'>): ProviderFacts | null {
  if (nova === null || provider === null || nova.allocations === 0 || provider.uuid !== nova.hypervisorId) return null;
  return remainsOn({ ...nova, allocations: 0 }).length === 0 ? provider : null;
}
