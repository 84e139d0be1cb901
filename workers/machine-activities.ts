import { createFreshFreeze } from '../activities/kubernetes/machines/fresh-freeze.ts';
import { createOvershootActivities } from '../activities/kubernetes/machines/overshoot-activities.ts';
import { createSafetyActivities } from '../activities/kubernetes/machines/safety-activities.ts';
import { createSweepActivities } from '../activities/machines/sweep/sweep-activities.ts';
import { createNodeActivities } from '../activities/machines/annotate-nodes.ts';
import { createMachineDrivers } from '../activities/machines/drivers/drivers.ts';
import { kindTable } from '../contracts/kinds/table.ts';
import type { OvershootActivities } from '../contracts/machine-safety/overshoot.ts';
import type { SweepActivities } from '../contracts/machine-safety/sweep.ts';
import type { MachineNodeActivities } from '../contracts/machine-safety/unmanaged-nodes.ts';
import type { ApiServerSafetyActivities } from '../contracts/machine-safety/watch-api-servers.ts';
import { unseenChange } from '../contracts/messages.ts';
import { sweepSettings } from '../runtime/config/machines-config.ts';
import { openObjects } from '../runtime/kubernetes/objects.ts';
import { createStopGate } from '../runtime/stop.ts';
import { createReadFreeze } from '../runtime/temporal/read-freeze.ts';
import { signalWithStart } from '../runtime/temporal/signal-runs.ts';
import type { SharedSystems } from './systems.ts';

export interface ServedMachines {
  activities: SweepActivities & MachineNodeActivities & ApiServerSafetyActivities & OvershootActivities;
  close: () => Promise<void>;
}

/** The activities of the safety jobs of Machines. Where the kind is switched off, they answer so. */
export function composeMachineActivities(systems: SharedSystems): ServedMachines {
  const { config, temporal, kubernetes, audit, clock, ports, safetyMeter, leaving } = systems;
  const { cluster, machines, kubernetes: names } = config;
  const mode = config.modes.Machine;
  const client = openObjects(kubernetes);
  const targetCluster = machines.targetKubeconfig === null ? null : ports.openCluster(machines.targetKubeconfig);
  const target = targetCluster === null ? null : openObjects(targetCluster);
  const drivers = createMachineDrivers({ ...ports, clock });
  const place = { kind: 'Machine', cluster, region: null } as const;
  const stopGate = createStopGate(kubernetes, names.systemNamespace, place, clock);
  const common = { audit, clock, stopGate };
  const readFreeze = createReadFreeze({ temporal, cluster, clock, settings: machines.apiServers });
  const safety = { ...common, control: client, target, mode, settings: machines, meter: safetyMeter, leaving };
  return {
    activities: {
      ...createSweepActivities({
        ...common,
        client,
        temporal,
        drivers,
        readFreeze,
        readFreshFreeze: createFreshFreeze({ readFreeze, target, clock, ...machines.apiServers }),
        settings:
          mode === 'off'
            ? null
            : {
                mode,
                namespaces: machines.namespaces,
                sweep: sweepSettings(machines),
                hasTarget: target !== null,
                systemNamespace: names.systemNamespace,
              },
        cluster,
        signalWithStart: async (namespace) =>
          void (await signalWithStart(
            temporal,
            kindTable.Machine,
            { subject: namespace, cluster, signal: unseenChange('started by hand') },
            { clock },
          )),
      }),
      ...createNodeActivities({
        ...common,
        client,
        target,
        namespaces: machines.namespaces,
        isActing: mode === 'act',
        creationTimeoutMs: machines.creationTimeoutMs,
      }),
      ...createSafetyActivities(safety),
      ...createOvershootActivities(safety),
    },
    close: async () => void (await Promise.allSettled([drivers.close(), targetCluster?.close()])),
  };
}
