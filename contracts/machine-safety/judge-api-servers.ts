import type { ApiServerName, SafetyState } from './api-server-safety.ts';

/**
 * Whether Machines are frozen, decided by what both kube-apiservers have answered
 * (docs/machine-safety.md#api-server-safety).
 */

/** What one kube-apiserver has answered. An answer of Forbidden says as little as none. */
export type ProbeAnswer = { readonly isUp: true } | { readonly isUp: false; readonly why: string };

export interface ApiServerProbe {
  readonly control: ProbeAnswer;
  /** Null: there is no target cluster. */
  readonly target: ProbeAnswer | null;
}

export interface ApiServerSettings {
  /** Between probes that are answered. */
  readonly periodMs: number;
  /** Machines are frozen when a server has not answered for longer. */
  readonly timeoutMs: number;
}

export interface ApiServerVerdict {
  readonly state: SafetyState;
  /** After so long the servers are probed again. */
  readonly probeAfterMs: number;
  readonly transition: 'freeze' | 'thaw' | null;
}

/** Of a run that knows nothing yet: frozen, until both have answered once. */
export const notKnownYet: SafetyState = {
  frozen: true,
  reason: 'Not known yet: this run has not had an answer of every API server',
  inactiveSinceMs: null,
  probedMs: 0,
};

/**
 * The table of the replaced manager, with one difference: a recovery resets the outage timer, so that two short outages
 * never add up to a freeze. Pure.
 *
 * @param nowMs when the probe was begun: what is known is as old as the question, not as the answer
 */
export function judgeApiServers(
  { frozen, inactiveSinceMs: sinceBefore }: SafetyState,
  probe: ApiServerProbe,
  { periodMs, timeoutMs }: ApiServerSettings,
  nowMs: number,
): ApiServerVerdict {
  const silent = silentServers(probe);
  if (silent.length === 0) {
    const state = { frozen: false, reason: '', inactiveSinceMs: null, probedMs: nowMs };
    return { state, probeAfterMs: periodMs, transition: frozen ? 'thaw' : null };
  }
  const inactiveSinceMs = sinceBefore ?? nowMs;
  const freezes = !frozen && nowMs - inactiveSinceMs > timeoutMs;
  const reason = `${silent.join(' ')} Not all API servers have answered since ${new Date(inactiveSinceMs).toISOString()}.`;
  return {
    state: { frozen: frozen || freezes, reason, inactiveSinceMs, probedMs: nowMs },
    probeAfterMs: frozen ? periodMs : timeoutMs / 5,
    transition: freezes ? 'freeze' : null,
  };
}

const silentServers = ({ control, target }: ApiServerProbe): string[] =>
  Object.entries({ control, target } satisfies Record<ApiServerName, ProbeAnswer | null>).flatMap(([name, answer]) =>
    answer === null || answer.isUp ? [] : [`The ${name} API server is not known to be well: ${answer.why}`],
  );

/** Which servers have answered the last probe; in its heartbeat, for people. Null: there is no such server. */
export type AnsweringServers = Readonly<Record<ApiServerName, boolean | null>>;

export const answeringServers = ({ control, target }: ApiServerProbe): AnsweringServers => ({
  control: control.isUp,
  target: target?.isUp ?? null,
});

/** Null, unless a heartbeat says it. */
export function readAnsweringServers(heartbeat: unknown): AnsweringServers | null {
  const { servers } = Object(heartbeat) as { servers?: unknown };
  const { control, target } = Object(servers) as Record<ApiServerName, unknown>;
  return typeof control === 'boolean' && (target === null || typeof target === 'boolean') ? { control, target } : null;
}

/** Of what a run or a heartbeat carries, which may be anything: null, unless it is a state. */
export function readSafetyState(value: unknown): SafetyState | null {
  const { frozen, reason, inactiveSinceMs, probedMs } = Object(value) as Record<keyof SafetyState, unknown>;
  const isTime = (time: unknown): time is number => typeof time === 'number' && Number.isFinite(time);
  if (typeof frozen !== 'boolean' || typeof reason !== 'string' || !isTime(probedMs)) return null;
  if (inactiveSinceMs !== null && !isTime(inactiveSinceMs)) return null;
  return { frozen, reason, inactiveSinceMs, probedMs };
}
