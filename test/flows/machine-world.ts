import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { apiServerSafetyId, orphanSweepId } from '../../contracts/ids.ts';
import type { SweepResult } from '../../contracts/machine-safety/sweep.ts';
import { labClock } from '../../lab/clock.ts';
import { checkoutDirectory } from '../../lab/context.ts';
import { type Drover, startDrover } from '../../lab/drover.ts';
import { type CommandEnd, run } from '../../lab/kubectl.ts';
import { type Lab, startLab } from '../../lab/lab.ts';
import {
  labCloud,
  labVsphere,
  machineFixture,
  makeMachineServer,
  makeMachineVm,
  type Provider,
  putMachine,
  removeMachine,
  setUpMachineNamespace,
  setUpOpenStackClass,
  setUpVsphereClass,
} from '../../lab/machines.ts';
import { listServers } from '../../lab/openstack/seed.ts';
import { openSession, type Session } from '../../lab/openstack/session.ts';
import { openTargetCluster, type TargetCluster } from '../../lab/target-cluster.ts';
import { inventory } from '../../lab/vsphere/handle.ts';
import { openGovcWitness, type VcenterWitness } from '../../lab/vsphere/witness.ts';
import { connectKubernetes, type Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { openClient, readTemporalSettings } from '../../runtime/temporal/temporal.ts';
import type { AuditLine } from '../invariants/snapshot.ts';
import type { Observed } from '../read-world.ts';
import { openObjectLog } from './object-log.ts';
import { until } from './until.ts';

const { namespace, folder } = machineFixture;

/** Between two sweeps. */
export const sweepPeriodMs = 2_000;

/**
 * Machines on real parts: drover's own processes and roles, vcsim, Nova, kube-apiserver, and a way to the Nodes that
 * can be cut.
 */
export interface MachineWorld {
  readonly lab: Lab<'temporal' | 'kubernetes' | 'openstack' | 'vsphere'>;
  readonly api: Kubernetes;
  readonly client: Client;
  readonly witness: VcenterWitness;
  readonly session: Session;
  readonly target: TargetCluster;
  readonly drover: Drover;
  /** For the invariants. */
  readonly observed: Observed;
  /**
   * What is there and no Machine has. One has it while it is made: sweeps go on, and would delete it before the lab has
   * seen it ready.
   *
   * @param provider default: vSphere
   */
  makeOrphan(name: string, provider?: Provider): Promise<void>;
  /** VMs of the folder and servers of the project, sorted by name. */
  listAll(): Promise<string[]>;
  untilThere(names: readonly string[]): Promise<void>;
  /** The `drover` command of the namespace. */
  command(...args: string[]): Promise<CommandEnd>;
  untilFrozen(wanted: boolean): Promise<void>;
  /** Sweeps have begun and ended after this moment: the second of them has found what the first one had. */
  untilSwept(times?: number): Promise<void>;
  /** The result of a sweep that is as wanted. @param of a namespace; default: that of the fixture */
  untilSweep(what: string, isWanted: (result: SweepResult) => boolean, of?: string): Promise<SweepResult>;
  /** Lines of the audit log about orphans. */
  deletions(): AuditLine[];
  close(): Promise<void>;
}

export interface MachineWorldOptions {
  /** As in `machines.sweep`. */
  sweep: object;
  /** Default: that of the fixture. */
  namespaces?: readonly string[];
  /** What is there before drover starts, besides `worker-1` at vCenter and `worker-2` in Nova, which Machines have. */
  prepare?: (world: Pick<MachineWorld, 'api' | 'client' | 'witness' | 'session'>) => Promise<void>;
}

export async function openMachineWorld(options: MachineWorldOptions): Promise<MachineWorld> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'drover-machines-')));
  const closers = [async () => rmSync(root, { recursive: true, force: true })];
  const close = async (): Promise<void> => {
    for (const one of closers.toReversed()) await one();
  };
  try {
    return { ...(await open(options, root, closers)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function open(
  { sweep, namespaces = [namespace], prepare }: MachineWorldOptions,
  root: string,
  closers: (() => Promise<void>)[],
): Promise<Omit<MachineWorld, 'close'>> {
  const lab = await startLab({ dir: join(root, 'lab'), parts: ['temporal', 'kubernetes', 'openstack', 'vsphere'] });
  closers.push(() => lab.stop());
  const { kubernetes, openstack, vsphere } = lab.handles;
  const api = connectKubernetes({ kubeconfig: kubernetes.kubeconfig });
  const client = openClient(readTemporalSettings(lab.exports));
  closers.push(async () => void (await Promise.all([api.close(), client.connection.close()])));
  const witness = openGovcWitness(vsphere);
  const session = await openSession(openstack);
  const target = await openTargetCluster(kubernetes, join(root, 'target.kubeconfig'));
  closers.push(() => target.close());
  await setUpMachineNamespace(api);
  await setUpVsphereClass(api, labVsphere(vsphere));
  await setUpOpenStackClass(api, labCloud(openstack));
  await putMachine(api, { name: 'worker-1', providerId: await makeMachineVm(witness, 'worker-1') });
  const server = await makeMachineServer(session, 'worker-2');
  await putMachine(api, { name: 'worker-2', provider: 'openstack', providerId: server });
  await prepare?.({ api, client, witness, session });
  const settings = {
    modes: { Eviction: 'off', Machine: 'act' },
    machines: {
      namespaces,
      targetKubeconfig: target.kubeconfig,
      sweep: { periodMs: sweepPeriodMs, jitterMs: 0, longRetryMs: sweepPeriodMs, ...sweep },
      // A busy machine that answers late would freeze what is awaited.
      apiServers: { periodMs: 3_000, timeoutMs: 3_000 },
      overshoot: { periodMs: 1_000 },
    },
  };
  const sinceMs = labClock().now();
  const objectLog = await openObjectLog(api);
  closers.push(() => objectLog.close());
  const drover = await startDrover(lab, { dir: join(root, 'drover'), settings });
  closers.push(() => drover.stop());
  const sweepRun = client.workflow.getHandle(orphanSweepId(namespace));

  async function listAll(): Promise<string[]> {
    const path = `${inventory.vmFolder}/${folder}`;
    const vms = (await witness.find('vm', path)).map((vm) => vm.slice(path.length + 1));
    return [...vms, ...(await listServers(session)).map(({ name }) => name)].toSorted();
  }

  return {
    lab,
    api,
    client,
    witness,
    session,
    target,
    drover,
    observed: { lab, drover, dir: drover.dir, api, client, sinceMs, objectLog, machineNamespace: namespace },
    async makeOrphan(name, provider = 'vsphere') {
      await putMachine(api, { name, provider, phase: '' });
      await (provider === 'vsphere' ? makeMachineVm(witness, name) : makeMachineServer(session, name));
      await removeMachine(api, name);
    },
    listAll,
    async untilThere(names) {
      await until(`${names.join(', ')} and nothing else`, 120_000, async () => {
        const there = await listAll();
        return there.join() === names.join() ? there : there.join();
      });
    },
    command: (...args) =>
      run(process.execPath, [join(checkoutDirectory, 'bin/drover.mjs'), ...args, '--namespace', namespace], {
        env: { ...drover.env, KUBECONFIG: kubernetes.kubeconfig },
        limitMs: 180_000,
      }),
    async untilFrozen(wanted) {
      await until(`frozen: ${wanted}`, 60_000, async () => {
        const { memo } = await client.workflow.getHandle(apiServerSafetyId(namespace)).describe();
        const { frozen } = (memo?.['safety'] ?? {}) as { frozen?: boolean };
        return frozen === wanted ? {} : JSON.stringify(memo);
      });
    },
    async untilSwept(times = 2) {
      const fromMs = labClock().now();
      const begun = new Set<string>();
      await until(`${times} more sweeps`, 60_000, async () => {
        const { status, startTime, runId } = await sweepRun.describe();
        if (startTime.getTime() > fromMs) begun.add(runId);
        // On a slow machine there may be no moment between two of them.
        const ended = begun.size - (status.name === 'RUNNING' ? 1 : 0);
        return ended >= times ? {} : `${begun.size} have begun; the last is ${status.name}`;
      });
    },
    untilSweep: (what, isWanted, of = namespace) =>
      until(what, 60_000, async () => {
        const workflowId = orphanSweepId(of);
        const { status, runId } = await client.workflow.getHandle(workflowId).describe();
        if (status.name !== 'COMPLETED') return status.name;
        const result = (await client.workflow.getHandle(workflowId, runId).result()) as SweepResult;
        return isWanted(result) ? result : JSON.stringify(result).slice(0, 2_000);
      }),
    deletions: () =>
      readFileSync(join(drover.dir, 'audit.jsonl'), 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as AuditLine)
        .filter(({ action }) => action === 'deleteOrphan'),
  };
}
