import { z } from 'zod';

import { time } from '../../contracts/crds/schema.ts';
import type { NodeFacts } from '../../contracts/hypervisor.ts';
import { copiedLabels, nodeMarks } from '../../contracts/ids.ts';

const taintSchema = z.looseObject({ key: z.string(), value: z.string().optional(), effect: z.string() });

const conditionSchema = z.object({ type: z.string(), status: z.string(), reason: z.string().optional(), lastTransitionTime: time().nullish() });

/** What drover reads of a Node. A taint is written back as it came. */
export const nodeSchema = z.object({
  metadata: z.object({
    name: z.string(),
    uid: z.string(),
    resourceVersion: z.string(),
    creationTimestamp: time(),
    deletionTimestamp: time().optional(),
    labels: z.record(z.string(), z.string()).optional(),
    annotations: z.record(z.string(), z.string()).optional(),
  }),
  spec: z.object({ unschedulable: z.boolean().optional(), taints: z.array(taintSchema).optional() }).optional(),
  status: z
    .object({
      addresses: z.array(z.object({ type: z.string(), address: z.string() })).optional(),
      conditions: z.array(conditionSchema).optional(),
      nodeInfo: z.object({ bootID: z.string() }).optional(),
    })
    .optional(),
});

export type Node = z.output<typeof nodeSchema>;
export type Taint = z.output<typeof taintSchema>;

/** Drives every pod off the Node that does not tolerate it. */
export const offboardingTaint: Taint = { key: nodeMarks.offboardingTaint, effect: 'NoExecute' };

export const isOffboardingTaint = ({ key, effect }: Taint): boolean => key === offboardingTaint.key && effect === offboardingTaint.effect;

const { virtDriver, lifecycle, selectedForUpdate, updateResult, aggregates, customTraits } = nodeMarks;
const readLabels: readonly string[] = [...copiedLabels, virtDriver, lifecycle, selectedForUpdate, updateResult];
const readAnnotations: readonly string[] = [aggregates, customTraits];

/**
 * A Node as decisions need it, without the labels that none of them reads. Pure.
 *
 * @param moreLabels those that are copied besides the known ones
 */
export function toNodeFacts({ metadata, spec, status }: Node, moreLabels: readonly string[]): NodeFacts {
  const find = (type: string) => status?.conditions?.find((condition) => condition.type === type);
  const since = (condition: ReturnType<typeof find>): number => Date.parse(condition?.lastTransitionTime ?? metadata.creationTimestamp);
  const ready = find('Ready');
  const terminating = find('Terminating');
  return {
    name: metadata.name,
    uid: metadata.uid,
    labels: pick(metadata.labels, [...readLabels, ...moreLabels]),
    annotations: pick(metadata.annotations, readAnnotations),
    internalIp: status?.addresses?.find(({ type }) => type === 'InternalIP')?.address ?? null,
    ready: ready?.status === 'True',
    readySinceMs: since(ready),
    bootId: status?.nodeInfo?.bootID ?? '',
    cordoned: spec?.unschedulable ?? false,
    terminatingSinceMs: terminating?.status === 'True' ? since(terminating) : null,
    deletedAtMs: metadata.deletionTimestamp === undefined ? null : Date.parse(metadata.deletionTimestamp),
    inPlaceUpdate: find('InPlaceUpdate')?.reason || null,
    offboardingTaint: spec?.taints?.some(isOffboardingTaint) ?? false,
  };
}

const pick = (given: Readonly<Record<string, string>> = {}, keys: readonly string[]): Record<string, string> => Object.fromEntries(Object.entries(given).filter(([key]) => keys.includes(key)));
