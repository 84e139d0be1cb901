import type { KubernetesObjects } from '../../../runtime/kubernetes/objects.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import { stoppedClock } from '../../../test/fixtures/stopped-clock.ts';
import type { Certificate } from './certificate.ts';
import { certificateSpec, createCertificateReader, ensureCertificate, isAsWanted } from './certificate.ts';
import type { HypervisorTools } from './dependencies.ts';
import type { Node } from './node-schema.ts';

const settings = { namespace: 'agents', issuer: 'agents-issuer' };
const nodeWith = (more: Partial<Node['metadata']> = {}): Node => ({
  metadata: {
    name: 'node-1',
    uid: 'node-uid',
    resourceVersion: '1',
    generation: 0,
    creationTimestamp: '2026-01-01T00:00:00Z',
    labels: { 'nova.openstack.cloud.sap/virt-driver': 'kvm' },
    ...more,
  },
  status: {
    addresses: [
      { type: 'InternalIP', address: '192.0.2.9' },
      { type: 'InternalIP', address: '192.0.2.1' },
      { type: 'ExternalIP', address: '198.51.100.1' },
      { type: 'Hostname', address: 'node-1.example' },
      { type: 'InternalDNS', address: 'a.example' },
      { type: 'Hostname', address: '' },
    ],
  },
});
const wanted = certificateSpec(nodeWith(), settings.issuer);
const certificateWith = (
  spec: object = wanted,
  owners: object[] = [{ kind: 'Node', name: 'node-1', uid: 'node-uid' }],
) =>
  ({
    metadata: {
      name: 'libvirt-node-1',
      namespace: 'agents',
      uid: 'c',
      resourceVersion: '7',
      ownerReferences: owners,
    },
    spec,
  }) as Certificate;

test('the object is the one that the operator before drover made', () => {
  expect(wanted).toEqual({
    secretName: 'tls-libvirt-node-1',
    privateKey: { algorithm: 'RSA', encoding: 'PKCS1', size: 4096 },
    // 47 and 37 days, as Go writes them.
    duration: '1128h0m0s',
    renewBefore: '888h0m0s',
    usages: ['server auth', 'client auth', 'cert sign', 'digital signature', 'key encipherment'],
    subject: { organizations: ['nova'] },
    commonName: 'node-1',
    dnsNames: ['a.example', 'node-1', 'node-1.example'],
    ipAddresses: ['192.0.2.1', '192.0.2.9', '198.51.100.1'],
    issuerRef: { name: 'agents-issuer', kind: 'Issuer', group: 'cert-manager.io' },
  });
});

test.each([
  ['the same', wanted, true],
  [
    'with what another writer has added',
    { ...wanted, privateKey: { ...(wanted['privateKey'] as object), rotationPolicy: 'Always' } },
    true,
  ],
  ['another address', { ...wanted, ipAddresses: ['192.0.2.1'] }, false],
  ['another Issuer', { ...wanted, issuerRef: { name: 'x', kind: 'Issuer', group: 'cert-manager.io' } }, false],
  ['without a part', { ...wanted, subject: undefined }, false],
  ['nothing', undefined, false],
])('whether it asks for that: %s', (_what, found, isRight) => {
  expect(isAsWanted(found, wanted)).toBe(isRight);
});

test('a list that is empty may be left out', () => {
  expect(isAsWanted({ a: 1 }, { a: 1, b: [] })).toBe(true);
});

/** A kube-apiserver of three objects, which notes what is written. */
function world({ served = true, node = nodeWith(), found = null as Certificate | null, forbidden = false } = {}) {
  const asked: string[] = [];
  const written: unknown[] = [];
  const client = {
    get: (resource: { kind: string }) => {
      asked.push(resource.kind);
      if (forbidden) return Promise.reject(droverFailure('KubernetesForbidden', 'no'));
      if (resource.kind === 'CustomResourceDefinition') return Promise.resolve(served ? {} : null);
      return Promise.resolve(resource.kind === 'Node' ? node : found);
    },
    create: (_: unknown, object: object) => Promise.resolve(written.push({ create: object })),
    patch: (_: unknown, version: object, change: object) => Promise.resolve(written.push({ patch: change, version })),
  } as unknown as KubernetesObjects;
  return { client, asked, written };
}

