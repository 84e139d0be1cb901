import { kindTable } from '../../../contracts/kinds/table.ts';
import { findCondition } from '../../../contracts/conditions.ts';
import type { ConditionUpdate } from '../../../contracts/conditions.ts';
import type { Eviction } from '../../../contracts/crds/eviction.ts';
import { errors } from '../../../contracts/errors.ts';
import type { ErrorCode } from '../../../contracts/errors.ts';
import { type DesiredEviction, type EvictionInput, hostNameProblem } from '../../../contracts/eviction/eviction.ts';
import { onlyObserves, readAsked, runIdAnnotation } from '../../../contracts/eviction/annotations.ts';
import { evictingReasons, evictionConditions } from '../../../contracts/eviction/conditions.ts';
import { evictionFinalizer } from '../../../contracts/ids.ts';
import type { Mode } from '../../../contracts/kinds/kind.ts';

export interface OpeningContext {
  input: EvictionInput;
  /** Uid that the run serves already. */
  serving: string | null;
  /** Every Eviction whose spec.hypervisor is the input's. */
  evictions: readonly Eviction[];
  mode: Mode;
  /** Whether the run has the one id that may empty the host. */
  isRightRun: boolean;
  runId: string;
}

/** What to do with a run that begins, or reads its Eviction again. */
export type Opening =
  /** `held`: reconciled, and not released, as the run that said so was terminated before it could. */
  | { kind: 'nothing'; held: Eviction[] }
  /** Nothing is written: there is no object to write to, or it is not about the object. */
  | { kind: 'refuse'; code: ErrorCode; detail: string }
  | { kind: 'create' }
  | { kind: 'handOver'; eviction: Eviction }
  /** The Eviction says why, then the run fails. */
  | { kind: 'reject'; eviction: Eviction; code: ErrorCode; detail: string; condition: ConditionUpdate | null }
  | {
      kind: 'serve';
      eviction: Eviction;
      desired: DesiredEviction;
      /** Unsettled ones of the same host, that wait for this one. */ waiting: Eviction[];
    };

/**
 * Decides what a run of `evictHypervisor` is about. Pure; each branch is a row of the table test. A kind that is off
 * acts on nothing, and a stop by a user is final until a retry or a changed spec.
 */
export function planOpening(context: OpeningContext): Opening {
  if (context.serving !== null) {
    const eviction = context.evictions.find(({ metadata }) => metadata.uid === context.serving);
    return eviction === undefined ? { kind: 'nothing', held: [] } : serve(context, eviction);
  }
  const problem = hostNameProblem(context.input.hypervisor);
  if (problem !== null) return planMisnamed(context, problem);
  const [first] = unreconciled(context);
  if (first === undefined) return planWithout(context);
  const differences = isBare(context.input) ? [] : findDifferences(context.input, first);
  if (differences.length > 0) {
    const detail = `Eviction ${first.metadata.name} already asks for ${context.input.hypervisor} to be emptied, with another ${differences.join(', ')}. Change its annotations, or delete it and start again`;
    return { kind: 'refuse', code: 'InvalidInput', detail };
  }
  return context.isRightRun ? serve(context, first) : { kind: 'handOver', eviction: first };
}

/** The one that is served stays first; then the oldest. */
function unreconciled({ evictions, mode }: OpeningContext): Eviction[] {
  const isRunning = (eviction: Eviction): boolean =>
    findCondition(eviction.status?.conditions, evictionConditions.evicting)?.status === 'True';
  return evictions
    .filter((eviction) => !kindTable.Eviction.isReconciled(eviction, mode === 'observe' ? 'observe' : 'act'))
    .sort(
      (a, b) =>
        Number(isRunning(b)) - Number(isRunning(a)) ||
        Date.parse(a.metadata.creationTimestamp) - Date.parse(b.metadata.creationTimestamp) ||
        a.metadata.name.localeCompare(b.metadata.name),
    );
}

function planWithout({ input, mode, isRightRun, runId, evictions }: OpeningContext): Opening {
  const held = evictions.filter(
    ({ metadata }) =>
      mode === 'act' && metadata.deletionTimestamp === undefined && metadata.finalizers?.includes(evictionFinalizer),
  );
  // The bridge starts the right run with the name alone, and may do so for an Eviction that is gone or done by now.
  if (isBare(input) && isRightRun) return { kind: 'nothing', held };
  // What this very run was started for is done.
  if (evictions.some(({ metadata }) => metadata.annotations?.[runIdAnnotation] === runId))
    return { kind: 'nothing', held };
  if (input.reason === undefined) {
    return {
      kind: 'refuse',
      code: 'InvalidInput',
      detail: `reason: must not be empty; no Eviction of ${input.hypervisor} says why it is to be emptied`,
    };
  }
  if (mode === 'off')
    return {
      kind: 'refuse',
      code: 'ModeOff',
      detail: `Evictions are switched off; ${input.hypervisor} is left as it is`,
    };
  if (input.cause === 'node-failure')
    return { kind: 'refuse', code: 'CauseNotSupported', detail: `${input.hypervisor} is said to have failed` };
  return { kind: 'create' };
}

