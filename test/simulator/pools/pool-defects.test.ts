import type { BootedVm } from '../../../lab/agent-neighbours.ts';
import { agentFixture, applyPool, forceIso, listBootedVms, vmFolder } from '../../../lab/agents.ts';
import { applyObject } from '../../../lab/kubernetes-objects.ts';
import type { VcenterWitness } from '../../../lab/vsphere/witness.ts';
import { openObjects } from '../../../runtime/kubernetes/objects.ts';
import { resources } from '../../../runtime/kubernetes/resources.ts';
import type { VmState } from '../../fakes/vsphere/model.ts';
import { conditionOf, inPoolWorld, isoUrl, minute, namesOf, never, phasesOf, type PoolWorld } from './pool-world.ts';

/** What goes wrong with agent-forge-operator does not go wrong here. */

const { namespace } = agentFixture;
const [first] = namesOf(1) as [string];

const hasNodes = (world: PoolWorld, count: number, withinMs?: number): Promise<boolean> =>
  world.until(() => Promise.resolve(world.neighbours.nodes().length === count), withinMs);

test('a VM whose Agent never comes is replaced, though its AgentMachine waits all the while', async () => {
  await inPoolWorld({ neighbours: { isMute: ({ name }) => name === first } }, async (world) => {
    await world.scale(1);
    expect(await hasNodes(world, 1)).toBe(true);
    await world.pass(minute);
    const vms = await world.vms();
    expect(vms).toHaveLength(1);
    expect(vms).not.toContain(first);
    expect(phasesOf(await world.agents())).toEqual({ [vms[0] ?? '']: 'Bound AgentBound' });
    expect(await world.violations()).toEqual([]);
  });
});

test('a VM of that name that is not drover’s stays as it is, and the VsphereAgent says so until it is gone', async () => {
  await inPoolWorld({}, async (world) => {
    const path = `${vmFolder}/${first}`;
    await world.witness.createFolder(vmFolder);
    await world.witness.createVm(path);
    const before = await world.witness.describeVm(path);
    await world.scale(1);
    await world.pass(5 * minute);
    expect(await world.witness.describeVm(path)).toEqual(before);
    const [agent] = await world.agents();
    expect(conditionOf({ status: agent?.status }, 'Ready')).toBe('False VirtualMachineNameTaken');
    await world.scale(0);
    await world.pass(5 * minute);
    expect(await world.witness.describeVm(path)).toEqual(before);
    await world.scale(1);
    await world.witness.rename(path, 'mine');
    expect(await hasNodes(world, 1)).toBe(true);
    expect(await world.vms()).toContain('mine');
  });
});

test('… and where it is never gone, its AgentMachine gets a VM of another name', async () => {
  await inPoolWorld({}, async (world) => {
    const path = `${vmFolder}/${first}`;
    await world.witness.createFolder(vmFolder);
    await world.witness.createVm(path);
    const before = await world.witness.describeVm(path);
    await world.scale(1);
    expect(await hasNodes(world, 1)).toBe(true);
    expect(await world.witness.describeVm(path)).toEqual(before);
    await world.pass(2 * minute);
    expect(await world.agents()).toHaveLength(1);
    expect(await world.violations()).toEqual([]);
  });
});

test('a VsphereAgent that is deleted before it names its VM leaves no VM behind', async () => {
  let isKilled = false;
  await inPoolWorld(
    {
      onActivity: ({ activity }) => {
        if (activity !== 'createAgentVm' || isKilled) return 'works';
        isKilled = true;
        return 'killAfter';
      },
    },
    async (world) => {
      await world.scale(1);
      expect(await world.until(() => Promise.resolve(isKilled))).toBe(true);
      // A Machine would have it made once more.
      await world.scale(0);
      const [agent] = await world.agents();
      expect(agent?.status?.vm?.biosUUID).toBeUndefined();
      await openObjects(world.api).delete(resources.VsphereAgent, { namespace, name: first }, never);
      const isGone = async (): Promise<boolean> =>
        (await world.agents()).every(({ metadata }) => metadata.name !== first);
      expect(await world.until(isGone)).toBe(true);
      await world.pass(minute);
      // Its AgentMachine may have waited still, and have got another one.
      expect(await world.vms()).toEqual((await world.agents()).map(({ metadata }) => metadata.name));
      expect(await world.vms()).not.toContain(first);
    },
  );
});

