import { agentPoolConditions, agentVmKeys } from '../../contracts/agent-pool/metadata.ts';
import { agentPoolId, vsphereAgentId } from '../../contracts/ids.ts';
import { run } from '../../lab/kubectl.ts';
import { agentFixture } from '../../lab/agents.ts';
import { checkInvariants } from '../invariants.ts';
import { type AgentWorld, beginWithEmptyPool, openAgentWorld } from './agent-world.ts';
import { until } from './until.ts';
import { startTimeoutMs } from './vsphere-world.ts';
import { limitMs } from './world-base.ts';

/** A pool of agents on real parts. Its neighbours are played. */

const { namespace, controlPlaneNamespace, pool } = agentFixture;
const object = `${namespace}/${pool}`;

let world: AgentWorld;

beforeAll(async () => {
  world = await openAgentWorld();
}, 2 * startTimeoutMs);
afterEach(() => checkInvariants(world.observed), limitMs);
afterAll(() => world?.close(), limitMs);

beforeEach(() => beginWithEmptyPool(world), limitMs);

const created = async (): Promise<string[]> =>
  (await world.asked('CreateVM_Task')).map(({ body }) => /<name>([^<]+)<\/name>/u.exec(body)?.[1] ?? '');

/** The names of those whose creates are under way. */
async function untilCreating(count: number): Promise<string[]> {
  const before = await created();
  return await until(`${count} creates to be under way`, 30_000, async () => {
    const names = (await created()).slice(before.length);
    return names.length >= count ? names : names.join();
  });
}

test(
  'from nothing to three Nodes and back: one ISO, three VMs, and what users see of them',
  async () => {
    await world.scale(3);
    await world.untilNodes(3);
    await world.untilCondition(agentPoolConditions.ready, /^True Reconciled/u);
    await until('the ISO to be out of each drive', 30_000, async () => {
      const isos = (await world.witness.listVms(agentFixture.folder)).flatMap((vm) => vm.isos);
      return isos.length === 0 ? {} : isos.join();
    });
    for (const vm of await world.witness.listVms(agentFixture.folder)) {
      const { uid } = (await world.agents()).find(({ metadata }) => metadata.name === vm.name)?.metadata ?? {};
      expect(vm).toMatchObject({
        powerState: 'poweredOn',
        instanceUuid: uid,
        extraConfig: { [agentVmKeys.agent]: `${namespace}/${vm.name}`, [agentVmKeys.pool]: object },
      });
    }
    expect(await world.asked('PUT /folder')).toHaveLength(1);
    expect((await world.isos.requests()).filter(({ method }) => method === 'GET')).toHaveLength(1);

    expect(await world.kubectl('get', 'vap', '-n', namespace, '--no-headers')).toMatch(/^workers +0 +3 +3 /u);
    expect(await world.kubectl('get', 'va', '-n', namespace, '--no-headers')).toMatch(
      /^workers-001 +workers +workers-001 +Bound /u,
    );
    const events = await world.kubectl('get', 'events', '-n', namespace);
    expect(events).toMatch(/PlanApplied +vsphereagentpool\/workers /u);
    expect(events).toMatch(/VMCreated +vsphereagent\/workers-001 /u);
    const listed = await world.command('pools');
    expect(listed).toMatchObject({ code: 0, stdout: expect.stringMatching(/agents\/workers .*Reconciled/u) });
    const described = await world.command('describe', 'pool', object);
    expect(described).toMatchObject({ code: 0, stdout: expect.stringMatching(/workers-003 +Bound/u) });

    await world.scale(0);
    await world.untilNodes(0);
    expect(await world.kubectl('get', 'agents.agent-install.openshift.io', '-n', namespace, '-o', 'name')).toBe('');
  },
  2 * limitMs,
);

test(
  'a worker that is killed in mid-create: one VM for each, and no more',
  async () => {
    await world.vcenter.delayTasks({ CreateVm: 4_000 });
    const creating = untilCreating(2);
    await world.scale(2);
    const names = await creating;
    await world.drover.kill('worker');
    await world.vcenter.delayTasks({});
    await world.drover.restart('worker');
    await world.untilNodes(2);
    expect(await world.vms()).toEqual(names.toSorted());
    expect((await created()).filter((name) => names.includes(name))).toHaveLength(2);
  },
  2 * limitMs,
);

test(
  'runs that are cancelled and terminated come back, and nothing is lost or made twice',
  async () => {
    const handle = (id: string) => world.client.workflow.getHandle(id);
    await world.vcenter.delayTasks({ CreateVm: 4_000 });
    const creating = untilCreating(2);
    await world.scale(2);
    const names = await creating;
    const [cancelled = '', terminated = ''] = names;
    await handle(vsphereAgentId(namespace, cancelled)).cancel();
    await handle(vsphereAgentId(namespace, terminated)).terminate('by a test');
    await handle(agentPoolId(namespace, pool)).terminate('by a test');
    await world.vcenter.delayTasks({});
    await world.untilNodes(2);
    await handle(agentPoolId(namespace, pool)).cancel();
    await world.scale(1);
    await world.untilNodes(1);
  },
  2 * limitMs,
);

const worker = 'drover-worker';
const bridge = 'drover-bridge';

test('what the service accounts may do with pools and their neighbours', async () => {
  const forge = 'agent-forge.containeroo.ch';
  const provider = 'capi-provider.agent-install.openshift.io';
  const install = 'agent-install.openshift.io';
  const asked = [
    [worker, 'yes', 'create', `vsphereagents.${forge}`, namespace],
    [worker, 'yes', 'get', 'secrets', namespace],
    [worker, 'no', 'get', 'secrets', 'kube-system'],
    [worker, 'no', 'list', 'secrets', namespace],
    [worker, 'no', 'delete', `vsphereagentpools.${forge}`, namespace],
    [worker, 'no', 'create', `agents.${install}`, namespace],
    [worker, 'no', 'patch', `infraenvs.${install}`, namespace],
    [worker, 'no', 'create', `agentmachines.${provider}`, controlPlaneNamespace],
    [worker, 'no', 'delete', `agentmachines.${provider}`, controlPlaneNamespace],
    [worker, 'no', 'patch', 'machines.cluster.x-k8s.io', controlPlaneNamespace],
    [worker, 'no', 'delete', 'machines.cluster.x-k8s.io', controlPlaneNamespace],
    [worker, 'no', 'get', 'nodepools.hypershift.openshift.io', namespace],
    [worker, 'no', 'patch', 'nodepools.hypershift.openshift.io', namespace],
    [bridge, 'yes', 'watch', `vsphereagents.${forge}`, namespace],
    [bridge, 'no', 'patch', `vsphereagents.${forge}`, namespace],
    [bridge, 'no', 'get', 'secrets', namespace],
  ] as const;
  const { kubernetes } = world.lab.handles;
  const answers = asked.map(async ([account, , verb, what, where]) => {
    const user = `system:serviceaccount:drover-system:${account}`;
    const args = ['auth', 'can-i', '--as', user, verb, what, '-n', where];
    const { stdout } = await run(kubernetes.kubectl, args, { env: { KUBECONFIG: kubernetes.kubeconfig } });
    return [account, stdout.trim(), verb, what, where];
  });
  expect(await Promise.all(answers)).toEqual(asked);
});
