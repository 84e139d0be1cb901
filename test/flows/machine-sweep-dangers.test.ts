import { sweepScheduleId } from '../../contracts/ids.ts';
import type { Freeze } from '../../contracts/machine-safety/api-server-safety.ts';
import type { SweepGate, SweepResult } from '../../contracts/machine-safety/sweep.ts';
import { labClock } from '../../lab/clock.ts';
import { applyObject } from '../../lab/kubernetes-objects.ts';
import {
  machineFixture,
  makeMachineServer,
  makeMachineVm,
  putMachine,
  removeClass,
  removeMachine,
  vmPath,
  vsphereClass,
  vsphereMarks,
} from '../../lab/machines.ts';
import { listServers } from '../../lab/openstack/seed.ts';
import {
  backUpEtcd,
  etcdRevision,
  killKubeApiserver,
  restartKubeApiserver,
} from '../../lab/parts/kubernetes-faults.ts';
import { connectVcenterControl, type VcenterControl } from '../../lab/vsphere/control.ts';
import { createReadFreeze } from '../../runtime/temporal/read-freeze.ts';
import { ensureSchedule, sweepSchedule } from '../../workers/schedules.ts';
import { checkInvariants } from '../invariants.ts';
import { type MachineWorld, openMachineWorld, sweepPeriodMs } from './machine-world.ts';
import { until } from './until.ts';
import { startTimeoutMs } from './vsphere-world.ts';
import { limitMs } from './world-base.ts';

/**
 * What may go wrong around a sweep, on real parts. In none of it is a VM deleted that is needed; the orphan beside it
 * goes when it is over, so that a sweep that deletes nothing at all would be noticed. The simulator has the same and
 * more (test/simulator/sweeps/sweep-dangers.ts). Each orphan has a name of its own: govmomi's vCenter makes the UUID of
 * a VM from its name, and none is deleted twice.
 */

const { namespace, classes } = machineFixture;
/** Of another cluster, in a namespace of that name, with VMs in the same folder. */
const neighbour = 'shoot-2';

/** So old a VM must be. */
const ageMs = 12_000;
/** Longer than what is looked at while a cluster is on probation. */
const probationMs = 20_000;

let world: MachineWorld;
let control: VcenterControl;

beforeAll(async () => {
  world = await openMachineWorld({
    sweep: { ageMs, sightings: 2, probationMs },
    namespaces: [namespace, neighbour],
    async prepare({ api, client, witness }) {
      await applyObject(api, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: neighbour } });
      await applyObject(api, vsphereClass(neighbour));
      const providerId = await makeMachineVm(witness, 'neighbour-1', vsphereMarks(neighbour));
      await putMachine(api, { name: 'neighbour-1', cluster: neighbour, providerId });
      const tools = { client, clock: labClock(), leaving: new AbortController().signal };
      await ensureSchedule(tools, sweepSchedule('gone', '', { periodMs: sweepPeriodMs, jitterMs: 0 }), true);
    },
  });
  control = connectVcenterControl(world.lab.handles.vsphere);
  await untilServing(namespace);
  await untilServing(neighbour);
}, 2 * startTimeoutMs);

afterEach(() => checkInvariants(world.observed), limitMs);

afterAll(() => world?.close(), limitMs);

/** The first sweeps of a cluster are on probation. */
async function untilServing(of: string): Promise<void> {
  const isOver = ({ memory }: SweepResult): boolean => (memory?.probationUntilMs ?? Infinity) < labClock().now();
  await world.untilSweep('the end of the probation', isOver, of);
}

const needed = ['neighbour-1', 'worker-1', 'worker-2'];
const untilThere = (...others: string[]): Promise<void> => world.untilThere([...needed, ...others].toSorted());

const gatesOf = ({ candidates = [] }: SweepResult, name: string): SweepGate[] | null =>
  candidates.find(({ machineName }) => machineName === name)?.gates.map(({ gate }) => gate) ?? null;

/** The orphan was seen often enough, and nothing but this holds it. */
const untilHeldBy = (name: string, gate: SweepGate): Promise<SweepResult> =>
  world.untilSweep(`nothing but ${gate} to hold ${name}`, (result) => gatesOf(result, name)?.join() === gate);

