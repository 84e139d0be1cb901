/**
 * Whether Machines are frozen because a kube-apiserver does not answer (docs/machine-safety.md#api-server-safety). The
 * run `api-server-safety/<namespace>` keeps it, outside the API servers that it is about.
 */

export type ApiServerName = 'control' | 'target';

/** What the run remembers; in its memo under {@link safetyMemo}, and in each heartbeat of its activity. */
export interface SafetyState {
  readonly frozen: boolean;
  /** Why, for people; empty when not frozen. */
  readonly reason: string;
  /** Since when not all have answered; null: all did at the last probe. Milliseconds since the epoch. */
  readonly inactiveSinceMs: number | null;
  /** When they were last probed. Milliseconds since the epoch. */
  readonly probedMs: number;
}

/** The newest {@link SafetyState} that was decided, in the memo of the run. */
export const safetyMemo = 'safety';

/** What has to be known right before a deletion. Unknown is frozen. */
export type Freeze =
  | { readonly state: 'thawed' }
  | { readonly state: 'frozen'; readonly sinceMs: number | null; readonly reason: string }
  | { readonly state: 'unknown'; readonly reason: string };

/** Asked before each step that deletes. @throws TemporalUnavailable never: what cannot be read is `unknown` */
export type ReadFreeze = (namespace: string, signal: AbortSignal) => Promise<Freeze>;

export interface ApiServerSafetyInput {
  /** Of the Machines. */
  namespace: string;
}
