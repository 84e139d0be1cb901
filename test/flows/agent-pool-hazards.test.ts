import { readFileSync } from 'node:fs';
import { agentPoolAnnotations, agentPoolConditions } from '../../contracts/agent-pool/metadata.ts';
import { applyObject } from '../../lab/kubernetes-objects.ts';
import { inventory } from '../../lab/vsphere/handle.ts';
import { agentFixture, deletePool, vmFolder } from '../../lab/agents.ts';
import { checkInvariants } from '../invariants.ts';
import { type AgentWorld, beginWithEmptyPool, openAgentWorld } from './agent-world.ts';
import { until } from './until.ts';
import { startTimeoutMs } from './vsphere-world.ts';
import { limitMs } from './world-base.ts';

/** What a pool of agents must not take away, on real parts. The simulator has more (test/simulator/pools/pool-dangers.ts). */

const { namespace, controlPlaneNamespace, pool } = agentFixture;

let world: AgentWorld;

beforeAll(async () => {
  world = await openAgentWorld();
}, 2 * startTimeoutMs);
afterEach(() => checkInvariants(world.observed), limitMs);
afterAll(() => world?.close(), limitMs);

beforeEach(() => beginWithEmptyPool(world), limitMs);

test(
  'another’s VM of that name stays as it is, and the demand is said to wait',
  async () => {
    await world.scale(1);
    const [bound = ''] = await world.untilNodes(1);
    const name = bound.replace(/\d+$/u, (digits) => String(Number(digits) + 1).padStart(3, '0'));
    const path = `${vmFolder}/${name}`;
    await world.witness.cloneVm({ from: inventory.template, to: path });
    try {
      const before = await world.witness.describeVm(path);
      await world.scale(2);
      await world.untilCondition(
        agentPoolConditions.ready,
        /^False VirtualMachineNameTaken: .*does not touch it/u,
        name,
      );
      expect(await world.witness.describeVm(path)).toEqual(before);
    } finally {
      // Or it would be in the way of the next attempt.
      await world.witness.destroyVm(path);
    }
    await world.untilNodes(2);
  },
  2 * limitMs,
);

test(
  'a pool that is deleted keeps the VMs of Machines, and goes when they are gone',
  async () => {
    await world.scale(2);
    const names = await world.untilNodes(2);
    const [deleted = ''] = names;
    await deletePool(world.api);
    await world.kubectl('delete', 'va', deleted, '-n', namespace, '--wait=false');
    await world.untilCondition(agentPoolConditions.ready, /^False MachinePresent: .*scale the NodePool down/u);
    await world.untilCondition(agentPoolConditions.ready, /^False MachinePresent: /u, deleted);
    expect(await world.vms()).toEqual(names);
    const listed = await world.command('pools');
    expect(listed).toMatchObject({ code: 0, stdout: expect.stringMatching(/agents\/workers .*MachinePresent/u) });
    await world.scale(1);
    await world.untilNodes(1);
    expect(await world.pool()).not.toBeNull();
    await world.scale(0);
    await until('the pool to be gone', 30_000, async () => ((await world.pool()) === null ? {} : 'there still'));
    expect(await world.vms()).toEqual([]);
    expect(await world.agents()).toEqual([]);
  },
  2 * limitMs,
);

test(
  'a Machine that went while drover was down: its VM stays as long as its Node is in the hosted cluster',
  async () => {
    const kubeconfig = readFileSync(world.lab.handles.kubernetes.kubeconfig, 'utf8');
    await world.scale(1);
    const [name = ''] = await world.untilNodes(1);
    await applyObject(world.api, { apiVersion: 'v1', kind: 'Node', metadata: { name } });
    // The lab's cluster is the hosted one, too.
    await applyObject(world.api, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace: controlPlaneNamespace, name: 'admin-kubeconfig' },
      stringData: { kubeconfig },
    });
    // Without drover, and with that Node, no test after this one would come to an empty pool.
    try {
      await Promise.all([world.drover.kill('worker'), world.drover.kill('bridge')]);
      try {
        await world.scale(0);
        await until('the Machine to be gone', 30_000, async () => {
          const machines = ['machines.cluster.x-k8s.io', '-n', controlPlaneNamespace];
          const left = await world.kubectl('get', ...machines, '-o', 'name');
          return left === '' ? {} : left;
        });
      } finally {
        await Promise.all([world.drover.restart('worker'), world.drover.restart('bridge')]);
      }
      await until('the VM to wait for its Node', 30_000, async () => {
        const planned = JSON.stringify((await world.pool())?.status?.plannedActions);
        return planned.includes(`delete Node ${name}`) ? {} : planned;
      });
      expect(await world.vms()).toEqual([name]);
    } finally {
      await world.kubectl('delete', 'node', name);
    }
    await world.untilNodes(0);
  },
  2 * limitMs,
);

test(
  'VMs of Machines go with a pool whose deletion is forced',
  async () => {
    await world.scale(1);
    await world.untilNodes(1);
    await deletePool(world.api);
    await world.kubectl('annotate', 'vap', pool, '-n', namespace, `${agentPoolAnnotations.forceDelete}=true`);
    await until('the pool to be gone', 30_000, async () => ((await world.pool()) === null ? {} : 'there still'));
    expect(await world.vms()).toEqual([]);
  },
  2 * limitMs,
);
