import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';

import type { NodeKey } from '../../../contracts/hypervisor/activities.ts';
import type { CertificateState } from '../../../contracts/hypervisor/hypervisor.ts';
import { nodeMetadata } from '../../../contracts/ids.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import { isFailure } from '../../../runtime/kubernetes/kubernetes-faults.ts';
import type { KubernetesObjects } from '../../../runtime/kubernetes/objects.ts';
import { retryConflicts } from '../../../runtime/kubernetes/retry-conflicts.ts';
import { mutate } from '../../lib/mutate.ts';
import type { CertificateSettings, HypervisorTools } from './dependencies.ts';
import { type Node, nodes } from './node-schema.ts';

/**
 * What cert-manager is asked for, so that the libvirt of a Node has a certificate: the same object, under the same
 * name, as the replaced operator makes (docs/compatibility.md#names-on-nodes). The node agent installs what
 * comes of it.
 */

const ownerSchema = z.looseObject({ kind: z.string(), name: z.string(), uid: z.string() });

const certificateSchema = z.object({
  metadata: z.object({
    name: z.string(),
    namespace: z.string(),
    uid: z.string(),
    resourceVersion: z.string(),
    ownerReferences: z.array(ownerSchema).optional(),
  }),
  spec: z.record(z.string(), z.unknown()),
});

export type Certificate = z.output<typeof certificateSchema>;

const certificates = {
  group: 'cert-manager.io',
  version: 'v1',
  kind: 'Certificate',
  plural: 'certificates',
  schema: certificateSchema,
};

/** Whether kube-apiserver serves them at all. */
const certificateCrd = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  schema: z.unknown(),
};
const crdName = `${certificates.plural}.${certificates.group}`;

const nameOf = (node: string): string => `libvirt-${node}`;

const dnsTypes = ['Hostname', 'InternalDNS', 'ExternalDNS'];
const ipTypes = ['InternalIP', 'ExternalIP'];

/** What the Certificate of a Node asks for. Pure. */
export function certificateSpec({ metadata: { name }, status }: Node, issuer: string): Record<string, unknown> {
  const addresses = (types: readonly string[]): string[] =>
    (status?.addresses ?? []).flatMap(({ type, address }) => (types.includes(type) && address !== '' ? [address] : []));
  const sorted = (all: readonly string[]): string[] => [...new Set(all)].toSorted();
  return {
    secretName: `tls-${nameOf(name)}`,
    privateKey: { algorithm: 'RSA', encoding: 'PKCS1', size: 4096 },
    duration: '1128h0m0s',
    renewBefore: '888h0m0s',
    usages: ['server auth', 'client auth', 'cert sign', 'digital signature', 'key encipherment'],
    subject: { organizations: ['nova'] },
    commonName: name,
    dnsNames: sorted([name, ...addresses(dnsTypes)]),
    ipAddresses: sorted(addresses(ipTypes)),
    issuerRef: { name: issuer, kind: 'Issuer', group: 'cert-manager.io' },
  };
}

/** Fields that another writer has added, such as a rotation policy, stay: only what is asked for counts. Pure. */
export const isAsWanted = (found: unknown, wanted: unknown): boolean =>
  typeof wanted === 'object' && wanted !== null && !Array.isArray(wanted)
    ? typeof found === 'object' &&
      found !== null &&
      Object.entries(wanted).every(([field, value]) => isAsWanted((found as Record<string, unknown>)[field], value))
    : isDeepStrictEqual(found, wanted) || (Array.isArray(wanted) && wanted.length === 0 && found === undefined);

/** A Node that was made anew has another uid: by the old one the garbage collector would take the Certificate away. */
function ownersOf(found: Certificate | null, { name, uid }: Node['metadata']): object[] {
  const others = (found?.metadata.ownerReferences ?? []).filter(
    (owner) => owner.kind !== 'Node' || owner.name !== name,
  );
  const own = found?.metadata.ownerReferences?.find((owner) => owner.uid === uid);
  return [...others, own ?? { apiVersion: 'v1', kind: 'Node', name, uid }];
}

const isRight = (found: Certificate | null, node: Node, { issuer }: CertificateSettings): boolean =>
  found !== null &&
  isAsWanted(found.spec, certificateSpec(node, issuer)) &&
  (found.metadata.ownerReferences?.some(({ uid }) => uid === node.metadata.uid) ?? false);

/** How long it is remembered whether cert-manager is there. */
const rememberedMs = 60_000;

/** Reads how the Certificate of a Node stands; whether kube-apiserver serves them is asked once for all hosts. */
export function createCertificateReader(
  client: Pick<KubernetesObjects, 'get'>,
  settings: CertificateSettings | null,
  now: () => number,
): (node: Node, signal: AbortSignal) => Promise<CertificateState | null> {
  let served: { is: boolean; untilMs: number } | null = null;
  const isServed = async (signal: AbortSignal): Promise<boolean> => {
    if (served !== null && now() < served.untilMs) return served.is;
    const is = (await client.get(certificateCrd, { name: crdName }, signal)) !== null;
    served = { is, untilMs: now() + rememberedMs };
    return is;
  };
  return async (node, signal) => {
    if (settings === null || node.metadata.labels?.[nodeMetadata.virtDriver] === undefined) return null;
    try {
      if (!(await isServed(signal))) return null;
      const found = await client.get(certificates, keyOf(node, settings), signal);
      return isRight(found, node, settings) ? 'requested' : 'missing';
    } catch (error) {
      // A role that was not applied holds up no host.
      if (isFailure(error, 'KubernetesForbidden')) return 'forbidden';
      throw error;
    }
  };
}

const keyOf = ({ metadata }: Node, { namespace }: CertificateSettings) => ({
  namespace,
  name: nameOf(metadata.name),
});

/**
 * Makes the Certificate of a Node what it should be. Nothing is made for a Node that is gone, or is another one by now.
 */
export const ensureCertificate = (tools: HypervisorTools, { node: name, uid }: NodeKey): Promise<void> =>
  retryConflicts(async () => {
    const { client, scope, certificates: settings } = tools;
    if (settings === null) return;
    const node = await client.get(nodes, { name }, scope.signal);
    if (node?.metadata.uid !== uid) return;
    const key = keyOf(node, settings);
    const found = await client.get(certificates, key, scope.signal);
    if (isRight(found, node, settings)) return;
    const spec = certificateSpec(node, settings.issuer);
    const entry = {
      action: 'ensureCertificate',
      cause: `libvirt on Node ${name}`,
      object: `certificate/${key.namespace}/${key.name}`,
      before: found === null ? null : found.spec,
      after: spec,
    };
    const ownerReferences = ownersOf(found, node.metadata);
    await mutate(tools, entry, async () => {
      if (found !== null)
        await client.patch(certificates, found.metadata, { metadata: { ownerReferences }, spec }, scope.signal);
      else if (
        (await client.create(certificates, { metadata: { ...key, ownerReferences }, spec }, scope.signal)) === null
      )
        throw droverFailure('ObjectConflict', `Certificate ${key.name} was made at the same moment`);
    });
  });
