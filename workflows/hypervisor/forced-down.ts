import type { ConditionUpdate } from '../../contracts/conditions.ts';
import { forcedDownReasons, hypervisorConditions } from '../../contracts/hypervisor/conditions.ts';
import { annotations, fencedHold } from '../../contracts/ids.ts';
import { modeOf } from './judge.ts';
import type { Context, Draft } from './types.ts';

/** A host that Nova has forced down, and whose that is to take back. All pure. */

const consented = 'lift-forced-down';

/** drover fenced it itself: the run of its failure restores it, on proof. */
const isFencedHere = ({ observed: { hold } }: Context): boolean => hold?.reason === fencedHold;

/**
 * What another party has forced down is taken back by a user's consent. Nova refuses it while guests that were
 * evacuated are still there. The consent is good once: what it was given for is over, or was never there, and the next
 * time may be another. Null: nothing is asked.
 */
export function liftForcedDown(context: Context): Draft | null {
  const { desired, observed } = context;
  const { name, consent, consentBy } = desired;
  const { nova, node } = observed;
  if (nova === null || consentBy === null || !consent.includes(consented)) return null;
  if (nova.service.forcedDown && !isFencedHere(context)) {
    // One that is taken out of service is so first: Nova may refuse this for as long as its guests remain.
    if (modeOf(desired, node) !== '') return null;
    return {
      kind: 'liftForcedDown',
      host: nova.host,
      consentBy,
      summary: `Take back that ${nova.host} is forced down, by consent of ${consentBy}`,
    };
  }
  const others = consent.filter((one) => one !== consented).join(',');
  const cleared =
    others === '' ? { [annotations.consent]: null, [annotations.consentBy]: null } : { [annotations.consent]: others };
  return {
    kind: 'patchHypervisor',
    patches: [{ annotations: cleared }],
    summary: `The consent to take back that ${name} is forced down is used up`,
  };
}

/** The condition `ForcedDown`; null: it is not, or that is not known. */
export function describeForcedDown(context: Context): ConditionUpdate | null {
  const { desired, observed } = context;
  const compute = observed.nova ?? observed.loneService;
  if (compute === null || !compute.service.forcedDown) return null;
  const type = hypervisorConditions.forcedDown;
  return isFencedHere(context)
    ? {
        type,
        status: 'True',
        reason: forcedDownReasons.fenced,
        message: 'drover fenced the host: it is taken back when the host has come back as another boot',
      }
    : {
        type,
        status: 'True',
        reason: forcedDownReasons.byOthers,
        message: `Another party has forced ${compute.host} down in Nova, as a replaced operator’s HA service does. When nothing of the host’s guests runs twice: \`drover hosts --adopt ${desired.name} --consent\``,
      };
}
