import { type Condition, findCondition } from '../conditions.ts';

/**
 * Condition types and reasons of a Hypervisor. Those of the operator that drover replaces keep its words; the others
 * are drover's own. Each check of the Testing phase has a condition of its own name besides. Conditions that are not
 * named here belong to the node agent and are never written.
 */
export const hypervisorConditions = {
  /** True while it is in progress, False once it has succeeded or was aborted; its reason is how far it has come. */
  onboarding: 'Onboarding',
  /** True while an onboarding that was aborted is begun again by itself, as its cause is not the host's. */
  onboardingRetry: 'OnboardingRetry',
  /** Whether the checks of the last onboarding have passed; Unknown: none was made, and the reason says why. */
  tested: 'Tested',
  offboarded: 'Offboarded',
  ready: 'Ready',
  terminating: 'Terminating',
  /** A user wrote the object by kubectl; the message is an emoji. */
  tainted: 'Tainted',
  traitsUpdated: 'TraitsUpdated',
  aggregatesUpdated: 'AggregatesUpdated',
  agentPodsEvicted: 'AgentPodsEvicted',
  /** The compute service is disabled in Nova. */
  disabled: 'HypervisorDisabled',
  /** True while it runs, False only when the host is empty, Unknown when it failed or was stopped. */
  evicting: 'Evicting',
  /** cert-manager was asked for the certificate of libvirt. */
  certificateRequested: 'CertificateRequested',
  haEnabled: 'HaEnabled',
  /** Nova has the host forced down: nothing of it counts as up. There while that is so. */
  forcedDown: 'ForcedDown',
  /** True while the host has failed or seems to; its reason is the verdict's. Written by the run of the failure. */
  nodeFailure: 'NodeFailure',
  /** The state as reason. True: where it should be. False: blocked elsewhere. Unknown: on its way. */
  lifecycle: 'Lifecycle',
  /** What drover would do, where it only observes; then it is the only one written. */
  observed: 'Observed',
} as const;

/** Reasons of `Onboarding`. */
export const onboardingReasons = {
  /** Registration, test aggregate and traits; state Onboarding. */
  initial: 'Initial',
  testing: 'Testing',
  /** Tests have passed; aggregates and scheduling follow. State Ready. */
  handover: 'Handover',
  succeeded: 'Succeeded',
  aborted: 'Aborted',
} as const;

/** Reasons of `Tested`. */
export const testedReasons = {
  passed: 'Passed',
  /** `spec.skipTests`. */
  skipped: 'Skipped',
  /** No check has a section in drover's settings. */
  noChecks: 'NoChecksConfigured',
} as const;

/** Reasons of `CertificateRequested`. */
export const certificateReasons = { requested: 'Requested', forbidden: 'Forbidden' } as const;

/** Reasons of `ForcedDown`. */
export const forcedDownReasons = {
  /** By drover. */
  fenced: 'Fenced',
  byOthers: 'ByOthers',
} as const;

/** Reason of `OnboardingRetry`. */
export const causeBeyondHost = 'CauseBeyondHost';

/**
 * The condition says when that is, and {@link onboardingRetryMs} reads it there: how long a status has held is no
 * measure, as it may hold on.
 */
export const onboardingRetryMessage = (atMs: number): string =>
  `What ended the onboarding is not the host’s own: drover begins it again by itself at ${new Date(atMs).toISOString()} or soon after, \`drover retry\` at once`;

/** When an onboarding that was aborted is to begin again by itself, Unix ms; null: it is not. */
export function onboardingRetryMs(conditions: readonly Condition[] | undefined): number | null {
  const { status, message = '' } = findCondition(conditions, hypervisorConditions.onboardingRetry) ?? {};
  const [, at = ''] = / at (\S+Z) or soon after/u.exec(message) ?? [];
  const atMs = Date.parse(at);
  return status !== 'True' || Number.isNaN(atMs) ? null : atMs;
}

/** Reasons of `Ready`, in the order in which they take precedence. */
export const readyReasons = {
  offboarded: 'Offboarded',
  terminating: 'Terminating',
  onboarding: 'Onboarding',
  evicting: 'Evicting',
  evicted: 'Evicted',
  maintenance: 'Maintenance',
  ready: 'Ready',
} as const;

/** Reasons of `AggregatesUpdated`. */
export const aggregatesReasons = {
  succeeded: 'Succeeded',
  failed: 'Failed',
  test: 'TestAggregates',
  waitingForTraits: 'WaitingForTraits',
  evictionInProgress: 'EvictionInProgress',
  terminating: 'Terminating',
} as const;

/** Reasons of `Evicting` on a Hypervisor. */
export const hostEvictingReasons = {
  running: 'Running',
  succeeded: 'Succeeded',
  failed: 'Failed',
  /** A user cancelled or deleted the Eviction: it is not made again for the same generation. */
  stopped: 'Stopped',
} as const;

/** Whom a message names that nothing but a user's action goes on from: `Waiting for an operator …`. */
export const anOperator = 'an operator';

/** Reasons of `Lifecycle`: the states of a hypervisor. */
export const lifecycleStates = [
  'Initial',
  'Onboarding',
  'Testing',
  'Aborted',
  'Ready',
  'Active',
  'Maintenance',
  'Evicting',
  'Decommissioned',
] as const;
export type LifecycleState = (typeof lifecycleStates)[number];
