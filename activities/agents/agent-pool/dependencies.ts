import type { AgentPoolInput, AgentPoolSettings, PoolProblem } from '../../../contracts/agent-pool/agent-pool.ts';
import type { VsphereAgentPool } from '../../../contracts/crds/vsphere-agent-pool.ts';
import type { Kubernetes } from '../../../runtime/kubernetes/kubernetes.ts';
import type { KubernetesObjects } from '../../../runtime/kubernetes/objects.ts';
import type { ActivityContext, ForActivities } from '../../lib/context.ts';
import type { MarkedVm } from '../vcenter/marked-vms.ts';

/** What is asked of the vCenter of a pool. Each is one session of the pool's credential. */
export interface PoolInventory {
  /** @throws as a Secret or a vCenter that is none does */
  look(pool: VsphereAgentPool, signal: AbortSignal): Promise<SeenInventory>;
  /** If it still has the mark. @returns false: it is gone, or has another one */
  destroy(tools: ActivityContext, pool: VsphereAgentPool, vm: MarkedVm, cause: string): Promise<boolean>;
}

export interface SeenInventory {
  /** With the mark of the pool. */
  vms: MarkedVm[];
  space: { name: string; freeBytes: number; capacityBytes: number; largestFreeBytes: number };
  /** The ISO that the pool records is not in its datastore. */
  isIsoGone: boolean;
}

export interface Look {
  /** Null: it could not be looked at. */
  seen: SeenInventory | null;
  /** It is what an observation before this one has seen. */
  isOld: boolean;
  problem: PoolProblem | null;
  /** When it is looked at again. */
  nextMs: number;
}

/** What the composition root gives to the activities on VsphereAgentPools. */
export interface AgentPoolDependencies extends ForActivities<ActivityContext> {
  client: KubernetesObjects;
  inventory: PoolInventory;
  /** @param kubeconfig as `foreignKubeConfig` gives it */
  openForeignCluster: (kubeconfig: string) => Kubernetes;
  /** Null: the kind is switched off. */
  settings: (AgentPoolSettings & { freeSpacePercent: number }) | null;
  /** `agentPools.namespaces`; empty: everywhere. */
  namespaces: readonly string[];
  /** Prefix of workflow ids; empty by default. */
  cluster: string;
  /** Signals the run of the pool, starting it if need be. */
  signalWithStart: (input: AgentPoolInput) => Promise<void>;
}

/** What a worker remembers of the vCenter of a pool, by the uid of the pool. */
export type Looks = Map<string, { atMs: number; iso: string; look: Look }>;

export type AgentPoolTools = Omit<AgentPoolDependencies, 'scope'> & ActivityContext & { looks: Looks };
