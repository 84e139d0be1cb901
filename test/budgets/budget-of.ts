import type { History } from '@temporalio/common/lib/proto-utils.js';
import { workflowTypes } from '../../contracts/ids.ts';
import type { BudgetName } from './budgets.ts';

/** By what a hypervisor's run has done; the first that fits. */
const lifecycles: readonly [activity: string, budget: BudgetName][] = [
  ['ensureServiceDeleted', 'decommissioning'],
  ['createEviction', 'maintenance'],
  ['createHypervisor', 'onboarding'],
  ['addToAggregates', 'onboarding'],
  ['deleteEviction', 'activation'],
  ['ensureServiceEnabled', 'activation'],
];

const byType: Readonly<Record<string, BudgetName>> = {
  [workflowTypes.evictHypervisor]: 'eviction',
  [workflowTypes.migrateInstance]: 'retriedMigration',
  [workflowTypes.shareAllowance]: 'allowance',
  [workflowTypes.handleNodeFailure]: 'nodeFailure',
};

/** Which budget a recorded run is held to; null: there is none for it. Pure. */
export function budgetOf({ events }: History): BudgetName | null {
  const all = events ?? [];
  const type = all[0]?.workflowExecutionStartedEventAttributes?.workflowType?.name ?? '';
  if (type !== workflowTypes.reconcileHypervisor) return byType[type] ?? null;
  const done = new Set(all.map(({ activityTaskScheduledEventAttributes: scheduled }) => scheduled?.activityType?.name));
  return lifecycles.find(([activity]) => done.has(activity))?.[1] ?? 'glance';
}
