import { findCondition } from '../../contracts/conditions.ts';
import type { EvictionProgress } from '../../contracts/eviction/eviction.ts';
import { isObstacleId } from '../../contracts/eviction/annotations.ts';
import { evictingReasons, evictionConditions } from '../../contracts/eviction/conditions.ts';
import type { Answer, Ending, EvictionObject, EvictionRun, MigrationObject } from './eviction-objects.ts';
import type { FailureDescription } from '../node-failure/failure-run.ts';
import type { HypervisorDescription } from '../hypervisor/hypervisor-description.ts';
import type { Situation } from '../command/next-commands.ts';

/** Everything that is known of one host and its eviction; also the JSON of `drover describe --json`. */
export interface EvictionDescription {
  host: string;
  /** The last run that Temporal knows; null when it never ran, or too long ago, or where runs are not known. */
  run: EvictionRun | null;
  /** False: Temporal cannot be asked, so what it has of the host is missing below, and not known to be none. */
  runsKnown: boolean;
  /** What the run answers, or answered last; null when no worker answers. */
  progress: Answer;
  /** How the last run ended; null while it runs. */
  ending: Ending | null;
  /** The Eviction that the run serves or served; null where there is none, or Kubernetes cannot be read. */
  eviction: EvictionObject | null;
  /** Further Evictions of the host that are not reconciled. */
  others: EvictionObject[];
  /** Runs before the last. */
  earlier: { run: EvictionRun; ending: Ending | null }[];
  /** What the Migration objects of the Eviction say, by server: known without a worker, too. */
  migrations: MigrationObject[];
  /**
   * State of its lifecycle; null where drover does not drive it and there is an eviction to show, or Kubernetes cannot
   * be read.
   */
  hypervisor: HypervisorDescription | null;
  /** The run that deals with the failure of the host; null where none is open, or runs are not known. */
  failure: FailureDescription | null;
  /** Every `drover stop` that holds this eviction or the lifecycle up, as a sentence. */
  stops: string[];
  webUi: string | null;
  /** What could not be read, and so is missing above. */
  problems: string[];
}

/** The part of a description that decides what a person may want to do next. */
export const situationOf = ({ host, run, progress, ending, eviction, stops }: EvictionDescription): Situation => ({
  host,
  running: run?.status === 'Running',
  progress,
  // An Eviction that was made or revived after the last run is at its beginning again.
  outcome: eviction !== null && !eviction.reconciled ? null : (ending?.outcome ?? null),
  eviction,
  obstacles: progress === null ? refusingObstacles(eviction) : openObstacles(progress),
  stopped: stops.length > 0,
  leftDisabled: eviction === null ? null : isLeftDisabled(eviction),
});

/** Ids of the obstacles that no user has accepted. */
export const openObstacles = ({ obstacles }: EvictionProgress): string[] =>
  obstacles.filter(({ accepted }) => !accepted).map(({ id }) => id);

/**
 * The same of a run that no longer answers: the condition that refused the eviction names each obstacle with its
 * id in brackets.
 */
export function refusingObstacles(eviction: Pick<EvictionObject, 'conditions'> | null): string[] {
  const preflight = eviction === null ? undefined : findCondition(eviction.conditions, evictionConditions.preflight);
  if (preflight?.status !== 'False') return [];
  return [...preflight.message.matchAll(/\[([^\]\s]+)\]/g)].map(([, id = '']) => id).filter(isObstacleId);
}

/** All of these ids; null where the condition is not of the present spec, or counts more than it names. */
export function knownObstacles(eviction: Pick<EvictionObject, 'conditions' | 'generation'>): string[] | null {
  const preflight = findCondition(eviction.conditions, evictionConditions.preflight);
  if (preflight === undefined || preflight.observedGeneration !== eviction.generation) return null;
  if (preflight.status === 'True') return [];
  const named = refusingObstacles(eviction);
  const [, counted] = /^(\d+) obstacles?:/u.exec(preflight.message) ?? [];
  return named.length === Number(counted) ? named : null;
}

export const isLeftDisabled = ({ conditions }: EvictionObject): boolean =>
  findCondition(conditions, evictionConditions.disabled)?.status === 'True' &&
  findCondition(conditions, evictionConditions.reEnabled)?.status !== 'True';

/**
 * How it ended, in the words of the Eviction where the run's own are lost: Temporal keeps no message of a run that
 * closes as cancelled, and none of drover's where it was terminated.
 */
export function withStory(ending: Ending, eviction: EvictionObject | null): Ending {
  const evicting = eviction === null ? undefined : findCondition(eviction.conditions, evictionConditions.evicting);
  const isOurs = ending.outcome === 'Stopped' && ending.result === null && evicting?.reason === evictingReasons.stopped;
  return isOurs ? { ...ending, message: evicting.message } : ending;
}

/**
 * The Eviction that a description is about: the one that the run names, else one that still asks for something, else
 * the last.
 */
export function chooseEviction(objects: readonly EvictionObject[], named: string | null): EvictionObject | null {
  const newestFirst = objects.toSorted((a, b) => b.createdAt.localeCompare(a.createdAt));
  return (
    newestFirst.find(({ name }) => name === named) ??
    newestFirst.find(({ reconciled }) => !reconciled) ??
    newestFirst[0] ??
    null
  );
}

/**
 * The Eviction that the open run of a host serves: the one that it names, else the one that says so, else the only one
 * that asks for something.
 *
 * @param named by the run; null: no worker answers, or it has not read it yet
 * @returns null where that cannot be told, or none asks for anything
 */
export function servedEviction(objects: readonly EvictionObject[], named: string | null): EvictionObject | null {
  const onlyOf = (some: EvictionObject[]): EvictionObject | null => (some.length === 1 ? (some[0] ?? null) : null);
  const open = objects.filter(({ reconciled }) => !reconciled);
  if (named !== null) return open.find(({ name }) => name === named) ?? null;
  const isServed = ({ conditions }: EvictionObject): boolean =>
    findCondition(conditions, evictionConditions.evicting)?.status === 'True';
  return onlyOf(open.filter(isServed)) ?? onlyOf(open);
}
