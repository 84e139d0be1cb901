import { findCondition } from '../conditions.ts';
import type { VirtualMachine } from '../crds/virtual-machine.ts';
import { retryHandledAnnotation } from '../eviction/annotations.ts';
import { virtualMachineId, workflowTypes } from '../ids.ts';
import { objectReasons, requiredKeyNotFound, virtualMachineConditions } from '../virtual-machine/conditions.ts';
import {
  virtualMachineAnnotations as vmAnnotations,
  virtualMachineFinalizers,
  virtualMachineLabels,
} from '../virtual-machine/metadata.ts';
import { evaluationName, isEvaluated } from '../virtual-machine/policies.ts';
import { blocksDeletion } from './access.ts';
import { conditionsIn, field, inNamespaceOf, statusOf } from './fields.ts';
import { type ActiveMode, defineKind, type Watch, type WatchedFields, type WatchSettings } from './kind.ts';
import { conditionsOf, isOwn, type KubeObject, namespaceAndName, textOf } from './object.ts';
import { modeOf, pendingRetry } from './requests.ts';
import {
  clusterVirtualMachineImage,
  cnsNodeVmAttachment,
  cnsNodeVmBatchAttachment,
  policyEvaluation,
  secret,
  virtualMachine,
  virtualMachineClass,
  virtualMachineGroup,
  virtualMachineImage,
  virtualMachineImageCache,
} from './resources.ts';
import { shownAttention } from './shown.ts';
import { resourcePolicyKind } from './virtual-machine-set-resource-policy.ts';

/**
 * A VirtualMachine is reconciled, as a Hypervisor is, by `Lifecycle` for this generation; a deleted one when drover
 * holds no finalizer on it. What happens to its VM in vCenter, its class, its image and its group start a run of their
 * own, whatever this says.
 */
function isReconciled({ metadata, status }: VirtualMachine, mode: ActiveMode): boolean {
  if (metadata.deletionTimestamp !== undefined) {
    const held =
      metadata.finalizers?.some((finalizer) => Object.values<string>(virtualMachineFinalizers).includes(finalizer)) ??
      false;
    // Held on purpose, by a pause or a gate: that is said for this generation, and its end is signalled.
    return !held || isSaid(status, virtualMachineConditions.lifecycle, metadata.generation, 'False');
  }
  if (pendingRetry({ metadata }) !== null) return false;
  const isObserved = modeOf({ metadata }, mode) === 'observe';
  return isSaid(
    status,
    isObserved ? virtualMachineConditions.observed : virtualMachineConditions.lifecycle,
    metadata.generation,
  );
}

function isSaid(status: VirtualMachine['status'], type: string, generation: number, as?: 'False'): boolean {
  const condition = findCondition(status?.conditions, type);
  return (
    condition !== undefined &&
    condition.observedGeneration === generation &&
    (as === undefined ? condition.status !== 'Unknown' : condition.status === as)
  );
}

const lackReasons: readonly string[] = [objectReasons.notFound, requiredKeyNotFound];

const vmoperator = 'vmoperator.vmware.com';

/** What drover itself notes, under its own prefix. */
const ownAnnotations: readonly string[] = [
  vmAnnotations.creating,
  vmAnnotations.copies,
  vmAnnotations.disks,
  vmAnnotations.imageCacheAsked,
  vmAnnotations.guestAsked,
  retryHandledAnnotation,
];
const readAnnotations: readonly string[] = [
  vmAnnotations.paused,
  vmAnnotations.skipDelete,
  vmAnnotations.applyPowerStateTime,
  vmAnnotations.fastDeploy,
  vmAnnotations.sameClassResize,
  vmAnnotations.forceBackup,
  vmAnnotations.clusterModuleGroup,
  vmAnnotations.snapshotRevertInProgress,
];
const prefixes = [vmAnnotations.powerOnCheckPrefix, vmAnnotations.deleteCheckPrefix, vmAnnotations.conditionPrefix];

/**
 * Drover notes which vCenter it is in, and which VM there; a user who changes either says that it is another one now.
 */
