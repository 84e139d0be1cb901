import { z } from 'zod';
import { findCondition } from '../../contracts/conditions.ts';
import type { Hypervisor } from '../../contracts/crds/hypervisor.ts';
import { hypervisorSchema } from '../../contracts/crds/hypervisor.ts';
import { hypervisorConditions } from '../../contracts/hypervisor/conditions.ts';
import { fieldManager, hypervisorAnnotations, nodeMarks } from '../../contracts/ids.ts';
import { readDesired, readRecorded } from '../../contracts/hypervisor/read-hypervisor.ts';
import type { HypervisorObject, SpeakingNode } from './hypervisor-facts.ts';
import { formatTime } from '../render/duration.ts';

/** A Hypervisor as people are shown it, of what kube-apiserver serves; null for what does not fit the schema. */
export function parseHypervisor(answer: unknown): HypervisorObject | null {
  const { data } = hypervisorSchema.safeParse(answer);
  return data === undefined ? null : describeHypervisor(data);
}

function describeHypervisor(hypervisor: Hypervisor): HypervisorObject {
  const { metadata, status } = hypervisor;
  const desired = readDesired(hypervisor, []);
  const recorded = readRecorded(hypervisor);
  const forNodeUpdate = desired.maintenance === 'auto' && desired.rollingUpdateBootId !== null;
  return {
    name: metadata.name,
    uid: metadata.uid,
    generation: metadata.generation,
    resourceVersion: metadata.resourceVersion,
    createdAt: metadata.creationTimestamp,
    deleting: desired.deleting,
    annotations: metadata.annotations ?? {},
    lifecycleEnabled: desired.lifecycleEnabled,
    skipTests: desired.skipTests,
    maintenance: desired.maintenance,
    maintenanceReason: desired.maintenanceReason,
    maintainedBy: desired.maintenance === '' ? null : whoMaintains(metadata, desired.fromNode, forNodeUpdate),
    forNodeUpdate,
    observed: desired.mode === 'observe',
    conditions: [...recorded.conditions],
    instances: status?.numInstances ?? 0,
    libVirtVersion: recorded.libVirtVersion,
    evicted: recorded.evicted,
  };
}

/** drover itself where it has noted why; whoever wrote the field last, where that was not drover; else the person that a command noted. */
function whoMaintains(
  { annotations = {}, managedFields = [] }: Hypervisor['metadata'],
  fromNode: readonly string[],
  forNodeUpdate: boolean,
): string | null {
  if (fromNode.includes('maintenance')) return 'drover, as its Node terminates';
  if (forNodeUpdate) return 'drover, for an update of its Node';
  const writer = managedFields.find(({ fieldsV1 }) =>
    Object.hasOwn(fieldsV1?.['f:spec'] ?? {}, 'f:maintenance'),
  )?.manager;
  return writer === undefined || writer === fieldManager
    ? (annotations[hypervisorAnnotations.maintenanceBy] ?? null)
    : writer;
}

/** The annotation that says who set the maintenance. */
export const maintenanceBy = (by: string, nowMs: number): string => `${by} ${formatTime(nowMs)}`;

const nodeSchema = z.object({
  metadata: z.object({
    name: z.string(),
    uid: z.string(),
    resourceVersion: z.string(),
    labels: z.record(z.string(), z.string()).optional(),
  }),
});

/** A Node of what kube-apiserver serves; null for what is none. */
export function parseNode(answer: unknown): SpeakingNode | null {
  const { data } = nodeSchema.safeParse(answer);
  if (data === undefined) return null;
  const { name, uid, resourceVersion, labels = {} } = data.metadata;
  return {
    name,
    uid,
    resourceVersion,
    isHypervisor: labels[nodeMarks.virtDriver] !== undefined,
    lifecycle: labels[nodeMarks.lifecycle] ?? null,
  };
}

type Conditioned = Pick<HypervisorObject, 'conditions'>;

/** Its Node is on its way out, by machine-controller-manager or because somebody deleted it. */
export const nodeTerminates = ({ conditions }: Conditioned): boolean =>
  findCondition(conditions, hypervisorConditions.terminating)?.status === 'True';
