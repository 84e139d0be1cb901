import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { writeEvent } from '../../activities/kubernetes/lib/write-event.ts';
import { secretResource, storageClasses } from '../../activities/kubernetes/virtual-machine/schemas.ts';
import type { Hypervisor } from '../../contracts/crds/hypervisor.ts';
import type { VirtualMachine } from '../../contracts/crds/virtual-machine.ts';
import { objectPath } from '../../lab/kubernetes-objects.ts';
import { writeServiceAccountKubeconfig } from '../../lab/parts/kubernetes-access.ts';
import { systemClock } from '../../runtime/clock.ts';
import { connectKubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { openObjects } from '../../runtime/kubernetes/objects.ts';
import { resources } from '../../runtime/kubernetes/resources.ts';
import { describeEvictionObjects } from '../contracts/eviction-objects.ts';
import { describeHypervisorObjects } from '../contracts/hypervisor-objects.ts';
import { describeMigrationObjects } from '../contracts/migration-objects.ts';
import { describeNodeObjects } from '../contracts/node-objects.ts';
import { type ObjectAccess, type ObjectsTest, type Reference, objectAccess } from '../contracts/object-activities.ts';
import { describeVirtualMachineObjects, vmNamespace as namespace } from '../contracts/virtual-machine-objects.ts';
import { testScope } from '../fixtures/activities/nova.ts';
import { type KubernetesWorld, migrationNamespace, openKubernetesWorld } from './kubernetes-world.ts';

/**
 * The activities on objects on a real kube-apiserver, with the permissions of deploy/rbac and the
 * rules of deploy/admission.
 */
let world: KubernetesWorld;
let objects: ObjectAccess;
let dir: string;
let counter = 0;
const { signal } = new AbortController();
const vmVersion = 'vmoperator.vmware.com/v1alpha6';

beforeAll(async () => {
  world = await openKubernetesWorld();
  objects = objectAccess(world.admin);
  dir = mkdtempSync(join(tmpdir(), 'drover-objects-'));
  await objects.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  await objects.apply({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: 'drover-bootstrap', namespace },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'drover-worker-bootstrap' },
    subjects: [{ kind: 'ServiceAccount', name: 'drover-worker', namespace: 'drover-system' }],
  });
}, 120_000);

afterAll(async () => {
  await world.close();
  rmSync(dir, { recursive: true, force: true });
}, 60_000);

beforeEach(() => void (counter += 1));

afterEach(async () => {
  const kvm = 'kvm.cloud.sap';
  const ofVms = ['VirtualMachine', 'VirtualMachineClass', 'VirtualMachineImage', 'VirtualMachineSetResourcePolicy'].map(
    (kind): Reference => ({ apiVersion: vmVersion, kind, metadata: { namespace, name: '' } }),
  );
  const collections: Reference[] = [
    { apiVersion: `${kvm}/v1`, kind: 'Eviction', metadata: { name: '' } },
    { apiVersion: `${kvm}/v1`, kind: 'Hypervisor', metadata: { name: '' } },
    { apiVersion: `${kvm}/v1alpha1`, kind: 'Migration', metadata: { namespace: migrationNamespace, name: '' } },
    { apiVersion: 'v1', kind: 'Node', metadata: { name: '' } },
    { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name: '' } },
    { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: { name: '' } },
    { apiVersion: vmVersion, kind: 'ClusterVirtualMachineImage', metadata: { name: '' } },
    { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { namespace: 'kube-system', name: '' } },
    { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { namespace: 'kube-system', name: '' } },
    ...ofVms,
  ];
  for (const of of collections) await clear(of);
  await world.kubectl(['delete', 'pods', '--all', '-n', 'default', '--force', '--grace-period=0']);
  const kinds = ['virtualmachineimagecaches', 'virtualmachinegroups'].map(
    (plural) => `${plural}.vmoperator.vmware.com`,
  );
  await world.kubectl(['delete', 'crd', ...kinds, '--ignore-not-found']);
}, 60_000);

/** Takes all of a kind away, whatever holds it. */
async function clear(of: Reference): Promise<void> {
  for (const { metadata } of await objects.list<Reference & { metadata: { finalizers?: string[] } }>(
    of,
    of.metadata.namespace,
  )) {
    if (metadata.finalizers !== undefined) await objects.merge({ ...of, metadata }, { metadata: { finalizers: null } });
  }
  await world.admin.request({ method: 'DELETE', path: objectPath(of) }, signal);
}

