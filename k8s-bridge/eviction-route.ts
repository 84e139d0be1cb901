import { findCondition } from '../contracts/conditions.ts';
import {
  bootIdAnnotation,
  onlyObserves,
  retryHandledAnnotation,
  runIdAnnotation,
} from '../contracts/eviction/annotations.ts';
import { evictingReasons, evictionConditions } from '../contracts/eviction/conditions.ts';
import { evictionFinalizer } from '../contracts/ids.ts';
import type { ActiveMode } from '../contracts/kinds/kind.ts';
import type { KubeObject } from './kube-object.ts';
import { conditionsOf, ownRoute, type Route } from './route.ts';

const bytesPerMiB = 1_048_576;
const ownAnnotations = [retryHandledAnnotation, bootIdAnnotation, runIdAnnotation];

const evictionCondition = ({ metadata }: KubeObject, mode: ActiveMode): string =>
  onlyObserves(metadata, mode) ? evictionConditions.observed : evictionConditions.evicting;

/** The host that an Eviction speaks of; null where it names none. */
export function hostOf({ spec }: KubeObject): string | null {
  const hypervisor = (spec as { hypervisor?: unknown } | undefined)?.hypervisor;
  return typeof hypervisor === 'string' && hypervisor !== '' ? hypervisor : null;
}

/** An Eviction concerns the run that empties its host. */
export const eviction: Route = {
  ...ownRoute('Eviction'),
  subject: hostOf,
  watchesAnnotation: (key) => key.startsWith('drover.dev/') && !ownAnnotations.includes(key),
  retryHandled: retryHandledAnnotation,
  finalizer: evictionFinalizer,
  condition: evictionCondition,
  outstanding: ({ status }) => {
    const { outstandingInstances: instances, outstandingRamMb: memoryMiB } = (status ?? {}) as {
      outstandingInstances?: unknown;
      outstandingRamMb?: unknown;
    };
    return Array.isArray(instances)
      ? { instances: instances.length, memoryBytes: (typeof memoryMiB === 'number' ? memoryMiB : 0) * bytesPerMiB }
      : null;
  },
  stopped: (object, mode, message) => {
    const type = evictionCondition(object, mode);
    const { generation: observedGeneration } = object.metadata;
    const stop = { status: 'False', reason: evictingReasons.stopped, message, observedGeneration } as const;
    const current = findCondition(conditionsOf(object), type);
    // It had ended, and the run only waited for the node: how it ended stays.
    const isOver = current?.status === 'False' && current.observedGeneration === observedGeneration;
    const awaitsNode = findCondition(conditionsOf(object), evictionConditions.reEnabled)?.status === 'Unknown';
    return [
      ...(isOver ? [] : [{ type, ...stop }]),
      ...(awaitsNode ? [{ type: evictionConditions.reEnabled, ...stop }] : []),
    ];
  },
  final: ['CANCELLED', 'TERMINATED'],
};
