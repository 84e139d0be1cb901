import type { Audit } from '../../runtime/telemetry/audit.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { ActivityScope } from '../lib/context.ts';
import type { BmcSettings, ConnectBmc } from './types.ts';

/** What the composition root gives to the activities. */
export interface PowerDependencies {
  /** Reads the settings and the credential of a host's BMC, at use. @throws SystemNotFound for a host without one */
  bmcOf: (host: string, signal: AbortSignal) => Promise<BmcSettings>;
  /** Throws Stopped while `drover stop` is in force. Asked before each mutation. */
  stopGate: (signal: AbortSignal) => Promise<void>;
  audit: Audit;
  /** The running activity. Default: Temporal's. */
  scope?: (clock: Clock) => ActivityScope;
  clock: Clock;
  /** Nothing is sent before the first request. @throws InvalidConfiguration */
  connect: ConnectBmc;
}

/** The same, for one execution. */
export type Tools = Pick<PowerDependencies, 'stopGate' | 'audit' | 'clock'> & { scope: ActivityScope };
