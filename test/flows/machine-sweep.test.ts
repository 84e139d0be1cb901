import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { apiServerSafetyId, orphanSweepId } from '../../contracts/ids.ts';
import type { SweepResult } from '../../contracts/machine-safety/sweep.ts';
import { labClock } from '../../lab/clock.ts';
import { checkoutDirectory } from '../../lab/context.ts';
import { type Drover, startDrover } from '../../lab/drover.ts';
import { type CommandEnd, kubectl, run } from '../../lab/kubectl.ts';
import { type Lab, startLab } from '../../lab/lab.ts';
import {
  labCloud,
  labVsphere,
  machineFixture,
  makeMachineServer,
  makeMachineVm,
  putMachine,
  removeMachine,
  setUpMachineNamespace,
  setUpOpenStackClass,
  setUpVsphereClass,
  vmPath,
  vsphereMarks,
} from '../../lab/machines.ts';
import { listServers } from '../../lab/openstack/seed.ts';
import { openSession, type Session } from '../../lab/openstack/session.ts';
import { openTargetCluster, type TargetCluster } from '../../lab/target-cluster.ts';
import { inventory } from '../../lab/vsphere/handle.ts';
import { openGovcWitness, type VcenterWitness } from '../../lab/vsphere/witness.ts';
import { connectKubernetes, type Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { openClient, readTemporalSettings } from '../../runtime/temporal/temporal.ts';
import { checkInvariants } from '../invariants.ts';
import type { Observed } from '../read-world.ts';
import { type ObjectLog, openObjectLog } from './object-log.ts';
import { until } from './until.ts';
import { startTimeoutMs } from './vsphere-world.ts';
import { limitMs } from './world-base.ts';

/** The safety jobs of Machines on real parts: drover's own processes and roles, vcsim and Nova, an API server that is cut off. */

const { namespace, folder } = machineFixture;
const period = { periodMs: 2_000, jitterMs: 0 };
const sweep = { ...period, ageMs: 0, sightings: 2, probationMs: 0, longRetryMs: 2_000 };

let root: string;
let lab: Lab<'temporal' | 'kubernetes' | 'openstack' | 'vsphere'>;
let api: Kubernetes;
let client: Client;
let witness: VcenterWitness;
let session: Session;
let target: TargetCluster;
let drover: Drover;
let objectLog: ObjectLog;
let observed: Observed;

beforeAll(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'drover-machines-')));
  lab = await startLab({ dir: join(root, 'lab'), parts: ['temporal', 'kubernetes', 'openstack', 'vsphere'] });
  const { kubernetes, openstack, vsphere } = lab.handles;
  api = connectKubernetes({ kubeconfig: kubernetes.kubeconfig });
  client = openClient(readTemporalSettings(lab.exports));
  witness = openGovcWitness(vsphere);
  session = await openSession(openstack);
  target = await openTargetCluster(kubernetes, join(root, 'target.kubeconfig'));
  await setUpMachineNamespace(api);
  await setUpVsphereClass(api, labVsphere(vsphere));
  await setUpOpenStackClass(api, labCloud(openstack));
  await putMachine(api, { name: 'worker-1', providerId: await makeMachineVm(witness, 'worker-1') });
  const server = await makeMachineServer(session, 'worker-2');
  await putMachine(api, { name: 'worker-2', provider: 'openstack', providerId: server });
  const settings = {
    modes: { Eviction: 'off', Machine: 'act' },
    machines: {
      namespaces: [namespace],
      targetKubeconfig: target.kubeconfig,
      sweep,
      apiServers: { periodMs: 1_000, timeoutMs: 1_000 },
      overshoot: { periodMs: 1_000 },
    },
  };
  const sinceMs = labClock().now();
  objectLog = await openObjectLog(api);
  drover = await startDrover(lab, { dir: join(root, 'drover'), settings });
  const machineNamespace = namespace;
  observed = { lab, drover, dir: drover.dir, api, client, sinceMs, objectLog, machineNamespace };
}, 2 * startTimeoutMs);

afterEach(() => checkInvariants(observed), limitMs);

afterAll(async () => {
  await drover?.stop();
  await objectLog?.close();
  await target?.close();
  await client?.connection.close();
  await api?.close();
  await lab?.stop();
  rmSync(root, { recursive: true, force: true });
}, limitMs);

async function listAll(): Promise<string[]> {
  const path = `${inventory.vmFolder}/${folder}`;
  const vms = (await witness.find('vm', path)).map((vm) => vm.slice(path.length + 1));
  return [...vms, ...(await listServers(session)).map(({ name }) => name)].toSorted();
}

const untilThere = (names: readonly string[]): Promise<string[]> =>
  until(`${names.join(', ')} and nothing else`, 120_000, async () => {
    const there = await listAll();
    return there.join() === names.join() ? there : there.join();
  });

const command = (...args: string[]): Promise<CommandEnd> =>
  run(process.execPath, [join(checkoutDirectory, 'bin/drover.mjs'), ...args], {
    env: { ...drover.env, KUBECONFIG: lab.handles.kubernetes.kubeconfig },
    limitMs: 180_000,
  });

const untilSafety = (wanted: boolean): Promise<unknown> =>
  until(`frozen: ${wanted}`, 60_000, async () => {
    const { memo } = await client.workflow.getHandle(apiServerSafetyId(namespace)).describe();
    const { frozen } = (memo?.['safety'] ?? {}) as { frozen?: boolean };
    return frozen === wanted ? {} : JSON.stringify(memo);
  });

