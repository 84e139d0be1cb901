import type { Candidate } from '../../../contracts/virtual-machine-observation.ts';
import type { ObjectName } from '../../../contracts/virtual-machine-plan.ts';
import type { ListedVm } from '../read-vm.ts';

/** By which of the ways which VMs were found. */
export interface Finds {
  uniqueId: string | null;
  byInstanceUuid: readonly string[];
  byUid: readonly string[];
  /** All in the folders of the namespace, and one level below. */
  inFolders: readonly ListedVm[];
  /** Ids of the folders that a VM of that name would be made in. */
  targetFolders: readonly string[];
}

type VmOf = Pick<ListedVm, 'id' | 'name' | 'instanceUuid' | 'mark'>;

/** Ids of all that could be the object's. Pure. */
export function possible(object: ObjectName, vmName: string, finds: Finds): string[] {
  const listed = finds.inFolders.filter((vm) => isMarked(vm, object) || isNamed(vm, vmName, finds)).map(({ id }) => id);
  return [...new Set([...(finds.uniqueId === null ? [] : [finds.uniqueId]), ...finds.byInstanceUuid, ...finds.byUid, ...listed])];
}

/**
 * Each of them, and what it was found by. Pure.
 *
 * @param vms those that are there still
 */
export function toCandidates(object: ObjectName, vmName: string, finds: Finds, vms: readonly VmOf[]): Candidate[] {
  return vms.map((vm) => {
    const { id, name, instanceUuid, mark } = vm;
    const inFolder = finds.inFolders.find((listed) => listed.id === id);
    const foundBy: Candidate['foundBy'] = [];
    if (finds.uniqueId === id) foundBy.push('uniqueId');
    if (finds.byInstanceUuid.includes(id)) foundBy.push('instanceUuid');
    if (finds.byUid.includes(id)) foundBy.push('uid');
    if (isMarked(vm, object)) foundBy.push('mark');
    if (inFolder !== undefined && isNamed(inFolder, vmName, finds)) foundBy.push('name');
    return { moId: id, name, foundBy, instanceUuid, mark, inFolder: inFolder !== undefined };
  });
}

/** The one that could be the object's; null: none, or several. Whether it is, the plan says. Pure. */
export function onlyOne(object: ObjectName, candidates: readonly Candidate[]): string | null {
  const marked = candidates.filter((candidate) => isMarked(candidate, object));
  const adoptable = candidates.filter(({ mark, inFolder, foundBy }) => inFolder && (mark === null || (mark.uid === null && mark.namespacedName === nameOf(object))) && foundBy.some((how) => how === 'uniqueId' || how === 'instanceUuid' || how === 'uid'));
  const [own, ...others] = marked.length > 0 ? marked : adoptable;
  return own === undefined || others.length > 0 ? null : own.moId;
}

const isMarked = ({ mark }: Pick<Candidate, 'mark'>, object: ObjectName): boolean => mark !== null && mark.uid === object.uid && mark.namespacedName === nameOf(object);

const isNamed = ({ name, folderId }: Pick<ListedVm, 'name' | 'folderId'>, vmName: string, { targetFolders }: Pick<Finds, 'targetFolders'>): boolean => name === vmName && folderId !== null && targetFolders.includes(folderId);

const nameOf = ({ namespace, name }: ObjectName): string => `${namespace}/${name}`;
