import type { History } from '@temporalio/common/lib/proto-utils.js';
import { workflowTypes } from '../../contracts/ids.ts';
import type { BudgetName } from './budgets.ts';
import { budgets } from './budgets.ts';

interface Lifecycle {
  /** By what the run has done; the first that fits. */
  actions: readonly [action: RegExp, budget: BudgetName][];
  /** Of a run that has only observed. */
  observationOnly: BudgetName;
}

const ofHypervisors: Lifecycle = {
  observationOnly: 'hypervisorObservation',
  actions: [
    [/^releaseAllocations$/u, 'leftovers'],
    [/^untaintNode$/u, 'recalled'],
    [/^setEvictionDeadline$/u, 'terminatedWhileEmptied'],
    [/^ensureServiceDeleted$/u, 'decommissioning'],
    [/^createEviction$/u, 'maintenance'],
    [/^runHypervisorChecks, many times$/u, 'testedLate'],
    [/^runHypervisorChecks$/u, 'tested'],
    [/^ensureDrainGuard, again$/u, 'guarded'],
    [/^createHypervisor$/u, 'onboarding'],
    // Into the one for tests, and out of it.
    [/^changeAggregates, again$/u, 'onboarding'],
    [/^deleteEviction, and signalNodeFailure$/u, 'returned'],
    [/^deleteEviction$/u, 'activation'],
    [/^ensureServiceEnabled$/u, 'activation'],
    [/^(changeAggregates|ensureServiceDisabled|updateTraits|patchHypervisor)$/u, 'mended'],
    [/^signalNodeFailure$/u, 'failureReported'],
    // It has waited.
    [/^observeHypervisor, again$/u, 'mended'],
  ],
};

const ofEvictions: Lifecycle = {
  observationOnly: 'eviction',
  actions: [
    [/^(preflightEviction, again|requestAllowance, many times)$/u, 'patientEviction'],
    [/^preflightEviction, failed without a move$/u, 'vainEviction'],
  ],
};

const ofVirtualMachines: Lifecycle = {
  observationOnly: 'vmObservation',
  actions: [
    [/^ensurePolicyEvaluation$/u, 'vmPolicies'],
    [/^stopCreate$/u, 'vmUnwanted'],
    [/^patchVirtualMachine, and changeVolumes$/u, 'vmInstanceStorage'],
    [/^changeVolumes, again$/u, 'vmVolumesAgain'],
    [/^changeVolumes$/u, 'vmVolumes'],
    [/^readVirtualMachine, again$/u, 'vmOutage'],
    [/^submitDestroy, and submitPromotion$/u, 'vmUnwanted'],
    [/^(submitDestroy|submitRelease)$/u, 'vmDelete'],
    [/^submitFileOperation, and submitPromotion$/u, 'vmPromoted'],
    [/^submitFileOperation$/u, 'vmCopied'],
    [/^submitNewVm, signalled again$/u, 'vmAwaited'],
    [/^submitNewVm, and submitBootstrap$/u, 'vmCustomized'],
    [/^submitNewVm$/u, 'vmCreate'],
    [/^submitAdoption$/u, 'vmAdopted'],
    [/^submitBootstrap$/u, 'vmSetUp'],
    [/^submitPower, again$/u, 'vmAsked'],
    [/^submitPower, in vain$/u, 'vmRefused'],
    [/^submitReconfigure, several times$/u, 'vmUnchanging'],
    [/^submitReconfigure, again$/u, 'vmRestarted'],
    [/^submitReconfigure, and submitPower$/u, 'vmLargeUpdate'],
    [/^(submit|patch)/u, 'vmUpdate'],
  ],
};

const ofPolicies: Lifecycle = {
  observationOnly: 'policyMade',
  actions: [[/^patchPolicyFinalizer, again$/u, 'policyRemoved']],
};

const ofSweeps: Lifecycle = {
  observationOnly: 'sweepObservation',
  actions: [
    [/^publishSweep$/u, 'sweepApproval'],
    [/^deleteOrphan$/u, 'sweepDeletion'],
    [/^observeSweep, again$/u, 'sweepRetried'],
    [/^annotateNodes$/u, 'sweepNodes'],
  ],
};

const ofAgents: Lifecycle = {
  observationOnly: 'agentEjected',
  actions: [
    [/^destroyAgentVm$/u, 'agentDestroyed'],
    [/^createAgentVm$/u, 'agentMade'],
    [/^ejectAgentIso$/u, 'agentEjected'],
  ],
};

const ofPools: Lifecycle = {
  observationOnly: 'poolIdle',
  actions: [[/^createVsphereAgents$/u, 'poolScaled']],
};

const ofVolumes: Lifecycle = {
  observationOnly: 'volumeObserved',
  actions: [
    [/^transferClaim$/u, 'volumeTransferred'],
    [/^ensureCopyJob$/u, 'volumeCopied'],
    [/^removeTemporary$/u, 'volumeRemoved'],
    [/^(awaitFreeSource|expandClaim)$/u, 'volumeAwaited'],
    [/^(observeDataVolume|ensureSourceSnapshot|ensureClaim|acquireSlot), again$/u, 'volumeAwaited'],
    [/^ensureClaim, signalled again$/u, 'volumeAwaited'],
    [/^ensureClaim$/u, 'volumeCloned'],
  ],
};

