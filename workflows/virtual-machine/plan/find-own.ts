import { identify, isMarked, isTwin } from '../../../contracts/virtual-machine/identity.ts';
import type { DesiredVirtualMachine } from '../../../contracts/virtual-machine/lifecycle.ts';
import { extraConfigKeys } from '../../../contracts/virtual-machine/metadata.ts';
import type { Candidate } from '../../../contracts/virtual-machine/observation.ts';

export type Ownership =
  | { kind: 'none' }
  /**
   * The owner that it has: drover's object, one of the replaced operator, none. Where it is not drover's, it is
   * adopted: the owner is written first. `copies`: others with its marks or its UUID, which are left alone.
   */
  | {
      kind: 'own';
      moId: string;
      owner: 'drover' | 'former' | 'none';
      copies: readonly Candidate[];
      isUnowned?: true;
    }
  /**
   * A VM of another owner has the name, or the UUID; or one that is not the object's own bears its marks: it
   * is never touched.
   */
  | { kind: 'foreign'; message: string; isUnowned?: true }
  | { kind: 'ambiguous'; message: string }
  /** Its owner cannot be read: it may be the object's own, or another's. */
  | { kind: 'unreadable'; message: string; isUnowned?: true };

type Subject = Pick<DesiredVirtualMachine, 'namespace' | 'name' | 'uid'> &
  Partial<Pick<DesiredVirtualMachine, 'deleting'>>;

/**
 * Which VM is the object's. The owner decides: it was written in the create call. A VM without one is adopted only by
 * an instance UUID that a privileged user or an earlier operator has set, and only in the folder of the namespace.
 */
export function findOwn(object: Subject, candidates: readonly Candidate[]): Ownership {
  const found = identify(object, candidates);
  switch (found.kind) {
    case 'none':
      return found;
    case 'ambiguous':
      return ambiguous(found.all);
    case 'copies':
      return copied(found.copies);
    case 'foreign':
      return foreign(found.stranger);
    case 'unreadable':
      return unreadable(found.unread);
    case 'own': {
      const { own, owner, copies } = found;
      // Once its own is gone, nothing would tell such a copy from it.
      const same = copies.filter((one) => isMarked(one, object) && isTwin(one));
      if (object.deleting === true && same.length > 0)
        return {
          kind: 'ambiguous',
          message: `${named(same)} ${same.length > 1 ? 'have' : 'has'} the marks and the instance UUID of ${own.name} (${own.moId}), and would be taken for it once that is gone. ${unmark}`,
        };
      return { kind: 'own', moId: own.moId, owner, copies, ...unowned(own) };
    }
  }
}

/**
 * It has no owner that can be read, and is not the one that the status names: a create that is under way may have made
 * it, as vCenter lists a VM before the create has written its owner.
 */
const unowned = ({ owner, foundBy }: Candidate): { isUnowned?: true } =>
  owner === null && !foundBy.includes('uniqueId') ? { isUnowned: true } : {};

/** Whether a create that is under way may write the owner of what was found. Pure. */
export const mayBeHalfMade = (found: Ownership): boolean => 'isUnowned' in found;

const named = (all: readonly Candidate[]): string => all.map(({ name, moId }) => `${name} (${moId})`).join(' and ');

const marks = `${extraConfigKeys.namespacedName} and ${extraConfigKeys.objectUid}`;
const unmark = `Destroy the copy, or take ${marks} off it`;

const ambiguous = (all: readonly Candidate[]): Ownership => ({
  kind: 'ambiguous',
  message: `${named(all)} could both be it. Take the instance UUID or the owner off all but one`,
});

const copied = (copies: readonly Candidate[]): Ownership => ({
  kind: 'foreign',
  message: `VM ${named(copies)} bears its marks, and is not the VM that it had: a copy, or a restored one. drover does not touch it. To have it driven, write its id into status.uniqueID; to have another one made, destroy it, or take ${marks} off it`,
});

const unreadable = (candidate: Candidate): Ownership => ({
  kind: 'unreadable',
  ...unowned(candidate),
  message: `vCenter returns no configuration of ${named([candidate])}, so that it is not known whose VM it is. Bring its host and its datastore back; where it is lost for good, take it out of the inventory of vCenter`,
});

/** What a user does with copies that are left alone. Pure. */
export const describeCopies = (copies: readonly Candidate[]): string =>
  `${named(copies)} ${copies.length > 1 ? 'are copies' : 'is a copy'} of it, with its marks or its instance UUID: left alone. ${unmark}`;

function foreign(stranger: Candidate): Ownership {
  const { name, moId, owner, inFolder, foundBy } = stranger;
  const whose = owner === null ? 'has no owner' : `belongs to ${owner.namespacedName}`;
  const where = inFolder ? '' : ' and is not in the folder of the namespace';
  if (!foundBy.includes('name') && !foundBy.includes('instanceUuid') && !foundBy.includes('uid'))
    return {
      kind: 'foreign',
      ...unowned(stranger),
      message: `VM ${name} (${moId}) is the one that status.uniqueID names, and nothing else says that it is this object’s: it ${whose}${where}. drover does not touch it. Where it is the right one, name its instance UUID in spec.instanceUUID`,
    };
  const clash = foundBy.includes('name') ? 'name' : 'UUID';
  return {
    kind: 'foreign',
    ...unowned(stranger),
    message: `VM ${name} (${moId}) has that ${clash}, but ${whose}${where}. drover does not touch it`,
  };
}
