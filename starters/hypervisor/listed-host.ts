import type { EvictionProgress } from '../../contracts/eviction/eviction.ts';
import type { LifecycleState } from '../../contracts/hypervisor/conditions.ts';
import { attentionOf, openFailure } from '../../contracts/hypervisor/attention.ts';
import type { MaintenanceMode } from '../../contracts/hypervisor/hypervisor.ts';
import type { Answer, EvictionRun } from '../eviction/eviction-objects.ts';
import type { HypervisorObject } from './hypervisor-objects.ts';
import { nodeTerminates } from './hypervisor-objects.ts';
import type { ReconcileStatus } from '../command/lifecycle-condition.ts';
import { lifecycleOf, observationOf, reconcileStatus } from '../command/lifecycle-condition.ts';
import { phaseWord } from '../render/progress.ts';

/** One line of `drover hosts`, and one element of its `--json`. Times are RFC 3339. */
export interface ListedHost {
  host: string;
  /** Reason of the condition Lifecycle; null: no run has said anything yet. */
  state: string | null;
  status: ReconcileStatus;
  /** The operator has to act: it is blocked, waits for an operator, or is late. */
  needsAttention: boolean;
  since: string | null;
  message: string;
  instances: number;
  /** Of the run that empties it now; null: none does. `counts` null: no worker answers. */
  eviction: { phase: string; counts: EvictionProgress['counts'] | null } | null;
  libVirtVersion: string | null;
  maintenance: MaintenanceMode;
  maintenanceReason: string | null;
  maintainedBy: string | null;
  lifecycleEnabled: boolean;
  terminating: boolean;
}

export interface HostFilter {
  /** Empty: every state. */
  states: readonly LifecycleState[];
  /** Only those that need attention. */
  attention: boolean;
}

/**
 * Hosts as users want to see them: those that need attention first, each part in the natural order of its names.
 *
 * @param runs that empty hosts now
 * @param answers by run id
 */
export function listHosts(
  hypervisors: readonly HypervisorObject[],
  runs: readonly EvictionRun[],
  answers: ReadonlyMap<string, Answer>,
  { states, attention }: HostFilter,
): ListedHost[] {
  const running = new Map(runs.map((run) => [run.host, run]));
  const listed = hypervisors.map((hypervisor) => {
    const run = running.get(hypervisor.name);
    return listHost(hypervisor, run === undefined ? null : describeRun(run, answers.get(run.runId) ?? null));
  });
  return listed
    .filter(
      (host) =>
        (!attention || host.needsAttention) && (states.length === 0 || states.some((state) => state === host.state)),
    )
    .sort(byNeed);
}

const byNeed = (a: ListedHost, b: ListedHost): number =>
  Number(b.needsAttention) - Number(a.needsAttention) || a.host.localeCompare(b.host, 'en', { numeric: true });

const describeRun = ({ phase }: EvictionRun, answer: Answer): NonNullable<ListedHost['eviction']> => ({
  phase: answer === null ? (phase ?? 'Running') : phaseWord(answer),
  counts: answer?.counts ?? null,
});

function listHost(hypervisor: HypervisorObject, eviction: ListedHost['eviction']): ListedHost {
  const lifecycle = lifecycleOf(hypervisor);
  return {
    host: hypervisor.name,
    state: lifecycle?.reason ?? null,
    status: reconcileStatus(hypervisor),
    needsAttention: needsAttention(hypervisor),
    since: lifecycle?.lastTransitionTime ?? null,
    message: openFailure(hypervisor)?.message ?? lifecycle?.message ?? observationOf(hypervisor)?.message ?? '',
    instances: hypervisor.instances,
    eviction,
    libVirtVersion: hypervisor.libVirtVersion,
    maintenance: hypervisor.maintenance,
    maintenanceReason: hypervisor.maintenanceReason,
    maintainedBy: hypervisor.maintainedBy,
    lifecycleEnabled: hypervisor.lifecycleEnabled,
    terminating: nodeTerminates(hypervisor),
  };
}

/** Whether an operator has to do something. */
export const needsAttention = (hypervisor: HypervisorObject): boolean => attentionOf(hypervisor) !== null;
