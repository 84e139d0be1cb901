import type { AllowanceGranted } from '../../contracts/allowance.ts';
import type {
  DesiredEviction,
  EvictionPhase,
  EvictionSettings,
  InstanceState,
  Obstacle,
} from '../../contracts/eviction/eviction.ts';
import type { HostObservation, Instance } from '../../contracts/eviction/instance.ts';

/** Everything an eviction knows. Plain JSON, so that it is carried over when the run continues as new. Times are milliseconds since the epoch. */
export interface EvictionState {
  desired: DesiredEviction;
  settings: EvictionSettings;
  /** Boot id of the host's Node when the eviction began. */
  bootId: string | null;
  startedAtMs: number;
  phase: EvictionPhase;
  phaseSinceMs: number;
  /** The host as last seen; null before the preflight. */
  host: HostObservation | null;
  lookedAtMs: number;
  obstacles: Obstacle[];
  /** Obstacle ids that people accepted by update, besides those of the Eviction. */
  accepted: string[];
  instances: Record<string, TrackedInstance>;
  allowance: AllowanceGranted | null;
  /** Set by update; the Eviction's own and the settings come after it. */
  parallelism: number | null;
  paused: { by: string; reason: string | null; sinceMs: number } | null;
  stop: Stop | null;
  /** When the host was first seen empty, in an unbroken row of looks. */
  emptySinceMs: number | null;
  /** When nothing was left to move, so that the wait for the rest has a deadline. */
  nothingLeftSinceMs: number | null;
  problem: StandingProblem | null;
  /** Whether the compute service was enabled again; null while that is open or was never the question. */
  reEnabled: boolean | null;
  /** How it ended. */
  end: End | null;
}

/** What keeps the run from going on. */
export interface StandingProblem {
  reason: string;
  message: string;
  /** In a row. */
  failures: number;
  retryAtMs: number;
  /** What failed: a step or a move, the reading of the Eviction, or a report to the region. The last two are tried again beside the steps. */
  of: 'step' | 'read' | 'report';
}

export interface Stop {
  abort: boolean;
  reEnable: boolean;
  /** Who or what stopped it, for people. */
  by: string;
  atMs: number;
  /** What was in flight has been asked to end. */
  aborted: boolean;
}

export interface End {
  outcome: 'Succeeded' | 'Failed' | 'Stopped' | 'Observed';
  /** A condition reason: the outcome, or a row of the error table. */
  reason: string;
  message: string;
}

/** One server, as the eviction remembers it. */
export interface TrackedInstance {
  instance: Instance;
  state: InstanceState;
  sinceMs: number;
  attempts: number;
  target: string | null;
  percent: number | null;
  message: string | null;
  /** When a server that another run moves is looked at again. */
  lookAgainAtMs: number | null;
  /** How long its move took; feeds the estimate. */
  tookMs: number | null;
}

export function beginEviction(
  desired: DesiredEviction,
  settings: EvictionSettings,
  bootId: string | null,
  nowMs: number,
): EvictionState {
  return {
    desired,
    settings,
    bootId,
    startedAtMs: nowMs,
    phase: 'Opening',
    phaseSinceMs: nowMs,
    host: null,
    lookedAtMs: 0,
    obstacles: [],
    accepted: [],
    instances: {},
    allowance: null,
    parallelism: null,
    paused: null,
    stop: null,
    emptySinceMs: null,
    nothingLeftSinceMs: null,
    problem: null,
    reEnabled: null,
    end: null,
  };
}

/** Asks for an orderly end. Who asked first is named; what was asked for before still holds. */
export function askToStop(state: EvictionState, by: string, nowMs: number): void {
  state.stop ??= { abort: false, reEnable: false, by, atMs: nowMs, aborted: false };
}

export const tracked = (state: EvictionState): TrackedInstance[] => Object.values(state.instances);

export const inState = (state: EvictionState, ...states: InstanceState[]): TrackedInstance[] =>
  tracked(state).filter((one) => states.includes(one.state));

