import type { Submission, VmSubject } from '../../../contracts/virtual-machine/activities.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import { mutateVmByTask, type Tools } from '../dependencies.ts';
import { attachedDisk, foreignDisksOf, virtualDisksOf } from '../observation/devices.ts';
import { configOf, readOwned, readOwnedThere } from './find-vm.ts';
import { vmRef } from '../wire/values.ts';
import { reconfigure } from './submit-reconfigure.ts';

export async function submitDetachDisks(
  tools: Tools,
  request: VmSubject & { keys: readonly number[] },
): Promise<Submission> {
  const { devices, changeVersion } = configOf(await readOwnedThere(tools, request));
  const attached = virtualDisksOf(devices).filter(({ key }) => request.keys.includes(key));
  if (attached.length === 0) return null;
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
  const foreign = foreignDisksOf(config);
  if (foreign.length > 0)
    throw droverFailure(
      'ForeignDisksAttached',
      `${vm.name} (${vmId}) has ${foreign.map(({ label, fileName }) => `${label} (${fileName ?? 'no file'})`).join(', ')}`,
    );
  const taskId = await mutateVmByTask(tools, {
    action: 'submitDestroy',
    request,
    before: { vmId, name: vm.name, powerState: vm.powerState, vmxPath: config.vmxPath },
    after: null,
    submit: () => gateway.submit('Destroy_Task', vmRef(vmId), {}, scope.signal),
  });
  return { taskId, purpose: { kind: 'destroy', vmId } };
}
