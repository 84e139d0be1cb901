import { agentFixture, deletePool, forceIso, setIsoUrl, vmFolder } from '../../../lab/agents.ts';
import { applyObject, mergeStatus } from '../../../lab/kubernetes-objects.ts';
import type { Agent } from '../../../contracts/crds/agent.ts';
import { openObjects } from '../../../runtime/kubernetes/objects.ts';
import { neighbourResources, resources } from '../../../runtime/kubernetes/resources.ts';
import { giveAccess, makeNode } from './hosted-cluster.ts';
import {
  conditionOf,
  inPoolWorld,
  isoUrl,
  minute,
  namesOf,
  never,
  type PoolWorld,
  type PoolWorldOptions,
} from './pool-world.ts';

/** What may go wrong around a pool, and is prevented by what no setting switches off (pool-mutations.ts). */
export interface PoolDanger {
  name: string;
  options?: () => PoolWorldOptions;
  /** Returns what is amiss in the end, a sentence each. */
  happen(world: PoolWorld): Promise<string[]>;
}

const { namespace } = agentFixture;
const [first] = namesOf(1) as [string];
const path = `${vmFolder}/${first}`;

async function growTo(world: PoolWorld, count: number): Promise<void> {
  await world.scale(count);
  await world.until(() => Promise.resolve(world.neighbours.nodes().length === count), 15 * minute);
  await world.pass(minute);
}

const complainWhere = (isWrong: boolean, what: string): string[] => (isWrong ? [what] : []);
const missing = async (world: PoolWorld, names: readonly string[]): Promise<string[]> => {
  const there = await world.vms();
  return names.filter((name) => !there.includes(name)).map((name) => `VM ${name} is gone`);
};
const asked = ({ deployment }: PoolWorld, activity: string): number =>
  deployment.simulation
    .runs()
    .flatMap(({ activities }) => activities)
    .filter((one) => one === activity).length;

const isoFiles = ({ witness }: PoolWorld): Promise<string[]> =>
  witness.listFiles({ datastore: agentFixture.isoDatastore, path: 'agent-forge' });

let hasKilled = false;
let isLost = false;

