import { findCondition } from '../../../contracts/conditions.ts';
import type { Context } from './context.ts';

const firstIntervalMs = 2_000;
const longestIntervalMs = 600_000;

/**
 * After how long what another controller does is observed again: what is new often, what has waited long ever less.
 * Pure.
 */
export function intervalMs({ pollMs }: Pick<Context['settings'], 'pollMs'>, ageMs: number): number {
  const least = Math.min(pollMs, firstIntervalMs);
  return Math.min(Math.max(least, ageMs / 4), Math.max(pollMs, longestIntervalMs));
}

/** Since when a condition is False, as the object says; now, where it is not. Pure. */
export function falseSinceMs({ observed, nowMs }: Pick<Context, 'observed' | 'nowMs'>, type: string): number {
  const said = findCondition(observed.recorded.conditions, type);
  const ms = said?.status === 'False' ? Date.parse(said.lastTransitionTime) : nowMs;
  return Number.isNaN(ms) ? nowMs : Math.min(ms, nowMs);
}
