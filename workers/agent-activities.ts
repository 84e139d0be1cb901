import { tmpdir } from 'node:os';
import { createAgentPoolActivities } from '../activities/agents/agent-pool/activities.ts';
import { openPoolInventory } from '../activities/agents/agent-pool/pool-inventory.ts';
import { createIsoActivities } from '../activities/agents/iso/iso-activities.ts';
import { createVsphereAgentActivities } from '../activities/agents/vsphere-agent/activities.ts';
import { openPoolVcenters } from '../activities/agents/vcenter/pool-vcenters.ts';
import { releaseSlot } from '../activities/temporal/allowance.ts';
import type { AgentPoolActivities } from '../contracts/agent-pool/agent-pool.ts';
import type { VsphereAgentActivities } from '../contracts/agent-pool/vsphere-agent.ts';
import { kindTable } from '../contracts/kinds/table.ts';
import { unseenChange } from '../contracts/messages.ts';
import { readCertificates } from '../runtime/config/settings-file.ts';
import type { VcenterSettings } from '../runtime/config/vsphere-settings.ts';
import { agentPoolRules } from '../runtime/config/agent-pools-config.ts';
import { openObjects } from '../runtime/kubernetes/objects.ts';
import { createStopGate } from '../runtime/stop.ts';
import { signalWithStart } from '../runtime/temporal/signal-runs.ts';
import type { SharedSystems } from './systems.ts';

export interface ServedAgents {
  activities: VsphereAgentActivities & AgentPoolActivities;
  close: () => Promise<void>;
}

/** The activities of agent pools and of their VMs. Where a kind is switched off, they answer so. */
export function composeAgentActivities(systems: SharedSystems, vcenters: readonly VcenterSettings[]): ServedAgents {
  const { config, temporal, kubernetes, audit, clock, ports, agentMeter } = systems;
  const { cluster, modes, agentPools, virtualMachine } = config;
  const { systemNamespace } = config.kubernetes;
  const client = openObjects(kubernetes);
  const poolVcenters = openPoolVcenters({ ...ports, client, vcenters, systemNamespace, clock });
  const { recheckMs, lingerMs, publishMinMs, namespaces } = agentPools;
  const common = { client, vcenters: poolVcenters, namespaces, audit, clock };
  const of = (kind: 'VsphereAgent' | 'VsphereAgentPool') => {
    const { [kind]: mode } = modes;
    return {
      settings: mode === 'off' ? null : { mode, recheckMs, lingerMs, publishMinMs },
      stopGate: createStopGate(kubernetes, systemNamespace, { kind, cluster, region: null }, clock),
      signalWithStart: async ({ namespace, name }: { namespace: string; name: string }): Promise<void> => {
        const signal = unseenChange('started by hand');
        await signalWithStart(
          temporal,
          kindTable[kind],
          { subject: `${namespace}/${name}`, cluster, signal },
          { clock },
        );
      },
    };
  };
  const ofAgents = of('VsphereAgent');
  const ofPools = of('VsphereAgentPool');
  const { iso } = agentPools;
  const source = ports.openIsoSource({
    ...iso,
    // What is switched off need not be well described.
    ca: ofPools.settings === null || iso.caFile === null ? null : readCertificates(iso.caFile, 'agentPools.iso.caFile'),
    directory: iso.directory ?? tmpdir(),
  });
  const { slotRenewMs } = virtualMachine;
  return {
    activities: {
      ...createVsphereAgentActivities({
        ...common,
        ...ofAgents,
        releaseSlot: (slot) => releaseSlot(temporal, { ...slot, cluster }),
        settings: ofAgents.settings === null ? null : { ...ofAgents.settings, cluster, slotRenewMs },
      }),
      ...agentMeter.metered({
        ...createAgentPoolActivities({
          ...common,
          ...ofPools,
          inventory: openPoolInventory({
            vcenters: poolVcenters,
            openDatastoreHttp: ports.openDatastoreHttp,
            clock,
          }),
          openForeignCluster: ports.openForeignCluster,
          settings:
            ofPools.settings === null
              ? null
              : {
                  ...ofPools.settings,
                  rules: agentPoolRules(agentPools),
                  freeSpacePercent: agentPools.freeSpacePercent,
                },
          cluster,
        }),
        ...createIsoActivities({
          ...common,
          stopGate: ofPools.stopGate,
          source,
          openDatastoreHttp: ports.openDatastoreHttp,
        }),
      }),
    },
    close: async () => void (await Promise.allSettled([poolVcenters.close(), source.close()])),
  };
}