export const poolDangers: readonly PoolDanger[] = [
  {
    name: 'a VM is given another mark by a user, and its Machine goes',
    async happen(world) {
      await growTo(world, 1);
      await world.witness.changeVm(path, { extraConfig: { 'drover.vsphereAgentUid': 'mine' } });
      await world.scale(0);
      await world.pass(10 * minute);
      return await missing(world, [first]);
    },
  },
  {
    name: 'a VM of the name is there already',
    async happen(world) {
      await world.witness.createFolder(vmFolder);
      await world.witness.createVm(path);
      await world.scale(1);
      await world.pass(3 * minute);
      const [agent] = await world.agents();
      const said = conditionOf({ status: agent?.status }, 'Ready');
      return [
        ...complainWhere(said !== 'False VirtualMachineNameTaken', `its VsphereAgent says ${said}`),
        ...(await missing(world, [first])),
      ];
    },
  },
  {
    name: 'a pool is deleted while its VMs are Nodes',
    async happen(world) {
      await growTo(world, 2);
      await deletePool(world.api);
      await world.pass(5 * minute);
      const going = (await world.agents()).filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
      return [
        ...complainWhere(going.length > 0, `${going.length} VsphereAgents go`),
        ...(await missing(world, namesOf(2))),
      ];
    },
  },
  {
    name: 'a VsphereAgent is deleted by hand while its VM is a Node',
    async happen(world) {
      await growTo(world, 1);
      await openObjects(world.api).delete(resources.VsphereAgent, { namespace, name: first }, never);
      await world.pass(5 * minute);
      const times = asked(world, 'destroyAgentVm');
      return [...complainWhere(times > 0, `${times} destroys were asked for`), ...(await missing(world, [first]))];
    },
  },
  {
    name: 'the answer to the create of VsphereAgents is lost',
    options: () => {
      isLost = false;
      return {
        onActivity({ activity }) {
          if (activity !== 'createVsphereAgents' || isLost) return 'works';
          isLost = true;
          return 'failAfter';
        },
      };
    },
    async happen(world) {
      await growTo(world, 2);
      const agents = await world.agents();
      return complainWhere(agents.length !== 2, `there are ${agents.length} VsphereAgents for 2 Machines`);
    },
  },
  {
    name: 'the worker dies when it has made a VM',
    options: () => {
      hasKilled = false;
      return {
        onActivity({ activity }) {
          if (activity !== 'createAgentVm' || hasKilled) return 'works';
          hasKilled = true;
          return 'killAfter';
        },
      };
    },
    async happen(world) {
      await growTo(world, 1);
      const [vms, nodes] = [await world.vms(), world.neighbours.nodes()];
      return complainWhere(
        vms.join() !== first || nodes.join() !== first,
        `there are VMs ${vms.join()}, Nodes ${nodes.join()}`,
      );
    },
  },
  {
    name: 'an ISO is replaced that is in the drive of a VM',
    options: () => ({ pool: { iso: { retainVersions: 1 } } }),
    async happen(world) {
      await world.scale(1);
      await world.until(async () => (await world.vms()).length === 1);
      // No AgentMachine takes it, so that nothing is installed.
      await world.scale(0);
      await world.pass(2 * minute);
      const before = await isoFiles(world);
      world.deployment.isos.set(isoUrl('b', 'two'), 'the second ISO');
      await setIsoUrl(world.api, isoUrl('b', 'two'));
      await forceIso(world.api, 'now');
      await world.pass(5 * minute);
      const there = await isoFiles(world);
      return [
        ...complainWhere(there.length === before.length && there.join() === before.join(), 'no second ISO came'),
        ...before.filter((file) => !there.includes(file)).map((file) => `${file} is gone`),
      ];
    },
  },
  {
    name: 'another host has the name of a VM',
    options: () => ({ neighbours: { isMute: () => true } }),
    async happen(world) {
      const agent = {
        apiVersion: 'agent-install.openshift.io/v1beta1',
        kind: 'Agent',
        metadata: {
          namespace,
          name: 'metal',
          labels: { 'infraenvs.agent-install.openshift.io': agentFixture.infraEnv },
        },
      };
      await applyObject(world.api, { ...agent, spec: { approved: false, role: 'auto-assign', hostname: first } });
      const interfaces = [{ name: 'eno1', macAddress: '02:00:00:00:00:01' }];
      const inventory = {
        hostname: first,
        systemVendor: { serialNumber: '00000000-0000-4000-8000-000000000001' },
        interfaces,
      };
      await mergeStatus(world.api, { ...agent, status: { inventory } });
      await world.scale(1);
      await world.pass(5 * minute);
      const found: Agent | null = await openObjects(world.api).get(
        neighbourResources.Agent,
        { namespace, name: 'metal' },
        never,
      );
      return [
        ...complainWhere(found === null, 'Agent metal is gone'),
        ...complainWhere(found?.spec?.approved === true, 'Agent metal is approved'),
      ];
    },
  },
  {
    name: 'a Machine went while drover was down, and its Node is there',
    options: () => ({ prepare: giveAccess }),
    async happen(world) {
      await growTo(world, 1);
      await makeNode(world.deployment, first);
      await world.down(5 * minute, () => world.scale(0));
      await world.pass(5 * minute);
      return await missing(world, [first]);
    },
  },
  {
    name: 'a VsphereAgent is lost while its VM is a Node',
    async happen(world) {
      await growTo(world, 1);
      const at = `/apis/agent-forge.containeroo.ch/v1alpha1/namespaces/${namespace}/vsphereagents/${first}`;
      await world.api.request(
        { method: 'PATCH', patchType: 'merge', path: at, body: { metadata: { finalizers: [] } } },
        never,
      );
      await world.api.request({ method: 'DELETE', path: at }, never);
      await world.pass(40 * minute);
      return await missing(world, [first]);
    },
  },
];

/** Runs what may go wrong. @param bundle default: drover's own workflows */
export async function complaintsOf(name: string, bundle?: PoolWorldOptions['bundle']): Promise<string[]> {
  const danger = poolDangers.find((one) => one.name === name);
  if (danger === undefined) throw new Error(`there is no danger ${name}`);
  const options = { ...danger.options?.(), ...(bundle !== undefined && { bundle }) };
  return await inPoolWorld(options, async (world) => [...(await danger.happen(world)), ...(await world.violations())]);
}
