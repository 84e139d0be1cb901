import { kindTable } from '../contracts/kinds/table.ts';
import { findCondition } from '../contracts/conditions.ts';
import { evictionConditions } from '../contracts/eviction/conditions.ts';
import { hypervisorConditions } from '../contracts/hypervisor/conditions.ts';
import { hypervisorAnnotations, nodeMarks } from '../contracts/ids.ts';
import { hypervisorMode } from '../contracts/hypervisor/read-hypervisor.ts';
import { isNodeAnnotation, isNodeLabel, readNode } from '../contracts/hypervisor/read-node.ts';
import { hostOf } from './eviction-route.ts';
import type { KubeObject } from './kube-object.ts';
import { isOwn } from './owned-fields.ts';
import { conditionsOf, ownRoute, type Route, type WatchedFields } from './route.ts';

export interface HypervisorRouteSettings {
  /** Labels of a Node that come into its Hypervisor besides the known ones. */
  copiedLabels: readonly string[];
}

/** What the rows have in common: a change concerns the run of the host that bears the subject's name. */
const toHypervisor = {
  drives: 'Hypervisor',
  partial: true,
  // drover holds no finalizer on any of them, and nobody else's keeps a run from its work.
  finalizer: null,
  outstanding: () => null,
  stopped: () => [],
  // A person who wants a host left alone switches its lifecycle off; a run that was only ended is missed, and healed.
  final: [],
} as const satisfies Partial<Route>;

// `hold` is drover's too, but another run's: what lifts it is news to the hypervisor's.
const { fromNode, nodeUid, appliedTraits, rollingUpdate, retryHandled, fencedBootId } = hypervisorAnnotations;
const ownAnnotations: readonly string[] = [fromNode, nodeUid, appliedTraits, rollingUpdate, retryHandled, fencedBootId];

/** An object may hold anything. */
const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

const hypervisor: Route = {
  ...ownRoute('Hypervisor'),
  ...toHypervisor,
  watchesAnnotation: (key) => key.startsWith('drover.dev/') && !ownAnnotations.includes(key),
  retryHandled,
  fields: (object) => ({ ...agentFields(object), ...conditionFields(object) }),
  condition: ({ metadata }, mode) =>
    mode === 'observe' || hypervisorMode(metadata.annotations) === 'observe'
      ? hypervisorConditions.observed
      : hypervisorConditions.lifecycle,
};

/** What decisions need of the node agent's facts. How many instances there are is none of it: it changes with every one that moves. */
function agentFields(object: KubeObject): WatchedFields {
  const { libVirtVersion, numInstances, instances } = (object['status'] ?? {}) as {
    libVirtVersion?: unknown;
    numInstances?: unknown;
    instances?: unknown;
  };
  return {
    'status.libVirtVersion': { value: textOf(libVirtVersion), own: isOwn(object, ['f:status', 'f:libVirtVersion']) },
    'status.hasInstances': {
      value:
        (typeof numInstances === 'number' && numInstances > 0) || (Array.isArray(instances) && instances.length > 0),
    },
  };
}

/** Every condition counts that somebody else has written last: the node agent's, `HaEnabled`, and drover's own where a person resets it. */
function conditionFields(object: KubeObject): WatchedFields {
  const conditions = conditionsOf(object);
  const fields = conditions.flatMap(({ type, status, reason }) => {
    if (textOf(type) === null) return [];
    const path = ['f:status', 'f:conditions', `k:${JSON.stringify({ type })}`];
    return [
      [`status.${type}.status`, { value: textOf(status), own: isOwn(object, [...path, 'f:status']) }],
      [`status.${type}.reason`, { value: textOf(reason), own: isOwn(object, [...path, 'f:reason']) }],
    ] as const;
  });
  // Taking it away restarts an onboarding that was aborted. drover takes away others, never this one, and the writer of what is gone is not recorded.
  const isReset = findCondition(conditions, hypervisorConditions.onboarding) === undefined;
  return {
    ...Object.fromEntries(fields),
    ...(isReset && { [`status.${hypervisorConditions.onboarding}.status`]: { value: null } }),
  };
}

const nodeRoute = ({ copiedLabels }: HypervisorRouteSettings): Route => ({
  ...toHypervisor,
  kind: 'Node',
  apiVersion: 'v1',
  plural: 'nodes',
  subject: ({ metadata }) => metadata.name,
  standIn: 'Hypervisor',
  watchesSpec: false,
  watchesLabel: (key) => isNodeLabel(key, copiedLabels),
  watchesAnnotation: isNodeAnnotation,
  retryHandled: null,
  fields: (object) => {
    const { ready, readySinceMs, bootId, cordoned, terminatingSinceMs, inPlaceUpdate, offboardingTaint, internalIp } =
      readNode(object);
    return {
      'spec.unschedulable': { value: cordoned },
      'spec.taints': { value: offboardingTaint },
      'status.ready': { value: ready },
      // From Unknown to False it is as little Ready as before, but machine-controller-manager counts anew.
      'status.readySince': { value: readySinceMs },
      'status.bootID': { value: bootId },
      'status.terminating': { value: terminatingSinceMs },
      'status.inPlaceUpdate': { value: inPlaceUpdate },
      'status.internalIp': { value: internalIp },
    };
  },
  // Where drover only observes it makes no Hypervisor, and without one there is nowhere to say anything.
  isSettled: ({ metadata }, mode) =>
    mode === 'observe' ||
    metadata.deletionTimestamp !== undefined ||
    metadata.labels?.[nodeMarks.virtDriver] === undefined,
  condition: () => null,
});

const hostsEviction: Route = {
  ...toHypervisor,
  kind: 'Eviction',
  apiVersion: kindTable.Eviction.apiVersion,
  plural: kindTable.Eviction.plural,
  subject: hostOf,
  standIn: 'Hypervisor',
  watchesSpec: false,
  watchesLabel: () => false,
  watchesAnnotation: () => false,
  retryHandled: null,
  fields: (object) => {
    const evicting = findCondition(conditionsOf(object), evictionConditions.evicting);
    return {
      'status.Evicting.status': { value: textOf(evicting?.status) },
      'status.Evicting.reason': { value: textOf(evicting?.reason) },
    };
  },
  // What it leaves to do for the host is the Hypervisor's to say.
  isSettled: () => true,
  condition: () => null,
};

/** A Hypervisor, its Node and the Evictions of its host concern the run that drives its lifecycle. */
export const hypervisorRoutes = (settings: HypervisorRouteSettings): readonly Route[] => [
  hypervisor,
  nodeRoute(settings),
  hostsEviction,
];
