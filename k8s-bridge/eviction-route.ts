import { findCondition } from '../contracts/conditions.ts';
import { evictionSchema } from '../contracts/crds/eviction.ts';
import {
  bootIdAnnotation,
  onlyObserves,
  retryHandledAnnotation,
  runIdAnnotation,
} from '../contracts/eviction/annotations.ts';
import { evictingReasons, evictionConditions } from '../contracts/eviction/conditions.ts';
import { evictionFinalizer, evictionId } from '../contracts/ids.ts';
import { settled } from '../contracts/settled.ts';
import { signalWithStartEviction } from '../runtime/temporal/signal-runs.ts';
import type { KubeObject } from './kube-object.ts';
import { conditionsOf, type Route, type RoutedMode } from './route.ts';

const bytesPerMiB = 1_048_576;
const ownAnnotations = [retryHandledAnnotation, bootIdAnnotation, runIdAnnotation];

const evictionCondition = ({ metadata }: KubeObject, mode: RoutedMode): string =>
  onlyObserves(metadata, mode) ? evictionConditions.observed : evictionConditions.evicting;

/** The host that an Eviction speaks of; null where it names none. */
export function hostOf({ spec }: KubeObject): string | null {
  const hypervisor = (spec as { hypervisor?: unknown } | undefined)?.hypervisor;
  return typeof hypervisor === 'string' && hypervisor !== '' ? hypervisor : null;
}

/** An Eviction concerns the run that empties its host. */
export const eviction: Route = {
  kind: 'Eviction',
  apiVersion: 'kvm.cloud.sap/v1',
  plural: 'evictions',
  drives: 'Eviction',
  subject: hostOf,
  workflowId: evictionId,
  signalWithStart: (client, { subject, name, cluster, signal }, limits) =>
    signalWithStartEviction(client, { host: subject, eviction: name, cluster, signal }, limits),
  partial: false,
  standIn: null,
  watchesSpec: true,
  watchesLabel: () => false,
  watchesAnnotation: (key) => key.startsWith('drover.dev/') && !ownAnnotations.includes(key),
  retryHandled: retryHandledAnnotation,
  finalizer: evictionFinalizer,
  // Beside a replaced operator drover only observes, and without one nobody else writes the status.
  fields: () => ({}),
  // What is no Eviction by the schema is not settled: the run reads it and says what is wrong.
  isSettled: (object, mode) => {
    const { data } = evictionSchema.safeParse(object);
    return data !== undefined && settled.Eviction(data, mode);
  },
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
