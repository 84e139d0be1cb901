import { identify, isMarked } from '../../../contracts/virtual-machine/identity.ts';
import type { Candidate } from '../../../contracts/virtual-machine/observation.ts';
import type { ObjectName } from '../../../contracts/virtual-machine/mutations.ts';
import type { VirtualMachine } from '../types.ts';
import type { ListedVm } from './read-vm.ts';

/** By which of the ways which VMs were found. */
export interface Finds {
  uniqueId: string | null;
  /** `status.instanceUUID`. */
  recordedUuid: string | null;
  /** What the status names is of before. */
  isBeingMade: boolean;
  byInstanceUuid: readonly string[];
  byUid: readonly string[];
  /** By the name that a VM made for it would have, in the folder where it would be made. */
  byName: readonly string[];
  /** All in the folders of the namespace, and one level below, as they were a moment ago. */
  listed: readonly ListedVm[];
  /** Ids of the folders of the namespace. */
  folders: readonly string[];
  /** Ids of the folders that a VM of that name would be made in. */
  targetFolders: readonly string[];
}

/** A VM as it is now. */
interface There {
  vm: Pick<ListedVm, 'id' | 'name' | 'folderId' | 'instanceUuid' | 'owner'> &
    Partial<Pick<VirtualMachine, 'properties' | 'config'>>;
  folder: { parent: string | null } | null;
}

/** Ids of all that could be the object's. Pure. */
export function possible(object: ObjectName, vmName: string, finds: Finds): string[] {
  const listed = finds.listed.filter((vm) => isMarked(vm, object) || isNamed(vm, vmName, finds)).map(({ id }) => id);
  return [
    ...new Set([
      ...(finds.uniqueId === null ? [] : [finds.uniqueId]),
      ...finds.byInstanceUuid,
      ...finds.byUid,
      ...finds.byName,
      ...listed,
    ]),
  ];
}

/**
 * Each of them, and what it was found by. Pure.
 *
 * @param found those that are there still
 */
export function toCandidates(object: ObjectName, vmName: string, finds: Finds, found: readonly There[]): Candidate[] {
  return found.map(({ vm, folder }) => {
    const { id, name, folderId, instanceUuid, owner, config, properties = {} } = vm;
    const unreadable = config === null;
    const isUuidKnown = instanceUuid !== '' || !unreadable;
    const foundBy: Candidate['foundBy'] = [];
    if (finds.uniqueId === id && (isMarked(vm, object) || !isUuidKnown || isSame(finds, instanceUuid)))
      foundBy.push('uniqueId');
    if (finds.recordedUuid !== null && finds.recordedUuid === instanceUuid) foundBy.push('recordedUuid');
    if (finds.byInstanceUuid.includes(id)) foundBy.push('instanceUuid');
    if (finds.byUid.includes(id)) foundBy.push('uid');
    if (isMarked(vm, object)) foundBy.push('owner');
    if (isNamed(vm, vmName, finds)) foundBy.push('name');
    return {
      moId: id,
      name,
      foundBy,
      instanceUuid,
      owner,
      ...(unreadable && { unreadable }),
      isRecorded:
        finds.isBeingMade || finds.uniqueId === null
          ? null
          : foundBy.includes('uniqueId') || foundBy.includes('recordedUuid'),
      createdMs: createdMs(properties['config.createDate']),
      inFolder: [folderId, folder?.parent].some(
        (one) => one !== null && one !== undefined && finds.folders.includes(one),
      ),
    };
  });
}

/** The one that could be the object's; null: none, or it is not clear which. Whether it is, the plan says. Pure. */
export function onlyOne(object: ObjectName, candidates: readonly Candidate[]): string | null {
  const found = identify(object, candidates);
  return found.kind === 'own' ? found.own.moId : null;
}

/**
 * What the status says of a VM with another instance UUID is of another VM: a vCenter that was rebuilt gives the same
 * ids again.
 */
const isSame = ({ recordedUuid }: Finds, instanceUuid: string): boolean =>
  recordedUuid === null || recordedUuid === instanceUuid;

/** vCenter says 1970 of VMs that were made before it kept the time. */
function createdMs(text: unknown): number | null {
  const time = typeof text === 'string' ? Date.parse(text) : Number.NaN;
  return time > 0 ? time : null;
}

const isNamed = (
  { name, folderId }: Pick<ListedVm, 'name' | 'folderId'>,
  vmName: string,
  { targetFolders }: Pick<Finds, 'targetFolders'>,
): boolean => name === vmName && folderId !== null && targetFolders.includes(folderId);
