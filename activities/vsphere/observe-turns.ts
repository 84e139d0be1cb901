import type { TurnActivities } from '../../contracts/eviction/activities.ts';
import type { AllowanceWorld, TurnKind } from '../../contracts/allowance.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { ActivityScope } from '../nova/scope.ts';
import { currentScope } from '../nova/scope.ts';
import type { VcenterGateway } from './types.ts';

export interface TurnDependencies extends Pick<AllowanceWorld, 'checkMs' | 'silentMs'> {
  gateway: Pick<VcenterGateway, 'vcenter' | 'runningCreates' | 'runningDestroys'>;
  limits: Readonly<Record<TurnKind, number>>;
  /** The running activity. Default: Temporal's. */
  scope?: (clock: Clock) => Pick<ActivityScope, 'signal'>;
  clock: Clock;
}

/** What the runs that share out creates and destroys ask of a vCenter, queue `vsphere:<vcenter>`: one read. Whoever began a task, it counts. */
export const createTurnActivities = ({
  gateway,
  limits,
  checkMs,
  silentMs,
  scope = currentScope,
  clock,
}: TurnDependencies): TurnActivities => ({
  async observeTurns({ of }) {
    const { signal } = scope(clock);
    const tasks = await (of === 'creates' ? gateway.runningCreates(signal) : gateway.runningDestroys(signal));
    return {
      limit: limits[of],
      checkMs,
      silentMs,
      inProgress: tasks.length === 0 ? {} : { [gateway.vcenter]: tasks.length },
      tasks,
    };
  },
});
