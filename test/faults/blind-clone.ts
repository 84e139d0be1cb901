import { type Clock, systemClock, withTimeout } from '../../runtime/clock.ts';
import { failureCode } from '../../runtime/failure.ts';
import { openVcenter } from '../../activities/vsphere/client.ts';
import { configOf } from '../../activities/vsphere/mutations/find-vm.ts';
import { openGateway } from '../../activities/vsphere/gateway.ts';
import { folderRef, vmRef } from '../../activities/vsphere/wire/values.ts';
import { cloneSpec, type NewVm } from '../../activities/vsphere/specs/new-vm.ts';
import type { TaskState, VcenterGateway } from '../../activities/vsphere/types.ts';
import type { SubmittedTask } from '../../contracts/virtual-machine/activities.ts';
import type { Config } from '../../runtime/config/config-schema.ts';
import { loadVcenters } from '../../runtime/config/vsphere-settings.ts';
import type { Mutation } from './gate.ts';

const limitMs = 12_000;
const pauseMs = 50;

export function openBlindClone({ vsphere }: Pick<Config, 'vsphere'>): Mutation {
  const [settings] = loadVcenters(vsphere, process.env);
  if (settings === undefined) throw new Error('there is no vCenter');
  const gateway = openGateway(openVcenter(settings, { clock: systemClock }), settings.budget, systemClock);
  return (activity, args) =>
    activity === 'submitNewVm' ? () => blindClone(gateway, systemClock, args[0] as NewVm) : undefined;
}

/** Clones without looking whether an earlier attempt has done so; where the name is taken, it takes another one. */
export const blindClone = (gateway: VcenterGateway, clock: Clock, { create, owner }: NewVm): Promise<SubmittedTask> =>
  withTimeout(clock, limitMs, async (signal) => {
    const { source, at, instanceUuid } = create;
    if (source.kind !== 'template') throw new Error('it only clones');
    const template = await gateway.read(source.moId, signal);
    if (template === null) throw new Error('there is no template');
    for (let number = 1; ; number += 1) {
      const name = number === 1 ? create.name : `${create.name}-${number}`;
      const taskId = await gateway.submit(
        'CloneVM_Task',
        vmRef(source.moId),
        { folder: folderRef(at.folder), name, spec: cloneSpec(create, owner, configOf(template).devices) },
        signal,
      );
      const end = await endOf(gateway, taskId, clock, signal);
      if (end.state === 'error' && failureCode(end.failure) === 'VirtualMachineNameTaken') continue;
      return { taskId, purpose: { kind: 'create', owner, folder: at.folder, name, instanceUuid } };
    }
  });

async function endOf(gateway: VcenterGateway, taskId: string, clock: Clock, signal: AbortSignal): Promise<TaskState> {
  for (;;) {
    const seen = await gateway.readTask(taskId, signal);
    if (seen.state === 'success' || seen.state === 'error') return seen;
    await clock.sleep(pauseMs, signal);
  }
}
