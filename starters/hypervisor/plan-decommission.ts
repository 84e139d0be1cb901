import type { HypervisorConsent } from '../../contracts/hypervisor/hypervisor.ts';
import { consentBy } from '../../contracts/eviction/annotations.ts';
import { annotations as names } from '../../contracts/ids.ts';
import type { HypervisorObject } from './hypervisor-objects.ts';
import { nodeTerminates } from './hypervisor-objects.ts';
import { lifecycleOf } from '../command/lifecycle-condition.ts';
import type { HypervisorPlan } from './plan-maintenance.ts';
import { describeMaintenance, maintenanceChange, refuseDeleted, refused } from './plan-maintenance.ts';

export interface DecommissionRequest {
  reason: string;
  consent: readonly HypervisorConsent[];
  by: string;
}

/**
 * Decides how a host is taken out of Nova for good. One that is on its way out already stays so; a consent is
 * added to it.
 *
 * @throws CommandError refused where another user holds the host, or it would be emptied and then stay in Nova for ever
 */
export function planDecommission(
  hypervisor: HypervisorObject,
  request: DecommissionRequest,
  nowMs: number,
): HypervisorPlan {
  const { name, maintenance, lifecycleEnabled } = hypervisor;
  refuseDeleted(hypervisor);
  if (!lifecycleEnabled) {
    throw refused(
      `drover does not drive the lifecycle of ${name} (spec.lifecycleEnabled), so it would be emptied and stay in Nova, and the spec could not be changed any more.`,
      `\`drover onboard ${name}\` switches it on; then decommission it. To empty it only: \`drover evict ${name} --reason "…"\`.`,
    );
  }
  if (lifecycleOf(hypervisor)?.reason === 'Decommissioned')
    return { kind: 'nothing', says: [`${name} is decommissioned already. Nothing was changed.`, lastStep(name)] };
  const consent = consentChange(hypervisor, request, nowMs);
  if (maintenance === 'termination' || nodeTerminates(hypervisor)) return onItsWay(hypervisor, request, consent);
  if (maintenance === 'auto' || maintenance === 'ha') {
    throw refused(
      `${name} is in ${describeMaintenance(hypervisor)}.`,
      `Something else works on the host. When that is over, or after \`drover activate ${name}\`, ask again.`,
    );
  }
  const { spec, annotations } = maintenanceChange(
    { mode: 'termination', reason: request.reason, by: request.by },
    nowMs,
  );
  const before = maintenance === '' ? [] : [`This ends its ${describeMaintenance(hypervisor)}.`];
  return {
    kind: 'change',
    change: { spec, annotations: { ...annotations, ...consent } },
    says: [`${name} is taken out of Nova for good: ${request.reason}`, ...before, ...consequences(hypervisor, request)],
  };
}

function consequences({ name, instances }: HypervisorObject, { consent }: DecommissionRequest): string[] {
  const allocations = consent.includes('delete-allocations')
    ? 'Allocations that its resource provider still has then are deleted with it, as you consent to.'
    : 'Where its resource provider still has allocations then, drover stops and asks for your consent.';
  return [
    `First its service is disabled and an Eviction moves its instances (${String(instances)} by the node agent) away; obstacles stop that until they are accepted.`,
    `Once it is empty it leaves its aggregates, then its compute service is removed from Nova and its resource provider from Placement. ${allocations}`,
    `Until then it can be taken back: \`drover maintain ${name} --mode ha --reason "…"\`, then \`drover activate ${name}\`.`,
    'What cannot be undone: service and provider are removed with their ids, and the host has to register and be onboarded anew.',
  ];
}

function onItsWay(
  hypervisor: HypervisorObject,
  { consent, by }: DecommissionRequest,
  change: Record<string, string>,
): HypervisorPlan {
  const { name } = hypervisor;
  const why = hypervisor.maintenance === 'termination' ? describeMaintenance(hypervisor) : 'its Node terminates';
  const there = `${name} is being taken out of Nova already (${why}).`;
  if (Object.keys(change).length === 0) return { kind: 'nothing', says: [`${there} Nothing was changed.`] };
  return {
    kind: 'change',
    change: { annotations: change },
    says: [there, `It records the consent of ${by}: ${consent.join(', ')}.`],
  };
}

/** What was consented to before stays, and who did so last is recorded (docs/rules.md#consent). */
export function consentChange(
  { annotations }: Pick<HypervisorObject, 'annotations'>,
  { consent, by }: { consent: readonly string[]; by: string },
  nowMs: number,
): Record<string, string> {
  if (consent.length === 0) return {};
  const before = (annotations[names.consent] ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
  return {
    [names.consent]: [...new Set([...before, ...consent])].join(','),
    [names.consentBy]: consentBy(by, new Date(nowMs)),
  };
}

const lastStep = (name: string): string =>
  `Its Hypervisor stays as a record until a user deletes it: \`kubectl delete hypervisor ${name}\`.`;
