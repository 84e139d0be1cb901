import { agentPoolAnnotations } from '../../../contracts/agent-pool/metadata.ts';
import { agentFixture, applyPool, setIsoUrl } from '../../../lab/agents.ts';
import { applyObject, mergeObject } from '../../../lab/kubernetes-objects.ts';
import { inventory } from '../../../lab/vsphere/handle.ts';
import type { Kubernetes } from '../../../runtime/kubernetes/kubernetes.ts';
import { openObjects } from '../../../runtime/kubernetes/objects.ts';
import { neighbourResources } from '../../../runtime/kubernetes/resources.ts';
import { conditionOf, inPoolWorld, isoUrl, minute, namesOf, never, type PoolWorld } from './pool-world.ts';

/** Why a pool makes no more VMs, and that it says so. */

const { namespace, infraEnv, secret } = agentFixture;

const hasNodes = (world: PoolWorld, count: number, withinMs?: number): Promise<boolean> =>
  world.until(() => Promise.resolve(world.neighbours.nodes().length === count), withinMs);

const capacityOf = async (world: PoolWorld): Promise<string> => conditionOf(await world.pool(), 'CapacitySatisfied');

test('a pool has no more VMs than it may have, and goes on when it may have more', async () => {
  await inPoolWorld({ pool: { annotations: { [agentPoolAnnotations.maxAgents]: '2' } } }, async (world) => {
    await world.scale(4);
    expect(await hasNodes(world, 2)).toBe(true);
    await world.pass(5 * minute);
    expect(await world.vms()).toHaveLength(2);
    expect(await capacityOf(world)).toBe('False MaxAgents');
    await applyPool(world.api, { annotations: { [agentPoolAnnotations.maxAgents]: '4' } });
    expect(await hasNodes(world, 4)).toBe(true);
    await world.pass(minute);
    expect(await capacityOf(world)).toBe('True Satisfied');
  });
});

test('no more VMs are under way than may be at once', async () => {
  await inPoolWorld({ settings: { maxConcurrent: 2 } }, async (world) => {
    await world.scale(5);
    let most = 0;
    let isSaid = false;
    const isThere = async (): Promise<boolean> => {
      const underWay = (await world.agents()).filter(
        ({ status }) => (status?.vm?.phase ?? 'Provisioning') === 'Provisioning',
      );
      most = Math.max(most, underWay.length);
      isSaid ||= (await capacityOf(world)) === 'False MaxConcurrent';
      return world.neighbours.nodes().length === 5;
    };
    expect(await world.until(isThere)).toBe(true);
    expect(most).toBe(2);
    expect(isSaid).toBe(true);
    expect(await world.vms()).toEqual(namesOf(5));
  });
});

const quotaOf = (api: Kubernetes, count: number): Promise<void> =>
  applyObject(api, {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { namespace, name: 'few' },
    spec: { hard: { 'count/vsphereagents.agent-forge.containeroo.ch': String(count) } },
  });

test('a quota of the namespace refuses some, and the pool says so, and goes on when it is raised', async () => {
  await inPoolWorld({ prepare: (api) => quotaOf(api, 2) }, async (world) => {
    await world.scale(3);
    expect(await hasNodes(world, 2)).toBe(true);
    await world.pass(3 * minute);
    const { status } = await world.pool();
    expect(conditionOf({ status }, 'CapacitySatisfied')).toBe('False CreateRefused');
    expect(status?.conditions?.find(({ type }) => type === 'CapacitySatisfied')?.message).toContain(
      'exceeded quota: few',
    );
    await quotaOf(world.api, 3);
    expect(await hasNodes(world, 3, 5 * minute)).toBe(true);
  });
});

test('where no Agent ever comes, so many VMs are replaced within an hour, and the others are held', async () => {
  const settings = { replacementsPerHour: 2 };
  await inPoolWorld({ settings, neighbours: { isMute: () => true } }, async (world) => {
    await world.scale(2);
    await world.pass(55 * minute);
    const made = await createsOf(world);
    expect(made).toBe(4);
    expect(await world.vms()).toHaveLength(2);
    expect(await capacityOf(world)).toBe('False ReplacementLimit');
    await world.pass(60 * minute);
    expect(await createsOf(world)).toBe(6);
    expect(await world.vms()).toHaveLength(2);
  });
});

const createsOf = ({ deployment }: PoolWorld): Promise<number> =>
  Promise.resolve(deployment.audit.filter(({ action }) => action === 'createVsphereAgent').length);

