import type { DesiredVirtualMachine } from '../../../contracts/virtual-machine/lifecycle.ts';
import type { Candidate } from '../../../contracts/virtual-machine/observation.ts';
import { fullName } from './context.ts';

export type Ownership =
  | { kind: 'none' }
  /** The mark that it has: drover's, that of the operator before it, none. Where it is not drover's, it is adopted: the mark is written first. */
  | { kind: 'own'; moId: string; mark: 'drover' | 'former' | 'none' }
  /** Somebody else's has the name, or the UUID: it is never touched. */
  | { kind: 'foreign'; message: string }
  | { kind: 'ambiguous'; message: string };

/**
 * Which VM is the object's. The mark decides: it was written in the create call. A VM without one is adopted only by an instance UUID or a
 * `status.uniqueID` that a privileged user or an earlier operator has set, and only in the folder of the namespace.
 */
export function findOwn(
  desired: Pick<DesiredVirtualMachine, 'namespace' | 'name' | 'uid'>,
  candidates: readonly Candidate[],
): Ownership {
  const marked = candidates.filter((candidate) => isMarked(candidate, desired));
  if (marked.length > 1) return ambiguous(marked);
  const [own] = marked;
  const twins = candidates.filter(({ foundBy }) => foundBy.includes('instanceUuid') || foundBy.includes('uid'));
  if (own !== undefined) {
    const others = twins.filter(({ moId }) => moId !== own.moId);
    return others.length > 0 ? ambiguous([own, ...others]) : { kind: 'own', moId: own.moId, mark: 'drover' };
  }

  const adoptable = candidates
    .filter((candidate) => candidate.mark === null || isMarkedWithoutUid(candidate, desired))
    .filter(isAdoptable);
  if (adoptable.length > 1) return ambiguous(adoptable);
  const stranger = candidates.find((candidate) => !adoptable.includes(candidate));
  const [adopted] = adoptable;
  if (adopted !== undefined && (stranger === undefined || !twins.includes(stranger)))
    return { kind: 'own', moId: adopted.moId, mark: adopted.mark === null ? 'none' : 'former' };
  return stranger === undefined ? { kind: 'none' } : foreign(stranger);
}

const isMarked = ({ mark }: Candidate, desired: Pick<DesiredVirtualMachine, 'namespace' | 'name' | 'uid'>): boolean =>
  mark !== null && mark.uid === desired.uid && mark.namespacedName === fullName(desired);

/** Made by the operator that drover replaces, which wrote no uid. */
const isMarkedWithoutUid = ({ mark }: Candidate, desired: Pick<DesiredVirtualMachine, 'namespace' | 'name'>): boolean =>
  mark !== null && mark.uid === null && mark.namespacedName === fullName(desired);

/** A name proves nothing. */
const isAdoptable = ({ foundBy, inFolder }: Candidate): boolean =>
  inFolder && foundBy.some((how) => how === 'uniqueId' || how === 'instanceUuid' || how === 'uid');

const ambiguous = (all: readonly Candidate[]): Ownership => ({
  kind: 'ambiguous',
  message: `${all.map(({ name, moId }) => `${name} (${moId})`).join(' and ')} could both be it. Take the instance UUID or the mark off all but one`,
});

function foreign({ name, moId, mark, inFolder, foundBy }: Candidate): Ownership {
  const whose = mark === null ? 'has no ownership mark' : `belongs to ${mark.namespacedName}`;
  const where = inFolder ? '' : ' and is not in the folder of the namespace';
  const clash = foundBy.includes('name') ? 'name' : 'UUID';
  return {
    kind: 'foreign',
    message: `VM ${name} (${moId}) has that ${clash}, but ${whose}${where}. drover does not touch it`,
  };
}
