import type { Audit } from '../../../runtime/telemetry/audit.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { StopGate } from '../../../runtime/stop.ts';
import type { HypervisorClient } from './client.ts';
import type { ActivityScope } from '../../lib/context.ts';

/** What the composition root gives to the activities on Hypervisors. */
export interface HypervisorObjectDependencies {
  client: HypervisorClient;
  /** Throws Stopped while `drover stop` is in force. Asked before each mutation. */
  stopGate: StopGate;
  audit: Audit;
  /** Of the pod that holds Gardener's drain back; has `/bin/sleep`, `/bin/true` and `/bin/false`. */
  guardImage: string;
  /** The running activity. Default: Temporal's. */
  scope?: (clock: Clock) => ActivityScope;
  clock: Clock;
}

/** The same, for one execution. */
export type HypervisorTools = Omit<HypervisorObjectDependencies, 'scope'> & { scope: ActivityScope };
