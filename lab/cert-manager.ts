import type { Kubernetes } from '../runtime/kubernetes/kubernetes.ts';
import { applyDefinition } from './kubernetes-objects.ts';

/** cert-manager's kind Certificate without cert-manager: what kube-apiserver stores of one, and what it refuses. */

const text = { type: 'string' };
const texts = { type: 'array', items: text };
const object = (properties: object, required: readonly string[] = []): object => ({
  type: 'object',
  properties,
  ...(required.length > 0 && { required }),
});

/**
 * As cert-manager checks them, of the fields that drover or the operator before it writes; what has another name
 * is not stored.
 */
const spec = object(
  {
    secretName: text,
    commonName: text,
    dnsNames: texts,
    ipAddresses: texts,
    duration: text,
    renewBefore: text,
    subject: object({ organizations: texts }),
    usages: {
      type: 'array',
      items: {
        ...text,
        enum: [
          'signing',
          'digital signature',
          'content commitment',
          'key encipherment',
          'key agreement',
          'data encipherment',
          'cert sign',
          'crl sign',
          'encipher only',
          'decipher only',
          'any',
          'server auth',
          'client auth',
          'code signing',
          'email protection',
          's/mime',
          'ipsec end system',
          'ipsec tunnel',
          'ipsec user',
          'timestamping',
          'ocsp signing',
          'microsoft sgc',
          'netscape sgc',
        ],
      },
    },
    privateKey: object({
      algorithm: { ...text, enum: ['RSA', 'ECDSA', 'Ed25519'] },
      encoding: { ...text, enum: ['PKCS1', 'PKCS8'] },
      size: { type: 'integer' },
      rotationPolicy: { ...text, enum: ['Never', 'Always'] },
    }),
    issuerRef: object({ name: text, kind: text, group: text }, ['name']),
  },
  ['secretName', 'issuerRef'],
);

/** Serves them. May be asked for again. */
export const installCertificates = (kubernetes: Kubernetes): Promise<void> =>
  applyDefinition(kubernetes, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'certificates.cert-manager.io' },
    spec: {
      group: 'cert-manager.io',
      names: { kind: 'Certificate', plural: 'certificates', singular: 'certificate' },
      scope: 'Namespaced',
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: object({ spec }) },
        },
      ],
    },
  });
