import { heartbeatTimeoutMs } from '../policies.ts';
import type { Freeze, SafetyState } from './api-server-safety.ts';
import type { AnsweringServers, ApiServerSettings } from './judge-api-servers.ts';

/** What Temporal has of the run that keeps the freeze. */
export interface SafetyRun {
  readonly status: 'open' | 'closed' | 'missing';
  /** In its memo; null: it has none, or one that cannot be read. */
  readonly decided: SafetyState | null;
  /** The last heartbeat of its probes; null: none are under way, or they have not sent any. */
  readonly beat: {
    readonly atMs: number;
    readonly state: SafetyState | null;
    readonly servers: AnsweringServers | null;
  } | null;
}

const unknown = (reason: string): Freeze => ({ state: 'unknown', reason });

/**
 * Whether Machines are frozen. `thawed` takes everything together: the run is open and has decided so, its probes are
 * under way, and every API server has answered the last one, lately. Pure.
 */
export function judgeFreeze({ status, decided, beat }: SafetyRun, settings: ApiServerSettings, nowMs: number): Freeze {
  if (status === 'missing') return unknown('No run of API-server safety is there; a worker starts it');
  if (status === 'closed') return unknown('The run of API-server safety has ended; a worker starts another one');
  if (decided === null) return unknown('The run of API-server safety does not say yet');
  if (decided.frozen) {
    const { reason, inactiveSinceMs } = beat?.state?.frozen === true ? beat.state : decided;
    return { state: 'frozen', sinceMs: inactiveSinceMs, reason };
  }
  if (beat === null || beat.state === null) return unknown('No API server is probed just now');
  if (nowMs - beat.atMs > longestSilenceMs) return unknown(`No worker has probed since ${time(beat.atMs)}`);
  const { frozen, inactiveSinceMs, reason, probedMs } = beat.state;
  if (frozen) return { state: 'frozen', sinceMs: inactiveSinceMs, reason };
  if (nowMs - probedMs > longestSilenceMs + settings.periodMs + settings.timeoutMs)
    return unknown(`The API servers were last probed at ${time(probedMs)}`);
  return inactiveSinceMs === null ? { state: 'thawed' } : unknown(reason);
}

/** Probes send a heartbeat every second: when none comes for so long, no worker probes. */
const longestSilenceMs = 3 * heartbeatTimeoutMs;

const time = (ms: number): string => new Date(ms).toISOString();
