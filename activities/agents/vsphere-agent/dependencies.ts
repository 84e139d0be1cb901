import type { VsphereAgentInput, VsphereAgentSettings } from '../../../contracts/agent-pool/vsphere-agent.ts';
import type { Along } from '../../../contracts/virtual-machine/activities.ts';
import type { KubernetesObjects } from '../../../runtime/kubernetes/objects.ts';
import type { ActivityContext, ForActivities } from '../../lib/context.ts';
import type { PoolVcenters } from '../vcenter/pool-vcenters.ts';

/** What the composition root gives to the activities on VsphereAgents. */
export interface VsphereAgentDependencies extends ForActivities<ActivityContext> {
  client: KubernetesObjects;
  vcenters: Pick<PoolVcenters, 'use'>;
  /** Null: the kind is switched off. */
  settings: Omit<VsphereAgentSettings, 'vcenter'> | null;
  /** `agentPools.namespaces`: where there may be pools; empty: everywhere. */
  namespaces: readonly string[];
  /** Signals the run that allocates the slots. */
  releaseSlot: (slot: NonNullable<Along['slot']>) => Promise<void>;
  /** Signals the run of the VsphereAgent, starting it if need be. */
  signalWithStart: (input: VsphereAgentInput) => Promise<void>;
}

export type VsphereAgentTools = Omit<VsphereAgentDependencies, 'scope'> & ActivityContext;