function watchedFields(object: KubeObject): WatchedFields {
  const value = object.metadata.annotations?.[vmAnnotations.managerId];
  const own = isOwn(object, ['f:metadata', 'f:annotations', `f:${vmAnnotations.managerId}`]);
  const vmId = textOf(((object.status ?? {}) as { uniqueID?: unknown }).uniqueID);
  return {
    ...(vmId !== null && { 'status.uniqueID': { value: vmId, own: isOwn(object, ['f:status', 'f:uniqueID']) } }),
    ...(value !== undefined && { [`metadata.annotations.${vmAnnotations.managerId}`]: { value, own } }),
    ...volumeFields(object),
    ...(isEvaluated(object) && { 'metadata.labels': field(labelsOf(object)) }),
  };
}

/** Policies may select a VM by its labels. Without those that drover writes. */
const labelsOf = ({ metadata: { labels = {} } }: KubeObject): unknown =>
  Object.entries(labels)
    .filter(([key]) => key !== virtualMachineLabels.zone && key !== virtualMachineLabels.imageCache)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));

/** Volumes are attached by another controller, which says so in the status; a VM is not powered on without them. */
function volumeFields(object: KubeObject): WatchedFields {
  const { volumes } = (object.status ?? {}) as { volumes?: unknown };
  if (!Array.isArray(volumes)) return {};
  const rows = (volumes as ({ name?: unknown; type?: unknown; attached?: unknown } | null)[]).flatMap((volume) => {
    const { name, type = 'Managed', attached } = volume ?? {};
    if (typeof name !== 'string') return [];
    const own = isOwn(object, ['f:status', 'f:volumes', `k:${JSON.stringify({ name, type })}`, 'f:attached']);
    return [[`status.volumes.${name}`, { value: attached === true, own }] as const];
  });
  return Object.fromEntries(rows);
}

/** An object may hold anything. */
interface AnySpec {
  className?: unknown;
  imageName?: unknown;
  image?: { kind?: unknown; name?: unknown } | null;
  groupName?: unknown;
  reserved?: { resourcePolicyName?: unknown } | null;
  hardware?: { cdrom?: unknown } | null;
  /** Before v1alpha5. */
  cdrom?: unknown;
}

const specOf = ({ spec }: KubeObject): AnySpec => spec ?? {};

/** Names of the images of a kind: its own, and those of its CD-ROM drives. */
function imagesOf(object: KubeObject, kind: string): unknown[] {
  const { image, imageName, hardware, cdrom } = specOf(object);
  const given = hardware?.cdrom ?? cdrom;
  const drives: ({ image?: AnySpec['image'] } | null)[] = Array.isArray(given) ? given : [];
  const own = image ?? { kind: 'VirtualMachineImage', name: imageName };
  return [own, ...drives.map((drive) => drive?.image)].flatMap((named) => (named?.kind === kind ? [named.name] : []));
}

const isText = (value: unknown): value is string => typeof value === 'string';

/** An object may hold anything, and what reads it may know less of it: only what a run reads counts. */
const rowsOf = (list: unknown): Record<string, unknown>[] =>
  Array.isArray(list)
    ? list.filter((row): row is Record<string, unknown> => typeof row === 'object' && row !== null)
    : [];
const locationsIn = (cache: KubeObject): unknown[] =>
  rowsOf(statusOf(cache)['locations']).map(({ datacenterID, datastoreID, profileID, conditions, files }) => [
    [datacenterID, datastoreID, profileID],
    rowsOf(conditions).map(({ type, status, reason }) => [type, status, reason]),
    rowsOf(files).map(({ id, type, diskType }) => [id, type, diskType]),
  ]);
const membersIn = (group: KubeObject): unknown[] =>
  rowsOf(statusOf(group)['members']).map(({ kind = 'VirtualMachine', name, placement }) => {
    const { zoneID, pool, node, datastores } = (placement ?? {}) as Record<string, unknown>;
    return [kind, name, zoneID, pool, node, rowsOf(datastores).map(({ id }) => id)];
  });
const resultsIn = (evaluation: KubeObject): unknown[] =>
  rowsOf(statusOf(evaluation)['policies']).map(({ apiVersion, kind, name, observedGeneration, tags }) => [
    [apiVersion, kind, name],
    observedGeneration,
    tags,
  ]);
const modulesIn = (policy: KubeObject): unknown[] =>
  rowsOf(statusOf(policy)['clustermodules']).map((row) => [row['groupName'], row['moduleUUID'], row['clusterMoID']]);
