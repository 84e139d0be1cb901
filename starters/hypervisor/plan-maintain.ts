import type { MaintenanceMode } from '../../contracts/hypervisor/hypervisor.ts';
import { hypervisorAnnotations } from '../../contracts/ids.ts';
import type { HypervisorObject, MaintainMode } from './hypervisor-facts.ts';
import { maintenanceBy, nodeTerminates } from './hypervisor-objects.ts';
import { lifecycleOf } from '../command/lifecycle-condition.ts';
import type { HypervisorPlan } from './hypervisor-plan.ts';
import { describeMaintenance, refused, refuseDeleted } from './hypervisor-plan.ts';

export interface MaintainRequest {
  mode: MaintainMode;
  reason: string;
  by: string;
}

/**
 * Decides what becomes of a request for maintenance. Nobody else's maintenance is overwritten; asking the same again joins the one that is there.
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
    return { do: 'nothing', says: [`${name} is in ${describeMaintenance(hypervisor)}. Nothing was changed.`] };
  if (maintenance === 'termination' && mode === 'ha')
    return {
      do: 'change',
      change: maintenanceChange({ mode, reason, by }, nowMs),
      says: leavingTermination(hypervisor),
    };
  if (maintenance !== '') throw inTheWay(hypervisor, mode);
  return {
    do: 'change',
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
  const ending = `\`drover activate ${name}\` ends that one and gives the host back; ask whoever set it first.`;
  return refused(
    there,
    maintenance === mode
      ? `It was set with another reason, which stays. ${ending}`
      : `There is one mode at a time, and it stays ${maintenance}. ${ending}`,
  );
}
