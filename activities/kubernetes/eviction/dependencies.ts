import type { EvictionSettings } from '../../../contracts/eviction/eviction.ts';
import type { Audit } from '../../../runtime/telemetry/audit.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Mode } from '../../../contracts/kinds/kind.ts';
import type { Stop } from '../../../runtime/stop.ts';
import type { KubernetesClient } from './client.ts';
import type { ActivityScope } from '../../lib/context.ts';

/** What the composition root gives to the activities on Evictions. */
export interface EvictionObjectDependencies {
  client: KubernetesClient;
  settings: EvictionSettings;
  /** Of the kind Eviction. */
  mode: Mode;
  /** Where Migration objects are. */
  migrationNamespace: string;
  /** Signals the run of the host, starting it if need be, with `{ hypervisor }` alone. */
  signalWithStartEviction: (hypervisor: string, startedBy: string | null) => Promise<void>;
  /** The stop that holds for evictions here; undefined: none does. */
  findStop: (signal: AbortSignal) => Promise<Stop | undefined>;
  audit: Audit;
  /** The running activity. Default: Temporal's. */
  scope?: (clock: Clock) => ActivityScope;
  clock: Clock;
}

/** The same, for one execution. */
export type Tools = Omit<EvictionObjectDependencies, 'scope'> & { scope: ActivityScope };
