import type { Client } from '@temporalio/client';

import type { ActiveMode } from '../../../contracts/kinds/kind.ts';
import type { ReadFreeze } from '../../../contracts/machine-safety/api-server-safety.ts';
import type { MachineDrivers } from '../../../contracts/machine-safety/driver.ts';
import type { SweepSettings } from '../../../contracts/machine-safety/sweep.ts';
import type { KubernetesObjects } from '../../../runtime/kubernetes/objects.ts';
import type { ActivityContext, ForActivities } from '../../lib/context.ts';

/** What the composition root gives to the activities of sweeps. */
export interface SweepDependencies extends ForActivities<ActivityContext> {
  /** Of the cluster that has the Machines, where drover's own objects are too. */
  client: KubernetesObjects;
  temporal: Client;
  drivers: Pick<MachineDrivers, 'open'>;
  readFreeze: ReadFreeze;
  /** Asked right before a deletion: it does not trust the probes of a while ago. */
  readFreshFreeze: ReadFreeze;
  /** Null: the kind is switched off. */
  settings: SweepConfig | null;
  /** Prefix of workflow ids; empty by default. */
  cluster: string;
  /** Signals the sweep of a namespace, starting it if need be. */
  signalWithStart: (namespace: string) => Promise<void>;
}

export interface SweepConfig {
  mode: ActiveMode;
  /** Whose Machines are swept. */
  namespaces: readonly string[];
  sweep: SweepSettings;
  /** There is a cluster of Nodes. */
  hasTarget: boolean;
  /** Where the keeps of users are. */
  systemNamespace: string;
}

export type SweepTools = Omit<SweepDependencies, 'scope'> & ActivityContext;
