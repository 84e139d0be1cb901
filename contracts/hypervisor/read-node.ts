import type { ObservedNode } from './hypervisor.ts';
import { copiedLabels, nodeMetadata } from '../ids.ts';

/** Labels of a Node that its Hypervisor is made and driven by. */
const nodeLabels: readonly string[] = [
  nodeMetadata.virtDriver,
  nodeMetadata.lifecycle,
  nodeMetadata.selectedForUpdate,
  nodeMetadata.updateResult,
  ...copiedLabels,
];
const nodeAnnotations: readonly string[] = [nodeMetadata.aggregates, nodeMetadata.customTraits];

/** @param more labels that are copied besides the known ones */
export const isNodeLabel = (key: string, more: readonly string[] = []): boolean =>
  nodeLabels.includes(key) || more.includes(key);
export const isNodeAnnotation = (key: string): boolean => nodeAnnotations.includes(key);

/** Drives every pod off the Node that does not tolerate it. */
export const offboardingTaint = { key: nodeMetadata.offboardingTaint, effect: 'NoExecute' } as const;
export const isOffboardingTaint = ({ key, effect }: { key?: unknown; effect?: unknown }): boolean =>
  key === offboardingTaint.key && effect === offboardingTaint.effect;

/** A Node as kube-apiserver serves it, as far as it is read. */
export interface NodeObject {
  metadata: {
    name: string;
    uid: string;
    labels?: Record<string, string> | undefined;
    annotations?: Record<string, string> | undefined;
    creationTimestamp?: string | undefined;
    deletionTimestamp?: string | undefined;
  };
  spec?: unknown;
  status?: unknown;
}

/** As kube-apiserver means it; whatever stands there may be something else. */
interface NodeParts {
  spec?: { unschedulable?: unknown; taints?: unknown } | null;
  status?: { conditions?: unknown; addresses?: unknown; nodeInfo?: { bootID?: unknown } | null } | null;
}

/**
 * What decisions need of a Node: small, and without what its kubelet reports all the time (heartbeats, images,
 * capacity). Never throws.
 *
 * @param more labels that are copied besides the known ones
 */
export function readNode(node: NodeObject, more: readonly string[] = []): ObservedNode {
  const { name, uid, labels = {}, annotations = {}, creationTimestamp, deletionTimestamp } = node.metadata;
  const { spec, status } = node as NodeParts;
  const conditions = items(status?.conditions);
  const of = (type: string) => conditions.find((condition) => condition['type'] === type);
  const ready = of('Ready');
  const terminating = of('Terminating');
  // Where it does not say since when: since ever.
  const since = (condition: Record<string, unknown> | undefined): number =>
    timeMs(condition?.['lastTransitionTime']) || timeMs(creationTimestamp);
  return {
    name,
    uid,
    labels: pick(labels, (key) => isNodeLabel(key, more)),
    annotations: pick(annotations, isNodeAnnotation),
    internalIp: text(items(status?.addresses).find(({ type }) => type === 'InternalIP')?.['address']) || null,
    ready: ready?.['status'] === 'True',
    readySinceMs: since(ready),
    bootId: text(status?.nodeInfo?.bootID),
    cordoned: spec?.unschedulable === true,
    terminatingSinceMs: terminating?.['status'] === 'True' ? since(terminating) : null,
    deletedAtMs: deletionTimestamp === undefined ? null : timeMs(deletionTimestamp),
    inPlaceUpdate: text(of('InPlaceUpdate')?.['reason']) || null,
    offboardingTaint: items(spec?.taints).some(isOffboardingTaint),
  };
}

const pick = (pairs: Readonly<Record<string, string>>, wanted: (key: string) => boolean): Record<string, string> =>
  Object.fromEntries(Object.entries(pairs).filter(([key]) => wanted(key)));

const items = (list: unknown): Record<string, unknown>[] =>
  Array.isArray(list)
    ? list.filter((item): item is Record<string, unknown> => typeof item === 'object' && item !== null)
    : [];

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** 0 for what is no time. */
const timeMs = (time: unknown): number => Date.parse(text(time)) || 0;
