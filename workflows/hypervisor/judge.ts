import { hypervisorConditions, onboardingReasons } from '../../contracts/hypervisor/conditions.ts';
import { findCondition } from '../../contracts/conditions.ts';
import type { Condition } from '../../contracts/conditions.ts';
import type {
  DesiredHypervisor,
  HypervisorObservation,
  HypervisorSettings,
  LoneService,
  MaintenanceMode,
  NovaHost,
  ObservedNode,
} from '../../contracts/hypervisor/hypervisor.ts';
import { maintenanceReasonPrefix, nodeMetadata, replacedMaintenanceReasonPrefix } from '../../contracts/ids.ts';

/** What an observation means: the rules that several planners share. All pure. */

type Wanted = Pick<DesiredHypervisor, 'lifecycleEnabled' | 'maintenance' | 'nodeUid'>;

/**
 * The maintenance that counts: what the spec says or, where the lifecycle is driven, what the Node says. A Node that
 * terminates is not written into the spec of a Hypervisor that exists: there `termination` could not be taken back.
 */
export function modeOf(desired: Wanted, node: ObservedNode | null): MaintenanceMode {
  // A host that fails while it terminates is first of all a failed host.
  if (desired.maintenance === 'ha') return 'ha';
  return desired.lifecycleEnabled && isTerminating(desired, node) ? 'termination' : desired.maintenance;
}

/**
 * Whether the Node is on its way out: machine-controller-manager says so, it is being deleted, or it was there
 * and is gone.
 */
export function isTerminating({ nodeUid }: Pick<Wanted, 'nodeUid'>, node: ObservedNode | null): boolean {
  if (node === null) return nodeUid !== null;
  return node.terminatingSinceMs !== null || node.deletedAtMs !== null;
}

/** How far the onboarding has come. */
export type OnboardingState = 'none' | 'initial' | 'testing' | 'handover' | 'succeeded' | 'aborted';

export function onboardingOf({ recorded }: Pick<HypervisorObservation, 'recorded'>): {
  state: OnboardingState;
  condition: Condition | undefined;
} {
  const condition = findCondition(recorded.conditions, hypervisorConditions.onboarding);
  if (condition === undefined) return { state: 'none', condition };
  if (condition.status === 'False')
    return { state: condition.reason === onboardingReasons.succeeded ? 'succeeded' : 'aborted', condition };
  // A word that is not known was written by another version: what it has done is done again, as all of it is
  // safe to repeat.
  const state =
    condition.reason === onboardingReasons.testing
      ? 'testing'
      : condition.reason === onboardingReasons.handover
        ? 'handover'
        : 'initial';
  return { state, condition };
}

/** Whether the onboarding is under way. */
export const isOnboarding = (state: OnboardingState): boolean =>
  state === 'initial' || state === 'testing' || state === 'handover';

/** What Nova writes when new services start disabled (`enable_new_services`): it is no user's wish. */
const novaDefault = 'New compute service disabled due to config option.';

/** Whose disable it is, by the reason that Nova shows. One of another party is not drover's to lift. */
export type DisabledBy = 'none' | 'maintenance' | 'novaDefault' | 'other';

export function disabledBy({ service }: Pick<NovaHost, 'service'>): DisabledBy {
  const { status, disabledReason } = service;
  if (status === 'enabled') return 'none';
  if (
    disabledReason?.startsWith(maintenanceReasonPrefix) ||
    disabledReason?.startsWith(replacedMaintenanceReasonPrefix)
  )
    return 'maintenance';
  return disabledReason === novaDefault ? 'novaDefault' : 'other';
}

/** Whether the host is still disabled for a maintenance that drover, or the operator before it, put it in. */
export const isReturning = ({ nova }: Pick<HypervisorObservation, 'nova'>): boolean =>
  nova !== null && disabledBy(nova) === 'maintenance';

/** Why a service is of no use without its hypervisor, and where to look. */
export const describeLone = ({ host, serviceId, service }: LoneService): string =>
  `its service ${serviceId} on ${host} is ${service.state}, and has no hypervisor. Does nova-compute reach libvirt (its log says), and is the host mapped to a cell (\`nova-manage cell_v2 discover_hosts\`)?`;

