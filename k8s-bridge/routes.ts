import type { Client } from '@temporalio/client';
import { type Condition, type ConditionUpdate, findCondition } from '../contracts/conditions.ts';
import { evictionSchema } from '../contracts/crds/eviction.ts';
import { bootIdAnnotation, retryHandledAnnotation, runIdAnnotation } from '../contracts/eviction-annotations.ts';
import { evictingReasons, evictionConditions } from '../contracts/eviction-conditions.ts';
import { annotations, evictionFinalizer, evictionId, type Kind } from '../contracts/ids.ts';
import type { ObjectChanged } from '../contracts/messages.ts';
import { settled } from '../contracts/settled.ts';
import { type CallLimits, signalWithStartEviction } from '../runtime/temporal.ts';
import type { KubeObject } from './kube-object.ts';

/** What drover may do with a kind that is routed; `off` is not routed at all. */
export type RoutedMode = 'observe' | 'act';

/** Whom to tell, and what. */
export interface Telling {
  /** What {@link Route.subject} found. */
  subject: string;
  /** Name of the object. */
  name: string;
  /** Prefix of workflow ids; empty by default. */
  cluster: string;
  signal: ObjectChanged;
}

/** How much of an object's work is left. */
export interface Outstanding {
  instances: number;
  memoryBytes: number;
}

/** One row of the table: which changes of a kind matter, and whose run they concern. */
export interface Route {
  kind: Kind;
  /** API group and version. */
  apiVersion: string;
  plural: string;
  /** What the run is found by: the host of an Eviction. Null where the object does not say. */
  subject(object: KubeObject): string | null;
  workflowId(subject: string, cluster: string): string;
  signalWithStart(client: Client, telling: Telling, limits: CallLimits): Promise<string>;
  /** Labels that matter, by prefix. */
  labels: readonly string[];
  /** Annotations that matter, by prefix, but for those that drover itself writes. */
  annotations: readonly string[];
  ownAnnotations: readonly string[];
  /** Where a run notes which value of `drover.dev/retry` it has taken up. */
  retryHandled: string;
  /** drover's own; other finalizers matter, this one does not. */
  finalizer: string;
  /** The status fields of other writers that matter; never what drover writes. */
  foreignStatus(object: KubeObject): unknown;
  isSettled(object: KubeObject, mode: RoutedMode): boolean;
  /** Type of the condition that says how far drover has come. */
  condition(object: KubeObject, mode: RoutedMode): string;
  /** For metrics; null where the object does not say. */
  outstanding(object: KubeObject): Outstanding | null;
  /** What the object shall say once a person has stopped its run for good: with these it is settled. */
  stopped(object: KubeObject, mode: RoutedMode, message: string): ConditionUpdate[];
  /** The ends of a run after which resync does not start another one for the same generation (design section 2, rule 15). */
  final: readonly ('CANCELLED' | 'TERMINATED')[];
}

const bytesPerMiB = 1_048_576;

const evictionCondition = ({ metadata }: KubeObject, mode: RoutedMode): string =>
  mode === 'observe' || metadata.annotations?.[annotations.mode] === 'observe' ? evictionConditions.observed : evictionConditions.evicting;

const eviction: Route = {
  kind: 'Eviction',
  apiVersion: 'kvm.cloud.sap/v1',
  plural: 'evictions',
  subject: ({ spec }) => {
    const hypervisor = (spec as { hypervisor?: unknown } | undefined)?.hypervisor;
    return typeof hypervisor === 'string' && hypervisor !== '' ? hypervisor : null;
  },
  workflowId: evictionId,
  signalWithStart: (client, { subject, name, cluster, signal }, limits) => signalWithStartEviction(client, { host: subject, eviction: name, cluster, signal }, limits),
  labels: [],
  annotations: ['drover.dev/'],
  ownAnnotations: [retryHandledAnnotation, bootIdAnnotation, runIdAnnotation],
  retryHandled: retryHandledAnnotation,
  finalizer: evictionFinalizer,
  // Beside a replaced operator drover only observes, and without one nobody else writes the status.
  foreignStatus: () => null,
  // What is no Eviction by the schema is not settled: the run reads it and says what is wrong.
  isSettled: (object, mode) => {
    const { data } = evictionSchema.safeParse(object);
    return data !== undefined && settled.Eviction(data, mode);
  },
  condition: evictionCondition,
  outstanding: ({ status }) => {
    const { outstandingInstances: instances, outstandingRamMb: memoryMiB } = (status ?? {}) as { outstandingInstances?: unknown; outstandingRamMb?: unknown };
    return Array.isArray(instances) ? { instances: instances.length, memoryBytes: (typeof memoryMiB === 'number' ? memoryMiB : 0) * bytesPerMiB } : null;
  },
  stopped: (object, mode, message) => {
    const type = evictionCondition(object, mode);
    const { generation: observedGeneration } = object.metadata;
    const stop = { status: 'False', reason: evictingReasons.stopped, message, observedGeneration } as const;
    const current = findCondition(conditionsOf(object), type);
    // It had ended, and the run only waited for the node: how it ended stays.
    const isOver = current?.status === 'False' && current.observedGeneration === observedGeneration;
    const awaitsNode = findCondition(conditionsOf(object), evictionConditions.reEnabled)?.status === 'Unknown';
    return [...(isOver ? [] : [{ type, ...stop }]), ...(awaitsNode ? [{ type: evictionConditions.reEnabled, ...stop }] : [])];
  },
  final: ['CANCELLED', 'TERMINATED'],
};

/** The next kind is one more row. */
export const routes: readonly Route[] = [eviction];

/** The conditions in an object's status, whatever else is in it. */
export function conditionsOf({ status }: KubeObject): Condition[] {
  const { conditions } = (status ?? {}) as { conditions?: unknown };
  return Array.isArray(conditions) ? conditions.filter((one): one is Condition => typeof one === 'object' && one !== null) : [];
}
