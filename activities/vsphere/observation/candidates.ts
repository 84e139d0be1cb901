import type { Candidate } from '../../../contracts/virtual-machine/observation.ts';
import type { ObjectName } from '../../../contracts/virtual-machine/mutations.ts';
import type { ListedVm } from './read-vm.ts';

/** By which of the ways which VMs were found. */
export interface Finds {
  uniqueId: string | null;
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
  vm: Pick<ListedVm, 'id' | 'name' | 'folderId' | 'instanceUuid' | 'owner'>;
  folder: { parent: string | null } | null;
}

/** Ids of all that could be the object's. Pure. */
export function possible(object: ObjectName, vmName: string, finds: Finds): string[] {
  const listed = finds.listed.filter((vm) => isOwned(vm, object) || isNamed(vm, vmName, finds)).map(({ id }) => id);
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
    const { id, name, folderId, instanceUuid, owner } = vm;
    const foundBy: Candidate['foundBy'] = [];
    if (finds.uniqueId === id) foundBy.push('uniqueId');
    if (finds.byInstanceUuid.includes(id)) foundBy.push('instanceUuid');
    if (finds.byUid.includes(id)) foundBy.push('uid');
    if (isOwned(vm, object)) foundBy.push('owner');
    if (isNamed(vm, vmName, finds)) foundBy.push('name');
    return {
      moId: id,
      name,
      foundBy,
      instanceUuid,
      owner,
      inFolder: [folderId, folder?.parent].some(
        (one) => one !== null && one !== undefined && finds.folders.includes(one),
      ),
    };
  });
}

/** The one that could be the object's; null: none, or several. Whether it is, the plan says. Pure. */
export function onlyOne(object: ObjectName, candidates: readonly Candidate[]): string | null {
  const owned = candidates.filter((candidate) => isOwned(candidate, object));
  const adoptable = candidates.filter(
    ({ owner, inFolder, foundBy }) =>
      inFolder &&
      (owner === null || (owner.uid === null && owner.namespacedName === nameOf(object))) &&
      foundBy.some((how) => how === 'uniqueId' || how === 'instanceUuid' || how === 'uid'),
  );
  const [own, ...others] = owned.length > 0 ? owned : adoptable;
  return own === undefined || others.length > 0 ? null : own.moId;
}

const isOwned = ({ owner }: Pick<Candidate, 'owner'>, object: ObjectName): boolean =>
  owner !== null && owner.uid === object.uid && owner.namespacedName === nameOf(object);

const isNamed = (
  { name, folderId }: Pick<ListedVm, 'name' | 'folderId'>,
  vmName: string,
  { targetFolders }: Pick<Finds, 'targetFolders'>,
): boolean => name === vmName && folderId !== null && targetFolders.includes(folderId);

const nameOf = ({ namespace, name }: ObjectName): string => `${namespace}/${name}`;
