import { createResourcePolicyActivities } from '../activities/kubernetes/resource-policy/activities.ts';
import { kindTable } from '../contracts/kinds/table.ts';
import { unseenChange } from '../contracts/messages.ts';
import type { PolicySettings, ResourcePolicyObjectActivities } from '../contracts/resource-policy/resource-policy.ts';
import { virtualMachineSettings } from '../runtime/config/virtual-machine-config.ts';
import type { VcenterSettings } from '../runtime/config/vsphere-settings.ts';
import { openObjects } from '../runtime/kubernetes/objects.ts';
import { type StopGate, createStopGate } from '../runtime/stop.ts';
import { signalWithStart } from '../runtime/temporal/signal-runs.ts';
import type { SharedSystems } from './systems.ts';

/** Between two statuses of one policy. */
const publishMinMs = 2_000;

/** The stop that holds for what policies name, whichever system it is in. */
export const resourcePolicyGate = ({
  config,
  kubernetes,
  clock,
}: Pick<SharedSystems, 'config' | 'kubernetes' | 'clock'>): StopGate =>
  createStopGate(
    kubernetes,
    config.kubernetes.systemNamespace,
    { kind: 'VirtualMachineSetResourcePolicy', cluster: config.cluster, region: null },
    clock,
  );

/**
 * The activities on VirtualMachineSetResourcePolicies. What they name is in the vCenter of the VirtualMachines.
 *
 * @param vcenters none where the kind VirtualMachine is switched off
 */
export function composeResourcePolicyActivities(
  systems: SharedSystems,
  vcenters: readonly VcenterSettings[],
): ResourcePolicyObjectActivities {
  const { config, temporal, kubernetes, audit, clock } = systems;
  const { cluster, modes, virtualMachine } = config;
  const mode = modes.VirtualMachineSetResourcePolicy;
  const settingsOf = (): PolicySettings | null => {
    if (mode === 'off') return null;
    const names = vcenters.map(({ name }) => name);
    const { vcenter, lingerMs } = virtualMachineSettings(virtualMachine, { vcenters: names, cluster, mode });
    // No signal says that the last VirtualMachine which names a policy is gone.
    return { vcenter, mode, recheckMs: virtualMachine.recheckMs, lingerMs, publishMinMs };
  };
  return createResourcePolicyActivities({
    client: openObjects(kubernetes),
    settings: settingsOf(),
    cluster,
    signalWithStart: async ({ namespace, name }) =>
      void (await signalWithStart(
        temporal,
        kindTable.VirtualMachineSetResourcePolicy,
        { subject: `${namespace}/${name}`, cluster, signal: unseenChange('started by hand') },
        { clock },
      )),
    stopGate: resourcePolicyGate(systems),
    audit,
    clock,
  });
}