/**
 * A host of that name cannot be: each Eviction of it says so, and nothing else is done with that name. One that is deleted
 * is let go first, without a run.
 */
function planMisnamed(context: OpeningContext, problem: string): Opening {
  const open = unreconciled(context);
  const held = open.filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
  if (held.length > 0) return { kind: 'nothing', held };
  const [first] = open;
  return first === undefined
    ? { kind: 'refuse', code: 'InvalidInput', detail: `hypervisor: ${problem}` }
    : serve(context, first);
}

/** What the input says otherwise than the Eviction that it would have to share the host with. */
function findDifferences(input: EvictionInput, eviction: Eviction): string[] {
  const { asked } = readAsked(eviction);
  const there: Record<string, unknown> = {
    ...asked,
    reason: eviction.spec.reason,
    acceptObstacles: asked.acceptedObstacles,
  };
  return Object.entries(input)
    .filter(([field]) => field !== 'hypervisor' && field !== 'startedBy')
    .filter(([field, value]) => JSON.stringify(there[field]) !== JSON.stringify(value))
    .map(([field]) => field);
}

function serve(context: OpeningContext, eviction: Eviction): Opening {
  const { metadata, spec } = eviction;
  const { asked, problems } = readAsked(eviction);
  const deleting = metadata.deletionTimestamp !== undefined;
  const mode = context.mode === 'observe' ? 'observe' : asked.mode;
  // A deleted one is let go whatever it says and however drover is switched: only drover can take its finalizer away.
  const refusal = deleting ? null : findRefusal(context.mode, spec.hypervisor, asked.cause, problems);
  if (refusal !== null) {
    // A bad edit in the middle of an eviction is that run's to report: it goes on with what the Eviction
    // asked for before.
    const isReported = context.serving === null || refusal.code === 'ModeOff';
    return {
      kind: 'reject',
      eviction,
      ...refusal,
      condition: isReported ? refusalCondition(eviction, context.mode, refusal) : null,
    };
  }
  const desired: DesiredEviction = {
    name: metadata.name,
    uid: metadata.uid,
    generation: metadata.generation,
    hypervisor: spec.hypervisor,
    reason: spec.reason,
    ...asked,
    mode,
    deleting,
  };
  const waiting = unreconciled(context).filter(
    (other) => other.metadata.uid !== metadata.uid && other.metadata.deletionTimestamp === undefined,
  );
  return { kind: 'serve', eviction, desired, waiting };
}

interface Refusal {
  code: ErrorCode;
  detail: string;
}

function findRefusal(
  mode: Mode,
  hypervisor: string,
  cause: DesiredEviction['cause'],
  problems: string[],
): Refusal | null {
  if (mode === 'off') return { code: 'ModeOff', detail: 'Evictions are switched off' };
  const misnamed = hostNameProblem(hypervisor);
  const all = misnamed === null ? problems : [describeMisnamed(hypervisor, misnamed), ...problems];
  if (all.length > 0) return { code: 'InvalidObject', detail: all.join('; ') };
  if (cause === 'node-failure') return { code: 'CauseNotSupported', detail: `${hypervisor} is said to have failed` };
  return null;
}

/** The name cannot be changed. It may be of any length. */
const describeMisnamed = (name: string, problem: string): string =>
  `spec.hypervisor: \`${name.slice(0, 253)}\` ${problem}: delete this Eviction, and make one that names the host`;

/** A refusal is final for the object as it is, but for the mode: when drover is switched on, it is read again. */
function refusalCondition({ metadata }: Eviction, mode: Mode, { code, detail }: Refusal): ConditionUpdate {
  return {
    type: onlyObserves(metadata, mode) ? evictionConditions.observed : evictionConditions.evicting,
    status: code === 'ModeOff' ? 'Unknown' : 'False',
    reason: errors[code].reason,
    message: `${detail}. ${errors[code].advice}`,
    observedGeneration: metadata.generation,
  };
}

/** Says on an Eviction that another one of the same host goes first. */
export const waitingCondition = ({ metadata }: Eviction, first: Eviction): ConditionUpdate => ({
  type: evictionConditions.evicting,
  status: 'Unknown',
  reason: evictingReasons.alreadyRunning,
  message: `Eviction ${first.metadata.name} empties ${first.spec.hypervisor}; this one waits until that has ended`,
  observedGeneration: metadata.generation,
});

/** Whether the bridge started the run: everything else is then in the Eviction. */
export const isBare = (input: object): boolean => Object.keys(input).every((key) => key === 'hypervisor');