const poolsIn = (policy: KubeObject): unknown[] =>
  rowsOf(statusOf(policy)['resourcePools']).map((row) => [row['clusterMoID'], row['childResourcePoolMoID']]);

const image = {
  // Needed while its VM is made.
  concerns: 'unreconciled',
  predicate: {
    fields: (object: KubeObject) => ({
      'status.conditions': field(conditionsIn(object)),
      'status.providerItemID': field(statusOf(object)['providerItemID']),
      'status.type': field(statusOf(object)['type']),
    }),
  },
} as const;

/**
 * What VirtualMachines name, and wait for. StorageClasses and the vCenter are looked at by the runs that wait; so are
 * Secrets, as to watch them would be to read all of them.
 */
function dependsOn({ imageCacheNamespace, groups }: WatchSettings): readonly Watch[] {
  const always: Watch[] = [
    {
      resource: virtualMachineClass,
      predicate: { generation: true },
      index: (vm) => inNamespaceOf(vm, specOf(vm).className),
    },
    {
      ...image,
      resource: virtualMachineImage,
      index: (vm) => imagesOf(vm, 'VirtualMachineImage').flatMap((name) => inNamespaceOf(vm, name)),
    },
    {
      ...image,
      resource: clusterVirtualMachineImage,
      index: (vm) => imagesOf(vm, 'ClusterVirtualMachineImage').filter(isText),
    },
    {
      resource: resourcePolicyKind,
      concerns: 'unreconciled',
      predicate: {
        generation: true,
        fields: (policy) => ({
          'status.clustermodules': field(modulesIn(policy)),
          'status.resourcePools': field(poolsIn(policy)),
        }),
      },
      index: (vm) => inNamespaceOf(vm, specOf(vm).reserved?.resourcePolicyName),
    },
  ];
  const evaluations: Watch = {
    resource: policyEvaluation,
    optional: true,
    predicate: {
      fields: (evaluation) => ({
        'status.conditions': field(conditionsIn(evaluation)),
        'status.observedGeneration': field(statusOf(evaluation)['observedGeneration']),
        'status.policies': field(resultsIn(evaluation)),
      }),
    },
    index: (vm) => (isEvaluated(vm) ? inNamespaceOf(vm, evaluationName(vm.metadata.name)) : []),
  };
  const caches = (namespace: string): Watch => ({
    resource: virtualMachineImageCache,
    namespace,
    optional: true,
    concerns: 'unreconciled',
    predicate: {
      fields: (cache) => ({
        'status.conditions': field(conditionsIn(cache)),
        'status.locations': field(locationsIn(cache)),
      }),
    },
    // The one that it waits for.
    index: ({ metadata: { labels } }) =>
      [labels?.[virtualMachineLabels.imageCache]].filter(isText).map((name) => `${namespace}/${name}`),
  });
  const group: Watch = {
    resource: virtualMachineGroup,
    optional: true,
    predicate: { generation: true, fields: (one) => ({ 'status.members': field(membersIn(one)) }) },
    index: (vm) => inNamespaceOf(vm, specOf(vm).groupName),
  };
  return [
    ...always,
    evaluations,
    ...(imageCacheNamespace === null ? [] : [caches(imageCacheNamespace)]),
    ...(groups ? [group] : []),
  ];
}

