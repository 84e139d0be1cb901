import type { Submission, VmSubject } from '../../../contracts/virtual-machine/activities.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import { mutateVmByTask, type Tools } from '../dependencies.ts';
import { attachedDisk, foreignDisksOf, type MadeDisks, virtualDisksOf } from '../observation/devices.ts';
import { configOf, readOwned, readOwnedThere } from './find-vm.ts';
import { heldBySnapshots } from '../observation/snapshot-disks.ts';
import type { ObservedConfig, VirtualMachine } from '../types.ts';
import { vmRef } from '../wire/values.ts';
import { reconfigure } from './submit-reconfigure.ts';

export async function submitDetachDisks(
  tools: Tools,
  request: VmSubject & { keys: readonly number[] },
): Promise<Submission> {
  const vm = await readOwnedThere(tools, request);
  const config = configOf(vm);
  const { devices, changeVersion } = config;
  const attached = virtualDisksOf(devices).filter(({ key }) => request.keys.includes(key));
  if (attached.length === 0) return null;
  // Detached, they would be destroyed with the snapshots.
  checkSnapshots(vm, config, madeWith(vm, request));
  // Without a file operation the file stays.
  const deviceChange = attached.map(({ key, capacityInKB }) => ({
    operation: 'remove',
    device: { $type: 'VirtualDisk', key, capacityInKB },
  }));
  return reconfigure(
    tools,
    'submitDetachDisks',
    request,
    { deviceChange },
    { changeVersion },
    { detached: attached.map(attachedDisk) },
  );
}

export async function submitDestroy(tools: Tools, request: VmSubject): Promise<Submission> {
  const { gateway, scope } = tools;
  const { vmId } = request;
  const vm = await readOwned(tools, request);
  if (vm === null) return null;
  const config = configOf(vm);
  const made = madeWith(vm, request);
  const foreign = foreignDisksOf(config, made);
  if (foreign.length > 0)
    throw droverFailure(
      'ForeignDisksAttached',
      `${vm.name} (${vmId}) has ${foreign.map(({ label, fileName }) => `${label} (${fileName ?? 'no file'})`).join(', ')}`,
    );
  checkSnapshots(vm, config, made);
  const taskId = await mutateVmByTask(tools, {
    action: 'submitDestroy',
    request,
    before: { vmId, name: vm.name, powerState: vm.powerState, vmxPath: config.vmxPath },
    after: null,
    submit: () => gateway.submit('Destroy_Task', vmRef(vmId), {}, scope.signal),
  });
  return { taskId, purpose: { kind: 'destroy', vmId } };
}

const madeWith = ({ name: vmName }: VirtualMachine, { observeAfter }: VmSubject): MadeDisks => ({
  vmName,
  disks: observeAfter?.madeDisks ?? [],
});

/** A destroy deletes what snapshots hold, also disks that were detached. @throws ForeignDisksAttached */
function checkSnapshots({ name, id, properties }: VirtualMachine, config: ObservedConfig, made: MadeDisks): void {
  const held = heldBySnapshots(properties, config, made);
  if (held.length > 0)
    throw droverFailure(
      'ForeignDisksAttached',
      `Snapshots of ${name} (${id}) hold ${held.join(', ')}: they would be destroyed with it. Remove the snapshots`,
    );
}
