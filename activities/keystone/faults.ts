import type { ErrorCode } from '../../contracts/errors.ts';
import { generalFault, type Refusal } from '../openstack/faults.ts';

/**
 * What Keystone's refusal of a login means. 401: wrong, expired or deleted credential. 403: the user is locked, or the credential is
 * restricted. 404: the URL is not Keystone's.
 */
export function loginFault(refusal: Refusal): ErrorCode {
  if (refusal.status === 401 || refusal.status === 403) return 'CredentialRefused';
  if (refusal.status === 404) return 'InvalidConfiguration';
  return generalFault('Keystone', refusal);
}
