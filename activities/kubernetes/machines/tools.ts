import type { Mode } from '../../../contracts/kinds/kind.ts';
import type { MachinesConfig } from '../../../runtime/config/machines-config.ts';
import type { KubernetesObjects } from '../../../runtime/kubernetes/objects.ts';
import type { ActivityContext, ForActivities } from '../../lib/context.ts';

/** Shows, for metrics, whether Machines are frozen. */
export interface SafetyMeter {
  /** What this worker knows of the namespace. */
  show(namespace: string, isFrozen: boolean): void;
  /** It watches the namespace no more: another worker may. */
  hide(namespace: string): void;
  /** They are frozen until an attempt to thaw them succeeds: the next one may be minutes away, and another worker's. */
  keepFrozen(namespace: string): void;
}

/** What the safety jobs of Machines work with. */
export interface SafetyDependencies extends ForActivities<ActivityContext> {
  /** Where the Machines are. */
  control: Pick<KubernetesObjects, 'get' | 'list' | 'patch' | 'patchStatus' | 'create'>;
  /** Where their Nodes are; null: nowhere. */
  target: Pick<KubernetesObjects, 'get'> | null;
  mode: Mode;
  settings: Pick<MachinesConfig, 'namespaces' | 'apiServers' | 'overshoot'>;
  meter: SafetyMeter;
  /** Aborted when the worker is about to stop: another one goes on. */
  leaving: AbortSignal;
}

/** One execution of them. */
export type SafetyTools = Omit<SafetyDependencies, 'scope'> & Pick<ActivityContext, 'scope'>;

/** Whether the settings have the namespace's Machines under drover. */
export const isWatched = ({ mode, settings }: Pick<SafetyTools, 'mode' | 'settings'>, namespace: string): boolean =>
  mode !== 'off' && settings.namespaces.includes(namespace);
