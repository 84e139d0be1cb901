import { findCondition } from '../conditions.ts';
import type { Hypervisor } from '../crds/hypervisor.ts';
import { evictionConditions } from '../eviction/conditions.ts';
import { attentionOf } from '../hypervisor/attention.ts';
import { hypervisorConditions } from '../hypervisor/conditions.ts';
import { hypervisorMode } from '../hypervisor/read-hypervisor.ts';
import { isNodeAnnotation, isNodeLabel, readNode } from '../hypervisor/read-node.ts';
import { annotations, hypervisorAnnotations, hypervisorId, nodeMetadata, workflowTypes } from '../ids.ts';
import { evictionKind, hostOf } from './eviction.ts';
import { type ActiveMode, defineKind, type Watch, type WatchedFields, type WatchSettings } from './kind.ts';
import { conditionsOf, isOwn, type KubeObject, textOf } from './object.ts';
import { node } from './resources.ts';
import { type Shown, shownAttention } from './shown.ts';

/**
 * A Hypervisor is reconciled when
 * - it is being deleted: drover holds no finalizer on it; or
 * - no retry is asked for, as for an Eviction; and
 * - `Lifecycle` is True (it is where it should be) or False (it is blocked elsewhere, and an operator has to do
 *   something) for this generation; where drover only observes, `Observed` instead.
 *
 * What its Node, its Evictions and Nova say is not in the object: their changes start a run, whatever this says.
 */
function isReconciled({ metadata, status }: Hypervisor, mode: ActiveMode): boolean {
  if (metadata.deletionTimestamp !== undefined) return true;
  const given = metadata.annotations ?? {};
  if (given[annotations.retry] !== undefined && given[annotations.retry] !== given[hypervisorAnnotations.retryHandled])
    return false;
  const isObserved = mode === 'observe' || hypervisorMode(given) === 'observe';
  const final = findCondition(
    status?.conditions,
    isObserved ? hypervisorConditions.observed : hypervisorConditions.lifecycle,
  );
  return final !== undefined && final.status !== 'Unknown' && final.observedGeneration === metadata.generation;
}

const kvm = 'kvm.cloud.sap';

// `hold` is drover's too, but another run's: what lifts it concerns the hypervisor's.
const { fromNode, nodeUid, lastBootId, appliedTraits, rollingUpdate, retryHandled, userHold, fencedBootId } =
  hypervisorAnnotations;
const ownAnnotations: readonly string[] = [
  fromNode,
  nodeUid,
  lastBootId,
  appliedTraits,
  rollingUpdate,
  retryHandled,
  userHold,
  fencedBootId,
];

/**
 * What decisions need of the node agent's facts. How many instances there are is none of it: it changes with every one
 * that moves.
 */