test('of two VMs of one BIOS UUID the one that is not drover’s stays', async () => {
  await inPoolWorld({}, async (world) => {
    await world.scale(1);
    expect(await hasNodes(world, 1)).toBe(true);
    const path = `${vmFolder}/${first}`;
    const own = await world.witness.describeVm(path);
    await world.witness.cloneVm({ from: path, to: `${vmFolder}/copy` });
    const copy = await world.witness.describeVm(`${vmFolder}/copy`);
    const state = world.deployment.vcenter?.model.get<VmState>({ type: 'VirtualMachine', value: copy?.id ?? '' }).state;
    state!.config.uuid = own?.config.uuid ?? '';
    await world.scale(0);
    expect(await world.until(async () => (await world.agents()).length === 0)).toBe(true);
    expect((await listBootedVms(world.witness)).map(({ name }) => name)).toEqual(['copy']);
  });
});

test('a download that takes long holds up no VM, as the ISO before is there', async () => {
  let isSlow = false;
  await inPoolWorld({ onCall: ({ system }) => (system === 'iso' && isSlow ? 'hang' : 'works') }, async (world) => {
    await world.scale(1);
    expect(await hasNodes(world, 1)).toBe(true);
    isSlow = true;
    world.deployment.isos.set(isoUrl('b'), 'the second ISO');
    await forceIso(world.api, 'now');
    await world.pass(10_000);
    await world.scale(3);
    expect(await hasNodes(world, 3, 5 * minute)).toBe(true);
    expect(world.deployment.isos.downloads).toBe(1);
  });
});

test('a Secret of another namespace is not read', async () => {
  await inPoolWorld({ pool: null }, async (world) => {
    const elsewhere = agentFixture.controlPlaneNamespace;
    await applyObject(world.api, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace: elsewhere, name: 'others' },
      stringData: { server: 'vcenter-one.test', username: 'root', password: 'theirs' },
    });
    await applyPool(world.api, { vsphere: { credentialsSecretRef: { namespace: elsewhere, name: 'others' } } });
    await world.scale(1);
    await world.pass(3 * minute);
    const pool = await world.pool();
    expect(conditionOf(pool, 'VsphereReady')).toBe('False InvalidObject');
    expect(conditionOf(pool, 'Ready')).toBe('False InvalidObject');
    expect(await world.agents()).toEqual([]);
    expect(world.deployment.simulation.network.calls.filter(({ system }) => system === 'vsphere')).toEqual([]);
  });
});

test('a Machine of another name than its AgentMachine is the one that the VM waits for', async () => {
  const neighbours = { agentMachineName: (machine: string) => `am-${machine}` };
  await inPoolWorld({ neighbours }, async (world) => {
    await world.scale(2);
    expect(await hasNodes(world, 2)).toBe(true);
    await world.pass(minute);
    const pool = await world.pool();
    const machines = pool.status?.ownedVMs?.map(({ machineRef }) => machineRef?.name);
    expect(machines?.toSorted()).toEqual(namesOf(2));
    await world.scale(1);
    expect(await world.until(async () => (await world.vms()).length === 1)).toBe(true);
    expect(world.neighbours.nodes()).toHaveLength(1);
    expect(await world.vms()).toEqual(world.neighbours.nodes());
  });
});

test('an Agent is known by any of its interfaces, whatever its firmware shows', async () => {
  let witness: VcenterWitness | null = null;
  const listVms = async (): Promise<BootedVm[]> =>
    (await listBootedVms(witness as VcenterWitness)).map(({ biosUuid, macAddresses, ...vm }) => ({
      ...vm,
      biosUuid: biosUuid.replace(/^.{8}/u, '00000000'),
      macAddresses: ['02:00:00:00:00:01', ...macAddresses],
    }));
  await inPoolWorld({ neighbours: { listVms } }, async (world) => {
    ({ witness } = world);
    await world.scale(2);
    expect(await hasNodes(world, 2)).toBe(true);
    expect(await world.vms()).toEqual(namesOf(2));
  });
});
