import type { AllowanceGranted } from '../../contracts/allowance.ts';
import { allocationsInPlacement, type onTimeReasons } from '../../contracts/eviction/conditions.ts';
import type {
  DesiredEviction,
  EvictionPhase,
  EvictionSettings,
  InstanceState,
  Obstacle,
  Preflight,
} from '../../contracts/eviction/eviction.ts';
import { instanceObstacleId } from '../../contracts/eviction/eviction.ts';
import type { HostObservation, Instance } from '../../contracts/eviction/instance.ts';
import type { MigrateInstanceResult } from '../../contracts/eviction/migrate-instance.ts';
import { disabledReasonPrefix, maintenanceReasonPrefix } from '../../contracts/ids.ts';
import { retryAfterMs } from '../lib/retry.ts';

/**
 * Everything an eviction knows. Plain JSON, so that it is carried over when the run continues as new. Times
 * are Unix ms.
 */
export interface EvictionState {
  desired: DesiredEviction;
  settings: EvictionSettings;
  /** Boot id of the host's Node when the eviction began. */
  bootId: string | null;
  startedAtMs: number;
  phase: EvictionPhase;
  phaseSinceMs: number;
  /** The host as last observed; null before the preflight. */
  host: HostObservation | null;
  observedAtMs: number;
  obstacles: Obstacle[];
  /** What the preflight could not find out, as sentences. */
  notes: string[];
  /** Obstacle ids that users accepted by update, besides those of the Eviction. */
  accepted: string[];
  instances: Record<string, TrackedInstance>;
  allowance: AllowanceGranted | null;
  /** Set by update; the Eviction's own and the settings come after it. */
  parallelism: number | null;
  paused: { by: string; reason: string | null; sinceMs: number } | null;
  stop: Stop | null;
  /** When the last preflight was, and how many have been made since something last moved. */
  preflightAtMs: number;
  preflights: number;
  /** A user asks for the next preflight now, which would come by itself. */
  retryAsked: boolean;
  /** What was last said of its deadline; null: nothing. */
  margin: MarginVerdict | null;
  /** Since when the service is disabled, as far as this eviction knows; null: it is not. */
  disabledSinceMs: number | null;
  /** Of a maintenance that had disabled the service; null, or absent: none has, as far as this eviction knows. */
  maintenanceReason?: string | null;
  /** When the host was first observed empty, in an unbroken row of observations. */
  emptySinceMs: number | null;
  /** When nothing was left to move, so that the wait for the rest has a deadline. */
  nothingLeftSinceMs: number | null;
  problem: EvictionProblem | null;
  /** Value of `drover.dev/retry` as last read; absent: there is none. */
  retry?: string;
  /** Whether the compute service was enabled again; null while that is open or was never the question. */
  reEnabled: boolean | null;
  /** How it ended. */
  end: End | null;
}

/** Whether the host will be empty by its deadline: reasons of the condition `OnTime`. */
export type MarginVerdict = keyof typeof onTimeReasons;

/** What keeps the run from going on. */
export interface EvictionProblem {
  reason: string;
  message: string;
  /** In a row. */
  failures: number;
  retryAtMs: number;
  /**
   * What failed: a step or a move, the reading of the Eviction, or a report to the allowance. The last two are tried
   * again beside the steps.
   */
  kind: 'step' | 'read' | 'report';
}

interface Stop {
  abort: boolean;
  reEnable: boolean;
  /** Who or what stopped it, as a sentence names it. */
  by: string;
  atMs: number;
  /** What was in flight has been asked to end. */
  aborted: boolean;
  /** How often the host could not be enabled again; absent: not once. */
  enableFailures?: number;
}

export interface End {
  phase: 'Succeeded' | 'Failed' | 'Stopped' | 'Observed';
  /** A condition reason: the phase, or a row of the error table. */
  reason: string;
  message: string;
}

/** One server of the eviction. */
export interface TrackedInstance {
  instance: Instance;
  state: InstanceState;
  sinceMs: number;
  attempts: number;
  /** A move of it was started, whatever came of that; absent: none was. */
  begun?: true;
  target: string | null;
  percent: number | null;
  message: string | null;
  /** When a server that another run moves is observed again. */
  observeAgainAtMs: number | null;
  /** How long its move took; feeds the estimate. */
  tookMs: number | null;
  /**
   * Id of a migration of it that does not end, and that Nova still shows in progress. It holds a slot of the
   * region until Nova shows it no more, or a user asks for the server to be tried again.
   */
  inFlight: number | null;
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
    observedAtMs: 0,
    obstacles: [],
    notes: [],
    accepted: [],
    instances: {},
    allowance: null,
    parallelism: null,
    paused: null,
    stop: null,
    preflightAtMs: 0,
    preflights: 0,
    retryAsked: false,
    margin: null,
    disabledSinceMs: null,
    maintenanceReason: null,
    emptySinceMs: null,
    nothingLeftSinceMs: null,
    problem: null,
    reEnabled: null,
    end: null,
  };
}

