import type { OwnerReference, VmSubject } from '../../../contracts/virtual-machine/activities.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import type { Tools } from '../dependencies.ts';
import type { NameInFolder, ObservedConfig, ObservedOwner, VirtualMachine } from '../types.ts';

/** How the VM of an object is found, whatever has become of the call that made it. */
export interface VmIdentity {
  /** Unique in the vCenter, unless another user copied it. */
  instanceUuid: string;
  /** The name in its folder is the lock: vCenter makes no second one. Null: the folder is not known any more. */
  folder: string | null;
  name: string;
  owner: OwnerReference;
}

export const isSameOwner = (a: OwnerReference, b: ObservedOwner | null): boolean =>
  b !== null && a.kind === b.kind && a.namespacedName === b.namespacedName && a.uid === b.uid;

/** That of the operator before, which wrote no uid. */
export const isFormerOwner = (a: OwnerReference, b: ObservedOwner | null): boolean =>
  b !== null && a.kind === undefined && b.kind === undefined && a.namespacedName === b.namespacedName && b.uid === null;

const ownerText = (owner: ObservedOwner | null): string =>
  owner === null
    ? 'no owner'
    : `owner ${owner.kind === undefined ? '' : `${owner.kind} `}${owner.namespacedName} (${owner.uid ?? 'without a uid'})`;

/** The one with the instance UUID, if it is the object's. Pure. @throws VirtualMachineNotOwned */
export function judgeByUuid(found: VirtualMachine | null, { instanceUuid, owner }: VmIdentity): VirtualMachine | null {
  if (found === null || isSameOwner(owner, found.owner)) return found;
  throw droverFailure(
    'VirtualMachineNotOwned',
    `${found.name} (${found.id}) has the instance UUID ${instanceUuid}, and ${ownerText(found.owner)}`,
  );
}

/**
 * The one with the name in its folder, if it is the object's. vCenter may have given it another instance UUID. Pure.
 * @throws VirtualMachineNameTaken
 */
export function judgeByName(
  found: NameInFolder,
  { name, folder, owner }: VmIdentity & { folder: string },
): VirtualMachine | null {
  if (found.kind === 'nothing') return null;
  if (found.kind === 'other') throw droverFailure('VirtualMachineNameTaken', `${name} in ${folder} is a ${found.type}`);
  if (isSameOwner(owner, found.vm.owner)) return found.vm;
  throw droverFailure(
    'VirtualMachineNameTaken',
    `${name} in ${folder} is ${found.vm.id}, which has ${ownerText(found.vm.owner)}`,
  );
}

type Reading = Pick<Tools, 'gateway' | 'scope'>;

/**
 * The VM of an object: by its instance UUID, and where that finds none, by its name. Never another one.
 *
 * vCenter lists a VM before the create has written its owner, so a VM without an owner is judged only when no create is
 * under way.
 *
 * @throws also VirtualMachineAmbiguous, and VsphereBusy where a create may still write the owner
 */
export async function findVm(reading: Reading, identity: VmIdentity): Promise<VirtualMachine | null> {
  const { gateway, scope } = reading;
  const found = await readFound(reading, identity);
  const unowned = found.kind === 'vm' && found.vm.owner === null ? found.vm : null;
  if (unowned === null) return judge(found, identity);
  const creates = await gateway.runningCreates(scope.signal);
  if (creates.length > 0)
    throw droverFailure(
      'VsphereBusy',
      `${unowned.name} (${unowned.id}) at vCenter ${gateway.vcenter} has no owner, and ${creates.join(', ')} may be creating it`,
    );
  // The create may have ended since the VM was read.
  return judge(await readFound(reading, identity), identity);
}

type Found = NameInFolder & { folder: string | null };

async function readFound(
  { gateway, scope: { signal } }: Reading,
  { instanceUuid, folder, name }: VmIdentity,
): Promise<Found> {
  const [id, ...others] = await gateway.findByInstanceUuid(instanceUuid, signal);
  if (others.length > 0)
    throw droverFailure(
      'VirtualMachineAmbiguous',
      `${1 + others.length} VMs of vCenter ${gateway.vcenter} have the instance UUID ${instanceUuid}: ${[id, ...others].join(', ')}`,
    );
  const vm = id === undefined ? null : await gateway.read(id, signal);
  if (vm !== null) return { kind: 'vm', vm, folder: null };
  return folder === null
    ? { kind: 'nothing', folder }
    : { ...(await gateway.findInFolder(folder, name, signal)), folder };
}

/** @param found its folder is null where the instance UUID found it */
const judge = ({ folder, ...found }: Found, identity: VmIdentity): VirtualMachine | null =>
  folder === null
    ? judgeByUuid(found.kind === 'vm' ? found.vm : null, identity)
    : judgeByName(found, { ...identity, folder });

const notOwned = ({ name, id, owner: observed }: VirtualMachine, owner: OwnerReference) =>
  droverFailure(
    'VirtualMachineNotOwned',
    `${name} (${id}) has ${ownerText(observed)}, not that of ${owner.namespacedName} (${owner.uid})`,
  );

/**
 * Reads a VM and makes sure that it is the one that is meant; null where it is gone.
 *
 * @param isMeant whether its owner is proof enough. Default: it is the object itself
 * @throws VirtualMachineNotOwned
 */
export async function readOwned(
  { gateway, scope: { signal } }: Reading,
  { vmId, owner }: VmSubject,
  isMeant: (owner: OwnerReference, observed: ObservedOwner | null) => boolean = isSameOwner,
): Promise<VirtualMachine | null> {
  const vm = await gateway.read(vmId, signal);
  if (vm === null || isMeant(owner, vm.owner)) return vm;
  throw notOwned(vm, owner);
}

/** The same, of one that must be there. @throws VirtualMachineNotFound */
export async function readOwnedThere(
  tools: Reading,
  subject: VmSubject,
  isMeant = isSameOwner,
): Promise<VirtualMachine> {
  const vm = await readOwned(tools, subject, isMeant);
  if (vm === null)
    throw droverFailure(
      'VirtualMachineNotFound',
      `vCenter ${tools.gateway.vcenter} has no ${subject.vmId}, the VM of ${subject.owner.namespacedName}`,
    );
  return vm;
}

/** What the VM is made of. @throws VirtualMachineStateRefused where vCenter cannot reach it */
export function configOf({ name, id, config, connectionState }: VirtualMachine): ObservedConfig {
  if (config !== null) return config;
  throw droverFailure(
    'VirtualMachineStateRefused',
    `${name} (${id}) is ${connectionState}, and vCenter knows nothing of what it is made of`,
  );
}
