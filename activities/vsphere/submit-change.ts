import type { Submission, VmPowerState, VmSubject, WantedConfig } from '../../contracts/virtual-machine.ts';
import { droverFailure } from '../../runtime/failure.ts';
import { mutate, type Tools } from './dependencies.ts';
import { readOwned, readOwnedThere } from './find-vm.ts';
import { foreignDisks } from './foreign-disks.ts';
import { planChange } from './plan-change.ts';
import type { PowerAction, VirtualMachine, VmConfig } from './types.ts';

const objectOf = ({ mark }: VmSubject): string => `vm/${mark.namespacedName}`;

/** What the VM is made of. @throws VirtualMachineStateRefused where vCenter cannot reach it */
function configOf({ name, id, config, connectionState }: VirtualMachine): VmConfig {
  if (config !== null) return config;
  throw droverFailure('VirtualMachineStateRefused', `${name} (${id}) is ${connectionState}, and vCenter knows nothing of what it is made of`);
}

export async function submitReconfigure(tools: Tools, request: VmSubject & { wanted: WantedConfig }): Promise<Submission> {
  const { gateway, scope } = tools;
  const seen = configOf(await readOwnedThere(tools, request));
  const change = planChange(request.wanted, seen);
  if (change === null) return null;
  // Values of extraConfig may be a guest's secrets: only their keys are written down.
  const { extraConfig, ...plain } = change;
  const taskId = await mutate(tools, {
    action: 'submitReconfigure',
    object: objectOf(request),
    cause: request.cause,
    before: Object.fromEntries(Object.keys(plain).map((name) => [name, seen[name as keyof typeof plain]])),
    after: { ...plain, ...(extraConfig === undefined ? {} : { extraConfigKeys: Object.keys(extraConfig) }) },
    submit: () => gateway.reconfigure(request.vmId, change, seen.changeVersion, scope.signal),
    idOf: (id) => id,
  });
  return { taskId, purpose: { kind: 'change', vmId: request.vmId } };
}

const actions: Readonly<Record<VmPowerState, PowerAction>> = { poweredOn: 'on', poweredOff: 'off', suspended: 'suspend' };

export async function submitPower(tools: Tools, request: VmSubject & { powerState: VmPowerState }): Promise<Submission> {
  const { gateway, scope } = tools;
  const { vmId, powerState } = request;
  const seen = await readOwnedThere(tools, request);
  if (seen.powerState === powerState) return null;
  const taskId = await mutate(tools, {
    action: 'submitPower',
    object: objectOf(request),
    cause: request.cause,
    before: { powerState: seen.powerState },
    after: { powerState },
    submit: () => gateway.power(vmId, actions[powerState], scope.signal),
    idOf: (id) => id,
  });
  return { taskId, purpose: { kind: 'power', vmId, powerState } };
}

export async function askGuest(tools: Tools, request: VmSubject & { request: 'shutDown' | 'reboot' | 'standBy' }): Promise<void> {
  const seen = await readOwnedThere(tools, request);
  if (seen.powerState !== 'poweredOn') return;
  await mutate(tools, {
    action: 'askGuest',
    object: objectOf(request),
    cause: request.cause,
    before: { powerState: seen.powerState },
    after: { asked: request.request },
    submit: () => tools.gateway.askGuest(request.vmId, request.request, tools.scope.signal),
  });
}

export async function submitDetachDisks(tools: Tools, request: VmSubject & { keys: readonly number[] }): Promise<Submission> {
  const { gateway, scope } = tools;
  const { disks, changeVersion } = configOf(await readOwnedThere(tools, request));
  const attached = disks.filter(({ key }) => request.keys.includes(key));
  if (attached.length === 0) return null;
  const taskId = await mutate(tools, {
    action: 'submitDetachDisks',
    object: objectOf(request),
    cause: request.cause,
    before: attached,
    after: { detached: attached.map(({ key }) => key) },
    submit: () => gateway.detachDisks(request.vmId, attached.map(({ key }) => key), changeVersion, scope.signal),
    idOf: (id) => id,
  });
  return { taskId, purpose: { kind: 'change', vmId: request.vmId } };
}

export async function submitDestroy(tools: Tools, request: VmSubject): Promise<Submission> {
  const { gateway, scope } = tools;
  const { vmId } = request;
  const seen = await readOwned(tools, request);
  if (seen === null) return null;
  const foreign = foreignDisks(configOf(seen));
  if (foreign.length > 0) throw droverFailure('ForeignDisksAttached', `${seen.name} (${vmId}) has ${foreign.map(({ label, fileName }) => `${label} (${fileName ?? 'no file'})`).join(', ')}`);
  const taskId = await mutate(tools, {
    action: 'submitDestroy',
    object: objectOf(request),
    cause: request.cause,
    before: { vmId, name: seen.name, powerState: seen.powerState, vmxPath: seen.config?.vmxPath },
    after: null,
    submit: () => gateway.destroy(vmId, scope.signal),
    idOf: (id) => id,
  });
  return { taskId, purpose: { kind: 'destroy', vmId } };
}
