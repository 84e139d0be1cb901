import type {
  DeleteMachineRequest,
  ListedVm,
  MachineDriver,
  SubmitDetach,
} from '../../../contracts/machine-safety/driver.ts';
import { readProviderId, writeProviderId } from '../../../contracts/machine-safety/provider-id.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import { type AttributedVm, findFolder, readFolderVms, readVmsByBiosUuid } from '../../vsphere/attributed-vms.ts';
import { configOf } from '../../vsphere/mutations/find-vm.ts';
import { destroyByStep, type DestroyStep } from '../../vsphere/mutations/destroy-step.ts';
import { endOfTask } from '../../vsphere/tasks/end-of-task.ts';
import type { VcenterGateway, VirtualMachine } from '../../vsphere/types.ts';
import { vmRef } from '../../vsphere/wire/values.ts';
import { hasMarks, marksIn, vsphereNotation } from './marks.ts';
import type { VsphereClass } from './vsphere-class.ts';

/** Gives the work a gateway that stays open for it. */
export type UseVcenter = <Result>(work: (gateway: VcenterGateway) => Promise<Result>) => Promise<Result>;

/** VMs of one folder, with the marks of one class in their custom attributes (docs/machine-safety.md#drivers). */
export const openVsphereDriver = (of: VsphereClass, use: UseVcenter, clock: Clock): MachineDriver => ({
  provider: 'vsphere',
  listMachines: (signal) =>
    use(async (gateway) =>
      (await readFolderVms(gateway, of.folderPath, signal))
        .filter((vm) => isOfClass(of, vm))
        .map((vm) => toListedVm(of, gateway.vcenter, vm)),
    ),
  deleteMachine: (request, signal, submitDetach = (_disks, submit) => submit()) =>
    use((gateway) => deleteMachine({ of, gateway, clock, signal, submitDetach }, request)),
  // What has no VM carries no mark, and a create of a VM leaves nothing without one: docs/machine-safety.md#drivers.
  listLeftovers: () => Promise.resolve([]),
  deleteLeftover: ({ kind, id }) =>
    Promise.reject(
      droverFailure('InvalidInput', `${kind} ${id.slice(0, 300)} is nothing that drover lists as left over at vSphere`),
    ),
});

const isOfClass = ({ marks }: VsphereClass, { isTemplate, attributes }: AttributedVm): boolean =>
  !isTemplate && hasMarks(marksIn(vsphereNotation, attributes), marks);

const isUuid = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/u.test(text);

/** @throws AnswerMalformed where nothing says which VM it is: a list without it would not be whole */
function toListedVm(
  { region }: VsphereClass,
  vcenter: string,
  { id, name, biosUuid, createdMs }: AttributedVm,
): ListedVm {
  if (!isUuid(biosUuid))
    throw droverFailure('AnswerMalformed', `vCenter ${vcenter} gives ${name} (${id}) no BIOS UUID that is one`);
  return { providerId: writeProviderId({ provider: 'vsphere', region, id: biosUuid }), machineName: name, createdMs };
}

interface Deletion {
  of: VsphereClass;
  gateway: VcenterGateway;
  clock: Clock;
  signal: AbortSignal;
  submitDetach: SubmitDetach;
}

/** Reads the VM, and whose it is, before each change. */
async function deleteMachine(
  deletion: Deletion,
  request: DeleteMachineRequest,
): ReturnType<MachineDriver['deleteMachine']> {
  const detachedDisks: string[] = [];
  const isDestroyed = await destroyByStep({
    ...deletion,
    detachForeignDisks: request.detachForeignDisks,
    find: () => findMachine(deletion, request),
    execute: async (vm, step) => {
      await execute(deletion, vm, step);
      if (step.kind === 'detach') detachedDisks.push(...step.disks.map(({ name }) => name));
    },
  });
  return { outcome: isDestroyed ? 'deleted' : 'gone', detachedDisks };
}

async function execute(
  { gateway, clock, signal, submitDetach }: Deletion,
  vm: VirtualMachine,
  step: DestroyStep,
): Promise<void> {
  const self = vmRef(vm.id);
  const submitted = (): Promise<string> => {
    if (step.kind === 'powerOff') return gateway.submit('PowerOffVM_Task', self, {}, signal);
    if (step.kind === 'destroy') return gateway.submit('Destroy_Task', self, {}, signal);
    // Without a file operation the files stay; of another version than was read, vCenter refuses the change.
    const deviceChange = step.disks.map(({ key, capacityInKB }) => ({
      operation: 'remove',
      device: { $type: 'VirtualDisk', key, capacityInKB },
    }));
    const { changeVersion } = configOf(vm);
    return submitDetach(
      step.disks.map(({ name }) => name),
      () => gateway.submit('ReconfigVM_Task', self, { spec: { changeVersion, deviceChange } }, signal),
    );
  };
  await endOfTask({ gateway, clock, signal }, await submitted(), `${step.kind} ${vm.name} (${vm.id})`);
}

/**
 * The VM, if it is still what is to be deleted; null where no VM has its BIOS UUID.
 *
 * @throws InvalidObject, VirtualMachineAmbiguous, VirtualMachineNotOwned
 */
async function findMachine(
  { of, gateway, signal }: Deletion,
  { providerId, machineName }: Pick<DeleteMachineRequest, 'providerId' | 'machineName'>,
): Promise<VirtualMachine | null> {
  const read = readProviderId(providerId);
  if (read?.provider !== 'vsphere' || !isUuid(read.id))
    throw droverFailure(
      'InvalidObject',
      `${providerId.slice(0, 300)} is no provider id of vSphere, where ${of.what} has its VMs`,
    );
  const [found, ...others] = await readVmsByBiosUuid(gateway, read.id, signal);
  if (found === undefined) return null;
  if (others.length > 0)
    throw droverFailure(
      'VirtualMachineAmbiguous',
      `${1 + others.length} VMs of vCenter ${gateway.vcenter} have the BIOS UUID ${read.id}: ${[found, ...others].map(({ vm }) => `${vm.name} (${vm.id})`).join(', ')}`,
    );
  const { vm, attributes } = found;
  const refuse = (why: string) =>
    droverFailure(
      'VirtualMachineNotOwned',
      `${vm.name} (${vm.id}) of vCenter ${gateway.vcenter} ${why}, so that it is not the VM ${machineName} of ${of.what}`,
    );
  if (vm.name !== machineName) throw refuse('has this name');
  if (configOf(vm).isTemplate) throw refuse('is a template');
  if (!hasMarks(marksIn(vsphereNotation, attributes), of.marks)) throw refuse('has not the attributes of the class');
  if (vm.folderId !== (await findFolder(gateway, of.folderPath, signal)).value)
    throw refuse(`is not in ${of.folderPath}`);
  return vm;
}
