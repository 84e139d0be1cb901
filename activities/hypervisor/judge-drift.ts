import { findCondition } from '../../contracts/conditions.ts';
import type { Hypervisor } from '../../contracts/crds/hypervisor.ts';
import { needsFailureRun } from '../../contracts/hypervisor/attention.ts';
import { hypervisorConditions, onboardingRetryMs } from '../../contracts/hypervisor/conditions.ts';
import { hypervisorMode } from '../../contracts/hypervisor/read-hypervisor.ts';
import { cancelledFailure, fencedHold, hypervisorAnnotations } from '../../contracts/ids.ts';
import { kindTable } from '../../contracts/kinds/table.ts';
import { readHold } from '../kubernetes/hypervisor/observe-kubernetes.ts';
import type { ComputeServiceRecord } from '../nova/types.ts';

/** What one list of everything shows of a host. */
export interface HostNow {
  /** Null: Nova has none that is the Hypervisor's. */
  service: Pick<ComputeServiceRecord, 'id' | 'status' | 'state' | 'disabledReason'> | null;
  /** Names of the aggregates that it is in. */
  aggregates: readonly string[];
  /** Of the custom traits that the Hypervisor says are there, those that are not. */
  lostTraits: readonly string[];
  /** A run is missing that would end what is said of its failure. */
  isFailureRunMissing: boolean;
  nowMs: number;
}

/**
 * Whether a host has become another than its Hypervisor says, behind drover's back: Nova and Placement have no watch.
 * Compared is what was observed then with what is observed now, so that a difference is signalled once: the run that is
 * signalled repairs it, or says what it observed. Null: nothing, or a run is on its way that observes it
 * by itself. Pure.
 */
export function judgeDrift(
  hypervisor: Hypervisor,
  { service, aggregates, lostTraits, isFailureRunMissing, nowMs }: HostNow,
): string | null {
  const { metadata, spec, status } = hypervisor;
  if (
    metadata.deletionTimestamp !== undefined ||
    hypervisorMode(metadata.annotations) === 'observe' ||
    !kindTable.Hypervisor.isReconciled(hypervisor, 'act')
  )
    return null;
  const of = (type: string) => findCondition(status?.conditions, type);
  if (of(hypervisorConditions.offboarded)?.status === 'True')
    return service === null
      ? null
      : `nova-compute has registered again, as service ${service.id}, though the host was taken out of Nova`;
  // Terminated by a user. A fenced host that Nova has no more has nothing to be restored to.
  if (isFailureRunMissing && (service !== null || !isFenced(hypervisor)))
    return isFenced(hypervisor)
      ? 'it is held because it was fenced, and no run restores it'
      : 'it is said to have failed, and no run judges it any more';
  // Of a host whose lifecycle is not driven, drover says no more than whether it is disabled.
  const isDriven = spec?.lifecycleEnabled ?? true;
  // Its run is closed, as it rests: nothing else tells of a time. One that is taken out of service is not begun again.
  const retryMs = onboardingRetryMs(status?.conditions);
  const isWanted = isDriven && !spec?.maintenance && of(hypervisorConditions.terminating)?.status !== 'True';
  if (isWanted && retryMs !== null && nowMs >= retryMs)
    return 'its onboarding was aborted for what is not its own, and is begun again';
  // What was never registered is waited for by its run.
  if (service === null)
    return isDriven && status?.serviceId ? `Nova has no compute service ${status.serviceId} any more` : null;

  const said = of(hypervisorConditions.disabled)?.status;
  if (said === 'True' && service.status === 'enabled') return 'its compute service was enabled';
  if (said === 'False' && service.status === 'disabled')
    return `its compute service was disabled: ${service.disabledReason ?? 'no reason given'}`;
  if (!isDriven) return null;
  const listed = status?.aggregates?.map(({ name }) => name).toSorted();
  const now = aggregates.toSorted();
  if (listed !== undefined && listed.join('\n') !== now.join('\n'))
    return `its aggregates are ${namesOf(now)}, no longer ${namesOf(listed)}`;
  if (lostTraits.length > 0) return `its resource provider has lost ${lostTraits.join(', ')}`;
  // Whether that is a failure is judged by the run that is signalled; while one is said, there is one.
  const failure = of(hypervisorConditions.nodeFailure);
  const isHandled = of(hypervisorConditions.haEnabled)?.status === 'True';
  // Of one that is fenced, the service is down until it is restored: its Node may be Ready since, and the run that was
  // signalled so was deaf to it, as it was ending as cancelled.
  if (failure?.reason === cancelledFailure && !isFenced(hypervisor))
    return service.state === 'up' && isHandled
      ? 'its nova-compute is up, so the failure that a user has cancelled may be over'
      : null;
  const isJudged = !['False', undefined].includes(failure?.status);
  if (service.state === 'down' && isHandled && !isJudged) return 'its nova-compute is down';
  return null;
}

const holdOf = ({ metadata }: Hypervisor): string | null =>
  readHold(metadata.annotations?.[hypervisorAnnotations.hold])?.reason ?? null;

const isFenced = (hypervisor: Hypervisor): boolean => holdOf(hypervisor) === fencedHold;

/** See {@link needsFailureRun}. */
export const saysFailure = (hypervisor: Hypervisor): boolean =>
  needsFailureRun(hypervisor.status?.conditions, holdOf(hypervisor));

const namesOf = (names: readonly string[]): string => (names.length === 0 ? 'none' : names.join(', '));
