import { findCondition } from '../../contracts/conditions.ts';
import { hypervisorConditions } from '../../contracts/hypervisor/conditions.ts';
import type { MaintenanceMode } from '../../contracts/hypervisor/hypervisor.ts';
import { hypervisorAnnotations } from '../../contracts/ids.ts';
import { CommandError } from '../command/error.ts';
import { exitCodes } from '../command/exit-codes.ts';
import { describeLifecycle, isCurrent, lifecycleOf } from '../command/lifecycle-condition.ts';
import { oneLine } from '../render/table.ts';
import type { HypervisorChange } from './hypervisor-access.ts';
import type { HypervisorObject, MaintainMode } from './hypervisor-objects.ts';
import { maintenanceBy, nodeTerminates } from './hypervisor-objects.ts';

/**
 * What becomes of a command for a host. `says`: sentences for the person, what was done first, what follows
 * from it after.
 */
export type HypervisorPlan =
  | { kind: 'change'; change: HypervisorChange; says: string[] }
  /** It is asked for already, or it is there. */
  | { kind: 'nothing'; says: string[] };

/** Everything answered, and the answer is no: nothing is changed. */
export const refused = (message: string, advice: string): CommandError =>
  new CommandError(`${message} Nothing was changed.`, exitCodes.refused, advice);

/** @throws CommandError for one that is about to be no more */
export function refuseDeleted({ name, deleting }: HypervisorObject): void {
  if (deleting)
    throw refused(
      `Hypervisor ${name} is being deleted; drover does nothing more for it.`,
      `\`kubectl get hypervisor ${name} -o yaml\` shows which finalizers keep it.`,
    );
}

/** `maintenance manual, by alice 2026-01-31T12:00:00Z: new disks`, as far as it is recorded. */
export const describeMaintenance = ({
  maintenance,
  maintainedBy,
  maintenanceReason,
}: Pick<HypervisorObject, 'maintenance' | 'maintainedBy' | 'maintenanceReason'>): string =>
  `maintenance ${maintenance}${maintainedBy === null ? '' : `, by ${oneLine(maintainedBy)}`}${maintenanceReason === null ? '' : `: ${oneLine(maintenanceReason)}`}`;

export interface MaintainRequest {
  mode: MaintainMode;
  reason: string;
  by: string;
}

/**
 * Decides what becomes of a request for maintenance. The maintenance of another user is not overwritten; asking the
 * same again joins the one that is there.
 *
 * @throws CommandError refused, naming who is in the way and why
 */
export function planMaintain(
  hypervisor: HypervisorObject,
  { mode, reason, by }: MaintainRequest,
  nowMs: number,
): HypervisorPlan {
  const { name, maintenance } = hypervisor;
  refuseDeleted(hypervisor);
  // A host that fails while its Node terminates is first of all a failed host.
  if (nodeTerminates(hypervisor) && hypervisor.lifecycleEnabled && mode !== 'ha') {
    throw refused(
      `The Node of ${name} terminates, so ${name} is being emptied and taken out of Nova already.`,
      `\`drover describe ${name}\` shows how far that is, and by when the machine is taken away.`,
    );
  }
  if (maintenance === mode && hypervisor.maintenanceReason === reason)
    return { kind: 'nothing', says: [`${name} is in ${describeMaintenance(hypervisor)}. Nothing was changed.`] };
  if (maintenance === 'termination' && mode === 'ha')
    return {
      kind: 'change',
      change: maintenanceChange({ mode, reason, by }, nowMs),
      says: leavingTermination(hypervisor),
    };
  if (maintenance !== '') throw inTheWay(hypervisor, mode);
  return {
    kind: 'change',
    change: maintenanceChange({ mode, reason, by }, nowMs),
    says: [`${name} goes into maintenance ${mode}: ${reason}`, consequences(hypervisor, mode)],
  };
}

/** What is written to take a host out of service, and who asked for it. */
export const maintenanceChange = (
  { mode, reason, by }: { mode: MaintenanceMode; reason: string; by: string },
  nowMs: number,
) => ({
  spec: { maintenance: mode, maintenanceReason: reason },
  annotations: { [hypervisorAnnotations.maintenanceBy]: maintenanceBy(by, nowMs) },
});

function consequences({ name, instances }: HypervisorObject, mode: MaintainMode): string {
  const back = `It stays out of service until \`drover activate ${name}\`.`;
  if (mode === 'ha') return `Its service is disabled. Nothing is moved live off a host that is down. ${back}`;
  const obstacles = mode === 'manual' ? 'obstacles stop that until they are accepted' : 'obstacles are carried along';
  return `Its service is disabled, then an Eviction moves its instances (${String(instances)} by the node agent) away; ${obstacles}. ${back}`;
}

/** The one way that kube-apiserver leaves open (rule of the CRD). */
function leavingTermination(hypervisor: HypervisorObject): string[] {
  const { name } = hypervisor;
  const isGone = lifecycleOf(hypervisor)?.reason === 'Decommissioned';
  const next = isGone
    ? 'It is out of Nova: it has to register again, and is onboarded anew once you end the maintenance'
    : 'It stays disabled and is emptied until you end the maintenance';
  return [`${name} is not taken out of Nova any more.`, `${next}: \`drover activate ${name}\`.`];
}

