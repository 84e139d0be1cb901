import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findCondition } from '../../contracts/conditions.ts';
import { type VirtualMachine, virtualMachineSchema } from '../../contracts/crds/virtual-machine.ts';
import { virtualMachineConditions } from '../../contracts/virtual-machine/conditions.ts';
import { checkoutDirectory } from '../../lab/context.ts';
import { startDrover } from '../../lab/drover.ts';
import { labClock } from '../../lab/clock.ts';
import type { CommandEnd } from '../../lab/kubectl.ts';
import { kubectl, run } from '../../lab/kubectl.ts';
import { startLab } from '../../lab/lab.ts';
import { connectVcenterControl, type RecordedRequest } from '../../lab/vsphere/control.ts';
import { setUpVmNamespace, vcenterSettings, vmManifest, witnessVm } from '../../lab/vsphere/vm-fixture.ts';
import { openGovcWitness } from '../../lab/vsphere/witness.ts';
import { isFailure } from '../../runtime/kubernetes/kubernetes-faults.ts';
import { connectKubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import { openClient, readTemporalSettings } from '../../runtime/temporal/temporal.ts';
import { makeVm, watchVm } from '../faults/virtual-machine-objects.ts';
import { readWorld } from '../read-world.ts';
import { openObjectLog } from './object-log.ts';
import { until } from './until.ts';
import type { VmBase, VmWorldOptions } from './virtual-machine-base.ts';
import { commandEnv, namespace, settingsOf, stranger } from './virtual-machine-base.ts';

export { namespace };

export type VmWorld = ReturnType<typeof composeVmWorld>;

/** What vCenter was asked to clone under that name. */
export const clonesOf = async ({ control }: Pick<VmWorld, 'control'>, name: string): Promise<RecordedRequest[]> =>
  (await control.requests()).filter(
    ({ method, body }) => method === 'CloneVM_Task' && body.includes(`<name>${name}</name>`),
  );

/**
 * drover's own worker and bridge, on a real Temporal, kube-apiserver and govmomi's vCenter; with DROVER_SIMULATED a
 * simulation, in which nothing is real but drover's own code.
 */
export async function openVmWorld(options: VmWorldOptions = {}): Promise<VmWorld> {
  if (process.env['DROVER_SIMULATED'] === undefined) return composeVmWorld(await openLabVmBase(options));
  const { openSimulatedVmBase } = await import('../simulator/worlds/virtual-machine-flow-world.ts');
  return composeVmWorld(await openSimulatedVmBase(options));
}

async function openLabVmBase(options: VmWorldOptions): Promise<VmBase> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'drover-vms-')));
  const lab = await startLab({ dir: join(root, 'lab'), parts: ['temporal', 'kubernetes', 'vsphere'] });
  const { kubernetes, vsphere } = lab.handles;
  const vcenter = openGovcWitness(vsphere);
  const api = connectKubernetes({ kubeconfig: kubernetes.kubeconfig });
  await setUpVmNamespace(api, vcenter, namespace);
  await makeVm(vcenter, namespace, stranger);
  await options.prepare?.(api);
  const sinceMs = labClock().now();
  const settings = { ...settingsOf(options), vsphere: vcenterSettings(vsphere) };
  const { bridge = true } = options;
  const drover = await startDrover(lab, { dir: join(root, 'drover'), settings, bridge });
  const env = { ...drover.env, ...commandEnv, KUBECONFIG: kubernetes.kubeconfig };
  const client = openClient(readTemporalSettings(lab.exports));
  const objectLog = await openObjectLog(api);
  const vms = { namespace, strangers: [await watchVm(vcenter, namespace, stranger)] };
  const { dir } = drover;
  const observed: VmBase['observed'] = {
    lab,
    drover,
    dir,
    api,
    client,
    sinceMs,
    objectLog,
    vms,
    planted: [],
    outputs: [],
  };
  return {
    client,
    api,
    vcenter,
    control: connectVcenterControl(vsphere),
    drover,
    observed,
    kubectl: (args, input) => kubectl(kubernetes, args, input),
    command: (args) =>
      run(process.execPath, [join(checkoutDirectory, 'bin/drover.mjs'), ...args], { env, limitMs: 180_000 }),
    texts: async () => (await readWorld(observed)).texts,
    async close() {
      await drover.stop();
      await objectLog.close();
      await client.connection.close();
      await api.close();
      await lab.stop();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

function composeVmWorld(base: VmBase) {
  const { api, vcenter, control } = base;
  const path = (name: string): string =>
    resourcePath('vmoperator.vmware.com/v1alpha6', 'virtualmachines', { namespace, name });

  const read = async (name: string): Promise<VirtualMachine | null> => {
    try {
      return virtualMachineSchema.parse(
        await api.request({ method: 'GET', path: path(name) }, AbortSignal.timeout(10_000)),
      );
    } catch (error) {
      if (isFailure(error, 'ObjectNotFound')) return null;
      throw error;
    }
  };
  const lifecycleOf = async (name: string): Promise<string> => {
    const object = await read(name);
    if (object === null) return 'gone';
    const lifecycle = findCondition(object.status?.conditions, virtualMachineConditions.lifecycle);
    return lifecycle === undefined || lifecycle.observedGeneration !== object.metadata.generation
      ? `nothing said of generation ${object.metadata.generation}`
      : `${lifecycle.status} ${lifecycle.reason}: ${lifecycle.message}`;
  };
  /** Any object, as `kubectl create` makes it. */
  const make = (object: object): Promise<string> => base.kubectl(['create', '-f', '-'], JSON.stringify(object));

  return {
    ...base,
    read,
    lifecycleOf,
    witness: (name: string) => witnessVm(vcenter, namespace, name),
    create: (name: string, spec: object = {}, annotations: Record<string, string> = {}): Promise<string> =>
      make(vmManifest(namespace, name, spec, annotations)),
    make,
    change: (name: string, change: object): Promise<unknown> =>
      api.request({ method: 'PATCH', patchType: 'merge', path: path(name), body: change }, AbortSignal.timeout(10_000)),
    remove: (name: string): Promise<unknown> =>
      api.request({ method: 'DELETE', path: path(name) }, AbortSignal.timeout(10_000)),
    /** While vCenter takes so long for some of its tasks. */
    async whileSlow(delaysMs: Parameters<typeof control.delayTasks>[0], work: () => Promise<void>): Promise<void> {
      await control.delayTasks(delaysMs);
      try {
        await work();
      } finally {
        await control.delayTasks({});
      }
    },
    kubectl: (...args: string[]): Promise<string> => base.kubectl(args),
    /** Runs `drover` as a user would. */
    async command(...args: string[]): Promise<CommandEnd> {
      const end = await base.command(args);
      base.observed.outputs?.push({ where: `the output of drover ${args.join(' ')}`, text: end.stdout + end.stderr });
      return end;
    },
    /** Waits until the object says so of its present spec. */
    untilReported: (name: string, pattern: RegExp, deadlineMs = 40_000): Promise<unknown> =>
      until(`${name} to report ${pattern.source}`, deadlineMs, async () => {
        const lifecycle = await lifecycleOf(name);
        return pattern.test(lifecycle) ? { lifecycle } : lifecycle;
      }),
  };
}