const onLab: ObjectsTest = (name, body) => {
  test(name, () => body({ worker: world.worker, admin: world.admin, number: counter }), 120_000);
};

describe('activities on Evictions', () => {
  describeEvictionObjects(onLab);
});
describe('activities on Hypervisors', () => {
  describeHypervisorObjects(onLab);
});
describe('activities on Nodes', () => {
  describeNodeObjects(onLab);
});
describe('activities on Migrations', () => {
  describeMigrationObjects(onLab);
});
describe('activities on VirtualMachines', () => {
  describeVirtualMachineObjects(onLab);
});

/** What only kube-apiserver shows: permissions, rules, and what kubectl makes of it. */
describe('kube-apiserver alone', () => {
  const vm = (name: string, spec: object = {}) => ({
    apiVersion: vmVersion,
    kind: 'VirtualMachine',
    metadata: { namespace, name },
    spec,
  });

  const asAccount = async <Result>(
    account: { namespace: string; name: string },
    use: (client: ReturnType<typeof openObjects>) => Promise<Result>,
  ): Promise<Result> => {
    const kubeconfig = await writeServiceAccountKubeconfig(world.handle, {
      ...account,
      path: join(dir, `${account.name}.kubeconfig`),
    });
    const kubernetes = connectKubernetes({ kubeconfig });
    try {
      return await use(openObjects(kubernetes));
    } finally {
      await kubernetes.close();
    }
  };

  test.each(['Eviction', 'Hypervisor'] as const)('kubectl describe shows the Events of %s', async (kind) => {
    const spec = kind === 'Eviction' ? { hypervisor: 'recorded', reason: 'test' } : {};
    const { metadata } = await objects.create<Hypervisor>({
      apiVersion: 'kvm.cloud.sap/v1',
      kind,
      metadata: { name: 'recorded' },
      spec,
    });
    const regarding = { kind, name: 'recorded', uid: metadata.uid };
    await writeEvent(
      { client: openObjects(world.worker), scope: testScope(), clock: systemClock },
      { regarding, type: 'Normal', reason: 'Disabled', message: 'Disabled recorded' },
      [metadata.uid],
    );
    expect(await world.kubectl(['describe', kind.toLowerCase(), 'recorded'])).toContain('Disabled recorded');
  });

  test('kubectl get shows how far a VirtualMachine has come', async () => {
    await objects.create(vm('shown'));
    const conditions = [
      {
        type: 'Lifecycle',
        status: 'True',
        reason: 'Reconciled',
        message: '',
        lastTransitionTime: '2026-01-01T00:00:00Z',
      },
    ];
    await objects.mergeStatus(vm('shown'), { conditions });
    expect(await world.kubectl(['get', 'vm', 'shown', '-n', namespace])).toContain('Reconciled');
  });

  test('a Hypervisor leaves termination by no other way than high availability', async () => {
    const client = openObjects(world.worker);
    await objects.create({
      apiVersion: 'kvm.cloud.sap/v1',
      kind: 'Hypervisor',
      metadata: { name: 'ends' },
      spec: { maintenance: 'termination' },
    });
    const found = await client.get(resources.Hypervisor, { name: 'ends' }, signal);
    const change = client.patch(resources.Hypervisor, found!.metadata, { spec: { maintenance: '' } }, signal);
    await expect(change).rejects.toMatchObject({
      type: 'ObjectRefused',
      message: expect.stringContaining('can only change maintenance to'),
    });
  });

  test('a VirtualMachine gets a network card, and keeps its instance UUID', async () => {
    const made = await objects.create<VirtualMachine>(
      vm('ruled', { instanceUUID: '22222222-2222-4222-8222-222222222222' }),
    );
    expect(made.spec?.network?.interfaces).toMatchObject([{ name: 'eth0' }]);
    const { uid, resourceVersion } = made.metadata;
    const change = openObjects(world.worker).patch(
      resources.VirtualMachine,
      { namespace, name: 'ruled', uid, resourceVersion },
      { spec: { instanceUUID: '11111111-1111-4111-8111-111111111111' } },
      signal,
    );
    await expect(change).rejects.toMatchObject({
      type: 'ObjectRefused',
      message: expect.stringContaining('instanceUUID cannot be changed'),
    });
  });

  const cards = (more: object): object => ({ network: { interfaces: [{ name: 'eth0', ...more }] } });
  const prep = { bootstrap: { linuxPrep: {} } };
  const init = { bootstrap: { cloudInit: {} } };
  const needed: [what: string, spec: object, message: string | null][] = [
    ['mtu with LinuxPrep', { ...prep, ...cards({ mtu: 9_000 }) }, 'mtu, routes, searchDomains of the network need'],
    ['mtu without a bootstrap', cards({ mtu: 9_000 }), 'of the network need the bootstrap cloudInit'],
    ['mtu with CloudInit', { ...init, ...cards({ mtu: 9_000 }) }, null],
    ['routes with LinuxPrep', { ...prep, ...cards({ routes: [{ to: '192.0.2.0/24', via: '192.0.2.1' }] }) }, 'routes'],
    ['no routes at all', { ...prep, ...cards({ routes: [], searchDomains: [] }) }, null],
    ['a name of the device with LinuxPrep', { ...prep, ...cards({ guestDeviceName: 'lan0' }) }, 'guestDeviceName'],
    [
      'nameservers of a card with LinuxPrep',
      { ...prep, ...cards({ nameservers: ['192.0.2.53'] }) },
      'cloudInit or sysprep',
    ],
    ['nameservers of all with LinuxPrep', { ...prep, network: { nameservers: ['192.0.2.53'] } }, null],
    [
      'nameservers of all without a bootstrap',
      { network: { nameservers: ['192.0.2.53'] } },
      'cloudInit or linuxPrep or sysprep',
    ],
    [
      'nameservers of all that CloudInit shall not take',
      { bootstrap: { cloudInit: { useGlobalNameserversAsDefault: false } }, network: { nameservers: ['192.0.2.53'] } },
      'come to nothing with cloudInit.useGlobalNameserversAsDefault false',
    ],
    [
      'vlans with Sysprep',
      {
        bootstrap: { sysprep: { rawSysprep: { name: 's', key: 'k' } } },
        network: { vlans: [{ name: 'v', id: 1, link: 'eth0' }] },
      },
      'vlans of the network need the bootstrap cloudInit',
    ],
  ];
  test.each(needed)('what a bootstrap cannot set up of a network is refused: %s', async (what, spec, message) => {
    const made = objects.create<VirtualMachine>(vm(`net-${needed.findIndex(([one]) => one === what)}`, spec));
    if (message === null) await expect(made).resolves.toMatchObject({ kind: 'VirtualMachine' });
    else await expect(made).rejects.toMatchObject({ type: 'ObjectRefused', message: expect.stringContaining(message) });
  });

  test('the bridge reads VirtualMachines and classes, and neither Secrets nor StorageClasses', async () => {
    const key = { namespace, name: 'root' };
    await objects.create({ apiVersion: 'v1', kind: 'Secret', metadata: key, stringData: { password: 'hunter2' } });
    await objects.create(vm('seen'));
    await asAccount({ namespace: 'drover-system', name: 'drover-bridge' }, async (client) => {
      const found = await client.list(resources.VirtualMachine, {}, signal);
      expect(found.map(({ metadata }) => metadata.name)).toContain('seen');
      await client.list(resources.VirtualMachineClass, {}, signal);
      await expect(client.get(secretResource, key, signal)).rejects.toMatchObject({
        type: 'KubernetesForbidden',
        message: expect.stringContaining('secrets'),
      });
      await expect(client.get(storageClasses, { name: 'fast' }, signal)).rejects.toMatchObject({
        type: 'KubernetesForbidden',
      });
    });
    expect(await openObjects(world.worker).get(secretResource, key, signal)).toMatchObject({
      data: { password: Buffer.from('hunter2').toString('base64') },
    });
  });

  test('an account without a role reads nothing', async () => {
    await objects.create(vm('hidden'));
    await asAccount({ namespace: 'default', name: 'default' }, async (client) => {
      await expect(client.get(resources.VirtualMachine, { namespace, name: 'hidden' }, signal)).rejects.toMatchObject({
        type: 'KubernetesForbidden',
      });
    });
  });
});