/** Records what keeps the run from going on; it tries again by itself, or at once on `retryNow`. */
export function recordProblem(
  state: EvictionState,
  { reason, message }: Pick<EvictionProblem, 'reason' | 'message'>,
  kind: EvictionProblem['kind'],
  nowMs: number,
): void {
  const failures = (state.problem?.failures ?? 0) + 1;
  state.problem = { reason, message, failures, retryAtMs: nowMs + retryAfterMs(failures), kind };
}

/** Asks for an orderly end. Who asked first is named; what was asked for before still holds. */
export function requestStop(state: EvictionState, by: string, nowMs: number): void {
  state.stop ??= { abort: false, reEnable: false, by, atMs: nowMs, aborted: false };
}

/**
 * How often it is tried to enable the host at the end of an eviction, before an operator has to. While drover is stopped
 * nothing is tried.
 */
export const enableAttempts = 5;

/** The host could not be enabled at the end of a stop. After the last attempt it stays disabled. */
export function applyEnableFailure(state: EvictionState): void {
  const { stop } = state;
  if (stop === null) return;
  stop.enableFailures = (stop.enableFailures ?? 0) + 1;
  if (stop.enableFailures >= enableAttempts) state.reEnabled = false;
}

export const tracked = (state: EvictionState): TrackedInstance[] => Object.values(state.instances);

export const inState = (state: EvictionState, ...states: InstanceState[]): TrackedInstance[] =>
  tracked(state).filter((one) => states.includes(one.state));

/** Obstacle ids that a user accepted, in the Eviction or by update. */
export const acceptedObstacles = ({ accepted, desired }: EvictionState): ReadonlySet<string> =>
  new Set([...accepted, ...desired.acceptedObstacles]);

/** Whether a user accepted that the resize of this server is confirmed (docs/rules.md#consent). */
export const mayConfirmResize = (state: EvictionState, instanceId: string): boolean =>
  acceptedObstacles(state).has(instanceObstacleId('UnconfirmedResize', instanceId));

/** Whether a user accepted that this server is moved though it is locked. */
export const mayMoveLocked = (state: EvictionState, instanceId: string): boolean =>
  acceptedObstacles(state).has(instanceObstacleId('InstanceLocked', instanceId));

export const unacceptedObstacles = (state: EvictionState): Obstacle[] => {
  const accepted = acceptedObstacles(state);
  return state.obstacles.filter(({ id }) => !accepted.has(id));
};

/**
 * What to disable the service with. Where another party has enabled a host that is in maintenance, it carries that
 * maintenance's reason again: the Hypervisor lifts no other at the end.
 */
export const disabledReasonOf = ({ desired, maintenanceReason = null }: EvictionState): string =>
  maintenanceReason ?? `${disabledReasonPrefix} eviction ${desired.name}: ${desired.reason}`.slice(0, 255);

/** Unix ms; null: there is none. */
export const deadlineMsOf = ({ desired: { deadline } }: EvictionState): number | null =>
  deadline === null ? null : Date.parse(deadline);

/** An obstacle that no user can accept: nothing can be moved live from a host whose nova-compute is down. */
export const isFatal = ({ code }: Pick<Obstacle, 'code'>): boolean => code === 'HostDown';

export const isHostDown = (state: EvictionState): boolean => unacceptedObstacles(state).some(isFatal);

export function enterState(
  one: TrackedInstance,
  state: InstanceState,
  nowMs: number,
  message: string | null = null,
): void {
  one.state = state;
  one.sinceMs = nowMs;
  one.message = message;
  one.observeAgainAtMs = null;
  if (state !== 'blocked' && state !== 'skipped') one.inFlight = null;
}

/** Servers with a migration that does not end. */
export const unended = (state: EvictionState): TrackedInstance[] =>
  tracked(state).filter(({ inFlight }) => inFlight !== null);

/**
 * Applies an observation of the host: new servers join (late arrivals are moved too), servers that left are done, and
 * one that had moved but is here again is moved again.
 */