function inTheWay(hypervisor: HypervisorObject, mode: MaintainMode): Error {
  const { name, maintenance, forNodeUpdate } = hypervisor;
  const there = `${name} is already in ${describeMaintenance(hypervisor)}.`;
  if (maintenance === 'termination')
    return refused(
      there,
      `It is being taken out of Nova for good. To take that back: \`drover maintain ${name} --mode ha --reason "…"\`, then \`drover activate ${name}\`.`,
    );
  if (forNodeUpdate) return refused(there, 'It ends by itself when the Node is back from its update. Ask again then.');
  const ending = `\`drover activate ${name}\` ends that one and gives the host back; ask the user who set it first.`;
  return refused(
    there,
    maintenance === mode
      ? `It was set with another reason, which stays. ${ending}`
      : `There is one mode at a time, and it stays ${maintenance}. ${ending}`,
  );
}

/**
 * Decides how a host comes back into service: its maintenance is cleared, and drover does the rest. What keeps it out
 * otherwise is named, with what helps.
 *
 * @throws CommandError refused
 */
export function planActivate(hypervisor: HypervisorObject): HypervisorPlan {
  const { name, maintenance } = hypervisor;
  refuseDeleted(hypervisor);
  // drover takes back by itself what it wrote because of the Node.
  if (nodeTerminates(hypervisor) && hypervisor.lifecycleEnabled) throw nodeLeaves(hypervisor);
  if (maintenance === 'termination') throw leavesForGood(hypervisor);
  if (maintenance === '') return nothingToClear(hypervisor);
  const says = [`${name} comes back from ${describeMaintenance(hypervisor)}.`, ...afterwards(hypervisor)];
  return {
    kind: 'change',
    change: {
      spec: { maintenance: '', maintenanceReason: null },
      annotations: { [hypervisorAnnotations.maintenanceBy]: null },
    },
    says,
  };
}

function nodeLeaves(hypervisor: HypervisorObject): Error {
  const { name, conditions } = hypervisor;
  const offboarded = findCondition(conditions, hypervisorConditions.offboarded);
  const state = offboarded === undefined ? '' : ` ${offboarded.reason}: ${oneLine(offboarded.message)}`;
  return refused(
    `The Node of ${name} terminates: the host will not come back, whatever its maintenance says.${state}`,
    `Only where the Node terminates no more, drover takes the host back by itself. A new Node named ${name} is onboarded anew.`,
  );
}

function leavesForGood(hypervisor: HypervisorObject): Error {
  const { name } = hypervisor;
  const isGone = lifecycleOf(hypervisor)?.reason === 'Decommissioned';
  return refused(
    `${name} ${isGone ? 'has been' : 'is being'} taken out of Nova for good (${describeMaintenance(hypervisor)}), and kube-apiserver lets no user clear that.`,
    `The way back leads through mode ha: \`drover maintain ${name} --mode ha --reason "…"\`, then \`drover activate ${name}\`.`,
  );
}

function afterwards({ name, skipTests, maintenance, forNodeUpdate, lifecycleEnabled }: HypervisorObject): string[] {
  const tests =
    lifecycleEnabled && !skipTests ? 'the checks run again, and then its service is enabled' : 'its service is enabled';
  return [
    `Its Eviction goes away, ${tests} if it still carries the reason of that maintenance.`,
    ...(forNodeUpdate
      ? [
          `Mind: its Node is being updated in place, and may reboot with instances on it. drover would have ended this when the Node is back.`,
        ]
      : []),
    ...(maintenance === 'ha' ? [`Where ${name} was forced down, Nova keeps it so until a user lifts that.`] : []),
  ];
}

/** It is not in maintenance: it is in service, on its way there, or kept out by something else. */
function nothingToClear(hypervisor: HypervisorObject): HypervisorPlan {
  const { name, lifecycleEnabled, annotations, conditions } = hypervisor;
  const hold = annotations[hypervisorAnnotations.hold];
  if (hold !== undefined)
    throw refused(
      `${name} is held out of service: ${oneLine(hold)}.`,
      `When that is resolved: \`kubectl annotate hypervisor ${name} ${hypervisorAnnotations.hold}-\`.`,
    );
  // What was said of another spec may be over.
  if (!isCurrent(hypervisor))
    return {
      kind: 'nothing',
      says: [
        `${name} is not in maintenance, and drover has not looked since its spec was changed last. Nothing was changed.`,
      ],
    };
  const { reason, status } = lifecycleOf(hypervisor) ?? {};
  const there = `${name} is not in maintenance. ${describeLifecycle(hypervisor).replace(/\.$/u, '')}.`;
  const isEnabled = findCondition(conditions, hypervisorConditions.disabled)?.status === 'False';
  if (!lifecycleEnabled && !isEnabled)
    throw refused(
      `${there} drover does not drive its lifecycle.`,
      `\`drover onboard ${name}\` switches that on, and brings it into service.`,
    );
  if (reason === 'Aborted')
    throw refused(there, `Mend the cause; then \`drover retry ${name}\` begins its onboarding again.`);
  if (reason === 'Evicting')
    throw refused(
      there,
      `An Eviction that was started by itself empties it: \`drover describe ${name}\`; \`drover cancel ${name} --re-enable\` stops it and gives the host back.`,
    );
  if (reason === 'Ready' && status === 'False')
    throw refused(
      there,
      `Find out who disabled it; then \`openstack compute service set --enable ${name} nova-compute\`.`,
    );
  return { kind: 'nothing', says: [`${there} Nothing was changed.`] };
}
