import { kindTable } from '../../contracts/kinds/table.ts';
import { withKubernetes } from '../../lab/kubernetes-objects.ts';
import { findCondition } from '../../contracts/conditions.ts';
import type { VirtualMachine } from '../../contracts/crds/virtual-machine.ts';
import { annotations, virtualMachineId } from '../../contracts/ids.ts';
import { virtualMachineConditions } from '../../contracts/virtual-machine/conditions.ts';
import { kubectl } from '../../lab/kubectl.ts';
import { inventory } from '../../lab/vsphere/handle.ts';
import { setUpVmNamespace, vmManifest, vmFixture } from '../../lab/vsphere/vm-fixture.ts';
import { isFailure } from '../../runtime/kubernetes/kubernetes-faults.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import { makeVm, watchVm } from '../faults/virtual-machine-objects.ts';
import { until } from '../flows/until.ts';
import type { World } from '../flows/world.ts';
import type { ObservedVms } from '../invariants/read-vcenter.ts';
import type { ChaosVcenter } from './chaos-vcenter.ts';
import { patiently } from './patiently.ts';
import type { VmAction } from './plan.ts';
import { vmCount } from './plan.ts';

/** Virtual machines that users make, change and delete while everything breaks. */

const namespace = 'chaos';
const names: readonly string[] = Array.from({ length: vmCount }, (_, index) => `vm-${index + 1}`);

/** Longer than any back-off that a run may be in. */
const serviceMs = 300_000;
const apiVersion = 'vmoperator.vmware.com/v1alpha6';
const patience = (): AbortSignal => AbortSignal.timeout(5_000);
const pathOf = (name?: string): string =>
  resourcePath(apiVersion, 'virtualmachines', { namespace, ...(name !== undefined && { name }) });
const isThere = (message: string): boolean => /already ?exists/iu.test(message);

/** A namespace for them, and a VM beside them that is not drover's. */
export async function prepareVirtualMachines(world: World, { witness }: ChaosVcenter): Promise<ObservedVms> {
  await withKubernetes(world.lab.handles.kubernetes, (api) => setUpVmNamespace(api, witness, namespace));
  await makeVm(witness, namespace, 'stranger');
  return { namespace, strangers: [await watchVm(witness, namespace, 'stranger')] };
}

/** Leaves Kubernetes as others expect it. No drover may be at work. */
export async function removeVirtualMachines({ api, lab }: World): Promise<void> {
  const { items } = (await api.request({ method: 'GET', path: pathOf() }, patience())) as { items: VirtualMachine[] };
  for (const {
    metadata: { name },
  } of items) {
    await api.request(
      { method: 'PATCH', patchType: 'merge', path: pathOf(name), body: { metadata: { finalizers: null } } },
      patience(),
    );
    await patiently(() => api.request({ method: 'DELETE', path: pathOf(name) }, patience()));
  }
  await kubectl(lab.handles.kubernetes, ['delete', 'namespace', namespace, '--wait=false']);
}

/** Does what a user would, or another user of vCenter; returns what was done. */
export async function performVmAction(
  world: World,
  { witness }: ChaosVcenter,
  { vm, what }: VmAction,
): Promise<string> {
  const { api, client } = world;
  const name = names[vm] ?? '';
  switch (what) {
    case 'create':
      await create(world, name);
      break;
    case 'power': {
      const powerState = (await read(world, name))?.spec?.powerState === 'PoweredOff' ? 'PoweredOn' : 'PoweredOff';
      await change(world, name, { spec: { powerState } });
      return `${powerState} ${name}`;
    }
    case 'resize': {
      const { small, large } = vmFixture.classes;
      const className = (await read(world, name))?.spec?.className === small ? large : small;
      await change(world, name, { spec: { className } });
      return `${className} ${name}`;
    }
    case 'delete':
      await patiently(() => api.request({ method: 'DELETE', path: pathOf(name) }, patience()));
      break;
    case 'switchOff':
      return `switch ${name} off in vCenter${await shrugging(witness.setPower(`${inventory.vmFolder}/${namespace}/${name}`, 'off'))}`;
    case 'terminate':
      return `terminate ${virtualMachineId(namespace, name)}${await shrugging(client.workflow.getHandle(virtualMachineId(namespace, name)).terminate('chaos'))}`;
  }
  return `${what} ${name}`;
}

/** There may be none, or the system is away: that is not an error. */
const shrugging = (doing: Promise<unknown>): Promise<string> =>
  doing.then(
    () => '',
    (error: unknown) => `: ${(error as Error).message.split('\n')[0] ?? ''}`,
  );

const create = ({ api }: World, name: string): Promise<unknown> =>
  patiently(
    () => api.request({ method: 'POST', path: pathOf(), body: vmManifest(namespace, name) }, patience()),
    isThere,
  );

const change = ({ api }: World, name: string, body: object): Promise<unknown> =>
  patiently(() => api.request({ method: 'PATCH', patchType: 'merge', path: pathOf(name), body }, patience()));

async function read({ api }: World, name: string): Promise<VirtualMachine | null> {
  return await patiently(async () => {
    try {
      return (await api.request({ method: 'GET', path: pathOf(name) }, patience())) as VirtualMachine;
    } catch (error) {
      if (isFailure(error, 'ObjectNotFound')) return null;
      throw error;
    }
  });
}

/**
 * At the end each is wanted, and retried where it says that a user has to. Returns what is not as its spec
 * wants it then.
 */
export async function restoreVirtualMachines(world: World): Promise<string[]> {
  const found = await Promise.all(
    names.map((name) =>
      until(`${name} to be as its spec asks for it`, serviceMs, () => observeVm(world, name)).then(
        () => [],
        (error: unknown) => [(error as Error).message],
      ),
    ),
  );
  return found.flat();
}

async function observeVm(world: World, name: string): Promise<true | string> {
  const object = await read(world, name);
  if (object === null) {
    await create(world, name);
    return 'it is made anew';
  }
  const { reason, status, message, lastTransitionTime } = findCondition(
    object.status?.conditions,
    virtualMachineConditions.lifecycle,
  ) ?? { reason: 'nothing', status: 'Unknown', message: '', lastTransitionTime: '' };
  const isReconciled = kindTable.VirtualMachine.isReconciled(object, 'act');
  // Once for each time that it became reconciled.
  if (isReconciled && status === 'False')
    await change(world, name, { metadata: { annotations: { [annotations.retry]: lastTransitionTime } } });
  return (
    (isReconciled && status === 'True' && object.metadata.deletionTimestamp === undefined) ||
    `${reason} ${status}: ${message}`
  );
}
