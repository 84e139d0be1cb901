import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApplicationFailure } from '@temporalio/common';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { createVirtualMachineLookActivities } from '../../activities/virtual-machine/observe.ts';
import { setConditions } from '../../contracts/conditions.ts';
import { virtualMachineSchema } from '../../contracts/crds/virtual-machine.ts';
import { retryHandledAnnotation } from '../../contracts/eviction-annotations.ts';
import { annotations, kubernetesQueue, virtualMachinesQueue, vsphereQueue, workflowQueue } from '../../contracts/ids.ts';
import { readVirtualMachine } from '../../contracts/read-virtual-machine.ts';
import type { VirtualMachineObjectActivities, VirtualMachineVsphereActivities } from '../../contracts/virtual-machine-activities.ts';
import { virtualMachineAnnotations, virtualMachineFinalizers } from '../../contracts/virtual-machine-marks.ts';
import { checkoutDirectory } from '../../lab/context.ts';
import type { CommandEnd } from '../../lab/kubectl.ts';
import { kubectl, run } from '../../lab/kubectl.ts';
import { startLab } from '../../lab/lab.ts';
import { systemClock } from '../../runtime/clock.ts';
import { isFailure } from '../../runtime/kubernetes-faults.ts';
import { connectKubernetes, resourcePath } from '../../runtime/kubernetes.ts';
import { exitCodes } from '../../starters/exit-codes.ts';
import type { ListedVirtualMachine } from '../../starters/listed-virtual-machine.ts';
import type { VirtualMachineDescription } from '../../starters/virtual-machine-description.ts';
import { bundleWorkflows } from '../../workers/bundle.ts';
import { settings } from '../../workflows/virtual-machine/sample.ts';
import { limitMs } from './world-base.ts';
import { until } from './until.ts';

/** The commands for virtual machines, as a person types them: kube-apiserver and Temporal are real, and so is the run; a vCenter without a VM is played. */

/** Of the vCenter that is played. */
const managerId = 'vc';

type World = Awaited<ReturnType<typeof openCommandWorld>>;
let world: World;

beforeAll(async () => {
  world = await openCommandWorld();
}, limitMs);
afterAll(() => world.close(), limitMs);

async function openCommandWorld() {
  Runtime.install({ logger: new DefaultLogger('ERROR'), telemetryOptions: { logging: { filter: 'ERROR' } } });
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'drover-vm-commands-')));
  const lab = await startLab({ dir: join(root, 'lab'), parts: ['temporal', 'kubernetes'] });
  const { temporal, kubernetes } = lab.handles;
  const api = connectKubernetes({ kubeconfig: kubernetes.kubeconfig });
  const abort = () => AbortSignal.timeout(10_000);
  const played: { refusal: string | null } = { refusal: null };
  const path = (namespace: string, name: string): string => resourcePath('vmoperator.vmware.com/v1alpha6', 'virtualmachines', { namespace, name });
  const read = async (namespace: string, name: string) => virtualMachineSchema.parse(await api.request({ method: 'GET', path: path(namespace, name) }, abort()));

  const objects: VirtualMachineObjectActivities = {
    async readVirtualMachine({ namespace, name }) {
      const object = await read(namespace, name).catch((error: unknown) => {
        if (isFailure(error, 'ObjectNotFound')) return null;
        throw error;
      });
      const missing = { is: 'notFound', message: 'VirtualMachineClass small was not found' } as const;
      return {
        next: 'run',
        settings: { ...settings, recheckMs: 60_000, lingerMs: 200 },
        desired: object === null ? null : readVirtualMachine(object),
        recorded: object?.status ?? {},
        objects: { class: missing, image: null, resourcePolicy: null, storageClass: null, bootstrap: null, isos: {}, networks: [], imageCache: null, group: null, snapshots: { inProgress: null, problem: null } },
      };
    },
    async patchVirtualMachine({ namespace, name, patches }) {
      for (const { annotations: written = {} } of patches) await api.request({ method: 'PATCH', patchType: 'merge', path: path(namespace, name), body: { metadata: { annotations: written } } }, abort());
      const object = await read(namespace, name);
      return { isCurrent: true, desired: readVirtualMachine(object), recorded: object.status ?? {} };
    },
    ensureImageCache: () => Promise.reject(new Error('No image is to be cached')),
    async publishVirtualMachine({ namespace, name, status }) {
      if (status === null) return null;
      const { status: recorded = {} } = await read(namespace, name);
      const conditions = setConditions(recorded.conditions ?? [], status.conditions, new Date().toISOString());
      await api.request({ method: 'PATCH', patchType: 'merge', path: `${path(namespace, name)}/status`, body: { status: { ...status.fields, conditions } } }, abort());
      const object = await read(namespace, name);
      return { desired: readVirtualMachine(object), recorded: object.status ?? {} };
    },
  };
  const vsphere: Pick<VirtualMachineVsphereActivities, 'lookAtVirtualMachine'> = {
    async lookAtVirtualMachine() {
      if (played.refusal !== null) throw ApplicationFailure.create({ type: 'VirtualMachineAmbiguous', message: played.refusal, nonRetryable: true });
      return { managerId, cluster: null, placement: { is: 'notReady', message: 'nobody has placed it' }, candidates: [], vm: null, seen: null, storage: null, network: null, isos: {} };
    },
  };

  const workflowBundle = await bundleWorkflows({ logger: new DefaultLogger('ERROR') });
  const connection = await NativeConnection.connect({ address: temporal.address });
  const workers = await Promise.all([
    Worker.create({ connection, taskQueue: workflowQueue, workflowBundle }),
    Worker.create({ connection, taskQueue: kubernetesQueue, activities: objects }),
    Worker.create({ connection, taskQueue: virtualMachinesQueue, activities: createVirtualMachineLookActivities({ readVirtualMachine: (input) => objects.readVirtualMachine(input), lookAtVirtualMachine: (_vcenter, look) => vsphere.lookAtVirtualMachine(look), clock: systemClock }) }),
    Worker.create({ connection, taskQueue: vsphereQueue(settings.vcenter), activities: vsphere }),
  ]);
  const running = workers.map((worker) => worker.run());
  const env = { ...lab.exports, DROVER_CONFIG: '', DROVER_USER: 'flow-test', DROVER_WEB_UI: 'http://ui', NO_COLOR: '1' };
  return {
    played,
    kubectl: (args: readonly string[], object?: object): Promise<string> => kubectl(kubernetes, args, object === undefined ? undefined : JSON.stringify(object)),
    read,
    command: (args: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<CommandEnd> => run(process.execPath, [join(checkoutDirectory, 'bin/drover.mjs'), ...args], { env: { ...env, ...more }, limitMs: 180_000 }),
    async close(): Promise<void> {
      for (const worker of workers) worker.shutdown();
      await Promise.all(running);
      await connection.close();
      await api.close();
      await lab.stop();
      rmSync(root, { recursive: true });
    },
  };
}

