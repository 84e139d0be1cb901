import { withKubernetes } from '../../lab/kubernetes-objects.ts';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findCondition } from '../../contracts/conditions.ts';
import { type VirtualMachine, virtualMachineSchema } from '../../contracts/crds/virtual-machine.ts';
import { virtualMachineConditions } from '../../contracts/virtual-machine-conditions.ts';
import { startDrover } from '../../lab/drover.ts';
import { kubectl } from '../../lab/kubectl.ts';
import type { Lab } from '../../lab/lab.ts';
import { startLab } from '../../lab/lab.ts';
import { connectVcenterControl } from '../../lab/vsphere/control.ts';
import { setVmScene, vcenterSettings, vmManifest, witnessVm } from '../../lab/vsphere/scene.ts';
import { openGovcWitness } from '../../lab/vsphere/witness.ts';
import { isFailure } from '../../runtime/kubernetes-faults.ts';
import { connectKubernetes, resourcePath } from '../../runtime/kubernetes.ts';
import { openClient, readTemporalSettings } from '../../runtime/temporal.ts';
import { makeVm, watchVm } from '../faults/virtual-machine-objects.ts';
import type { Observed } from '../read-world.ts';
import { openObjectLog } from './object-log.ts';
import { until } from './until.ts';

export const namespace = 'team-a';

/** A VM there that is not drover's. */
const stranger = 'stranger';

/** Seconds rather than minutes. */
const settings = { modes: { Eviction: 'off', Hypervisor: 'off', VirtualMachine: 'act' }, virtualMachine: { recheckMs: 2_000, lingerMs: 200, addressMs: 1_000, softPowerMs: 3_000, deletePowerOffMs: 3_000, taskMs: 60_000 }, bridge: { resyncMs: 3_000 } };

type VmHandles = Lab<'temporal' | 'kubernetes' | 'vsphere'>['handles'];

export type VmWorld = Awaited<ReturnType<typeof openVmWorld>>;

/**
 * drover's own worker and bridge, on a real Temporal, kube-apiserver and govmomi's vCenter.
 *
 * @param more settings of drover beside those of all these flows, section by section
 * @param prepare what has to be there before drover starts
 */
export async function openVmWorld({ virtualMachine = {}, ...more }: Record<string, object> = {}, prepare: (handles: VmHandles) => Promise<void> = async () => undefined) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'drover-vms-')));
  const lab = await startLab({ dir: join(root, 'lab'), parts: ['temporal', 'kubernetes', 'vsphere'] });
  const { kubernetes, vsphere } = lab.handles;
  const witness = openGovcWitness(vsphere);
  await withKubernetes(kubernetes, (api) => setVmScene(api, witness, namespace));
  await makeVm(witness, namespace, stranger);
  await prepare(lab.handles);
  const sinceMs = Date.now();
  const drover = await startDrover(lab, { dir: join(root, 'drover'), settings: { ...settings, ...more, virtualMachine: { ...settings.virtualMachine, ...virtualMachine }, vsphere: vcenterSettings(vsphere) } });
  const api = connectKubernetes({ kubeconfig: kubernetes.kubeconfig });
  const control = connectVcenterControl(vsphere);
  const client = openClient(readTemporalSettings(lab.exports));
  const objectLog = await openObjectLog(api);
  const observed: Observed = {
    lab, drover, dir: drover.dir, api, client, sinceMs, objectLog, planted: [], outputs: [],
    vms: { namespace, strangers: [await watchVm(witness, namespace, stranger)] },
  };
  const path = (name: string): string => resourcePath('vmoperator.vmware.com/v1alpha6', 'virtualmachines', { namespace, name });

  const read = async (name: string): Promise<VirtualMachine | null> => {
    try {
      return virtualMachineSchema.parse(await api.request({ method: 'GET', path: path(name) }, AbortSignal.timeout(10_000)));
    } catch (error) {
      if (isFailure(error, 'ObjectNotFound')) return null;
      throw error;
    }
  };
  const lifecycleOf = async (name: string): Promise<string> => {
    const object = await read(name);
    if (object === null) return 'gone';
    const said = findCondition(object.status?.conditions, virtualMachineConditions.lifecycle);
    return said === undefined || said.observedGeneration !== object.metadata.generation ? `nothing said of generation ${object.metadata.generation}` : `${said.status} ${said.reason}: ${said.message}`;
  };

  return {
    lab,
    drover,
    control,
    /** For the invariants. */
    observed,
    read,
    lifecycleOf,
    /** Another client of the vCenter. */
    vcenter: witness,
    witness: (name: string) => witnessVm(witness, namespace, name),
    create: (name: string, spec: object = {}, annotations: Record<string, string> = {}): Promise<string> => kubectl(kubernetes, ['create', '-f', '-'], JSON.stringify(vmManifest(namespace, name, spec, annotations))),
    /** Any object, as `kubectl create` makes it. */
    make: (object: object): Promise<string> => kubectl(kubernetes, ['create', '-f', '-'], JSON.stringify(object)),
    change: (name: string, change: object): Promise<unknown> => api.request({ method: 'PATCH', patchType: 'merge', path: path(name), body: change }, AbortSignal.timeout(10_000)),
    remove: (name: string): Promise<unknown> => api.request({ method: 'DELETE', path: path(name) }, AbortSignal.timeout(10_000)),
    /** While vCenter takes so long for some of its tasks. */
    async whileSlow(delaysMs: Parameters<typeof control.delayTasks>[0], work: () => Promise<void>): Promise<void> {
      await control.delayTasks(delaysMs);
      try {
        await work();
      } finally {
        await control.delayTasks({});
      }
    },
    kubectl: (...args: string[]): Promise<string> => kubectl(kubernetes, args),
    /** Waits until the object says so of its present spec. */
    untilSaid: (name: string, said: RegExp, deadlineMs = 40_000): Promise<unknown> =>
      until(`${name} to say ${said.source}`, deadlineMs, async () => {
        const lifecycle = await lifecycleOf(name);
        return said.test(lifecycle) ? { lifecycle } : lifecycle;
      }),
    async close(): Promise<void> {
      await drover.stop();
      await objectLog.close();
      await client.connection.close();
      await api.close();
      await lab.stop();
      rmSync(root, { recursive: true, force: true });
    },
  };
}