/** How many of each are still on the host, for people; empty when nothing is. */
export function remainsOn({ servers, migrations, unconfirmedResizes, allocations }: NovaHost): string[] {
  const count = (number: number, one: string, many: string): string[] =>
    number === 0 ? [] : [`${number} ${number === 1 ? one : many}`];
  return [
    ...count(servers, 'server', 'servers'),
    ...count(migrations, 'migration in progress', 'migrations in progress'),
    ...count(unconfirmedResizes, 'unconfirmed resize', 'unconfirmed resizes'),
    ...count(allocations, 'allocation in Placement', 'allocations in Placement'),
  ];
}

/**
 * By when a host has to be empty, as machine-controller-manager then takes the machine away whatever is on it. Unix ms.
 */
export interface Deadline {
  atMs: number;
  /** Past this, an operator is warned. */
  halfAtMs: number;
}

/**
 * Of a Node that terminates: the drain's time-out after the termination began and, once it is not Ready, the shorter
 * one after that — the earlier of the two. Null: nothing takes the machine away.
 */
export function judgeDeadline(
  desired: Pick<DesiredHypervisor, 'lifecycleEnabled'>,
  node: ObservedNode | null,
  { drainMs, notReadyDrainMs }: Pick<HypervisorSettings, 'drainMs' | 'notReadyDrainMs'>,
): Deadline | null {
  if (!desired.lifecycleEnabled || node === null) return null;
  const since = [node.terminatingSinceMs, node.deletedAtMs].filter((ms) => ms !== null);
  if (since.length === 0) return null;
  const beginMs = Math.min(...since);
  const drained: Deadline = { atMs: beginMs + drainMs, halfAtMs: beginMs + drainMs / 2 };
  if (node.ready) return drained;
  // A Node that was not Ready before gets the short time from the beginning of its termination.
  const brokenMs = Math.max(beginMs, node.readySinceMs);
  const broken: Deadline = { atMs: brokenMs + notReadyDrainMs, halfAtMs: brokenMs + notReadyDrainMs / 2 };
  return broken.atMs < drained.atMs ? broken : drained;
}

/** How an update of a Node in place, which Gardener announces, stands. */
export type RollingUpdate =
  /** None that concerns the host. */
  | 'none'
  /** This Node is being updated: cordoned, and selected for the update. The host has to be empty before it reboots. */
  | 'begun'
  /** It is over, and nothing says that it went well. */
  | 'failed'
  /**
   * Ready and open for pods again, with another boot id; or as it was, and not selected any more: it needed no boot, as
   * a change of the kubelet's settings, or was withdrawn.
   */
  | 'ended';

/**
 * Reasons of the condition `InPlaceUpdate` from when the Node was chosen until its update is over; `CandidateForUpdate`
 * comes before.
 */
const chosen = ['SelectedForUpdate', 'DrainSuccessful', 'ReadyForUpdate'];
const failed = 'UpdateFailed';

/**
 * Reads what Gardener writes on the Node. A cordon alone is a user's, a candidate's turn may never come, and a Node
 * that terminates is replaced, not updated.
 *
 * @param begunBootId boot id of the Node when drover took the host into maintenance for it; null: drover did not
 */
export function judgeRollingUpdate(node: ObservedNode | null, begunBootId: string | null): RollingUpdate {
  if (node === null || node.terminatingSinceMs !== null || node.deletedAtMs !== null) return 'none';
  const result = node.labels[nodeMetadata.updateResult];
  if (result === 'failed' || node.inPlaceUpdate === failed) return 'failed';
  // machine-controller-manager takes its labels away as it opens the Node. A success that is said of one that is still
  // selected may be that of an update before.
  const isSelected =
    node.labels[nodeMetadata.selectedForUpdate] !== undefined || chosen.includes(node.inPlaceUpdate ?? '');
  const isBack = node.ready && !node.cordoned;
  if (begunBootId !== null && isBack && (node.bootId !== begunBootId || !isSelected)) return 'ended';
  if (result !== undefined) return 'none';
  return node.cordoned && isSelected ? 'begun' : 'none';
}
