import type { EvictionSettings } from '../../../contracts/eviction/eviction.ts';
import type { Mode } from '../../../contracts/kinds/kind.ts';
import type { KubernetesObjects } from '../../../runtime/kubernetes/objects.ts';
import type { Stop } from '../../../runtime/stop.ts';
import type { ActivityContext, Execution, ForActivities } from '../../lib/context.ts';

/** What the composition root gives to the activities on Evictions. */
export interface EvictionObjectDependencies extends ForActivities<Execution & Pick<ActivityContext, 'audit'>> {
  client: KubernetesObjects;
  settings: EvictionSettings;
  /** Of the kind Eviction. */
  mode: Mode;
  /** Where Migration objects are. */
  migrationNamespace: string;
  /** Signals the run of the host, starting it if need be, with `{ hypervisor }` alone. */
  signalWithStartEviction: (hypervisor: string, startedBy: string | null) => Promise<void>;
  /** The stop that holds for evictions here; undefined: none does. */
  findStop: (signal: AbortSignal) => Promise<Stop | undefined>;
}

/** The same, for one execution. */
export type Tools = Omit<EvictionObjectDependencies, 'scope'> & Execution;
