import type { Flavor } from '../model.ts';

/**
 * What a flavor with an emulated TPM demands of its hosts; without one, nothing. @see nova/scheduler/utils.py,
 * nova/scheduler/request_filter.py
 */
export function tpmTraitsOf({ extraSpecs }: Flavor): string[] {
  const version = extraSpecs['hw:tpm_version'];
  if (version === undefined) return [];
  const traits = [
    `TPM_${version.replace('.', '_')}`,
    extraSpecs['hw:tpm_model'] === 'tpm-crb' ? 'TPM_CRB' : 'TPM_TIS',
    `TPM_SECRET_SECURITY_${secretSecurityOf(extraSpecs).toUpperCase()}`,
  ];
  return traits.map((trait) => `COMPUTE_SECURITY_${trait}`);
}

/** Whether the secret of its TPM keeps a running server where it is. @see nova/compute/api.py */
export const isBoundByTpm = ({ extraSpecs }: Flavor): boolean =>
  extraSpecs['hw:tpm_version'] !== undefined && secretSecurityOf(extraSpecs) !== 'host';

const secretSecurityOf = (extraSpecs: Flavor['extraSpecs']): string => extraSpecs['hw:tpm_secret_security'] ?? 'user';