export function applyHost(state: EvictionState, host: HostObservation, nowMs: number): void {
  state.host = host;
  state.observedAtMs = nowMs;
  state.disabledSinceMs = host.service.status === 'disabled' ? (state.disabledSinceMs ?? nowMs) : null;
  const { disabledReason } = host.service;
  if (disabledReason?.startsWith(maintenanceReasonPrefix) === true) state.maintenanceReason = disabledReason;
  const here = new Map(host.instances.map((instance) => [instance.id, instance]));
  for (const instance of host.instances) {
    const known = state.instances[instance.id];
    if (known === undefined) {
      state.instances[instance.id] = newcomer(instance, nowMs);
      continue;
    }
    known.instance = instance;
    if (known.state === 'moved' || known.state === 'gone') enterState(known, 'pending', nowMs, 'came back to the host');
    if (known.state === 'busy') enterState(known, 'pending', nowMs);
  }
  for (const one of unended(state)) {
    if (host.migrations.some(({ id }) => id === one.inFlight)) continue;
    one.message = `migration ${one.inFlight} is over since; \`drover retry\` tries it again`;
    one.inFlight = null;
  }
  for (const one of tracked(state)) {
    if (here.has(one.instance.id) || one.state === 'moving' || one.state === 'moved' || one.state === 'gone') continue;
    // A resize that its owner has to confirm still holds its old disks here, wherever the server runs.
    if (host.unconfirmedResizes.includes(one.instance.id)) continue;
    leave(state, one, nowMs, 'left the host without this eviction');
  }
  admitResized(state, nowMs);
  const isEmpty = remains(host).length === 0;
  state.emptySinceMs = isEmpty ? (state.emptySinceMs ?? nowMs) : null;
}

/** What stood in the way of a server is over with it. */
function leave(state: EvictionState, one: TrackedInstance, nowMs: number, message: string): void {
  enterState(one, 'gone', nowMs, message);
  state.obstacles = state.obstacles.filter(({ instanceId }) => instanceId !== one.instance.id);
}

/**
 * A server whose resize off the host a user has accepted to be confirmed joins those that are to leave: its run confirms
 * it. All others are their owners' to confirm, and keep the host from being empty.
 */
export function admitResized(state: EvictionState, nowMs: number): void {
  for (const instance of state.host?.resizedAway ?? []) {
    if (!mayConfirmResize(state, instance.id)) continue;
    const known = state.instances[instance.id];
    if (known === undefined) state.instances[instance.id] = newcomer(instance, nowMs);
    else if (known.state === 'gone') enterState(known, 'pending', nowMs, 'left the host by a resize to be confirmed');
  }
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
    observeAgainAtMs: null,
    tookMs: null,
    inFlight: null,
  };
}

/** What is still on the host or holds on to it, as users read it; empty when the host is. */
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
    `${allocationsInPlacement.one}${describeOrphans(host)}`,
    `${allocationsInPlacement.many}${describeOrphans(host)}`,
  );
  const guests = host.unknownGuests ?? [];
  count(guests.length, `guest${describeGuests(guests)}`, `guests${describeGuests(guests)}`);
  if (!host.schedulingDisabled) found.push('Placement does not show the host as disabled yet');
  return found;
}

const guestsNamed = 3;

/**
 * Neither Nova nor Placement has anything on the host, and libvirt runs them all the same: a user has to find out whose
 * they are.
 */
function describeGuests(guests: NonNullable<HostObservation['unknownGuests']>): string {
  const named = guests.slice(0, guestsNamed).map(({ name, id }) => `${name}, ${id}`);
  const more = guests.length > guestsNamed ? ` and ${guests.length - guestsNamed} more` : '';
  return ` that libvirt runs and Nova does not have there (${named.join('; ')}${more})`;
}

const orphansNamed = 3;

/**
 * Consumers that are no servers of the host: Nova leaves such behind when a live migration ends in error, and only an
 * operator can remove them.
 */
function describeOrphans({ allocations, instances }: HostObservation): string {
  const orphans = allocations.filter((consumer) => instances.every(({ id }) => id !== consumer));
  if (orphans.length === 0) return '';
  return ` (of ${orphans.slice(0, orphansNamed).join(', ')}${orphans.length > orphansNamed ? ` and ${orphans.length - orphansNamed} more` : ''})`;
}

/** Bytes-free measure of what is left: the memory of every server that has not left yet, from their flavors. */
export const outstanding = (state: EvictionState): TrackedInstance[] =>
  inState(state, 'pending', 'moving', 'blocked', 'skipped', 'busy');

export const outstandingRamMiB = (state: EvictionState): number =>
  outstanding(state).reduce((sum, { instance }) => sum + instance.memoryMiB, 0);

