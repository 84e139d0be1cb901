import type { Submission, VmSubject } from '../../../contracts/virtual-machine/activities.ts';
import type { DeviceChange, ReconfigSpec, VmConfig } from '../../../contracts/virtual-machine/config.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import { finalFailure } from '../../lib/wait.ts';
import { mutateVmByTask, type Tools } from '../dependencies.ts';
import { readBootOptions, toConfig } from '../observation/config.ts';
import { configSpec, neededApi } from '../specs/config-spec.ts';
import type { VirtualMachine } from '../types.ts';
import { vmRef } from '../wire/values.ts';
import type { VirtualMachineConfigSpec } from '../wire/vim/types.ts';
import { confirmApi } from './confirm-api.ts';
import { configOf, readOwnedThere } from './find-vm.ts';

/**
 * One ReconfigVM_Task for the version that the change was decided on. Where that is no more, it may be this very change
 * that was made: then all is well.
 */
export async function submitReconfigure(
  tools: Tools,
  request: VmSubject & { changeVersion: string; spec: ReconfigSpec },
): Promise<Submission> {
  const vm = await readOwnedThere(tools, request);
  const { spec } = request;
  const { changeVersion, devices } = configOf(vm);
  if (changeVersion !== request.changeVersion) {
    if (isApplied(spec, vm)) return null;
    throw changed(vm, request.changeVersion);
  }
  // Values of ExtraConfig may be a guest's secrets: only their keys are written down.
  const { extraConfig, ...plain } = spec;
  const after = { ...plain, ...(extraConfig !== undefined && { extraConfigKeys: extraConfig.map(({ key }) => key) }) };
  return reconfigure(
    tools,
    'submitReconfigure',
    request,
    configSpec(spec, { devices, bootOptions: readBootOptions(vm.properties) }),
    { changeVersion },
    after,
  );
}

/** @returns a failure that Temporal does not try again: with the same version it would fail again */
export const changed = ({ name, id }: VirtualMachine, version: string): Error =>
  finalFailure(
    droverFailure(
      'VirtualMachineConflict',
      `${name} (${id}) was changed since version ${version} of its configuration was read`,
    ),
  );

/**
 * Submits a change on the version that was read.
 *
 * @param isSecret its failure states the kind only
 */
export async function reconfigure(
  tools: Tools,
  action: string,
  request: VmSubject,
  spec: VirtualMachineConfigSpec,
  before: { changeVersion: string },
  after: unknown,
  isSecret = false,
): Promise<Submission> {
  const api = await confirmApi(tools, neededApi(spec));
  const taskId = await mutateVmByTask(tools, {
    action,
    request,
    before,
    after,
    submit: () =>
      tools.gateway.submit(
        'ReconfigVM_Task',
        vmRef(request.vmId),
        { spec: { ...spec, changeVersion: before.changeVersion } },
        tools.scope.signal,
        { isSecret, ...api },
      ),
  });
  return { taskId, purpose: { kind: 'change', vmId: request.vmId, ...(isSecret && { isSecret }) } };
}

/**
 * Whether a VM is as a change wants it: an earlier attempt may have made it. A device that was added cannot be
 * distinguished from one that another user adds.
 */
export function isApplied(spec: ReconfigSpec, vm: VirtualMachine): boolean {
  const config = toConfig(vm, []);
  if (config === null || vm.config === null) return false;
  // Which tags are attached, the key says that comes with them.
  const { extraConfig = [], deviceChange = [], tagSpecs: _, ...fields } = spec;
  const { extraConfig: options } = vm.config;
  return (
    Object.entries(fields).every(([name, value]) => isSame(value, config[name as keyof VmConfig])) &&
    // A key that is not there is as good as one without a value.
    extraConfig.every(({ key, value }) => (options[key] ?? '') === value) &&
    deviceChange.every((change) => isMade(change, config))
  );
}

const isSame = (wanted: unknown, observed: unknown): boolean => {
  if (typeof wanted !== 'object' || wanted === null || typeof observed !== 'object' || observed === null)
    return wanted === observed;
  return Object.entries(wanted).every(([name, value]) => isSame(value, (observed as Record<string, unknown>)[name]));
};

function isMade(change: DeviceChange, { networkCards, cdroms, disks, pciDevices, controllers }: VmConfig): boolean {
  switch (change.operation) {
    case 'add':
      return false;
    case 'remove':
      return ![...networkCards, ...cdroms, ...pciDevices, ...controllers].some(({ key }) => key === change.key);
    case 'edit':
      if (change.device === 'networkCard')
        return networkCards.some(
          ({ key, backing, uptv2Enabled, numaNode }) =>
            key === change.card.key &&
            backing === change.card.backing &&
            uptv2Enabled === change.card.uptv2Enabled &&
            numaNode === change.card.numaNode,
        );
      if (change.device === 'controller')
        return controllers.some(
          ({ key, sharing }) => key === change.controller.key && sharing === change.controller.sharing,
        );
      if (change.device === 'disk')
        return disks.some(({ key, capacityBytes }) => key === change.key && capacityBytes >= change.capacityBytes);
      return cdroms.some(
        ({ key, iso, connected, allowGuestControl }) =>
          key === change.cdrom.key &&
          iso === change.cdrom.iso &&
          connected === change.cdrom.connected &&
          allowGuestControl === change.cdrom.allowGuestControl,
      );
  }
}

export async function submitHardwareUpgrade(
  tools: Tools,
  request: VmSubject & { version: number },
): Promise<Submission> {
  const { version: before } = configOf(await readOwnedThere(tools, request));
  if (Number(/\d+$/u.exec(before)?.[0] ?? 0) >= request.version) return null;
  const version = `vmx-${String(request.version).padStart(2, '0')}`;
  const taskId = await mutateVmByTask(tools, {
    action: 'submitHardwareUpgrade',
    request,
    before: { version: before },
    after: { version },
    submit: () => tools.gateway.submit('UpgradeVM_Task', vmRef(request.vmId), { version }, tools.scope.signal),
  });
  return { taskId, purpose: { kind: 'change', vmId: request.vmId } };
}
