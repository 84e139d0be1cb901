import { approvalOf } from '../../../contracts/agent-pool/approvals.ts';
import { agentPoolAnnotations } from '../../../contracts/agent-pool/metadata.ts';
import { agentFixture, applyPool, listBootedVms, neighboursOf, vmFolder } from '../../../lab/agents.ts';
import { applyObject } from '../../../lab/kubernetes-objects.ts';
import { labClock } from '../../../lab/clock.ts';
import { conditionOf, heldOf, inPoolWorld, minute, namesOf, never, type PoolWorld } from './pool-world.ts';

/** A pool among its neighbours: other pools, other Agents, other VMs, and other versions of what it is beside. */

const { namespace } = agentFixture;

const hasNodes = (world: PoolWorld, count: number, withinMs?: number): Promise<boolean> =>
  world.until(() => Promise.resolve(world.neighbours.nodes().length === count), withinMs);

test.each(['legacy', 'v1beta2'] as const)('conditions of the Agent provider: %s', async (conditions) => {
  await inPoolWorld({ neighbours: { conditions } }, async (world) => {
    await world.scale(2);
    expect(await hasNodes(world, 2)).toBe(true);
    await world.scale(0);
    expect(await world.until(async () => (await world.agents()).length === 0)).toBe(true);
    expect(await world.vms()).toEqual([]);
  });
});

test('of two pools of one NodePool the older one makes the VMs, and the other says why not', async () => {
  await inPoolWorld({}, async (world) => {
    await world.pass(minute);
    await applyPool(world.api, { name: 'second' });
    await world.scale(3);
    expect(await hasNodes(world, 3)).toBe(true);
    await world.pass(minute);
    expect((await world.agents()).map(({ spec }) => spec.poolRef.name)).toEqual(['workers', 'workers', 'workers']);
    expect(conditionOf(await world.pool('second'), 'Ready')).toBe('False NodePoolTaken');
    expect(conditionOf(await world.pool(), 'Ready')).toBe('True Reconciled');
  });
});

test('two pools whose Agents have the same labels: as many VMs as Machines, and each Agent is of one VM', async () => {
  await inPoolWorld({ pool: null }, async (world) => {
    const others = neighboursOf(world.api, {
      clock: { now: () => labClock().now() },
      listVms: () => listBootedVms(world.witness),
      nodePool: 'others',
    });
    await applyPool(world.api);
    await applyPool(world.api, { name: 'others', nodePool: 'others' });
    await world.scale(3);
    await others.scale(3, never);
    expect(await hasNodes(world, 6)).toBe(true);
    await world.pass(minute);
    expect(await world.vms()).toHaveLength(6);
    const agents = await world.agents();
    const of = (pool: string): number => agents.filter(({ spec }) => spec.poolRef.name === pool).length;
    expect([of('workers'), of('others')]).toEqual([3, 3]);
    expect(new Set(agents.map(({ status }) => status?.vm?.agentRef?.name)).size).toBe(6);
    expect(new Set(agents.map(({ status }) => status?.vm?.machineRef?.name)).size).toBe(6);
    await world.scale(0);
    expect(await world.until(async () => (await world.vms()).length === 3)).toBe(true);
    // Whichever pool has made them.
    expect(world.neighbours.nodes()).toEqual(await world.vms());
    expect(await world.violations()).toEqual([]);
  });
});

test('an Agent that is free already is taken, and no VM is made for it', async () => {
  await inPoolWorld({}, async (world) => {
    const condition = (type: string, status: string): object => ({
      type,
      status,
      reason: 'Given',
      message: '',
      lastTransitionTime: new Date(labClock().now()).toISOString(),
    });
    const metal = {
      apiVersion: 'agent-install.openshift.io/v1beta1',
      kind: 'Agent',
      metadata: {
        namespace,
        name: 'metal',
        labels: { ...agentFixture.labels, 'infraenvs.agent-install.openshift.io': agentFixture.infraEnv },
      },
      spec: { approved: true, role: 'worker', hostname: 'metal' },
    };
    await applyObject(world.api, metal);
    await world.api.request(
      {
        method: 'PATCH',
        patchType: 'merge',
        path: `/apis/agent-install.openshift.io/v1beta1/namespaces/${namespace}/agents/metal/status`,
        body: {
          status: {
            debugInfo: { state: 'known-unbound' },
            conditions: [condition('Connected', 'True'), condition('Validated', 'True'), condition('Bound', 'False')],
          },
        },
      },
      never,
    );
    await world.pass(minute);
    expect((await world.pool()).status).toMatchObject({ matchingAgents: 1, availableAgents: 1 });
    await world.scale(2);
    expect(await hasNodes(world, 2)).toBe(true);
    expect(world.neighbours.nodes()).toContain('metal');
    await world.pass(minute);
    expect(await world.vms()).toHaveLength(1);
  });
});

