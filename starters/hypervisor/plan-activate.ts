import { findCondition } from '../../contracts/conditions.ts';
import { hypervisorConditions } from '../../contracts/hypervisor/conditions.ts';
import { hypervisorAnnotations } from '../../contracts/ids.ts';
import type { HypervisorObject } from './hypervisor-facts.ts';
import { nodeTerminates } from './hypervisor-objects.ts';
import { describeLifecycle, isCurrent, lifecycleOf } from '../command/lifecycle-condition.ts';
import type { HypervisorPlan } from './hypervisor-plan.ts';
import { describeMaintenance, refused, refuseDeleted } from './hypervisor-plan.ts';
import { oneLine } from '../render/table.ts';

/**
 * Decides how a host comes back into service: its maintenance is cleared, and drover does the rest. What keeps it out otherwise is named,
 * with what helps.
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
    do: 'change',
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
    `${name} ${isGone ? 'has been' : 'is being'} taken out of Nova for good (${describeMaintenance(hypervisor)}), and kube-apiserver lets nobody clear that.`,
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
    ...(maintenance === 'ha' ? [`Where ${name} was forced down, Nova keeps it so until somebody lifts that.`] : []),
  ];
}

/** Nobody has it in maintenance: it is in service, on its way there, or kept out by something else. */
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
      do: 'nothing',
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
  return { do: 'nothing', says: [`${there} Nothing was changed.`] };
}
