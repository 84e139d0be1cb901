import { findCondition } from '../../contracts/conditions.ts';
import type { HypervisorStatusPatch, RecordedStatus, ShownStatus } from '../../contracts/hypervisor/hypervisor.ts';

/** Whether the Hypervisor says all of it already, so that a report would change nothing. Pure. */
export function isSaid(recorded: RecordedStatus, shown: ShownStatus, status: HypervisorStatusPatch): boolean {
  return (
    status.conditions.every((update) => {
      const current = findCondition(recorded.conditions, update.type);
      return (
        current?.status === update.status &&
        current.reason === update.reason &&
        current.message === update.message &&
        current.observedGeneration === update.observedGeneration
      );
    }) &&
    status.removed.every((type) => findCondition(recorded.conditions, type) === undefined) &&
    isSame(status.hypervisorId, recorded.hypervisorId) &&
    isSame(status.serviceId, recorded.serviceId) &&
    isSame(status.evicted, recorded.evicted) &&
    isSame(status.libVirtVersion, recorded.libVirtVersion) &&
    isSame(status.internalIp, shown.internalIp) &&
    isSame(status.traits, shown.traits) &&
    isSame(status.aggregates, shown.aggregates)
  );
}

/** Null leaves it as it is. */
const isSame = (wanted: unknown, current: unknown): boolean =>
  wanted === null || JSON.stringify(wanted) === JSON.stringify(current);
