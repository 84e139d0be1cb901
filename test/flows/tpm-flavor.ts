import type { Session } from '../../lab/openstack/session.ts';

/** What Nova demands of the hosts of {@link ensureTpmFlavor}: a profile's `traits`. */
export const tpmTraits = [
  'COMPUTE_SECURITY_TPM_2_0',
  'COMPUTE_SECURITY_TPM_CRB',
  'COMPUTE_SECURITY_TPM_SECRET_SECURITY_USER',
];

/** A flavor with a virtual TPM, whose running servers Nova refuses at once to move. */
export async function ensureTpmFlavor(session: Session): Promise<'flow.tpm'> {
  const id = 'flow.tpm';
  const { flavors } = await session.compute<{ flavors: { id: string }[] }>('GET', '/flavors?is_public=None');
  if (flavors.some((flavor) => flavor.id === id)) return id;
  await session.compute('POST', '/flavors', { body: { flavor: { name: id, id, vcpus: 1, ram: 512, disk: 1 } } });
  await session.compute('POST', `/flavors/${id}/os-extra_specs`, {
    body: { extra_specs: { 'hw:tpm_version': '2.0', 'hw:tpm_model': 'tpm-crb' } },
  });
  return id;
}
