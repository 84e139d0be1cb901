import type { AllowanceObservation } from '../../contracts/allowance.ts';
import type { Eviction } from '../../contracts/crds/eviction.ts';
import type { Hypervisor } from '../../contracts/crds/hypervisor.ts';
import type { ReportMigration } from '../../contracts/eviction/migrate-instance.ts';
import { auditChange, type Audit, type AuditEntry } from '../../runtime/telemetry/audit.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { PlacementClient } from '../placement/types.ts';
import type { ActivityScope } from './scope.ts';
import type { Accepted, NovaClient } from './types.ts';

/** What the composition root gives to the activities of one region. */
export interface NovaDependencies {
  nova: NovaClient;
  /** Throws Stopped while `drover stop` is in force. Asked before each mutation. */
  stopGate: (signal: AbortSignal) => Promise<void>;
  audit: Audit;
  /** The running activity. Default: Temporal's. */
  scope?: (clock: Clock) => ActivityScope;
  clock: Clock;
}

export interface HostDependencies extends NovaDependencies {
  placement: PlacementClient;
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
}

export interface AllowanceDependencies {
  nova: NovaClient;
  /** How many migrations the region may have at once. */
  limit: number;
  /** How often the sharing run looks at the region and at its consumers. */
  checkMs: number;
  /** A consumer that says nothing for this long is looked up. */
  silentMs: number;
  /** Told of what each look finds. */
  onLook?: (region: string, world: AllowanceObservation) => void;
  scope?: (clock: Clock) => ActivityScope;
  clock: Clock;
}

/** The same, for one execution. */
export type Tools<Dependencies extends NovaDependencies = NovaDependencies> = Omit<Dependencies, 'scope'> & {
  scope: ActivityScope;
};

/** What a mutation is asked for; `after`: what it shall come to. */
export type Mutation = Omit<AuditEntry, 'actor' | 'run' | 'requestId'>;

/**
 * One mutation of OpenStack, with its line in the audit log. The stop is asked for before, by the caller.
 *
 * @param read what the answer tells of it besides
 */
export const audited = <Answer extends Accepted>(
  { audit, scope }: Pick<Tools, 'audit' | 'scope'>,
  mutation: Mutation,
  ask: () => Promise<Answer>,
  read: (answer: Answer) => Partial<Mutation> = () => ({}),
): Promise<Answer> =>
  auditChange(audit, { ...mutation, actor: 'drover', run: scope.run }, ask, (answer) => ({
    ...read(answer),
    requestId: answer.requestId,
  }));