/**
 * What was blocked is tried again after a further preflight, unless that blocks it too, or a migration of it is still
 * in progress.
 */
export function applyPreflight(state: EvictionState, { host, obstacles, notes }: Preflight, nowMs: number): void {
  state.obstacles = obstacles;
  state.notes = notes ?? [];
  state.preflightAtMs = nowMs;
  state.preflights += 1;
  state.retryAsked = false;
  applyHost(state, host, nowMs);
  for (const one of inState(state, 'blocked'))
    if (one.inFlight === null) enterState(one, 'pending', nowMs, one.message);
  blockByObstacles(state, nowMs);
}

/** The Eviction was read again. A server that an obstacle held back goes on where it is accepted now. */
export function applyEviction(state: EvictionState, desired: DesiredEviction, nowMs: number): void {
  state.desired = desired;
  const accepted = acceptedObstacles(state);
  for (const { id, instanceId, message } of state.obstacles) {
    const one = instanceId === null ? undefined : state.instances[instanceId];
    if (accepted.has(id) && one?.state === 'blocked' && one.message === message) enterState(one, 'pending', nowMs);
  }
  admitResized(state, nowMs);
  if (desired.deleting) requestStop(state, 'the deletion of the Eviction', nowMs);
}

export function applyHostRecheck(state: EvictionState, host: HostObservation, nowMs: number): void {
  applyHost(state, host, nowMs);
  for (const one of inState(state, 'busy')) enterState(one, 'pending', nowMs);
  state.nothingLeftSinceMs = inState(state, 'pending').length > 0 ? null : (state.nothingLeftSinceMs ?? nowMs);
}

export function applyMoveStart(one: TrackedInstance, nowMs: number): void {
  enterState(one, 'moving', nowMs);
  one.attempts += 1;
  one.begun = true;
}

/** How a move ended. */
export function applyMoveResult(state: EvictionState, id: string, result: MigrateInstanceResult, nowMs: number): void {
  const one = state.instances[id];
  if (one === undefined) return;
  // Nova answered it, so what an earlier move ran into is over.
  state.problem = null;
  const tookMs = nowMs - one.sinceMs;
  one.attempts = result.attempts;
  applyLock(state, id, result);
  switch (result.outcome) {
    case 'moved':
      state.preflights = Math.min(state.preflights, 1);
      enterState(one, 'moved', nowMs);
      one.target = result.targetHost;
      one.percent = 100;
      one.tookMs = tookMs;
      return;
    case 'gone':
      return leave(state, one, nowMs, 'deleted');
    case 'nonMigratable':
    case 'stopped': {
      // A user has cancelled its run, and not the eviction: as long as Nova does not end the migration, another run of it
      // would find no slot but the one that this holds, and so wait for ever.
      const isLeft = result.inFlight !== null && state.stop === null;
      one.target = null;
      one.percent = null;
      // A user was faster than its run, which knew nothing of that.
      if (result.obstacle !== undefined && acceptedObstacles(state).has(result.obstacle.id))
        return enterState(one, 'pending', nowMs);
      enterState(one, result.outcome === 'stopped' && !isLeft ? 'pending' : 'blocked', nowMs, result.message);
      one.inFlight = result.inFlight;
    }
  }
}

/** A lock that the preflight did not find is an obstacle like one that it did; one without which it moved is over. */
function applyLock(state: EvictionState, id: string, { outcome, obstacle }: MigrateInstanceResult): void {
  if (obstacle !== undefined)
    state.obstacles = [...state.obstacles.filter((other) => other.id !== obstacle.id), obstacle];
  else if (outcome === 'moved' && !mayMoveLocked(state, id))
    state.obstacles = state.obstacles.filter((other) => other.id !== instanceObstacleId('InstanceLocked', id));
}

/** Another run holds the server's lock: it is observed again later. */
export function applyMovedElsewhere(one: TrackedInstance, { settings }: EvictionState, nowMs: number): void {
  enterState(one, 'busy', nowMs, 'another run moves it');
  one.observeAgainAtMs = nowMs + settings.busyElsewhereMs;
}

/**
 * A server with an obstacle that no user accepted stays where it is, and the rest is moved. (Where obstacles refuse the
 * eviction, it has been refused before.)
 */
export function blockByObstacles(state: EvictionState, nowMs: number): void {
  for (const { instanceId, message } of unacceptedObstacles(state)) {
    const one = instanceId === null ? undefined : state.instances[instanceId];
    if (one?.state === 'pending') enterState(one, 'blocked', nowMs, message);
  }
}
