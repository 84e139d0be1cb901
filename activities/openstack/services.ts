import type { ErrorCode } from '../../contracts/errors.ts';

/** The OpenStack services drover speaks to, by the names people know them by. */
export type ServiceName = 'Keystone' | 'Nova' | 'Placement';

/** What differs between the services. */
export const errorCodes: Record<ServiceName, { unavailable: ErrorCode }> = {
  Keystone: { unavailable: 'KeystoneUnavailable' },
  Nova: { unavailable: 'NovaUnavailable' },
  Placement: { unavailable: 'PlacementUnavailable' },
};

/** Service types of the catalog. */
export type ServiceType = 'compute' | 'placement';