function agentFields(object: KubeObject): WatchedFields {
  const { libVirtVersion, numInstances, instances } = (object.status ?? {}) as {
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

/**
 * Every condition counts that another writer has written last: the node agent's, `HaEnabled`, and drover's own where a
 * user resets it.
 */
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
  // Taking it away restarts an onboarding that was aborted. drover takes away others, never this one, and the writer of
  // what is gone is not recorded.
  const isReset = findCondition(conditions, hypervisorConditions.onboarding) === undefined;
  return {
    ...Object.fromEntries(fields),
    ...(isReset && { [`status.${hypervisorConditions.onboarding}.status`]: { value: null } }),
  };
}

/** A Node concerns the Hypervisor of its name. */
const nodes = ({ copiedLabels }: WatchSettings): Watch => ({
  resource: node,
  predicate: {
    label: (key) => isNodeLabel(key, copiedLabels),
    annotation: isNodeAnnotation,
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
  },
  mapFunction: ({ metadata }) => metadata.name,
  // Where drover only observes it makes no Hypervisor, and without one there is nowhere to say anything.
  creates: ({ metadata }, mode) =>
    mode === 'act' &&
    metadata.deletionTimestamp === undefined &&
    metadata.labels?.[nodeMetadata.virtDriver] !== undefined,
});

/** An Eviction concerns the Hypervisor of its host. What it leaves to do for the host is the Hypervisor's to say. */
const evictions: Watch = {
  resource: evictionKind,
  predicate: {
    fields: (object) => {
      const evicting = findCondition(conditionsOf(object), evictionConditions.evicting);
      return {
        'status.Evicting.status': { value: textOf(evicting?.status) },
        'status.Evicting.reason': { value: textOf(evicting?.reason) },
      };
    },
  },
  mapFunction: hostOf,
};

/** Where drover only observes, no user has to act for it. */
function shown(object: KubeObject, mode: ActiveMode): Shown {
  const { metadata, spec } = object;
  const conditions = conditionsOf(object).map((one) => ({ ...one, message: textOf(one.message) ?? '' }));
  if (mode === 'observe' || hypervisorMode(metadata.annotations) === 'observe')
    return shownAttention(findCondition(conditions, hypervisorConditions.observed)?.reason ?? null, null);
  const { lifecycleEnabled } = (spec ?? {}) as { lifecycleEnabled?: unknown };
  const { generation } = metadata;
  const lifecycle = findCondition(conditions, hypervisorConditions.lifecycle);
  return {
    ...shownAttention(
      textOf(lifecycle?.reason),
      textOf(attentionOf({ conditions, generation, lifecycleEnabled: lifecycleEnabled !== false })),
    ),
    signs: conditions.flatMap(({ type, status, reason }) =>
      watchedSigns.includes(type) && status === 'False' && reason === 'Failed' ? [{ condition: type, reason }] : [],
    ),
  };
}

/** What the host offers to the scheduler is not what its Hypervisor says. */
const watchedSigns: readonly string[] = [hypervisorConditions.traitsUpdated, hypervisorConditions.aggregatesUpdated];

export const hypervisorKind = defineKind({
  group: kvm,
  version: 'v1',
  kind: 'Hypervisor',
  plural: 'hypervisors',
  namespaced: false,
  mode: { default: 'off' },
  workflowType: workflowTypes.reconcileHypervisor,
  workflowId: hypervisorId,
  input: ['hypervisor'],
  host: (hypervisor) => hypervisor,
  describe: (hypervisor) => ({
    summary: `Drive hypervisor ${hypervisor}`,
    details: [
      `Brings compute host **${hypervisor}** to where its Hypervisor and its Node want it: into service, into maintenance, or out of Nova.`,
      `What it waits for, and why, is in the conditions: \`kubectl describe hypervisor ${hypervisor}\`.`,
    ],
  }),
  predicate: {
    generation: true,
    annotation: (key) => key.startsWith('drover.dev/') && !ownAnnotations.includes(key),
    fields: (object) => ({ ...agentFields(object), ...conditionFields(object) }),
  },
  isReconciled,
  condition: ({ metadata }, mode) =>
    mode === 'observe' || hypervisorMode(metadata.annotations) === 'observe'
      ? hypervisorConditions.observed
      : hypervisorConditions.lifecycle,
  shown,
  dependsOn: (settings) => [nodes(settings), evictions],
  access: [
    {
      group: kvm,
      resources: ['hypervisors'],
      verbs: ['get', 'list', 'create', 'patch'],
      why:
        'create and patch: a Node with the virt-driver label gets a Hypervisor, and what the Node says goes into it. ' +
        'Never delete: a Hypervisor outlives its Node.',
    },
    { group: kvm, resources: ['hypervisors/status'], verbs: ['patch'], why: 'How far each hypervisor has come.' },
    {
      group: kvm,
      resources: ['evictions'],
      verbs: ['get', 'list', 'create', 'patch', 'delete'],
      why: 'A host in maintenance is emptied.',
    },
    {
      group: '',
      resources: ['nodes'],
      verbs: ['get', 'list'],
      why:
        'What a Hypervisor takes over from its Node. list: how many hosts seem to have failed at once; many are nearly always one broken ' +
        'network, and nothing is fenced then.',
    },
    {
      group: '',
      resources: ['nodes'],
      verbs: ['patch'],
      role: 'drain-guard',
      when: 'drainGuard',
      why: 'The taint kvm.cloud.sap/offboarding. Kubernetes cannot restrict `patch` to a field.',
    },
    {
      group: '',
      resources: ['pods'],
      verbs: ['list'],
      role: 'drain-guard',
      when: 'drainGuard',
      why: 'Which agents that taint has not driven off yet.',
    },
    {
      group: 'policy',
      resources: ['poddisruptionbudgets'],
      verbs: ['get', 'create', 'update'],
      namespace: 'kube-system',
      role: 'drain-guard',
      when: 'drainGuard',
      why: 'Called maint-<node>. Never delete: it goes with its Node.',
    },
    {
      group: 'apps',
      resources: ['deployments'],
      verbs: ['get', 'create', 'update'],
      namespace: 'kube-system',
      role: 'drain-guard',
      when: 'drainGuard',
      why: 'Called maint-<node>. Never delete: it goes with its Node.',
    },
    {
      group: 'cert-manager.io',
      resources: ['certificates'],
      verbs: ['get', 'create', 'patch'],
      namespace: 'certificates',
      role: 'certificates',
      when: 'certificates',
      why: 'Called libvirt-<node>, as the operator before drover made them. Never delete: it goes with its Node. Secrets are never read.',
    },
    {
      group: 'apiextensions.k8s.io',
      resources: ['customresourcedefinitions'],
      verbs: ['get'],
      names: ['certificates.cert-manager.io'],
      role: 'certificates',
      when: 'certificates',
      why: 'Whether cert-manager is installed.',
    },
  ],
});
