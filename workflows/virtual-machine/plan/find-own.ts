import type { DesiredVirtualMachine } from '../../../contracts/virtual-machine/lifecycle.ts';
import type { Candidate } from '../../../contracts/virtual-machine/observation.ts';
import { fullName } from './context.ts';

export type Ownership =
  | { kind: 'none' }
  /** The owner that it has: drover's object, one of the replaced operator, none. Where it is not drover's, it is adopted: the owner is written first. */
  | { kind: 'own'; moId: string; owner: 'drover' | 'former' | 'none' }
  /** A VM of another owner has the name, or the UUID: it is never touched. */
  | { kind: 'foreign'; message: string }
  | { kind: 'ambiguous'; message: string };

/**
 * Which VM is the object's. The owner decides: it was written in the create call. A VM without one is adopted only by an instance UUID or a
 * `status.uniqueID` that a privileged user or an earlier operator has set, and only in the folder of the namespace.
 */
export function findOwn(
  desired: Pick<DesiredVirtualMachine, 'namespace' | 'name' | 'uid'>,
  candidates: readonly Candidate[],
): Ownership {
  const owned = candidates.filter((candidate) => isOwned(candidate, desired));
  if (owned.length > 1) return ambiguous(owned);
  const [own] = owned;
  const twins = candidates.filter(({ foundBy }) => foundBy.includes('instanceUuid') || foundBy.includes('uid'));
  if (own !== undefined) {
    const others = twins.filter(({ moId }) => moId !== own.moId);
    return others.length > 0 ? ambiguous([own, ...others]) : { kind: 'own', moId: own.moId, owner: 'drover' };
  }

  const adoptable = candidates
    .filter((candidate) => candidate.owner === null || isFormerlyOwned(candidate, desired))
    .filter(isAdoptable);
  if (adoptable.length > 1) return ambiguous(adoptable);
  const stranger = candidates.find((candidate) => !adoptable.includes(candidate));
  const [adopted] = adoptable;
  if (adopted !== undefined && (stranger === undefined || !twins.includes(stranger)))
    return { kind: 'own', moId: adopted.moId, owner: adopted.owner === null ? 'none' : 'former' };
  return stranger === undefined ? { kind: 'none' } : foreign(stranger);
}

const isOwned = ({ owner }: Candidate, desired: Pick<DesiredVirtualMachine, 'namespace' | 'name' | 'uid'>): boolean =>
  owner !== null && owner.uid === desired.uid && owner.namespacedName === fullName(desired);

/** Made by the operator that drover replaces, which wrote no uid. */
const isFormerlyOwned = ({ owner }: Candidate, desired: Pick<DesiredVirtualMachine, 'namespace' | 'name'>): boolean =>
  owner !== null && owner.uid === null && owner.namespacedName === fullName(desired);

/** A name proves nothing. */
const isAdoptable = ({ foundBy, inFolder }: Candidate): boolean =>
  inFolder && foundBy.some((how) => how === 'uniqueId' || how === 'instanceUuid' || how === 'uid');

const ambiguous = (all: readonly Candidate[]): Ownership => ({
  kind: 'ambiguous',
  message: `${all.map(({ name, moId }) => `${name} (${moId})`).join(' and ')} could both be it. Take the instance UUID or the owner off all but one`,
});

function foreign({ name, moId, owner, inFolder, foundBy }: Candidate): Ownership {
  const whose = owner === null ? 'has no owner' : `belongs to ${owner.namespacedName}`;
  const where = inFolder ? '' : ' and is not in the folder of the namespace';
  const clash = foundBy.includes('name') ? 'name' : 'UUID';
  return {
    kind: 'foreign',
    message: `VM ${name} (${moId}) has that ${clash}, but ${whose}${where}. drover does not touch it`,
  };
}
