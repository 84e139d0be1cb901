import type { ObjectName } from './mutations.ts';
import type { Candidate } from './observation.ts';

/**
 * Which VM is an object's. Its owner is written by the call that makes it, and a tool that copies VMs copies that too:
 * the owner and the instance UUID, in the vCenter that the object notes, are what a VM is known by. A MoID alone proves
 * nothing, as another vCenter gives the same ones.
 */
export type Identified =
  | { kind: 'none' }
  /** `copies`: others that bear its marks or its UUID. */
  | { kind: 'own'; own: Candidate; owner: 'drover' | 'former' | 'none'; copies: Candidate[] }
  /** All bear its marks, and none is the VM that the status names. */
  | { kind: 'copies'; copies: Candidate[] }
  | { kind: 'foreign'; stranger: Candidate }
  | { kind: 'ambiguous'; all: Candidate[] }
  /** It may be the object's: its owner cannot be read now. */
  | { kind: 'unreadable'; unread: Candidate };

/** Pure. */
export function identify(object: ObjectName, seen: readonly Candidate[]): Identified {
  // What is known of it by now may be that it is none.
  const candidates = seen.filter(({ foundBy }) => foundBy.length > 0);
  const marked = candidates.filter((candidate) => isMarked(candidate, object));
  const unread = unreadOf(candidates);
  if (marked.length > 0) {
    const found = identifyMarked(marked, candidates);
    // A copy is not taken for the one that may be its own.
    const isHeld = unread?.foundBy.includes('uniqueId') === true || found.kind === 'copies';
    return unread !== null && isHeld ? { kind: 'unreadable', unread } : found;
  }
  if (unread !== null) return { kind: 'unreadable', unread };
  const adoptable = candidates
    .filter(
      ({ owner }) =>
        owner === null || (owner.uid === null && owner.namespacedName === `${object.namespace}/${object.name}`),
    )
    .filter(isAdoptable);
  if (adoptable.length > 1) return { kind: 'ambiguous', all: adoptable };
  const [adopted] = adoptable;
  const stranger = candidates.find((candidate) => !adoptable.includes(candidate));
  if (adopted !== undefined && (stranger === undefined || !isTwin(stranger)))
    return { kind: 'own', own: adopted, owner: adopted.owner === null ? 'none' : 'former', copies: [] };
  return stranger === undefined ? { kind: 'none' } : { kind: 'foreign', stranger };
}

/** That which the status names first; null: the owner of each is known. */
function unreadOf(candidates: readonly Candidate[]): Candidate | null {
  const unread = candidates.filter(({ owner, unreadable }) => owner === null && unreadable === true);
  return unread.find(({ foundBy }) => foundBy.includes('uniqueId')) ?? unread[0] ?? null;
}

/** Whether it bears both marks of this very object. Pure. */
export const isMarked = ({ owner }: Pick<Candidate, 'owner'>, { namespace, name, uid }: ObjectName): boolean =>
  owner !== null && owner.uid === uid && owner.namespacedName === `${namespace}/${name}`;

/** Its instance UUID is the one that the object asks for. Pure. */
export const isTwin = ({ foundBy }: Pick<Candidate, 'foundBy'>): boolean =>
  foundBy.includes('instanceUuid') || foundBy.includes('uid');

function identifyMarked(marked: Candidate[], candidates: readonly Candidate[]): Identified {
  const own = originalOf(marked);
  if (own !== null) {
    const copies = candidates.filter((one) => one !== own && (marked.includes(one) || isTwin(one)));
    return { kind: 'own', own, owner: 'drover', copies };
  }
  return marked.every(({ isRecorded }) => isRecorded === false)
    ? { kind: 'copies', copies: marked }
    : { kind: 'ambiguous', all: marked };
}

/**
 * Of VMs with its marks: the one that the status names, or that has its UUID; while the status names none, any. Then
 * the oldest; null: it cannot be known.
 */
function originalOf(marked: readonly Candidate[]): Candidate | null {
  const named = marked.find(({ foundBy }) => foundBy.includes('uniqueId'));
  if (named !== undefined) return named;
  const withUuid = marked.filter((one) => isTwin(one) || one.foundBy.includes('recordedUuid'));
  return oldestOf(withUuid.length > 0 ? withUuid : marked.filter(({ isRecorded }) => isRecorded !== false));
}

function oldestOf(all: readonly Candidate[]): Candidate | null {
  // One whose time vCenter does not know comes first.
  const [first, second] = all.toSorted((a, b) => (a.createdMs ?? 0) - (b.createdMs ?? 0));
  if (first === undefined || second === undefined) return first ?? null;
  const times = [first.createdMs ?? 0, second.createdMs ?? 0] as const;
  return times[0] > 0 && times[0] < times[1] ? first : null;
}

/** A name proves nothing, and neither does a MoID. */
const isAdoptable = (candidate: Candidate): boolean =>
  candidate.inFolder &&
  (isTwin(candidate) || (candidate.foundBy.includes('uniqueId') && candidate.foundBy.includes('recordedUuid')));