test('a datastore cluster without room makes no VM, and the pool says so', async () => {
  await inPoolWorld({}, async (world) => {
    const [one] = inventory.podDatastores;
    // 1 PiB each.
    const sizeMiB = 0.95 * 2 ** 30;
    for (const datastore of inventory.podDatastores)
      await world.witness.createDisk({ datastore, path: 'full.vmdk', sizeMiB });
    await world.pass(2 * minute);
    await world.scale(1);
    await world.pass(3 * minute);
    expect(await capacityOf(world)).toBe('False DatastoreClusterFull');
    expect(await world.agents()).toEqual([]);
    await world.witness.removeFiles({ datastore: one, path: 'full.vmdk' });
    expect(await hasNodes(world, 1)).toBe(true);
  });
});

const setSecret = (api: Kubernetes, stringData: object): Promise<void> =>
  mergeObject(api, { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name: secret }, stringData });

test('a vCenter that no setting names is reached by no pool, and the pool says so', async () => {
  await inPoolWorld({ pool: null }, async (world) => {
    await setSecret(world.api, { server: 'elsewhere.test', username: 'drover', password: 'simulated' });
    await applyPool(world.api);
    await world.scale(1);
    await world.pass(3 * minute);
    const { status } = await world.pool();
    expect(conditionOf({ status }, 'VsphereReady')).toBe('False InvalidConfiguration');
    expect(status?.conditions?.find(({ type }) => type === 'VsphereReady')?.message).toContain('vsphere.vcenters');
    expect(await world.agents()).toEqual([]);
    await setSecret(world.api, { server: world.deployment.vcenter?.settings.url ?? '' });
    expect(await hasNodes(world, 1)).toBe(true);
  });
});

test('a Secret that is not there, or lacks something, is said; and what it lacked is taken when it comes', async () => {
  const pool = { vsphere: { credentialsSecretRef: { name: 'later' } } };
  await inPoolWorld({ pool }, async (world) => {
    await world.scale(1);
    await world.pass(3 * minute);
    expect(conditionOf(await world.pool(), 'VsphereReady')).toBe('False InvalidObject');
    const { url } = world.deployment.vcenter?.settings ?? { url: '' };
    const later = (stringData: object): Promise<void> =>
      applyObject(world.api, { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name: 'later' }, stringData });
    await later({ server: url, username: 'drover' });
    await world.pass(3 * minute);
    const { status } = await world.pool();
    expect(status?.conditions?.find(({ type }) => type === 'VsphereReady')?.message).toContain('has no password');
    await later({ password: 'simulated' });
    expect(await hasNodes(world, 1)).toBe(true);
  });
});

test('a vCenter that refuses the credential is said; VMs that are there stay, and serve on', async () => {
  await inPoolWorld({}, async (world) => {
    await world.scale(1);
    expect(await hasNodes(world, 1)).toBe(true);
    await world.deployment.vcenter?.control.fail({
      method: 'RetrievePropertiesEx',
      fault: 'InvalidLogin',
      count: 1_000_000,
    });
    await world.pass(2 * minute);
    await world.scale(2);
    await world.pass(5 * minute);
    expect(conditionOf(await world.pool(), 'VsphereReady')).toMatch(/^False Vsphere/u);
    expect(await world.vms()).toHaveLength(1);
    await world.deployment.vcenter?.control.reset();
    expect(await hasNodes(world, 2)).toBe(true);
  });
});

test('without an InfraEnv, or its ISO, nothing is made; with it, all that waits', async () => {
  const noInfraEnv = async (api: Kubernetes): Promise<void> => {
    const key = { namespace, name: infraEnv };
    await openObjects(api).delete(neighbourResources.InfraEnv, key, never);
  };
  await inPoolWorld({ prepare: noInfraEnv }, async (world) => {
    await world.scale(1);
    await world.pass(3 * minute);
    expect(conditionOf(await world.pool(), 'InfraEnvAvailable')).toBe('False InfraEnvUnavailable');
    expect(conditionOf(await world.pool(), 'Ready')).toBe('False InfraEnvUnavailable');
    await applyObject(world.api, {
      apiVersion: 'agent-install.openshift.io/v1beta1',
      kind: 'InfraEnv',
      metadata: { namespace, name: infraEnv },
      spec: {},
    });
    await world.pass(3 * minute);
    expect(await world.vms()).toEqual([]);
    await setIsoUrl(world.api, isoUrl('a'));
    expect(await hasNodes(world, 1)).toBe(true);
    await world.pass(minute);
    expect(conditionOf(await world.pool(), 'InfraEnvAvailable')).toBe('True Available');
  });
});
