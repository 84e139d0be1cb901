import type { FenceEvidence, ForcedDownProof, Incident } from '../../contracts/node-failure/fencing.ts';
import type { PowerProof } from '../../contracts/node-failure/power.ts';

/** What the evidence proves to Nova, and to whoever reads the audit log. Pure. */
export function downProof(evidence: FenceEvidence, { id }: Incident): ForcedDownProof {
  if (evidence.by === 'person')
    return {
      incident: id,
      by: 'person',
      witness: evidence.confirmation.person,
      at: timeOf(evidence.confirmation.atMs),
    };
  const { systemPath, systemUuid, secondOffMs } = evidence.proof;
  return {
    incident: id,
    by: 'power-off',
    witness: `${systemPath}${systemUuid === null ? '' : ` (${systemUuid})`}`,
    at: timeOf(secondOffMs),
  };
}

/** A host that came back with another boot id was restarted, and nova-compute with it. Pure. */
export const upProof = (bootId: string, { id }: Incident, nowMs: number): ForcedDownProof => ({
  incident: id,
  by: 'restart',
  witness: bootId,
  at: timeOf(nowMs),
});

/**
 * A proof by the run's clock: that of the worker who read the power may be wrong, and a proof of the future would outlive what is seen
 * later. Both reads were made after they were asked for, and as far apart as the worker says, so this is never too young. Pure.
 */
export const datedProof = (proof: PowerProof, askedMs: number): PowerProof => ({
  ...proof,
  firstOffMs: askedMs,
  secondOffMs: askedMs + (proof.secondOffMs - proof.firstOffMs),
});

const timeOf = (ms: number): string => new Date(ms).toISOString();
