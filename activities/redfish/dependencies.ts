import type { Audit } from '../../runtime/audit.ts';
import type { ObserveCall } from '../../runtime/outside-calls.ts';
import type { ActivityScope } from '../nova/scope.ts';
import type { Clock } from '../nova/wait.ts';
import type { BmcSettings, RedfishClient } from './types.ts';

/** What the composition root gives to the activities. */
export interface PowerDependencies {
  /** Reads the settings and the credential of a host's BMC, at use. @throws SystemNotFound for a host without one */
  bmcOf: (host: string, signal: AbortSignal) => Promise<BmcSettings>;
  /** Throws Stopped while `drover stop` is in force. Asked before each mutation. */
  stopGate: (signal: AbortSignal) => Promise<void>;
  audit: Audit;
  observe?: ObserveCall;
  /** The running activity. Default: Temporal's. */
  scope?: () => ActivityScope;
  /** Default: the system's. */
  clock?: Clock;
  /** Default: a client that speaks HTTPS. */
  connect?: (settings: BmcSettings) => RedfishClient;
}

/** The same, with what may be left out filled in. */
export type Tools = Pick<PowerDependencies, 'stopGate' | 'audit'> & { scope: ActivityScope; clock: Clock };
