import { kubectl } from '../../lab/kubectl.ts';
import {
  machineFixture,
  makeMachineServer,
  makeMachineVm,
  putMachine,
  removeMachine,
  vmPath,
  vsphereMarks,
} from '../../lab/machines.ts';
import { checkInvariants } from '../invariants.ts';
import { type MachineWorld, openMachineWorld } from './machine-world.ts';
import { until } from './until.ts';
import { startTimeoutMs } from './vsphere-world.ts';
import { limitMs } from './world-base.ts';

/** The safety jobs of Machines on real parts. */

const { namespace } = machineFixture;

let world: MachineWorld;

beforeAll(async () => {
  world = await openMachineWorld({ sweep: { ageMs: 0, sightings: 2, probationMs: 0 } });
}, 2 * startTimeoutMs);

afterEach(() => checkInvariants(world.observed), limitMs);

afterAll(() => world?.close(), limitMs);

test(
  'orphans at vCenter and in Nova go once two sweeps agree; what Machines have, and what is another cluster’s, stays',
  async () => {
    await makeMachineVm(world.witness, 'other', vsphereMarks('another'));
    // It is no orphan before it is kept.
    await putMachine(world.api, { name: 'kept', phase: '' });
    const kept = await makeMachineVm(world.witness, 'kept');
    expect(await world.command('sweep', 'keep', kept, '--reason', 'a disk')).toMatchObject({ code: 0 });
    await removeMachine(world.api, 'kept');
    await world.makeOrphan('lost-1');
    await world.makeOrphan('lost-2', 'openstack');
    await world.untilThere(['kept', 'other', 'worker-1', 'worker-2']);
    // They are gone before drover has its answers and writes them down.
    await until('two deletions in the audit log', 30_000, () => world.deletions().length >= 2 || 'fewer');
    expect(world.deletions()).toHaveLength(2);
    await until('an Event of the MachineClass', 30_000, async () => {
      const events = await kubectl(world.lab.handles.kubernetes, ['get', 'events', '-n', namespace]);
      return /MachineClass/iu.test(events) || events;
    });
    // One that has just begun lists none yet.
    await until('the VM that is kept to be listed', 60_000, async () => {
      const { code, stdout, stderr } = await world.command('sweep', 'ls');
      return (code === 0 && stdout.includes('kept')) || stdout + stderr;
    });
    const shown = [
      /^drover_sweep_deletions_total\{[^}]*machine_namespace="shoot"[^}]*outcome="deleted"[^}]*\} 2$/mu,
      /^drover_sweep_orphans_total\{[^}]*gate="KeptByUser"/mu,
      /^drover_machines_frozen\{[^}]*\} 0$/mu,
    ];
    await until('the metrics of it', 30_000, async () => {
      const metrics = await (await fetch(world.drover.metricsUrls.worker)).text();
      const missing = shown.filter((line) => !line.test(metrics));
      return missing.length === 0 || `no line like ${missing.join(' or ')}`;
    });
    await world.witness.destroyVm(vmPath('kept'));
    await world.witness.destroyVm(vmPath('other'));
  },
  2 * limitMs,
);

test(
  'while the API server of the Nodes is away nothing is deleted; when it is back, Unknown Machines run and the orphan goes',
  async () => {
    world.target.cut();
    await world.untilFrozen(true);
    await putMachine(world.api, { name: 'worker-1', phase: 'Unknown' });
    await makeMachineVm(world.witness, 'lost');
    await world.untilSwept();
    expect(await world.listAll()).toContain('lost');
    expect(await world.command('safety')).toMatchObject({ stdout: expect.stringMatching(/frozen/iu) });
    world.target.mend();
    await world.untilFrozen(false);
    await world.untilThere(['worker-1', 'worker-2']);
    const path = 'jsonpath={.status.currentStatus.phase}';
    const read = ['get', 'machine', 'worker-1', '-n', namespace, '-o', path];
    await until('the Machine to run', 30_000, async () => {
      const phase = await kubectl(world.lab.handles.kubernetes, read);
      return phase === 'Running' || phase;
    });
  },
  2 * limitMs,
);

const untilAwaitingApproval = async (value: number): Promise<void> => {
  await until(`${value} sweeps that wait for an approval`, 60_000, async () => {
    const page = await (await fetch(world.drover.metricsUrls.worker)).text();
    const lines = page.split('\n').filter((line) => line.startsWith('drover_sweeps_awaiting_approval'));
    return lines.join() === `drover_sweeps_awaiting_approval{namespace="${namespace}"} ${value}` ? {} : lines.join();
  });
};

test(
  'a VM that a user renames, one whose create has only begun, and all VMs when no Machine is left stay; those go when a user approves',
  async () => {
    await world.witness.rename(vmPath('worker-1'), 'renamed');
    await putMachine(world.api, { name: 'creating', phase: '' });
    await makeMachineVm(world.witness, 'creating');
    await world.untilSwept();
    expect(await world.listAll()).toEqual(['creating', 'renamed', 'worker-2']);
    await world.witness.rename(vmPath('renamed'), 'worker-1');

    for (const name of ['creating', 'worker-1', 'worker-2']) await removeMachine(world.api, name);
    await until('an approval to be needed', 60_000, async () => {
      const { stdout, stderr } = await world.command('sweep', 'ls');
      return stdout.includes('ApprovalNeeded: there are no Machines at all') ? {} : stdout + stderr;
    });
    expect(await world.listAll()).toEqual(['creating', 'worker-1', 'worker-2']);
    await untilAwaitingApproval(1);
    const approved = await world.command('sweep', 'approve', '--reason', 'the cluster is gone');
    expect(approved).toMatchObject({ code: 0 });
    await world.untilThere([]);
    await untilAwaitingApproval(0);

    // Others: govmomi's vCenter makes the UUID of a VM from its name. Their Machines come
    // first: without them they are orphans, and a sweep may come between.
    await putMachine(world.api, { name: 'worker-3', phase: '' });
    await putMachine(world.api, { name: 'worker-4', provider: 'openstack', phase: '' });
    await putMachine(world.api, { name: 'worker-3', providerId: await makeMachineVm(world.witness, 'worker-3') });
    const server = await makeMachineServer(world.session, 'worker-4');
    await putMachine(world.api, { name: 'worker-4', provider: 'openstack', providerId: server });
  },
  2 * limitMs,
);

test(
  'a class without its Secret says so, and holds up no other',
  async () => {
    await kubectl(world.lab.handles.kubernetes, ['delete', 'secret', '-n', namespace, machineFixture.classes.vsphere]);
    await makeMachineVm(world.witness, 'unreachable');
    await world.makeOrphan('lost', 'openstack');
    await world.untilThere(['unreachable', 'worker-3', 'worker-4']);
    const result = await world.untilSweep('a sweep that says so', ({ classes }) =>
      (classes ?? []).some(({ failure }) => failure !== null),
    );
    expect(result.classes).toContainEqual(
      expect.objectContaining({ name: machineFixture.classes.vsphere, failure: expect.anything() }),
    );
  },
  2 * limitMs,
);