/** Obstacle ids that somebody accepted, in the Eviction or by update. */
export const acceptedObstacles = ({ accepted, desired }: EvictionState): ReadonlySet<string> =>
  new Set([...accepted, ...desired.acceptedObstacles]);

export const unacceptedObstacles = (state: EvictionState): Obstacle[] => {
  const accepted = acceptedObstacles(state);
  return state.obstacles.filter(({ id }) => !accepted.has(id));
};

export function become(one: TrackedInstance, state: InstanceState, nowMs: number, message: string | null = null): void {
  one.state = state;
  one.sinceMs = nowMs;
  one.message = message;
  one.lookAgainAtMs = null;
}

/**
 * Takes in what a look at the host found: new servers join (late arrivals are moved too), servers that left are done, and one that was
 * thought to have moved but is here again is moved again.
 */
export function takeIn(state: EvictionState, host: HostObservation, nowMs: number): void {
  state.host = host;
  state.lookedAtMs = nowMs;
  const here = new Map(host.instances.map((instance) => [instance.id, instance]));
  for (const instance of host.instances) {
    const known = state.instances[instance.id];
    if (known === undefined) {
      state.instances[instance.id] = newcomer(instance, nowMs);
      continue;
    }
    known.instance = instance;
    if (known.state === 'moved' || known.state === 'gone') become(known, 'pending', nowMs, 'came back to the host');
    if (known.state === 'busy') become(known, 'pending', nowMs);
  }
  for (const one of tracked(state)) {
    if (here.has(one.instance.id) || one.state === 'moving' || one.state === 'moved' || one.state === 'gone') continue;
    // A resize that somebody else has to confirm still holds its old disks here, wherever the server runs.
    if (host.unconfirmedResizes.includes(one.instance.id)) continue;
    become(one, 'gone', nowMs, 'left the host without this eviction');
  }
  const isEmpty = remains(host).length === 0;
  state.emptySinceMs = isEmpty ? (state.emptySinceMs ?? nowMs) : null;
}

function newcomer(instance: Instance, nowMs: number): TrackedInstance {
  return {
    instance,
    state: 'pending',
    sinceMs: nowMs,
    attempts: 0,
    target: null,
    percent: null,
    message: null,
    lookAgainAtMs: null,
    tookMs: null,
  };
}

/** What is still on the host or holds on to it, as people read it; empty when the host is (design section 5, step 5). */
export function remains(host: HostObservation): string[] {
  const found: string[] = [];
  const count = (number: number, one: string, many: string): void => {
    if (number > 0) found.push(`${number} ${number === 1 ? one : many}`);
  };
  count(host.instances.length, 'server', 'servers');
  count(host.migrations.length, 'migration in progress', 'migrations in progress');
  count(host.unconfirmedResizes.length, 'unconfirmed resize', 'unconfirmed resizes');
  count(
    host.allocations.length,
    `allocation in Placement${describeOrphans(host)}`,
    `allocations in Placement${describeOrphans(host)}`,
  );
  if (!host.schedulingDisabled) found.push('Placement does not show the host as disabled yet');
  return found;
}

const orphansNamed = 3;

/** Consumers that are no servers of the host: Nova leaves such behind when a live migration ends in error, and only a person can clear them. */
function describeOrphans({ allocations, instances }: HostObservation): string {
  const orphans = allocations.filter((consumer) => instances.every(({ id }) => id !== consumer));
  if (orphans.length === 0) return '';
  return ` (of ${orphans.slice(0, orphansNamed).join(', ')}${orphans.length > orphansNamed ? ` and ${orphans.length - orphansNamed} more` : ''})`;
}

/** Bytes-free measure of what is left: the memory of every server that has not left yet, from their flavors (hazard H2). */
export const outstanding = (state: EvictionState): TrackedInstance[] =>
  inState(state, 'pending', 'moving', 'blocked', 'skipped', 'busy');

export const outstandingRamMiB = (state: EvictionState): number =>
  outstanding(state).reduce((sum, { instance }) => sum + instance.memoryMiB, 0);
