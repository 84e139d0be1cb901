import { applyObject } from '../../../lab/kubernetes-objects.ts';
import { inventory } from '../../../lab/vsphere/handle.ts';
import { openObjects } from '../../../runtime/kubernetes/objects.ts';
import { resources } from '../../../runtime/kubernetes/resources.ts';
import { never, openVirtual } from '../../../test/contracts/hosts/subject.ts';
import { createFakeKubernetes } from '../../../test/fakes/kubernetes/fake-kubernetes.ts';
import { createFakeVcenter } from '../../../test/fakes/vsphere/vcenter.ts';
import { poolSpec } from '../../../test/fixtures/activities/agent-pool.ts';
import { testScope } from '../../../test/fixtures/activities/nova.ts';
import { openPoolVcenters } from '../vcenter/pool-vcenters.ts';
import { createVsphereAgentActivities } from '../vsphere-agent/activities.ts';
import { judgeStrays } from './look-at-vcenter.ts';
import { openPoolInventory } from './pool-inventory.ts';

const namespace = 'team';
const apiVersion = 'agent-forge.containeroo.ch/v1alpha1';
const sha256 = 'a'.repeat(64);
const base64 = (text: string): string => Buffer.from(text).toString('base64');

test('what a vCenter has of a pool: its VMs, its space, its ISO; and a VM without a VsphereAgent goes', async () => {
  const virtual = openVirtual();
  const { clock, run } = virtual;
  const kubernetes = createFakeKubernetes(virtual);
  const vcenter = createFakeVcenter({ ...virtual, name: 'lab' });
  const client = openObjects(kubernetes.client);
  const vcenters = openPoolVcenters({
    client,
    vcenters: [vcenter.settings],
    systemNamespace: 'drover-system',
    openVcenter: (own) => vcenter.openVim(own),
    openRest: (own) => vcenter.openRest(own),
    clock,
  });
  const common = {
    client,
    clock,
    stopGate: async () => undefined,
    audit: { record: async () => undefined },
    scope: () => testScope({ deadlineMs: clock.now() + 3_600_000 }),
  };
  const agents = createVsphereAgentActivities({
    ...common,
    vcenters,
    settings: { mode: 'act', recheckMs: 1, lingerMs: 0, publishMinMs: 0, cluster: '', slotRenewMs: 1 },
    namespaces: [],
    releaseSlot: async () => undefined,
    signalWithStart: async () => undefined,
  });
  const pools = openPoolInventory({
    vcenters,
    openDatastoreHttp: (settings) => vcenter.openDatastoreHttp(settings),
    clock,
  });
  const spec = {
    ...poolSpec,
    template: { diskGiB: 20, memoryMiB: 1_024 },
    vsphere: {
      credentialsSecretRef: { name: 'vcenter' },
      datacenter: inventory.datacenter,
      datastoreCluster: 'DC0_POD0',
      isoDatastore: 'LocalDS_0',
      network: 'VM Network',
      resourcePool: 'DC0_C0/Resources',
    },
  };
  await run(async () => {
    for (const object of [
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { namespace, name: 'vcenter' },
        data: { server: base64('lab.test'), username: base64('pools'), password: base64('hidden') },
      },
      { apiVersion, kind: 'VsphereAgentPool', metadata: { namespace, name: 'pool' }, spec },
      { apiVersion, kind: 'VsphereAgent', metadata: { namespace, name: 'a' }, spec: { poolRef: { name: 'pool' } } },
    ])
      await applyObject(kubernetes.admin, object);
    const status = { iso: { path: `agent-forge/${sha256}.iso`, sha256, sizeBytes: 1 } };
    const pool = await client.patchStatus(resources.VsphereAgentPool, { namespace, name: 'pool' }, status, never);
    const [agent] = await client.list(resources.VsphereAgent, { namespace }, never);
    if (agent === undefined) throw new Error('no VsphereAgent');
    expect((await pools.look(pool, never)).vms).toEqual([]);
    await agents.createAgentVm({ namespace, name: 'a', uid: agent.metadata.uid });
    const path = `${inventory.vmFolder}/${spec.hostedClusterRef.name}/a`;
    await vcenter.witness.setPower(path, 'off');

    const seen = await pools.look(pool, never);
    expect(seen).toMatchObject({
      vms: [{ agent: `${namespace}/a`, uid: agent.metadata.uid, poolUid: pool.metadata.uid }],
      isIsoGone: true,
    });
    expect(seen.space.freeBytes).toBeGreaterThan(0);
    const of = { pool, cluster: '', nowMs: clock.now() + 31 * 60_000 };
    expect(judgeStrays(seen.vms, [agent], of)).toEqual({ strays: [], held: [] });
    const [stray] = judgeStrays(seen.vms, [], of).strays;
    if (stray === undefined) throw new Error('no stray');
    const tools = { ...common, scope: common.scope() };
    await vcenter.witness.setPower(path, 'on');
    expect(await pools.destroy(tools, pool, stray, 'no pool has it')).toBe(false);
    await vcenter.witness.setPower(path, 'off');
    expect(await pools.destroy(tools, pool, stray, 'no pool has it')).toBe(true);
    expect((await pools.look(pool, never)).vms).toEqual([]);
    expect(await pools.destroy(tools, pool, stray, 'no pool has it')).toBe(false);
  });
  await run(() => vcenters.close());
});
