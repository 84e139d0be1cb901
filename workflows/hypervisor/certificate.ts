import type { ConditionUpdate } from '../../contracts/conditions.ts';
import { certificateReasons, hypervisorConditions } from '../../contracts/hypervisor/conditions.ts';
import type { Context, Draft } from './types.ts';

/** The certificate of libvirt on a host, without which no guest is moved to it or off it over TLS. All pure. */

/** Null: cert-manager was asked for it, or is not to be asked. */
export function requestCertificate({ desired, observed: { node, certificate } }: Context): Draft | null {
  if (!desired.lifecycleEnabled || node === null || certificate !== 'missing') return null;
  const summary = `Ask cert-manager for the certificate of libvirt on Node ${node.name}`;
  return { kind: 'ensureCertificate', node: node.name, summary };
}

/** The condition `CertificateRequested`; null: nothing is to be said. */
export function describeCertificate({ desired, observed: { certificate } }: Context): ConditionUpdate | null {
  const type = hypervisorConditions.certificateRequested;
  const { name } = desired;
  if (certificate === 'requested')
    return {
      type,
      status: 'True',
      reason: certificateReasons.requested,
      message: `cert-manager was asked for Certificate libvirt-${name}; \`cmctl status certificate libvirt-${name}\` shows what came of it`,
    };
  if (certificate === 'forbidden')
    return {
      type,
      status: 'False',
      reason: certificateReasons.forbidden,
      message:
        'drover may not read Certificates: apply deploy/rbac/certificates.yaml, or set hypervisor.certificates to null',
    };
  return null;
}