/** As a sweep reads it before it deletes. */
const readFreeze = (of: string): Promise<Freeze> =>
  createReadFreeze({
    temporal: world.client,
    cluster: '',
    clock: labClock(),
    settings: { periodMs: 1_000, timeoutMs: 1_000 },
  })(of, AbortSignal.timeout(10_000));

const untilOld = async (sinceMs: number): Promise<void> => {
  await until('the orphan to be old enough', 2 * ageMs, () => (labClock().now() > sinceMs + 2 * ageMs ? {} : 'young'));
};

test('the Schedule of a namespace that the settings do not name is gone', async () => {
  const left = await until('the Schedules', 30_000, async () => {
    const ids: string[] = [];
    // The lab may have Schedules of other kinds from flows before.
    for await (const { scheduleId } of world.client.schedule.list())
      if (scheduleId.startsWith(sweepScheduleId(''))) ids.push(scheduleId);
    return ids.includes(sweepScheduleId('gone')) ? ids.join() : ids.toSorted();
  });
  expect(left).toEqual([sweepScheduleId(namespace), sweepScheduleId(neighbour)]);
});

test(
  'a VM that was made seconds ago stays until its Machine names it; an orphan of its age goes when it is old enough',
  async () => {
    const providerId = await makeMachineVm(world.witness, 'young');
    await makeMachineVm(world.witness, 'lost-young');
    await putMachine(world.api, { name: 'young', phase: 'Pending' });
    await untilHeldBy('young', 'TooYoung');
    await putMachine(world.api, { name: 'young', providerId });
    await untilThere('young');
    await removeMachine(world.api, 'young');
    await untilThere();
  },
  2 * limitMs,
);

test(
  'two clusters have VMs in one folder: each deletes its own orphans, and none of the other’s',
  async () => {
    await makeMachineVm(world.witness, 'stray', vsphereMarks(neighbour));
    await world.makeOrphan('lost-folder');
    await untilThere();
    // A VM is gone before drover has its answer and writes that down.
    const byClass = await until('both deletions to be in the audit log', 30_000, () => {
      const found = Object.fromEntries(
        world.deletions().map(({ before }) => {
          const { machineName, machineClass } = before as { machineName: string; machineClass: string };
          return [machineName, machineClass];
        }),
      );
      return 'stray' in found && 'lost-folder' in found ? found : JSON.stringify(found);
    });
    expect(byClass).toMatchObject({
      stray: `${neighbour}/${classes.vsphere}`,
      'lost-folder': `${namespace}/${classes.vsphere}`,
    });
  },
  2 * limitMs,
);

test(
  'a leader that changes in mid-create leaves two servers of one name: both stay until the Machine names its own, and then the other goes',
  async () => {
    // The one before it had made a server and not said so; the new one makes another.
    await makeMachineServer(world.session, 'worker-3');
    await putMachine(world.api, { name: 'worker-3', provider: 'openstack', phase: '' });
    const second = await makeMachineServer(world.session, 'worker-3');
    const madeMs = labClock().now();
    // drover's own leader, too.
    await world.drover.kill('worker');
    await world.drover.restart('worker');
    await untilOld(madeMs);
    await world.untilSwept();
    await untilThere('worker-3', 'worker-3');
    await putMachine(world.api, { name: 'worker-3', provider: 'openstack', providerId: second });
    await untilThere('worker-3');
    const [left] = (await listServers(world.session)).filter(({ name }) => name === 'worker-3');
    expect(second).toMatch(new RegExp(`/${left?.id}$`, 'u'));
    await removeMachine(world.api, 'worker-3');
    await untilThere();
  },
  3 * limitMs,
);

test(
  'a class is deleted, and a Machine after it: its VMs stay; when both are back the orphan goes',
  async () => {
    const providerId = await makeMachineVm(world.witness, 'worker-4');
    await putMachine(world.api, { name: 'worker-4', providerId });
    await removeClass(world.api, 'vsphere');
    await removeMachine(world.api, 'worker-4');
    await makeMachineVm(world.witness, 'lost-class');
    await untilOld(labClock().now());
    await world.untilSwept();
    await untilThere('lost-class', 'worker-4');
    await putMachine(world.api, { name: 'worker-4', providerId });
    await applyObject(world.api, vsphereClass());
    await untilThere('worker-4');
    await world.witness.destroyVm(vmPath('worker-4'));
    await removeMachine(world.api, 'worker-4');
  },
  3 * limitMs,
);

