import type { AllowanceObservation, VcenterSlotKind } from '../../contracts/allowance.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type ActivityScope, currentScope } from '../lib/context.ts';
import type { VcenterGateway } from './types.ts';

export interface SlotDependencies extends Pick<AllowanceObservation, 'checkMs' | 'silentMs'> {
  gateway: Pick<VcenterGateway, 'vcenter' | 'runningCreates' | 'runningDestroys'>;
  limits: Readonly<Record<VcenterSlotKind, number>>;
  /** The running activity. Default: Temporal's. */
  scope?: (clock: Clock) => Pick<ActivityScope, 'signal'>;
  clock: Clock;
}

/**
 * What the runs that allocate creates and destroys observe of a vCenter, queue `vsphere:<vcenter>`: one read. Every
 * task counts, also one that drover did not begin.
 */
export const createSlotActivities = ({
  gateway,
  limits,
  checkMs,
  silentMs,
  scope = currentScope,
  clock,
}: SlotDependencies) => ({
  async observeSlots({ kind }: { kind: VcenterSlotKind }): Promise<AllowanceObservation> {
    const { signal } = scope(clock);
    const tasks = await (kind === 'creates' ? gateway.runningCreates(signal) : gateway.runningDestroys(signal));
    return {
      limit: limits[kind],
      checkMs,
      silentMs,
      inProgress: tasks.length === 0 ? {} : { [gateway.vcenter]: tasks.length },
      tasks,
    };
  },
});
