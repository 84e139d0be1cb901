import { rootCertificates } from 'node:tls';

import { migrationNamespace as namespace, openKubernetesWorld } from './kubernetes-world.ts';
import type { KubernetesWorld } from './kubernetes-world.ts';
import { definitions } from '../../contracts/crds/definitions.ts';
import { toCustomResourceDefinition } from '../../contracts/crds/custom-resource-definition.ts';
import { withoutWebhook } from '../../starters/checks/virtual-machines.ts';
import { until } from './until.ts';

/**
 * Older versions of vm-operator's API, on a real kube-apiserver with deploy/crds and deploy/admission:
 * docs/adr/0021-served-versions.md.
 */
let world: KubernetesWorld;

const older = ['v1alpha3', 'v1alpha4', 'v1alpha5'] as const;
/** A test may be tried again. */
const create = ['apply', '--server-side', '-f', '-'];

interface Served {
  apiVersion: string;
  metadata: { resourceVersion: string };
  spec: Record<string, unknown>;
}

const manifest = (version: string, name: string, spec: object, kind = 'VirtualMachine'): object => ({
  apiVersion: `vmoperator.vmware.com/${version}`,
  kind,
  metadata: { name, namespace },
  spec,
});
const readAs = (version: string, name: string): Promise<Served | null> =>
  world.read<Served>(`virtualmachines.${version}.vmoperator.vmware.com`, name, '-n', namespace);
const drives = [{ name: 'cd1', image: { kind: 'VirtualMachineImage', name: 'iso' } }];

beforeAll(async () => {
  world = await openKubernetesWorld();
  // kube-apiserver takes a policy into account a moment after it is there.
  await until('the policies to be in force', 60_000, async () => {
    await world.kubectl(['delete', 'vm', 'probe', '-n', namespace, '--ignore-not-found']);
    await world.kubectl(create, manifest('v1alpha6', 'probe', { className: 'small' }));
    return (await readAs('v1alpha6', 'probe'))?.spec['powerState'] === 'PoweredOn' || 'powerState is not set';
  });
}, 300_000);
afterAll(async () => {
  await world?.kubectl(['delete', 'vm,vmclass', '-n', namespace, '--all']);
  await world?.close();
}, 60_000);

test.each(older)('a manifest of %s is taken, stored as v1alpha6, and served as either', async (version) => {
  await world.kubectl(create, manifest(version, `of-${version}`, { className: 'small', guestID: 'otherGuest64' }));
  const [today, asWritten] = [await readAs('v1alpha6', `of-${version}`), await readAs(version, `of-${version}`)];
  expect([today?.apiVersion, asWritten?.apiVersion]).toEqual([
    'vmoperator.vmware.com/v1alpha6',
    `vmoperator.vmware.com/${version}`,
  ]);
  expect(today?.spec).toMatchObject({ className: 'small', guestID: 'otherGuest64', powerState: 'PoweredOn' });
  expect(asWritten?.spec).toEqual(today?.spec);
  await world.kubectl(create, manifest(version, `of-${version}`, { hardware: { cpus: 2 } }, 'VirtualMachineClass'));
});

test.each(['v1alpha3', 'v1alpha4'])('CD-ROM drives stay where %s has them, and one is booted from', async (version) => {
  const name = `cd-${version}`;
  await world.kubectl(create, manifest(version, name, { cdrom: drives }));
  expect((await readAs('v1alpha6', name))?.spec).toMatchObject({
    cdrom: drives,
    image: { kind: 'VirtualMachineImage', name: 'iso' },
  });
  expect(
    await world.refusal(create, manifest(version, 'twice', { cdrom: drives, hardware: { cdrom: drives } })),
  ).toContain('only one of them may be set');
});

const newer: [version: string, spec: object, without: object, says: string][] = [
  ['v1alpha3', { hardware: { cdrom: drives } }, {}, 'spec.hardware is newer than v1alpha3'],
  ['v1alpha3', { bootOptions: { bootDelay: '1s' } }, {}, 'spec.bootOptions is newer than v1alpha3'],
  ['v1alpha4', { hardware: { cdrom: drives } }, { hardware: { cdrom: [] } }, 'spec.hardware is newer than v1alpha4'],
  ['v1alpha5', { memoryAdvanced: { hotAddEnabled: true } }, {}, 'spec.memoryAdvanced is newer than v1alpha5'],
  ['v1alpha5', { advanced: { extraConfig: [{ key: 'a', value: '1' }] } }, { advanced: {} }, 'spec.advanced has fields'],
  [
    'v1alpha5',
    { network: { interfaces: [{ name: 'eth0', type: 'E1000' }] } },
    { network: { interfaces: [{ name: 'eth0' }] } },
    'spec.network.interfaces has fields',
  ],
  [
    'v1alpha4',
    { volumes: [{ name: 'data', unitNumber: 3, persistentVolumeClaim: { claimName: 'c' } }] },
    { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'c' } }] },
    'spec.volumes has fields',
  ],
  ['v1alpha5', { bootstrap: { disabled: true } }, {}, 'spec.bootstrap.disabled is newer'],
];