const drift = { template: { numCPUs: 4 } };

test('another template: Bound VMs stay and are said, and where a user wants that, those without a Machine are replaced', async () => {
  await inPoolWorld({}, async (world) => {
    await world.scale(3);
    expect(await world.until(async () => (await world.vms()).length === 3)).toBe(true);
    await world.scale(1);
    expect(await hasNodes(world, 1)).toBe(true);
    await world.pass(2 * minute);
    const [bound = ''] = world.neighbours.nodes();
    await applyPool(world.api, drift);
    await world.pass(5 * minute);
    expect(conditionOf(await world.pool(), 'TemplateDrifted')).toBe('True TemplateChanged');
    expect(await world.vms()).toEqual(namesOf(3));
    await applyPool(world.api, { ...drift, annotations: { [agentPoolAnnotations.replaceDrifted]: 'true' } });
    await world.pass(5 * minute);
    expect(await world.vms()).toEqual([bound]);
    expect(conditionOf(await world.pool(), 'TemplateDrifted')).toBe('True TemplateChanged');
    await world.scale(2);
    expect(await hasNodes(world, 2)).toBe(true);
    const added = (await world.vms()).find((name) => name !== bound);
    const { config } = (await world.witness.describeVm(`${vmFolder}/${added}`)) ?? {};
    expect(config?.hardware.numCPU).toBe(4);
  });
});

test('VMs that no VsphereAgent has, as after a restore: one that is off goes, one that is on waits for a user', async () => {
  await inPoolWorld({}, async (world) => {
    await world.scale(2);
    expect(await hasNodes(world, 2)).toBe(true);
    await world.pass(minute);
    const [one, two] = namesOf(2) as [string, string];
    const known = await world.agents();
    for (const name of [one, two]) await forget(world, name);
    await world.witness.setPower(`${vmFolder}/${two}`, 'off');
    await world.pass(40 * minute);
    expect(await world.vms()).toEqual([one]);
    expect(heldOf(await world.pool())).toEqual({ [one]: 'ApprovalRequired' });
    const approved = known.map(({ metadata }) => approvalOf(metadata));
    await applyPool(world.api, { annotations: { [agentPoolAnnotations.approvedDeletions]: approved.join(', ') } });
    await world.pass(5 * minute);
    expect(await world.vms()).toEqual([]);
  });
});

/** As where its object was lost: its run does nothing for it any more. */
async function forget({ api }: PoolWorld, name: string): Promise<void> {
  const path = `/apis/agent-forge.containeroo.ch/v1alpha1/namespaces/${namespace}/vsphereagents/${name}`;
  await api.request({ method: 'PATCH', patchType: 'merge', path, body: { metadata: { finalizers: [] } } }, never);
  await api.request({ method: 'DELETE', path }, never);
}

test('a NodePool that flaps between 0 and 20 for ten minutes: each VM is made once, and none goes before it was used', async () => {
  const options = { settings: { discoveryMs: 30 * minute }, neighbours: { discoveryMs: 10 * minute } };
  await inPoolWorld(options, async (world) => {
    for (let round = 0; round < 5; round += 1) {
      await world.scale(20);
      await world.pass(minute);
      await world.scale(0);
      await world.pass(minute);
    }
    expect(await world.vms()).toHaveLength(20);
    await world.scale(20);
    expect(await hasNodes(world, 20)).toBe(true);
    await world.pass(minute);
    expect(await world.vms()).toHaveLength(20);
    const created = world.deployment.audit.filter(({ action }) => action === 'createVsphereAgent');
    expect(created).toHaveLength(20);
    expect(await world.violations()).toEqual([]);
  });
});