const ofAllowances: Lifecycle = {
  observationOnly: 'allowance',
  actions: [
    [/^observeSlots$/u, 'slots'],
    [/^observeAllowance, many times$/u, 'heldAllowance'],
  ],
};

const ofMigrations: Lifecycle = {
  observationOnly: 'retriedMigration',
  actions: [
    [/^(forceCompleteMigration|startLiveMigration, and startColdMigration)$/u, 'consentedMigration'],
    [/^abortMigration, again$/u, 'unendedMigration'],
  ],
};

const lifecycles: Readonly<Record<string, Lifecycle>> = {
  [workflowTypes.evictHypervisor]: ofEvictions,
  [workflowTypes.reconcileHypervisor]: ofHypervisors,
  [workflowTypes.reconcileVirtualMachine]: ofVirtualMachines,
  [workflowTypes.allocateAllowance]: ofAllowances,
  [workflowTypes.migrateInstance]: ofMigrations,
  [workflowTypes.reconcileSetResourcePolicy]: ofPolicies,
  [workflowTypes.sweepOrphans]: ofSweeps,
  [workflowTypes.reconcileAgentPool]: ofPools,
  [workflowTypes.reconcileAgent]: ofAgents,
  [workflowTypes.cloneDataVolume]: ofVolumes,
};

const byType: Readonly<Record<string, BudgetName>> = {
  [workflowTypes.handleNodeFailure]: 'nodeFailure',
  [workflowTypes.findDrift]: 'drift',
  [workflowTypes.watchGuests]: 'guestWatch',
  [workflowTypes.watchVcenter]: 'vcenterWatch',
  [workflowTypes.watchApiServers]: 'apiServerSafety',
  [workflowTypes.requestSweep]: 'sweepRequest',
  [workflowTypes.watchOvershoot]: 'overshootSafety',
  [workflowTypes.syncContentLibrary]: 'librarySync',
  [workflowTypes.reconcileStorageProfile]: 'storageProfile',
};

/** The most events that a run of the type may have by any of its budgets; null: it has none. Pure. */
export function largestBudget(type: string): number | null {
  const { observationOnly, actions } = lifecycles[type] ?? { observationOnly: byType[type], actions: [] };
  return observationOnly === undefined
    ? null
    : Math.max(...[observationOnly, ...actions.map(([, name]) => name)].map((name) => budgets[name].events));
}

/** Of an action: the run waits for something that takes long. */
const manyTimes = 8;

/** Of a change that has no effect, and is made ever more seldom. */
const severalTimes = 4;

/** What makes of an action another one where the run has done both. */
const others: readonly string[] = [
  'submitPower',
  'submitBootstrap',
  'submitPromotion',
  'changeVolumes',
  'signalNodeFailure',
  'startColdMigration',
];

/** Which budget a recorded run is held to; null: there is none for it. Pure. */
export function budgetOf({ events }: History): BudgetName | null {
  const all = events ?? [];
  const type = all[0]?.workflowExecutionStartedEventAttributes?.workflowType?.name ?? '';
  const lifecycle = lifecycles[type];
  if (lifecycle === undefined) return byType[type] ?? null;
  const done = all.flatMap(
    ({ activityTaskScheduledEventAttributes: scheduled }) => scheduled?.activityType?.name ?? [],
  );
  const isSignalledAgain = all.filter(({ workflowExecutionSignaledEventAttributes: signaled }) => signaled).length > 1;
  const hasFailed = all.some(({ activityTaskFailedEventAttributes: failed }) => failed);
  const isInVain =
    hasFailedInTheEnd(all) && !all.some(({ startChildWorkflowExecutionInitiatedEventAttributes: moved }) => moved);
  const timesOf = (name: string): number => done.filter((other) => other === name).length;
  const actions = done.flatMap((name, index) => [
    name,
    ...(done.indexOf(name) < index ? [`${name}, again`] : []),
    ...(timesOf(name) >= severalTimes ? [`${name}, several times`] : []),
    ...(timesOf(name) >= manyTimes ? [`${name}, many times`] : []),
    ...(isInVain ? [`${name}, failed without a move`] : []),
    ...(isSignalledAgain ? [`${name}, signalled again`] : []),
    ...(hasFailed ? [`${name}, in vain`] : []),
    ...others.flatMap((other) => (done.includes(other) ? [`${name}, and ${other}`] : [])),
  ]);
  return (
    lifecycle.actions.find(([pattern]) => actions.some((action) => pattern.test(action)))?.[1] ??
    lifecycle.observationOnly
  );
}

/** By its own result. */
const hasFailedInTheEnd = (events: NonNullable<History['events']>): boolean => {
  const [result] = events.at(-1)?.workflowExecutionCompletedEventAttributes?.result?.payloads ?? [];
  return Buffer.from(result?.data ?? '')
    .toString('utf8')
    .includes('"outcome":"blocked"');
};
