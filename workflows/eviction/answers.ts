import type { DesiredEviction, Preflight } from '../../contracts/eviction/eviction.ts';
import type { HostObservation } from '../../contracts/eviction/instance.ts';
import type { MigrateInstanceResult } from '../../contracts/eviction/migrate-instance.ts';
import type { EvictionState, TrackedInstance } from './state.ts';
import { acceptedObstacles, askToStop, become, inState, takeIn, unacceptedObstacles } from './state.ts';

/** What the answer to each step of an eviction changes in what the eviction knows. Pure but for the state that is given. */

export function preflightAnswered(state: EvictionState, { host, obstacles }: Preflight, nowMs: number): void {
  state.obstacles = obstacles;
  takeIn(state, host, nowMs);
  blockByObstacles(state, nowMs);
}

/** The Eviction was read again. A server that an obstacle held back goes on where it is accepted now. */
export function evictionRead(state: EvictionState, desired: DesiredEviction, nowMs: number): void {
  state.desired = desired;
  const accepted = acceptedObstacles(state);
  for (const { id, instanceId, message } of state.obstacles) {
    const one = instanceId === null ? undefined : state.instances[instanceId];
    if (accepted.has(id) && one?.state === 'blocked' && one.message === message) become(one, 'pending', nowMs);
  }
  if (desired.deleting) askToStop(state, 'the deletion of the Eviction', nowMs);
}

export function hostLookedAt(state: EvictionState, host: HostObservation, nowMs: number): void {
  takeIn(state, host, nowMs);
  for (const one of inState(state, 'busy')) become(one, 'pending', nowMs);
  state.nothingLeftSinceMs = inState(state, 'pending').length > 0 ? null : (state.nothingLeftSinceMs ?? nowMs);
}

export function moveBegan(one: TrackedInstance, nowMs: number): void {
  become(one, 'moving', nowMs);
  one.attempts += 1;
}

/** Takes in how a move ended. */
export function moveEnded(state: EvictionState, id: string, result: MigrateInstanceResult, nowMs: number): void {
  const one = state.instances[id];
  if (one === undefined) return;
  // Nova answered it, so what an earlier move ran into is over.
  state.problem = null;
  const tookMs = nowMs - one.sinceMs;
  one.attempts = result.attempts;
  switch (result.outcome) {
    case 'moved':
      become(one, 'moved', nowMs);
      one.target = result.targetHost;
      one.percent = 100;
      one.tookMs = tookMs;
      return;
    case 'gone':
      return become(one, 'gone', nowMs, 'deleted');
    case 'nonMigratable':
      one.target = null;
      one.percent = null;
      return become(one, 'blocked', nowMs, result.message);
    case 'stopped':
      one.target = null;
      one.percent = null;
      return become(one, 'pending', nowMs, result.message);
  }
}

/** Another run holds the server's lock: it is looked at again later. */
export function moveFoundBusy(one: TrackedInstance, { settings }: EvictionState, nowMs: number): void {
  become(one, 'busy', nowMs, 'another run moves it');
  one.lookAgainAtMs = nowMs + settings.busyElsewhereMs;
}

/**
 * A server with an obstacle that nobody accepted stays where it is, and the rest is moved. (Where obstacles refuse the eviction, it has
 * been refused before.)
 */
export function blockByObstacles(state: EvictionState, nowMs: number): void {
  for (const { instanceId, message } of unacceptedObstacles(state)) {
    const one = instanceId === null ? undefined : state.instances[instanceId];
    if (one?.state === 'pending') become(one, 'blocked', nowMs, message);
  }
}