test.each(newer)('a client of %s that leaves out %j loses nothing', async (version, spec, without, says) => {
  await world.kubectl(['delete', 'vm', 'newer', '-n', namespace, '--ignore-not-found']);
  await world.kubectl(create, manifest('v1alpha6', 'newer', { guestID: 'a', ...spec }));
  const { apiVersion, ...object } = (await readAs('v1alpha6', 'newer')) as Served & { metadata: object };
  const kept = Object.fromEntries(Object.entries(object.spec).filter(([key]) => !(key in spec)));
  const replace = (as: string, changed: object): [string[], object] => [
    ['replace', '-f', '-'],
    { ...object, apiVersion: `vmoperator.vmware.com/${as}`, spec: { ...kept, ...changed } },
  ];
  expect(await world.refusal(...replace(version, without))).toContain(says);
  // What it does not touch it may keep; and today's version may do all.
  await world.kubectl([
    'patch',
    `virtualmachines.${version}.vmoperator.vmware.com/newer`,
    '-n',
    namespace,
    '--type=merge',
    '-p',
    JSON.stringify({ spec: { guestID: 'b' } }),
  ]);
  const patched = await readAs('v1alpha6', 'newer');
  expect([apiVersion, patched?.spec]).toMatchObject(['vmoperator.vmware.com/v1alpha6', { guestID: 'b', ...spec }]);
  object.metadata.resourceVersion = patched?.metadata.resourceVersion ?? '';
  await world.kubectl(...replace('v1alpha6', without));
});

test.each<[kind: string, columns: string[]]>([
  ['vm', ['NAME', 'POWER-STATE', 'AGE', 'STATE']],
  ['vmclass', ['NAME', 'CPU', 'MEMORY', 'AGE']],
])('kubectl get %s shows upstream’s columns first', async (kind, columns) => {
  const [head = ''] = (await world.kubectl(['get', kind, '-n', namespace])).split('\n');
  expect(head.trim().split(/\s{2,}/u)).toEqual(columns);
});

test('the CRD of an operator that is gone is taken over without its webhook', async () => {
  const kind = definitions.find((one) => one.kind === 'VirtualMachineClass')!;
  // Of another group, as other tests have objects of this one.
  const own = toCustomResourceDefinition({ ...kind, group: 'taken-over.drover.dev' });
  const { name } = own.metadata;
  const caBundle = Buffer.from(rootCertificates[0] ?? '').toString('base64');
  const service = { namespace: 'vmop', name: 'webhook', path: '/convert' };
  const webhook = { conversionReviewVersions: ['v1'], clientConfig: { service } };
  const theirs = { ...own, spec: { ...own.spec, conversion: { strategy: 'Webhook', webhook } } };
  const takeOver = ['apply', '--server-side', '--force-conflicts', '-f', '-'];
  const conversion = async () => (await world.read<{ spec: { conversion: object } }>('crd', name))?.spec.conversion;
  try {
    await world.kubectl([...takeOver, '--field-manager=helm'], theirs);
    // As cert-manager does, whose the certificate is from then on.
    const injected = { spec: { conversion: { webhook: { clientConfig: { caBundle } } } } };
    const patch = ['patch', 'crd', name, '--type=merge', '-p'];
    await world.kubectl([...patch, JSON.stringify(injected), '--field-manager=cert-manager-cainjector']);
    expect(await world.refusal(takeOver, own)).toContain('should not be set when strategy is not set to Webhook');
    await world.kubectl([...patch, withoutWebhook]);
    await world.kubectl(takeOver, own);
    expect(await conversion()).toEqual({ strategy: 'None' });
  } finally {
    await world.kubectl(['delete', 'crd', name, '--ignore-not-found', '--wait=false']);
  }
});
