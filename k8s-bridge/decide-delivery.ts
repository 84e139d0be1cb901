import type { Cause, Facts } from './facts.ts';

/** Something that may concern a run. */
export interface Change {
  facts: Facts;
  causes: readonly Cause[];
  /** The object is no more. */
  gone: boolean;
  /**
   * There is something under the subject's name that a run can drive; only asked where a run observes more
   * than the object.
   */
  subjectExists: boolean;
}

/** The last run under an id, as far as known. */
export type LastRun =
  | { status: 'OPEN' }
  /** Temporal has none, or has deleted it. */
  | { status: 'NONE' }
  | {
      status: 'COMPLETED' | 'FAILED' | 'TIMED_OUT' | 'CANCELLED' | 'TERMINATED';
      /** The newest generation of this object that the run was signalled; null: none. */
      toldGeneration: number | null;
    };

/** Of a kind of runs. */
export interface RunTraits {
  /** More than the object: see `Route.observesMore`. */
  observesMore: boolean;
  /** One that a user has ended is not started again for the same generation. */
  stopIsFinal: boolean;
  /** One run serves all objects of a subject: see `KindRow.shared`. */
  shared: boolean;
  /** Its run stays open: see `KindRow.ongoing`. */
  ongoing: boolean;
}

export type Delivery =
  /** Signal, and start a run if none is open. */
  | 'signalWithStart'
  /** Signal the open run, if there is one. */
  | 'signalOpen'
  /** Say in the object that a user stopped it. */
  | 'reportStopped'
  | 'nothing'
  /** It depends on how the last run ended. */
  | 'lookUp';

const isStop = ({ status }: LastRun): boolean => status === 'CANCELLED' || status === 'TERMINATED';

/** Two changes of one object, or of one subject whose objects share a run, as one. */
export function coalesceChanges(earlier: Change, later: Change): Change {
  const causes = new Set([...earlier.causes, ...later.causes]);
  // What happened says more than how the bridge came to know.
  const happened = [...causes].filter((cause) => cause !== 'relist' && cause !== 'resync');
  return {
    facts: later.facts,
    // An object never comes back; of those that share a run, the other one may have gone.
    gone: earlier.gone || later.gone,
    subjectExists: later.subjectExists,
    causes: happened.length > 0 ? happened : [...causes],
  };
}

/**
 * Decides whom a change concerns: no run, an open run, or a run that is started if need be. Pure; each line is a row of
 * the table test. A reconciled object costs nothing, and a user's stop is final.
 *
 * @param lastRun null: not looked up yet; only then is the answer `lookUp` possible
 */
export function decideDelivery(
  { facts, causes, gone, subjectExists }: Change,
  { observesMore, stopIsFinal, shared, ongoing }: RunTraits,
  lastRun: LastRun | null,
): Delivery {
  const has = (...some: Cause[]): boolean => causes.some((cause) => some.includes(cause));
  const isResync = causes.every((cause) => cause === 'resync');
  if (facts.subject === null) return 'nothing';
  if (shared) return gone || has('status', 'retry') ? 'signalWithStart' : 'nothing';
  // An open run may want to know all the same; to start one for nothing would be in vain.
  const unlessInVain = observesMore && subjectExists ? 'signalWithStart' : 'signalOpen';
  if (gone) return unlessInVain;
  if (facts.reconciled && (!ongoing || facts.deleting))
    return isResync || (!observesMore && causes.every((cause) => cause === 'relist' || cause === 'resync'))
      ? 'nothing'
      : unlessInVain;
  if (has('spec', 'deleted', 'retry') || (observesMore && !isResync)) return 'signalWithStart';
  if (lastRun === null) return 'lookUp';
  if (lastRun.status === 'OPEN') return isResync ? 'nothing' : 'signalWithStart';
  if (lastRun.status === 'NONE' || !stopIsFinal || !isStop(lastRun)) return 'signalWithStart';
  // The finalizer must be released, and a retry is a user's word too.
  if (facts.deleting || facts.retryPending) return 'signalWithStart';
  const servedGeneration = Math.max(facts.reportedGeneration ?? 0, lastRun.toldGeneration ?? 0);
  return servedGeneration >= facts.generation ? 'reportStopped' : 'signalWithStart';
}