/** Runs the command and expects its exit code; what it printed is in the failure. */
async function drover(exitCode: number, ...args: string[]): Promise<CommandEnd> {
  const end = await world.command(args);
  if (end.code !== exitCode) throw new Error(`drover ${args.join(' ')} exited ${String(end.code)}, not ${String(exitCode)}\n${end.stdout}${end.stderr}`);
  return end;
}
const json = async <Shape>(...args: string[]): Promise<Shape> => JSON.parse((await drover(exitCodes.ok, ...args, '--json')).stdout) as Shape;
const described = (): Promise<VirtualMachineDescription> => json<VirtualMachineDescription>('describe', 'vm', 'team/web');

const create = async (namespace: string, name: string): Promise<void> => {
  await world.kubectl(['apply', '-f', '-'], { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  const metadata = { namespace, name, finalizers: [virtualMachineFinalizers.current], annotations: { [virtualMachineAnnotations.managerId]: managerId } };
  await world.kubectl(['create', '-f', '-'], { apiVersion: 'vmoperator.vmware.com/v1alpha6', kind: 'VirtualMachine', metadata, spec: { className: 'small', imageName: 'vmi-1', storageClass: 'fast', powerState: 'PoweredOn' } });
};

test(
  'one that waits for its class: listed, described, retried, paused',
  async () => {
    expect((await drover(exitCodes.ok, 'vms')).stdout).toBe('There is no VirtualMachine.\n');
    await create('team', 'web');
    expect(await json<ListedVirtualMachine[]>('vms')).toEqual([expect.objectContaining({ namespace: 'team', name: 'web', state: null, stands: 'unknown', needsSomebody: false, class: 'small', image: 'vmi-1', wantedPowerState: 'PoweredOn', powerState: null })]);
    expect((await drover(exitCodes.notFound, 'describe', 'vm', 'team/wep')).stderr).toMatch(/no VirtualMachine team\/wep.*Did you mean team\/web\?.*drover vms/su);
    expect((await drover(exitCodes.notFound, 'retry', 'vm', 'elsewhere')).stderr).toMatch(/no VirtualMachine elsewhere\. Nothing was changed/u);
    expect((await drover(exitCodes.ok, 'describe', 'vm', 'web')).stdout).toMatch(/^team\/web: drover has said nothing of this virtual machine yet$.*^ {2}drover retry vm team\/web /msu);

    const first = await drover(exitCodes.ok, 'retry', 'vm', 'web', '--as', 'alice');
    expect(first.stdout).toMatch(/^VirtualMachine team\/web is tried again\. It was no run has said anything of it yet$.*^WaitingForPrerequisites: Waiting for .*VirtualMachineClass small was not found/msu);
    const noted = (await world.read('team', 'web')).metadata.annotations ?? {};
    expect(noted[annotations.retry]).toMatch(/^\d{4}-/u);
    expect(noted[retryHandledAnnotation]).toBe(noted[annotations.retry]);

    const open = await described();
    expect(open).toMatchObject({ namespace: 'team', name: 'web', problems: [], stops: [], run: { workflowId: 'virtualmachine/team/web', status: 'Running', endedAt: null, ending: null, webUi: expect.stringMatching(/^http:\/\/ui\/namespaces\/default\/workflows\/virtualmachine%2Fteam%2Fweb\//u) } });
    expect(open.run?.progress).toMatchObject({ state: 'WaitingForPrerequisites', nextWakeUp: expect.stringMatching(/Z$/u) });
    expect(open.run?.steps.map(({ activity, end, attempts }) => `${activity} ${end ?? 'open'} ${String(attempts)}`)).toEqual(['observeVirtualMachine done 1', 'patchVirtualMachine done 1', 'publishVirtualMachine done 1']);
    expect(open.run?.steps[0]?.words).toBe('Look at team/web: the object, what it names, and its VM');
    expect(await json<ListedVirtualMachine[]>('vms', '--state', 'waitingforprerequisites', '-n', 'team')).toEqual([expect.objectContaining({ stands: 'moving', message: expect.stringMatching(/^Waiting for /u) })]);
    expect((await drover(exitCodes.ok, 'describe', 'vm', '-n', 'team', 'web')).stdout).toMatch(/^Steps of the run$.*Look at team\/web: .*^ {2}kubectl get virtualmachineclasses -n team /msu);
    // Who sees a namespace alone may still be asked of another one.
    expect((await drover(exitCodes.ok, 'vms', '-n', 'default')).stdout).toBe('There is no VirtualMachine in default.\n');

    // The run that is open looks at once, and what fails is told with its next try.
    world.played.refusal = 'two VMs could be it';
    expect((await drover(exitCodes.ok, 'retry', 'vm', 'team/web')).stdout).toBe('Looks at team/web again.\n');
    const failing = await until('the failure to be told', 60_000, async () => {
      const found = await described();
      return (found.run?.progress?.failures.length ?? 0) > 0 ? found : (found.run?.progress?.message ?? 'no answer');
    });
    expect(failing.run?.progress?.failures).toEqual([expect.objectContaining({ phase: 'observe', message: expect.stringMatching(/two VMs could be it/u) })]);
    expect(failing.run?.steps).toEqual(expect.arrayContaining([expect.objectContaining({ activity: 'observeVirtualMachine', end: 'failed', message: expect.stringMatching(/two VMs could be it/u) })]));
    world.played.refusal = null;

    await world.kubectl(['annotate', 'vm', '-n', 'team', 'web', `${virtualMachineAnnotations.paused}=`]);
    await drover(exitCodes.ok, 'retry', 'vm', 'team/web');
    const paused = await until('the run to rest', 60_000, async () => {
      const found = await described();
      return found.run?.ending === null ? 'open' : found;
    });
    expect(paused.run).toMatchObject({ status: 'Completed', ending: { outcome: 'Rests', message: expect.stringMatching(/pauses it/u) }, progress: null });
    expect(await json<ListedVirtualMachine[]>('vms', '--attention')).toEqual([]);
    expect((await drover(exitCodes.ok, 'describe', 'vm', 'team/web')).stdout).toMatch(/^team\/web: Paused for .*^ {2}paused +by its annotation$.*, Rests \d+s ago: .*^Last steps of the last run$.*^ {2}kubectl annotate vm -n team web vmoperator\.vmware\.com\/paused- /msu);
  },
  limitMs,
);

test(
  'a name that two namespaces have, one that is gone, and no Temporal',
  async () => {
    await create('other', 'twin');
    await create('another', 'twin');
    expect((await drover(exitCodes.usage, 'describe', 'vm', 'twin')).stderr).toMatch(/2 VirtualMachines twin.*another\/twin, other\/twin/su);
    const away = await world.command(['vms', '-n', 'other'], { TEMPORAL_ADDRESS: '127.0.0.1:1' });
    expect([away.code, away.stdout]).toEqual([exitCodes.ok, expect.stringMatching(/^other\/twin /mu)]);

    await drover(exitCodes.ok, 'retry', 'vm', 'other/twin');
    await world.kubectl(['patch', 'vm', '-n', 'other', 'twin', '--type=merge', '-p', '{"metadata":{"finalizers":null}}']);
    await world.kubectl(['delete', 'vm', '-n', 'other', 'twin']);
    expect((await drover(exitCodes.ok, 'describe', 'vm', 'other/twin')).stdout).toMatch(/^other\/twin: there is no such VirtualMachine any more$/mu);
    expect((await drover(exitCodes.notFound, 'retry', 'vm', 'other/twin')).stderr).toMatch(/Did you mean another\/twin\?/u);
  },
  limitMs,
);