test(
  'a vCenter that answers half, cuts its answers, or sends empty ones is no empty vCenter: nothing of it goes, what is Nova’s does',
  async () => {
    const all = { method: 'RetrievePropertiesEx', count: 1_000_000 };
    await makeMachineVm(world.witness, 'lost-half-1');
    await world.makeOrphan('lost-half-2', 'openstack');
    const before = world.deletions().length;
    for (const inject of [
      () => control.fail({ ...all, skip: 1, fault: 'ManagedObjectNotFound' }),
      () => control.inject({ ...all, does: 'cut', after: true }),
      () => control.inject({ ...all, does: 'status', status: 200, after: true }),
    ]) {
      await control.reset();
      await inject();
      await world.untilSwept();
      const { classes: swept } = await world.untilSweep('a class that could not be listed', ({ classes: found = [] }) =>
        found.some(({ failure }) => failure !== null),
      );
      expect(swept?.filter(({ failure }) => failure !== null).map(({ name }) => name)).toEqual([classes.vsphere]);
    }
    await until('the orphan of Nova to go', 60_000, () => (world.deletions().length > before ? {} : 'it is there'));
    expect(world.deletions().slice(before)).toMatchObject([{ before: { machineName: 'lost-half-2' } }]);
    await control.reset();
    await untilThere();
  },
  4 * limitMs,
);

test(
  'the API server of the Machines is away when the worker starts: nothing goes; when it is back the orphan does',
  async () => {
    const { kubernetes } = world.lab.handles;
    await world.drover.kill('worker');
    await killKubeApiserver(kubernetes);
    try {
      await makeMachineVm(world.witness, 'lost-start');
      const madeMs = labClock().now();
      await world.drover.restart('worker', 'starts');
      // It serves no queue before it knows which cluster it is in: nothing is probed, and that counts as frozen.
      await until('the worker to wait for the API server', 60_000, async () => {
        const page = await fetch(new URL('/readyz', world.drover.metricsUrls.worker), {
          signal: AbortSignal.timeout(5_000),
        });
        const said = await page.text();
        return said.includes('is not known yet') || said;
      });
      await until('Machines to count as frozen', 60_000, async () => {
        const { state } = await readFreeze(namespace);
        return state !== 'thawed' || state;
      });
      await untilOld(madeMs);
      expect(await world.listAll()).toEqual(['lost-start', ...needed].toSorted());
    } finally {
      // Whatever comes next needs it.
      await restartKubeApiserver(kubernetes);
    }
    await until('Machines to be thawed', 60_000, async () => {
      const freeze = await readFreeze(namespace);
      return freeze.state === 'thawed' || JSON.stringify(freeze);
    });
    await world.untilFrozen(false);
    await untilThere();
  },
  3 * limitMs,
);

test(
  'etcd is restored from a backup that does not know a Machine: its VM stays on probation until the Machine is back, and then an orphan goes',
  async () => {
    const { kubernetes } = world.lab.handles;
    const restore = await backUpEtcd(kubernetes);
    const providerId = await makeMachineVm(world.witness, 'late');
    await putMachine(world.api, { name: 'late', providerId });
    // More than is written after the restore, before a sweep lists the Machines.
    const fromRevision = await etcdRevision(kubernetes);
    for (let change = 0; change < 500; change += 1)
      await applyObject(world.api, {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { namespace: 'default', name: 'revisions' },
        data: { change: String(change) },
      });
    await world.untilSwept();
    await restore();
    expect(await etcdRevision(kubernetes)).toBeLessThan(fromRevision + 500);
    const { candidates } = await untilHeldBy('late', 'Probation');
    expect(candidates?.[0]?.gates[0]?.message).toMatch(/kube-apiserver was restored$/u);
    await putMachine(world.api, { name: 'late', providerId });
    await makeMachineVm(world.witness, 'lost-backup');
    await untilThere('late');
  },
  4 * limitMs,
);