/** The second of them has found what the first one had. */
const untilSwept = async (times = 2): Promise<void> => {
  const sinceMs = labClock().now();
  await until(`${times} more sweeps`, 60_000, async () => {
    const { status, startTime } = await client.workflow.getHandle(orphanSweepId(namespace)).describe();
    return status.name !== 'RUNNING' && startTime.getTime() > sinceMs + times * period.periodMs ? {} : status.name;
  });
};

test(
  'orphans at vCenter and in Nova go once two sweeps agree; what Machines have, and what is another cluster’s, stays',
  async () => {
    await makeMachineVm(witness, 'other', vsphereMarks('another'));
    const kept = await makeMachineVm(witness, 'kept');
    expect(await command('sweep', 'keep', kept, '--namespace', namespace, '--reason', 'a disk')).toMatchObject({
      code: 0,
    });
    await makeMachineVm(witness, 'lost-1');
    await makeMachineServer(session, 'lost-2');
    await untilThere(['kept', 'other', 'worker-1', 'worker-2']);
    const audit = readFileSync(join(drover.dir, 'audit.jsonl'), 'utf8').trim().split('\n');
    const deletions = audit.map((line) => JSON.parse(line) as { action: string; cause: string; object: string });
    expect(deletions.filter(({ action }) => action === 'deleteOrphan')).toHaveLength(2);
    const described = await kubectl(lab.handles.kubernetes, ['get', 'events', '-n', namespace]);
    expect(described).toMatch(/MachineClass/iu);
    const listed = await command('sweep', 'ls', '--namespace', namespace);
    expect(listed).toMatchObject({ code: 0, stdout: expect.stringContaining('kept') });
    const metrics = await (await fetch(drover.metricsUrls.worker)).text();
    expect(metrics).toMatch(/^drover_sweep_deletions_total\{[^}]*outcome="deleted"[^}]*\} 2$/mu);
    expect(metrics).toMatch(/^drover_sweep_orphans_total\{[^}]*gate="KeptByUser"/mu);
    expect(metrics).toMatch(/^drover_machines_frozen\{[^}]*\} 0$/mu);
    await witness.destroyVm(vmPath('kept'));
    await witness.destroyVm(vmPath('other'));
  },
  2 * limitMs,
);

test(
  'while the API server of the Nodes is away nothing is deleted; when it is back, Unknown Machines run and the orphan goes',
  async () => {
    target.cut();
    await untilSafety(true);
    await putMachine(api, { name: 'worker-1', phase: 'Unknown' });
    await makeMachineVm(witness, 'lost');
    await untilSwept();
    expect(await listAll()).toContain('lost');
    expect(await command('safety')).toMatchObject({ stdout: expect.stringMatching(/frozen/iu) });
    target.mend();
    await untilSafety(false);
    await untilThere(['worker-1', 'worker-2']);
    const phasePath = 'jsonpath={.status.currentStatus.phase}';
    const phase = await kubectl(lab.handles.kubernetes, [
      'get',
      'machine',
      'worker-1',
      '-n',
      namespace,
      '-o',
      phasePath,
    ]);
    expect(phase).toBe('Running');
  },
  2 * limitMs,
);

test(
  'a VM that a user renames, one whose create has only begun, and all VMs when no Machine is left stay; those go when a user approves',
  async () => {
    await witness.rename(vmPath('worker-1'), 'renamed');
    await makeMachineVm(witness, 'creating');
    await putMachine(api, { name: 'creating', phase: '' });
    await untilSwept();
    expect(await listAll()).toEqual(['creating', 'renamed', 'worker-2']);
    await witness.rename(vmPath('renamed'), 'worker-1');

    for (const name of ['creating', 'worker-1', 'worker-2']) await removeMachine(api, name);
    await until('an approval to be needed', 60_000, async () => {
      const { stdout, stderr } = await command('sweep', 'ls', '--namespace', namespace);
      return stdout.includes('ApprovalNeeded: there are no Machines at all') ? {} : stdout + stderr;
    });
    expect(await listAll()).toEqual(['creating', 'worker-1', 'worker-2']);
    const approved = await command('sweep', 'approve', '--namespace', namespace, '--reason', 'the cluster is gone');
    expect(approved).toMatchObject({ code: 0 });
    await untilThere([]);

    // Others: govmomi's vCenter makes the UUID of a VM from its name.
    await putMachine(api, { name: 'worker-3', providerId: await makeMachineVm(witness, 'worker-3') });
    const server = await makeMachineServer(session, 'worker-4');
    await putMachine(api, { name: 'worker-4', provider: 'openstack', providerId: server });
  },
  2 * limitMs,
);

test(
  'a class without its Secret says so, and holds up no other',
  async () => {
    await kubectl(lab.handles.kubernetes, ['delete', 'secret', '-n', namespace, machineFixture.classes.vsphere]);
    await makeMachineVm(witness, 'unreachable');
    await makeMachineServer(session, 'lost');
    await untilThere(['unreachable', 'worker-3', 'worker-4']);
    const result = await until('a sweep that says so', 60_000, async () => {
      const handle = client.workflow.getHandle(orphanSweepId(namespace));
      const { status } = await handle.describe();
      if (status.name === 'RUNNING') return 'it is under way';
      const ended = (await handle.result()) as SweepResult;
      return ended.classes?.some(({ failure }) => failure !== null) === true ? ended : JSON.stringify(ended);
    });
    expect(result.classes).toContainEqual(
      expect.objectContaining({ name: machineFixture.classes.vsphere, failure: expect.anything() }),
    );
  },
  2 * limitMs,
);
