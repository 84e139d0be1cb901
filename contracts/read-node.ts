import { findCondition } from './conditions.ts';
import type { Condition } from './conditions.ts';
import type { NodeFacts } from './hypervisor.ts';
import { copiedLabels, nodeMarks } from './ids.ts';

/** Labels of a Node that its Hypervisor is made and driven by. */
const nodeLabels: readonly string[] = [nodeMarks.virtDriver, nodeMarks.lifecycle, nodeMarks.selectedForUpdate, nodeMarks.updateResult, ...copiedLabels];
const nodeAnnotations: readonly string[] = [nodeMarks.aggregates, nodeMarks.customTraits];

/** @param more labels that are copied besides the known ones */
export const isNodeLabel = (key: string, more: readonly string[] = []): boolean => nodeLabels.includes(key) || more.includes(key);
export const isNodeAnnotation = (key: string): boolean => nodeAnnotations.includes(key);

/** A Node as kube-apiserver serves it, as far as it is read. */
export interface NodeObject {
  metadata: {
    name: string;
    uid: string;
    labels?: Record<string, string> | undefined;
    annotations?: Record<string, string> | undefined;
    deletionTimestamp?: string | undefined;
  };
  [part: string]: unknown;
}

interface NodeParts {
  spec?: { unschedulable?: boolean; taints?: readonly { key?: string; effect?: string }[] } | null;
  status?: { conditions?: readonly Condition[]; addresses?: readonly { type?: string; address?: string }[]; nodeInfo?: { bootID?: string } } | null;
}

/**
 * What decisions need of a Node: small, and without what its kubelet reports all the time (heartbeats, images, capacity).
 *
 * @param more labels that are copied besides the known ones
 */
export function readNode(node: NodeObject, more: readonly string[] = []): NodeFacts {
  const { name, uid, labels = {}, annotations = {}, deletionTimestamp } = node.metadata;
  const { spec, status } = node as NodeParts;
  const of = (type: string): Condition | undefined => findCondition(status?.conditions, type);
  const ready = of('Ready');
  const terminating = of('Terminating');
  return {
    name,
    uid,
    labels: pick(labels, (key) => isNodeLabel(key, more)),
    annotations: pick(annotations, isNodeAnnotation),
    internalIp: status?.addresses?.find(({ type }) => type === 'InternalIP')?.address ?? null,
    ready: ready?.status === 'True',
    readySinceMs: timeMs(ready?.lastTransitionTime),
    bootId: status?.nodeInfo?.bootID ?? '',
    cordoned: spec?.unschedulable ?? false,
    terminatingSinceMs: terminating?.status === 'True' ? timeMs(terminating.lastTransitionTime) : null,
    deletedAtMs: deletionTimestamp === undefined ? null : timeMs(deletionTimestamp),
    inPlaceUpdate: of('InPlaceUpdate')?.reason || null,
    offboardingTaint: spec?.taints?.some(({ key, effect }) => key === nodeMarks.offboardingTaint && effect === 'NoExecute') ?? false,
  };
}

const pick = (pairs: Readonly<Record<string, string>>, wanted: (key: string) => boolean): Record<string, string> =>
  Object.fromEntries(Object.entries(pairs).filter(([key]) => wanted(key)));

/** 0 for what is no time. */
const timeMs = (time: string | undefined): number => Date.parse(time ?? '') || 0;