export const virtualMachineKind = defineKind({
  ...virtualMachine,
  mode: { default: 'off' },
  workflowType: workflowTypes.reconcileVirtualMachine,
  workflowId: (subject, cluster) => virtualMachineId(...namespaceAndName(subject), cluster),
  input: ['namespace', 'name'],
  describe(subject) {
    const [namespace, name] = namespaceAndName(subject);
    return {
      summary: `Drive VM ${subject}`,
      details: [
        `Brings the VM of VirtualMachine **${subject}** to where its spec wants it: made, configured, on or off, or gone.`,
        `What it waits for, and why, is in the conditions: \`kubectl describe vm -n ${namespace} ${name}\`.`,
      ],
    };
  },
  predicate: {
    generation: true,
    label: (key) => (virtualMachineLabels.clusterRoles as readonly string[]).includes(key),
    annotation: (key) =>
      readAnnotations.includes(key) ||
      prefixes.some((prefix) => key.startsWith(prefix)) ||
      (key.startsWith('drover.dev/') && !ownAnnotations.includes(key)),
    fields: watchedFields,
  },
  isReconciled,
  lacksSecret(object) {
    const ready = findCondition(conditionsOf(object), virtualMachineConditions.bootstrapReady);
    return ready?.status === 'False' && lackReasons.includes(textOf(ready.reason) ?? '');
  },
  condition: ({ metadata }, mode) =>
    modeOf({ metadata }, mode) === 'observe' ? virtualMachineConditions.observed : virtualMachineConditions.lifecycle,
  shown(object) {
    const lifecycle = findCondition(conditionsOf(object), virtualMachineConditions.lifecycle);
    const { generation, deletionTimestamp } = object.metadata;
    const reason = textOf(lifecycle?.reason);
    // Paused on purpose, unless it is being deleted.
    const isWanted = reason === 'Paused' && deletionTimestamp === undefined;
    const isBlocked = lifecycle?.status === 'False' && lifecycle.observedGeneration === generation && !isWanted;
    return shownAttention(reason, isBlocked ? reason : null);
  },
  dependsOn,
  role: 'virtual-machines',
  access: [
    {
      group: vmoperator,
      resources: ['virtualmachines'],
      verbs: ['get', 'list', 'patch'],
      why:
        "patch: finalizer, labels and annotations that record what was done, and what upstream's webhooks would fill in. Never create or " +
        "delete: VirtualMachines are users'. list: whose VMs are gone, when no run has watched the vCenter for a while.",
    },
    {
      group: vmoperator,
      resources: ['virtualmachines/status'],
      verbs: ['patch'],
      why: 'The object always says what is being waited for and why.',
    },
    blocksDeletion(virtualMachine),
    {
      group: vmoperator,
      resources: [
        'virtualmachineclasses',
        'virtualmachineimages',
        'clustervirtualmachineimages',
        'virtualmachinesetresourcepolicies',
      ],
      verbs: ['get'],
      why: 'What a VirtualMachine names; each by its name.',
    },
    {
      group: vmoperator,
      resources: ['virtualmachinegroups'],
      verbs: ['get'],
      when: 'groups',
      why: 'What a VirtualMachine names; each by its name.',
    },
    {
      group: 'storage.k8s.io',
      resources: ['storageclasses'],
      verbs: ['get'],
      why: 'What a VirtualMachine names; each by its name.',
    },
    {
      group: '',
      resources: ['persistentvolumeclaims'],
      verbs: ['get', 'create', 'patch', 'delete'],
      why:
        'Whether the claims of volumes are bound; for backups, which disk is whose; each by its name. patch: the zone of the VM, on a claim that ' +
        'waits for its first consumer. create, delete: instance storage, with the VirtualMachine as owner; only its own are deleted.',
    },
    {
      group: cnsNodeVmAttachment.group,
      resources: [cnsNodeVmAttachment.plural],
      verbs: ['get', 'create', 'delete'],
      why: 'The vSphere CSI driver attaches a volume for each. Made with the VirtualMachine as owner; only its own are deleted.',
    },
    {
      group: cnsNodeVmBatchAttachment.group,
      resources: [cnsNodeVmBatchAttachment.plural],
      verbs: ['get', 'create', 'patch', 'delete'],
      why: 'The same for all volumes of a VM, where the driver has it.',
    },
    {
      group: policyEvaluation.group,
      resources: [policyEvaluation.plural],
      verbs: ['get', 'create', 'patch'],
      why: 'Has the policies of a VirtualMachine evaluated. Made with the VirtualMachine as owner, which garbage collection takes it with.',
    },
    {
      group: vmoperator,
      resources: ['virtualmachineimagecaches'],
      verbs: ['get', 'create', 'patch'],
      namespace: 'system',
      when: 'fastDeploy',
      why: "Fast deploy: which image's files shall be cached, and where. Never delete: other VMs may need them.",
    },
    {
      group: secret.group,
      resources: [secret.plural],
      verbs: ['get'],
      role: 'bootstrap',
      when: 'optional',
      why: 'By name, in the namespace of the VirtualMachine: RBAC cannot say which those are. Never list or watch.',
    },
  ],
});
