import type { AllowanceObservation } from '../../contracts/allowance.ts';
import type { Eviction } from '../../contracts/crds/eviction.ts';
import type { Hypervisor } from '../../contracts/crds/hypervisor.ts';
import type { ReportMigration } from '../../contracts/eviction/migrate-instance.ts';
import type { CandidateReads } from '../preflight/ask-placement.ts';
import type { HostTools } from './observe-host.ts';
import type { ActivityContext, Execution, ForActivities } from '../lib/context.ts';
import type { PaceMeter } from './pace-meter.ts';
import type { NovaClient } from './types.ts';

/** What the composition root gives to the activities of one region. */
export interface NovaDependencies extends ForActivities<ActivityContext> {
  nova: NovaClient;
}

export interface HostDependencies extends NovaDependencies, Omit<HostTools, 'nova'> {
  candidates: CandidateReads;
  /** Every Hypervisor of the cluster; none where no node agent is installed. */
  listHypervisors: (signal: AbortSignal) => Promise<Hypervisor[]>;
  /** Every Eviction, of any host. */
  listEvictions: (signal: AbortSignal) => Promise<Eviction[]>;
  /** Whether the servers' disks lie on the hosts, so that moving a server copies them. */
  localDisks: boolean;
}

export interface InstanceDependencies extends NovaDependencies {
  /** Keeps the Migration object of a server current. */
  report: ReportMigration;
  /** Is told of the counters that are read of migrations. */
  pace?: PaceMeter;
}

export interface AllowanceDependencies extends ForActivities<Execution> {
  nova: NovaClient;
  /**
   * How many migrations the region may have at once, and how far that is lowered at most while they slow
   * each other down.
   */
  limit: number;
  leastLimit?: number;
  /** How fast those copy that this process waits for. */
  pace?: PaceMeter;
  /** How often the run that allocates observes the region and its consumers. */
  checkMs: number;
  /** The run of a consumer that is silent for this long is described. */
  silentMs: number;
  /** Called with each observation. */
  onObserved?: (region: string, world: AllowanceObservation) => void;
}

/** The same, for one execution. */
export type Tools<Dependencies extends NovaDependencies = NovaDependencies> = Omit<Dependencies, 'scope'> & Execution;
