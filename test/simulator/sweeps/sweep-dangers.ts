import { machineFixture, putMachine, removeClass, removeMachine, vmPath, vsphereMarks } from '../../../lab/machines.ts';
import { periodMs, type SweepWorld, type SweepWorldOptions } from './sweep-world.ts';

/** What may go wrong around a sweep: in none of it is a VM deleted that is needed, and where a gate is off, one is. */
export interface Danger {
  name: string;
  options?: SweepWorldOptions;
  /** What switches the gates off that save the VMs; null: no setting does. */
  gatesOff: object | null;
  /** Names of VMs that must be there, whatever happens. */
  needed: readonly string[];
  /** Orphans that are to go all the same, when it is over. */
  orphans?: readonly string[];
  readonly happen: (world: SweepWorld) => Promise<void>;
}

const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `worker-${index + 1}`);
const workers = names(5);

async function makeWorkers(world: SweepWorld, wanted: readonly string[] = workers): Promise<void> {
  for (const name of wanted) await world.makeVm(name);
}

/** The deletion of a Machine is what a sweep begins for at once. */
async function provoke(world: SweepWorld): Promise<void> {
  await putMachine(world.api, { name: 'passing' });
  await removeMachine(world.api, 'passing');
}

export const dangers: readonly Danger[] = [
  {
    name: 'the API server of the Machines is away at the start',
    gatesOff: null,
    needed: workers,
    orphans: ['orphan'],
    async happen(world) {
      await makeWorkers(world);
      await world.makeVm('orphan', { machine: null });
      world.deployment.kubernetes.service.kill();
      await world.pass(8 * periodMs);
      world.deployment.kubernetes.service.start();
      await world.pass(8 * periodMs);
    },
  },
  {
    name: 'the API server of the Nodes is away',
    options: { hasTarget: true },
    gatesOff: { frozen: false },
    needed: [...workers, 'orphan'],
    async happen(world) {
      await makeWorkers(world);
      await world.pass(2 * periodMs);
      world.deployment.target.service.kill();
      await world.pass(2 * periodMs);
      await world.makeVm('orphan', { machine: null });
      await world.pass(10 * periodMs);
    },
  },
  {
    name: 'the list of Machines is empty',
    gatesOff: { approveWithoutMachines: false, approveAbove: null },
    needed: workers,
    async happen(world) {
      await makeWorkers(world);
      await world.pass(4 * periodMs);
      for (const name of workers) await removeMachine(world.api, name);
      await world.pass(10 * periodMs);
    },
  },
  {
    name: 'most of the Machines are gone',
    gatesOff: { approveAbove: null },
    needed: names(10),
    async happen(world) {
      await makeWorkers(world, names(10));
      await world.pass(4 * periodMs);
      for (const name of names(6)) await removeMachine(world.api, name);
      await world.pass(10 * periodMs);
    },
  },
  {
    name: 'a cluster is taken over, and its Machines come later',
    options: { sweep: { probationMs: 20 * periodMs } },
    gatesOff: { probationMs: 0 },
    needed: ['worker-1', 'worker-2', 'worker-3'],
    async happen(world) {
      await world.makeVm('worker-1');
      const late = ['worker-2', 'worker-3'];
      const ids = [];
      for (const name of late) ids.push(await world.makeVm(name, { machine: null }));
      await world.pass(10 * periodMs);
      for (const [index, name] of late.entries()) await putMachine(world.api, { name, providerId: ids[index] ?? '' });
      await world.pass(15 * periodMs);
    },
  },
  {
    name: 'a create is on its way for long, and its Machine has no id yet',
    gatesOff: null,
    needed: [...workers, 'slow', 'crashing'],
    async happen(world) {
      await makeWorkers(world);
      await world.makeVm('slow', { machine: { providerId: '', phase: '' } });
      await world.makeVm('crashing', { machine: { providerId: '', phase: 'CrashLoopBackOff' } });
      await world.pass(12 * periodMs);
    },
  },
  {
    name: 'a VM was created seconds ago, and its Machine does not name it yet',
    gatesOff: { ageMs: 0, sightings: 1 },
    needed: [...workers, 'young'],
    async happen(world) {
      await makeWorkers(world);
      await world.pass(4 * periodMs);
      const providerId = await world.makeVm('young', { machine: { providerId: '', phase: 'Pending' } });
      await provoke(world);
      await world.pass(periodMs / 2);
      await putMachine(world.api, { name: 'young', providerId });
      await world.pass(8 * periodMs);
    },
  },
  {
    name: 'a burst of deletions sweeps again and again while a Machine does not name its VM',
    options: { sweep: { ageMs: 0 } },
    gatesOff: { sightings: 1 },
    needed: [...workers, 'young'],
    async happen(world) {
      await makeWorkers(world);
      await world.pass(4 * periodMs);
      const providerId = await world.makeVm('young', { machine: { providerId: '', phase: 'Pending' } });
      for (let time = 0; time < 5; time += 1) {
        await provoke(world);
        await world.pass(4_000);
      }
      await putMachine(world.api, { name: 'young', providerId });
      await world.pass(8 * periodMs);
    },
  },
  {
    name: 'the credential sees VMs of another cluster, of none, and of one that has half of the marks',
    gatesOff: null,
    needed: [...workers, 'other', 'unmarked', 'half'],
    orphans: ['orphan'],
    async happen(world) {
      await makeWorkers(world);
      await world.makeVm('other', { machine: null, marks: vsphereMarks('shoot-2') });
      await world.makeVm('unmarked', { machine: null, marks: {} });
      await world.makeVm('half', { machine: null, marks: { 'mcm.gardener.cloud/cluster': machineFixture.namespace } });
      await world.makeVm('orphan', { machine: null });
      await world.pass(10 * periodMs);
    },
  },
  {
    name: 'a user has renamed a VM',
    gatesOff: { renamedAreKept: false },
    needed: [...workers.slice(1), 'renamed'],
    async happen(world) {
      await makeWorkers(world);
      await world.pass(4 * periodMs);
      await world.witness.rename(vmPath('worker-1'), 'renamed');
      await world.pass(10 * periodMs);
    },
  },
  {
    name: 'a class is deleted, and its Machines after it',
    gatesOff: null,
    needed: workers,
    async happen(world) {
      await makeWorkers(world);
      await world.pass(4 * periodMs);
      await removeClass(world.api, 'vsphere');
      for (const name of workers) await removeMachine(world.api, name);
      await world.pass(10 * periodMs);
    },
  },
  {
    name: 'vCenter answers the first half of a list, and Nova all of it',
    gatesOff: null,
    needed: workers,
    orphans: ['orphan-server'],
    async happen(world) {
      await makeWorkers(world);
      await world.makeServer('kept-server');
      await world.makeServer('orphan-server', { machine: null });
      await world.makeVm('orphan', { machine: null });
      const fault = { fault: 'ManagedObjectNotFound', count: 1_000_000 };
      await world.deployment.vcenter?.control.fail({ method: 'RetrievePropertiesEx', skip: 1, ...fault });
      await world.pass(10 * periodMs);
    },
  },
];
