import { findCondition } from '../../contracts/conditions.ts';
import type { Condition } from '../../contracts/conditions.ts';
import { hypervisorSchema } from '../../contracts/crds/hypervisor.ts';
import type { Hypervisor } from '../../contracts/crds/hypervisor.ts';
import { hypervisorConditions } from '../../contracts/hypervisor/conditions.ts';
import type { MaintenanceMode } from '../../contracts/hypervisor/hypervisor.ts';
import { readDesired, readRecorded } from '../../contracts/hypervisor/read-hypervisor.ts';
import { fieldManager, hypervisorAnnotations, nodeMetadata } from '../../contracts/ids.ts';
import { hypervisorKind } from '../../contracts/kinds/hypervisor.ts';
import { node } from '../../contracts/kinds/resources.ts';
import { nearest } from '../../runtime/config/suggestion.ts';
import { typed } from '../../runtime/kubernetes/resources.ts';
import { CommandError } from '../command/error.ts';
import { exitCodes } from '../command/exit-codes.ts';
import { formatTime } from '../render/duration.ts';
import { z } from 'zod';

/** The modes that a host comes back from. `termination` is a command of its own. */
export const maintainModes = ['manual', 'auto', 'ha'] as const satisfies MaintenanceMode[];
export type MaintainMode = (typeof maintainModes)[number];

/** A Hypervisor, as far as people are shown it. */
export interface HypervisorObject {
  name: string;
  uid: string;
  generation: number;
  resourceVersion: string;
  /** RFC 3339. */
  createdAt: string;
  deleting: boolean;
  annotations: Record<string, string>;
  lifecycleEnabled: boolean;
  skipTests: boolean;
  maintenance: MaintenanceMode;
  maintenanceReason: string | null;
  /** Who set the maintenance, as far as that is recorded; null: none, or not known. */
  maintainedBy: string | null;
  /** drover took it into maintenance for an update of its Node, and ends that itself. */
  forNodeUpdate: boolean;
  /** It asks drover to observe only (`drover.dev/mode`). */
  observed: boolean;
  conditions: Condition[];
  /** Instances that the node agent counts. */
  instances: number;
  /** As `10.0.0`; null: not known. */
  libVirtVersion: string | null;
  evicted: boolean;
}

/** A Node, as far as it says whether the lifecycle of its Hypervisor is driven. */
export interface SpeakingNode {
  name: string;
  uid: string;
  resourceVersion: string;
  /** It has the label that makes it a hypervisor. */
  isHypervisor: boolean;
  /** Value of its label for the lifecycle; null: it says nothing of that, so the Hypervisor's spec holds. */
  lifecycle: string | null;
}

/** Hypervisors as people are shown them. */
export const shownHypervisors = typed(hypervisorKind, hypervisorSchema.transform(describeHypervisor));

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

/**
 * drover itself where it has noted why; the last writer of the field, where that was not drover; else the user that a
 * command noted.
 */
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

export const shownNodes = typed(
  node,
  nodeSchema.transform(({ metadata: { name, uid, resourceVersion, labels = {} } }): SpeakingNode => {
    const isHypervisor = labels[nodeMetadata.virtDriver] !== undefined;
    return { name, uid, resourceVersion, isHypervisor, lifecycle: labels[nodeMetadata.lifecycle] ?? null };
  }),
);

type Conditioned = Pick<HypervisorObject, 'conditions'>;

/** Its Node is on its way out, by machine-controller-manager or because it was deleted. */
export const nodeTerminates = ({ conditions }: Conditioned): boolean =>
  findCondition(conditions, hypervisorConditions.terminating)?.status === 'True';

/**
 * What a user reads who names a host that is none, with the one that they may have meant.
 *
 * @param hypervisors names of all Hypervisors
 * @param consequence a sentence: nothing was started, nothing was changed
 */
export function unknownHost(host: string, hypervisors: readonly string[], consequence: string): CommandError {
  const longer = hypervisors.filter((name) => name.startsWith(`${host}.`));
  const candidate = longer.length === 1 ? (longer[0] ?? null) : nearest(host, hypervisors);
  const advice = `${candidate === null ? '' : `Did you mean ${candidate}? `}\`drover hosts\` lists those there are.`;
  return new CommandError(`There is no Hypervisor ${host}. ${consequence}`, exitCodes.notFound, advice);
}
