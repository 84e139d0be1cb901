import type { MaintenanceMode } from '../../contracts/hypervisor/hypervisor.ts';
import { nodeMetadata } from '../../contracts/ids.ts';
import type { KubernetesAccess } from '../command/kubernetes-access.ts';
import { type HypervisorObject, type SpeakingNode, shownHypervisors, shownNodes } from './hypervisor-objects.ts';

/** What a command changes of a Hypervisor, as a merge patch says it: null takes away. */
export interface HypervisorChange {
  annotations?: Record<string, string | null>;
  spec?: {
    lifecycleEnabled?: boolean;
    skipTests?: boolean;
    maintenance?: MaintenanceMode;
    maintenanceReason?: string | null;
  };
}

/** Hypervisors and their Nodes as commands use them. Every call fails with a row of the error table. */
export interface HypervisorAccess {
  /** All that fit the schema, and the names of those that do not. */
  list(): Promise<{ hypervisors: HypervisorObject[]; unreadable: string[] }>;
  /** Null: there is none. @throws CommandError for one that does not fit the schema */
  read(name: string): Promise<HypervisorObject | null>;
  /** @throws ObjectConflict where it has changed since it was read */
  patch(
    version: Pick<HypervisorObject, 'name' | 'resourceVersion'>,
    change: HypervisorChange,
  ): Promise<HypervisorObject>;
  readNode(name: string): Promise<SpeakingNode | null>;
  /** Sets the label that switches the lifecycle on. @throws ObjectConflict */
  labelNode(version: Pick<SpeakingNode, 'name' | 'resourceVersion'>, lifecycle: string): Promise<SpeakingNode>;
}

export const hypervisorAccess = (kubernetes: Pick<KubernetesAccess, 'list' | 'get' | 'patch'>): HypervisorAccess => ({
  async list() {
    const { found, unreadable } = await kubernetes.list(shownHypervisors);
    return { hypervisors: found, unreadable };
  },
  read: (name) => kubernetes.get(shownHypervisors, { name }),
  patch: ({ name, resourceVersion }, { annotations, spec }) =>
    kubernetes.patch(
      shownHypervisors,
      { name, resourceVersion },
      { metadata: { ...(annotations && { annotations }) }, ...(spec && { spec }) },
    ),
  readNode: (name) => kubernetes.get(shownNodes, { name }),
  labelNode: ({ name, resourceVersion }, lifecycle) =>
    kubernetes.patch(
      shownNodes,
      { name, resourceVersion },
      { metadata: { labels: { [nodeMetadata.lifecycle]: lifecycle } } },
    ),
});
