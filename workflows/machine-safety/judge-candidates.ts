import type { Freeze } from '../../contracts/machine-safety/api-server-safety.ts';
import { providerIdKey } from '../../contracts/machine-safety/provider-id.ts';
import {
  type Candidate,
  type JudgedCandidate,
  type ObservedSweep,
  type SweepGate,
  sweepGates,
  type SweepRunSettings,
  type SweepSettings,
} from '../../contracts/machine-safety/sweep.ts';
import type { SweepRunMemory } from './sweep-memory.ts';

export interface CandidatesSituation {
  observed: ObservedSweep;
  settings: SweepRunSettings;
  memory: SweepRunMemory;
  nowMs: number;
}

/** Why a gate holds; null: it does not. */
type Hold = string | null;

const iso = (ms: number): string => new Date(ms).toISOString();
const share = (percent: number, of: number): number => Math.floor((percent * of) / 100);

/** How many orphans may go without an approval. */
export const approvalLimit = ({ approveAbove, approveAbovePercent }: SweepSettings, listed: number): number =>
  approveAbove === null ? Infinity : Math.max(approveAbove, share(approveAbovePercent, listed));

/** How many VMs one sweep deletes at most. */
export const sweepCap = ({ most, mostPercent }: SweepSettings, listed: number): number =>
  most === null ? Infinity : Math.max(most, share(mostPercent, listed));

/**
 * All that holds each orphan back, oldest sighting first, and last those whose deletion has failed before: they must not
 * use the cap up for ever. An orphan without a gate is deleted. The gates of the single orphan come first, then those
 * of the set; the cap counts those alone that nothing else holds. Pure; each gate is a row of the table test.
 */
export function judgeCandidates(situation: CandidatesSituation): JudgedCandidate[] {
  const { observed, settings, memory } = situation;
  const { sweep } = memory;
  const sightingOf = ({ providerId }: Pick<Candidate, 'providerId'>) => sweep?.sightings[providerIdKey(providerId)];
  const failedMsOf = (one: JudgedCandidate): number => sightingOf(one)?.failedMs ?? 0;
  const setHold = holdOfSet(situation);
  const judged = observed.candidates
    .map((candidate): JudgedCandidate => {
      const { providerId, machineName, machineClass, why } = candidate;
      const { firstMs, count } = sightingOf(candidate) ?? { firstMs: situation.nowMs, count: 0 };
      const holds = { ...holdsOfOne(situation, candidate, firstMs, count), ApprovalNeeded: null, OverCap: null };
      const isApproved = sweep !== null && Object.hasOwn(sweep.approved, providerIdKey(providerId));
      const gates = gatesOf({ ...holds, ApprovalNeeded: isApproved ? null : setHold });
      return { providerId, machineName, machineClass, why, gates, firstMs, sightings: count };
    })
    .toSorted(
      (a, b) => failedMsOf(a) - failedMsOf(b) || a.firstMs - b.firstMs || (a.machineName < b.machineName ? -1 : 1),
    );
  const cap = sweepCap(settings.sweep, listedBefore(situation));
  const failed = sweep?.round.failed ?? 0;
  let left = Math.max(0, cap - deletedBefore(situation) - failed);
  return judged.map((candidate) => {
    if (candidate.gates.length > 0) return candidate;
    left -= 1;
    if (left >= 0) return candidate;
    const tried = failed === 0 ? '' : `, and the deletion of ${failed} has failed`;
    const message = `${cap} VMs are deleted in one sweep at most${tried}; it comes with a later one`;
    return { ...candidate, gates: [{ gate: 'OverCap', message }] };
  });
}

const gatesOf = (holds: Record<SweepGate, Hold>): JudgedCandidate['gates'] =>
  sweepGates.flatMap((gate) => {
    const message = holds[gate];
    return message === null ? [] : [{ gate, message }];
  });

function holdsOfOne(
  { observed: { freeze }, settings: { sweep: gates, isDry, mode }, memory, nowMs }: CandidatesSituation,
  { providerId, createdMs, keptBy }: Candidate,
  firstMs: number,
  count: number,
): Record<Exclude<SweepGate, 'ApprovalNeeded' | 'OverCap'>, Hold> {
  const { sweep, refused, halted } = memory;
  const until = sweep?.probationUntilMs ?? Infinity;
  // What has no time of its own, or the one of a clock that was never set, is as old as its first sighting.
  const bornMs = createdMs === null || createdMs <= 0 ? firstMs : createdMs;
  return {
    KeptByUser:
      keptBy === null ? null : `kept by ${keptBy.by}${keptBy.reason === '' ? '' : `: ${keptBy.reason}`} (${keptBy.at})`,
    DryRun: isDry || mode !== 'act' ? 'it would be deleted, but this sweep only observes' : null,
    Probation:
      gates.probationMs > 0 && nowMs < until
        ? `nothing is deleted until ${until === Infinity ? 'a sweep is remembered' : iso(until)}: ${sweep?.probationWhy ?? ''}`
        : null,
    Frozen: gates.frozen && freeze.state !== 'thawed' ? describeFreeze(freeze) : null,
    Refused: halted?.message ?? refused[providerIdKey(providerId)]?.message ?? null,
    TooYoung: gates.ageMs > 0 && nowMs - bornMs < gates.ageMs ? `it is young until ${iso(bornMs + gates.ageMs)}` : null,
    SeenTooSeldom:
      count < gates.sightings
        ? `found in ${count} of ${gates.sightings} sweeps that it takes, first at ${iso(firstMs)}`
        : null,
  };
}

/** The gate's name says the rest. */
const describeFreeze = ({ state, reason }: Exclude<Freeze, { state: 'thawed' }>): string =>
  state === 'frozen' ? reason : `not known: ${reason}`;

/** Of this sweep, or one that is so near that it is the same. */
const deletedBefore = ({ memory: { sweep } }: CandidatesSituation): number => sweep?.round.deleted ?? 0;
const listedBefore = (situation: CandidatesSituation): number => situation.observed.listed + deletedBefore(situation);

/**
 * Those that a user keeps do not count; those that this sweep has deleted do, so that many are many though they come
 * one by one.
 */
function holdOfSet(situation: CandidatesSituation): Hold {
  const { observed, settings } = situation;
  const { machines, orphans, candidates } = observed;
  const present = orphans - candidates.filter(({ keptBy }) => keptBy !== null).length;
  if (present === 0) return null;
  if (machines === 0 && settings.sweep.approveWithoutMachines)
    return 'there are no Machines at all, so that every VM looks like an orphan';
  const [count, listed] = [present + deletedBefore(situation), listedBefore(situation)];
  const limit = approvalLimit(settings.sweep, listed);
  return count > limit ? `${count} of ${listed} VMs are or were orphans, and ${limit} go without an approval` : null;
}

export const isReady = ({ gates }: JudgedCandidate): boolean => gates.length === 0;

/** Nothing but a user's word is missing. */
export const awaitsApproval = ({ gates }: JudgedCandidate): boolean =>
  gates.length === 1 && gates[0]?.gate === 'ApprovalNeeded';
