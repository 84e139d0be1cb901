import type { Cause, Facts } from './facts.ts';
import type { Route } from './route.ts';

/** Something that may concern a run. */
export interface Change {
  facts: Facts;
  causes: readonly Cause[];
  /** The object is no more. */
  gone: boolean;
  /** There is something under the subject's name that a run can drive; only asked of routes that are `partial`. */
  subjectExists: boolean;
}

/** The last run under an id, as far as known. */
export type LastRun =
  | { status: 'OPEN' }
  /** None that Temporal remembers. */
  | { status: 'NONE' }
  | {
      status: 'COMPLETED' | 'FAILED' | 'TIMED_OUT' | 'CANCELLED' | 'TERMINATED';
      /** The newest generation of this object that the run was told of; null: none. */
      toldGeneration: number | null;
    };

export type Delivery =
  /** Signal, and start a run if none is open. */
  | 'signalWithStart'
  /** Signal the open run, if there is one. */
  | 'signalOpen'
  /** Say in the object that a person stopped it. */
  | 'reportStopped'
  | 'nothing'
  /** It depends on how the last run ended. */
  | 'lookUp';

/** Two changes of one object as one. */
export function coalesceChanges(earlier: Change, later: Change): Change {
  const causes = new Set([...earlier.causes, ...later.causes]);
  // What happened says more than how the bridge came to know.
  const happened = [...causes].filter((cause) => cause !== 'relist' && cause !== 'resync');
  return {
    facts: later.facts,
    gone: later.gone,
    subjectExists: later.subjectExists,
    causes: happened.length > 0 ? happened : [...causes],
  };
}

/**
 * Decides whom a change concerns: nobody, an open run, or a run that is started if need be. Pure; each line is a row of the table test.
 * Sources: design section 1 ("a settled object costs nothing"), section 2 rule 15 ("a person's stop is final").
 *
 * @param lastRun null: not looked up yet; only then is the answer `lookUp` possible
 */
export function decideDelivery(
  { facts, causes, gone, subjectExists }: Change,
  { final, partial }: Pick<Route, 'final' | 'partial'>,
  lastRun: LastRun | null,
): Delivery {
  const has = (...some: Cause[]): boolean => causes.some((cause) => some.includes(cause));
  const isResync = causes.every((cause) => cause === 'resync');
  if (facts.subject === null) return 'nothing';
  // An open run may want to know all the same; to start one for nothing would be in vain.
  const unlessInVain = partial && subjectExists ? 'signalWithStart' : 'signalOpen';
  if (gone) return unlessInVain;
  if (facts.settled)
    return isResync || (!partial && causes.every((cause) => cause === 'relist' || cause === 'resync'))
      ? 'nothing'
      : unlessInVain;
  if (has('spec', 'deleted', 'retry') || (partial && !isResync)) return 'signalWithStart';
  if (lastRun === null) return 'lookUp';
  if (lastRun.status === 'OPEN') return isResync ? 'nothing' : 'signalWithStart';
  if (lastRun.status === 'NONE' || !final.some((end) => end === lastRun.status)) return 'signalWithStart';
  // The finalizer must be released, and a retry is a person's word too.
  if (facts.deleting || facts.retryPending) return 'signalWithStart';
  const servedGeneration = Math.max(facts.reportedGeneration ?? 0, lastRun.toldGeneration ?? 0);
  return servedGeneration >= facts.generation ? 'reportStopped' : 'signalWithStart';
}