const never = new AbortController().signal;

test.each([
  ['as it should be', { found: certificateWith() }, {}, 'requested'],
  ['not there', {}, {}, 'missing'],
  [
    'of an earlier Node of that name',
    { found: certificateWith(wanted, [{ kind: 'Node', name: 'node-1', uid: 'old' }]) },
    {},
    'missing',
  ],
  ['asking for something else', { found: certificateWith({ ...wanted, commonName: 'x' }) }, {}, 'missing'],
  ['no cert-manager', { served: false }, {}, null],
  ['no right to look', { forbidden: true }, {}, 'forbidden'],
  ['a Node that is no hypervisor', {}, { labels: {} }, null],
])('how it stands: %s', async (_what, options, metadata, state) => {
  const { client } = world(options);
  const read = createCertificateReader(client, settings, () => 0);
  expect(await read(nodeWith(metadata), never)).toBe(state);
});

test('whether cert-manager is there is asked once for all hosts, and again after a while', async () => {
  const { client, asked } = world({ served: false });
  let nowMs = 0;
  const read = createCertificateReader(client, settings, () => nowMs);
  await read(nodeWith(), never);
  await read(nodeWith({ name: 'node-2' }), never);
  expect(asked).toEqual(['CustomResourceDefinition']);
  nowMs = 60_000;
  await read(nodeWith(), never);
  expect(asked).toHaveLength(2);
});

test('where the settings want none, nothing is asked', async () => {
  const { client, asked } = world();
  expect(await createCertificateReader(client, null, () => 0)(nodeWith(), never)).toBeNull();
  expect(asked).toEqual([]);
});

const toolsWith = (client: KubernetesObjects, more: Partial<HypervisorTools> = {}): HypervisorTools =>
  ({
    client,
    certificates: settings,
    guardImage: '',
    stopGate: () => Promise.resolve(),
    audit: { record: () => Promise.resolve() },
    clock: stoppedClock(),
    scope: { signal: never, run: null },
    ...more,
  }) as unknown as HypervisorTools;

const ensure = async (options: Parameters<typeof world>[0], uid = 'node-uid', more: Partial<HypervisorTools> = {}) => {
  const { client, written } = world(options);
  await ensureCertificate(toolsWith(client, more), { node: 'node-1', uid });
  return written;
};

test('it is made with the Node as its owner, so that it goes with it', async () => {
  expect(await ensure({})).toEqual([
    {
      create: {
        metadata: {
          namespace: 'agents',
          name: 'libvirt-node-1',
          ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: 'node-uid' }],
        },
        spec: wanted,
      },
    },
  ]);
});

test('one that differs is put right on the version that was read; another owner stays, an earlier Node does not', async () => {
  const found = certificateWith({ ...wanted, commonName: 'x' }, [
    { kind: 'Node', name: 'node-1', uid: 'old' },
    { kind: 'Other', name: 'o', uid: 'o' },
  ]);
  expect(await ensure({ found })).toEqual([
    {
      patch: {
        metadata: {
          ownerReferences: [
            { kind: 'Other', name: 'o', uid: 'o' },
            { apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: 'node-uid' },
          ],
        },
        spec: wanted,
      },
      version: found.metadata,
    },
  ]);
});

test.each([
  ['it is as it should be', { found: certificateWith() }, 'node-uid', {}],
  ['the Node is another one by now', {}, 'other', {}],
  ['the settings want none', {}, 'node-uid', { certificates: null }],
])('nothing is written where %s', async (_why, options, uid, more) => {
  expect(await ensure(options, uid, more)).toEqual([]);
});
