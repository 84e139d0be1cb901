import type {
  Confirmation,
  FenceEvidence,
  FencingSettings,
  ForcedDownProof,
  Incident,
} from '../../contracts/node-failure/fencing.ts';
import { unknownBoot } from '../../contracts/node-failure/fencing.ts';
import type { FailureVerdict, HostSigns } from '../../contracts/node-failure/node-failure.ts';
import type { PowerObservation, PowerProof } from '../../contracts/node-failure/power.ts';
import { signOfService } from './judge.ts';

/** What a confirmation is judged by, when it comes and once more when it is used: of a new observation each time. */
export interface ConsentView {
  incident: Incident;
  verdict: FailureVerdict;
  signs: HostSigns;
  power: PowerObservation | null;
  /** Ids of confirmations that have been used. */
  used: readonly string[];
}

export type ConsentDecision =
  | { consent: 'valid'; untilMs: number }
  | { consent: 'refused'; reason: ConsentRefusal; message: string };

export type ConsentRefusal =
  | 'Anonymous'
  | 'WrongIncident'
  | 'WrongBootId'
  | 'Used'
  | 'Expired'
  | 'ServiceUp'
  | 'PowerOn'
  | 'HostAlive'
  | 'NotFailed';

/** Whether a user's confirmation that the host is off counts now. Pure; each refusal is a row of the table test. */
export function judgeConsent(
  confirmation: Confirmation,
  { incident, verdict, signs, power, used }: ConsentView,
  { consentMs, holdCheckMs }: FencingSettings,
  nowMs: number,
): ConsentDecision {
  const { compute, node } = signs;
  const bootId = node?.bootId ?? null;
  const refuse = (reason: ConsentRefusal, message: string): ConsentDecision => ({
    consent: 'refused',
    reason,
    message,
  });
  if (confirmation.person.trim() === '') return refuse('Anonymous', 'A confirmation names the person who gives it.');
  if (confirmation.incident !== incident.id)
    return refuse(
      'WrongIncident',
      `It is for the incident ${confirmation.incident}; the one at hand is ${incident.id}.`,
    );
  if (confirmation.bootId !== bootWord(incident))
    return refuse(
      'WrongBootId',
      incident.bootId === null
        ? `It is for the boot ${confirmation.bootId}; the boot of ${incident.host} is not recorded, which is said as ${unknownBoot}.`
        : `It is for the boot ${confirmation.bootId}; ${incident.host} was silent since the boot ${incident.bootId}.`,
    );
  if (bootId !== null && bootId !== incident.bootId)
    return refuse('WrongBootId', `${incident.host} has booted since, as ${bootId}: check it again.`);
  if (used.includes(confirmation.id))
    return refuse('Used', 'It has been used. Check again that the host is off, and confirm anew.');
  const untilMs = confirmation.atMs + consentMs;
  if (!(nowMs >= confirmation.atMs && nowMs < untilMs))
    return refuse(
      'Expired',
      `It was given by ${confirmation.person} more than ${consentMs / 60_000} min ago. Check again that the host is off, and confirm anew.`,
    );
  if (compute === null || compute.state === 'up') {
    return refuse(
      'ServiceUp',
      compute === null
        ? 'Nova could not be read, so nova-compute may be up.'
        : `nova-compute on ${incident.host} is up: the host is not off.`,
    );
  }
  if (power !== null && hasPower(power) && nowMs - power.atMs <= holdCheckMs)
    return refuse('PowerOn', `The BMC of ${incident.host} says ${power.power}: power it off first.`);
  const alive = signOfService(signs);
  if (alive !== null) return refuse('HostAlive', `The host is not off: ${alive}.`);
  if (verdict.alive === 'yes') return refuse('HostAlive', `${verdict.message}: the host is not off.`);
  if (verdict.verdict !== 'suspect' && verdict.verdict !== 'failed')
    return refuse('NotFailed', `${verdict.message}: it has not failed yet.`);
  return { consent: 'valid', untilMs };
}

/**
 * What a confirmation has to name as the boot. Where it is not recorded, the incident alone says which failure is
 * meant, and what the host reports since then voids it. Pure.
 */
export const bootWord = ({ bootId }: Incident): string => bootId ?? unknownBoot;

/** Whether the BMC says that there is power. That it says nothing is no sign of it. */
export const hasPower = ({ power }: PowerObservation): boolean => power !== 'Off' && power !== 'Unknown';

/** Why evidence does not count for this incident, as a sentence; null where it does. */
export function evidenceProblem(
  evidence: FenceEvidence,
  incident: Incident,
  used: readonly string[],
  settings: FencingSettings,
): string | null {
  if (evidence.by === 'power') return proofProblem(evidence.proof, incident, settings);
  const { confirmation, usedAtMs } = evidence;
  if (confirmation.incident !== incident.id || confirmation.bootId !== bootWord(incident))
    return 'the confirmation is for another incident or boot';
  if (!used.includes(confirmation.id)) return 'the confirmation was not used up';
  return usedAtMs >= confirmation.atMs && usedAtMs < confirmation.atMs + settings.consentMs
    ? null
    : 'the confirmation had expired when it was used';
}

/**
 * Why a proof of power does not count for this incident; null where it does. What is no number fails each comparison.
 */
export function proofProblem(
  { host, firstOffMs, secondOffMs }: PowerProof,
  incident: Incident,
  { powerRecheckMs }: FencingSettings,
): string | null {
  if (host !== incident.host) return `it is of ${host}`;
  if (!(firstOffMs >= incident.openedAtMs)) return 'it is older than the incident';
  return secondOffMs - firstOffMs >= powerRecheckMs
    ? null
    : `its two reads of Off are less than ${powerRecheckMs / 1_000} s apart`;
}

/** The evidence as a proof, for Nova and the audit log. Pure. */
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
 * A proof by the run's clock: that of the worker who read the power may be wrong, and a proof of the future would
 * outlive what is observed later. Both reads were made after they were asked for, and as far apart as the worker says,
 * so this is never too young. Pure.
 */
export const datedProof = (proof: PowerProof, askedMs: number): PowerProof => ({
  ...proof,
  firstOffMs: askedMs,
  secondOffMs: askedMs + (proof.secondOffMs - proof.firstOffMs),
});

const timeOf = (ms: number): string => new Date(ms).toISOString();
