import { dataVolumeFinalizer, volumeAnnotations } from '../data-volume/metadata.ts';
import type { DataVolume } from '../crds/data-volume.ts';
import { annotations, dataVolumeId, workflowTypes } from '../ids.ts';
import { type Access, blocksDeletion } from './access.ts';
import { conditionsIn, field, statusOf } from './fields.ts';
import { type ActiveMode, defineKind, type Watch } from './kind.ts';
import { conditionsOf, fullNameOf, type KubeObject, namespaceAndName, textOf } from './object.ts';
import { modeOf, pendingRetry } from './requests.ts';
import { dataSource, dataVolume } from './resources.ts';
import { shownAttention } from './shown.ts';
import {
  job,
  persistentVolumeClaim,
  resourceQuota,
  storageClass,
  volumeSnapshot,
  volumeSnapshotClass,
} from './storage-resources.ts';

/** An object may hold anything. */
interface Named {
  namespace?: unknown;
  name?: unknown;
}
interface AnySpec {
  source?: { pvc?: Named | null; snapshot?: Named | null } | null;
  sourceRef?: Named | null;
}

const specOf = ({ spec }: KubeObject): AnySpec => spec ?? {};

/** Its full name; none where it is not named as a whole. */
const fullNameIn = (own: string, named: Named | null | undefined): string[] => {
  const { namespace = own, name } = named ?? {};
  return typeof namespace === 'string' && typeof name === 'string' ? [`${namespace}/${name}`] : [];
};

/** What a DataVolume has said of its source when its clone began: a DataSource may name another one since. */
function fixedSource({ metadata }: KubeObject): string[] {
  const text = metadata.annotations?.[volumeAnnotations.cloneSource];
  if (text === undefined) return [];
  try {
    return fullNameIn('', JSON.parse(text) as Named);
  } catch {
    return [];
  }
}

const volumeOf = ({ metadata }: KubeObject): string | null =>
  metadata.annotations?.[volumeAnnotations.ownedByDataVolume] ?? null;

/** Any one of them may be what a DataVolume lacks. */
const anyOf = { concerns: 'unreconciled', index: () => ['any'], key: () => 'any' } as const;

const isPlaced = ({ metadata }: KubeObject): boolean =>
  metadata.annotations?.[volumeAnnotations.selectedNode] !== undefined;

/** A volume was there for it: where its class waits for a consumer, nothing is said of that before. */
const isBoundToStatic = (claim: KubeObject): boolean => {
  const { annotations: given = {} } = claim.metadata;
  return (
    statusOf(claim)['phase'] === 'Bound' &&
    given[volumeAnnotations.boundByController] !== undefined &&
    given[volumeAnnotations.storageProvisioner] === undefined
  );
};

/** It is not as its activities expect it, or has its volume without one that looks. */
const isToBeSeen = (claim: KubeObject): boolean =>
  statusOf(claim)['phase'] === 'Lost' || isPlaced(claim) || isBoundToStatic(claim);

/**
 * drover has made it, and it is on its way as it should: its activities observe it, and a signal would only have the
 * run look again.
 */
const isOnItsWay = (claim: KubeObject): boolean => {
  const { deletionTimestamp, annotations: given = {} } = claim.metadata;
  const isMade = given[volumeAnnotations.createdForDataVolume] !== undefined;
  const isComplete = given[volumeAnnotations.populatedFor] !== undefined;
  return isMade && !isComplete && deletionTimestamp === undefined && !isToBeSeen(claim);
};

/** Whose it is, by its owner or by what it says; none where its volume is lost, or where it is being deleted. */
function madeFor(claim: KubeObject): string[] {
  const { namespace = '', deletionTimestamp, annotations: given = {} } = claim.metadata;
  if (deletionTimestamp !== undefined || statusOf(claim)['phase'] === 'Lost') return [];
  const { ownerReferences } = claim.metadata as { ownerReferences?: unknown };
  const owners = Array.isArray(ownerReferences)
    ? (ownerReferences as ({ uid?: unknown; controller?: unknown } | null)[])
    : [];
  const populatedFor = given[volumeAnnotations.populatedFor];
  return [
    owners.find((owner) => owner?.controller === true)?.uid,
    given[volumeAnnotations.createdForDataVolume],
    populatedFor === undefined ? undefined : `${namespace}/${populatedFor}`,
  ].filter((one) => typeof one === 'string');
}

/** A claim is looked up as the target of one DataVolume and as the source of others: each has keys of its own. */
const asSource = (fullName: string): string => `source ${fullName}`;

const dependsOn: readonly Watch[] = [
  {
    // Its own: one that is deleted is made anew. What the run itself waits for, its activities observe.
    resource: persistentVolumeClaim,
    index: (object) => [fullNameOf(object)],
    key: (claim) => (isOnItsWay(claim) ? null : fullNameOf(claim)),
    madeFor,
    predicate: {
      fields: (claim) => ({ 'status.phase': field(isToBeSeen(claim) ? statusOf(claim)['phase'] : null) }),
    },
  },
  {
    // Its source.
    resource: persistentVolumeClaim,
    concerns: 'unreconciled',
    index: (object) => [...fullNameIn('', specOf(object).source?.pvc), ...fixedSource(object)].map(asSource),
    key: (claim) => asSource(fullNameOf(claim)),
    predicate: {
      // By which it says that it is filled: a clone, and an import of CDI.
      annotation: (key) => key === volumeAnnotations.cloneOf || key === volumeAnnotations.podPhase,
      fields: (claim) => ({ 'status.phase': field(statusOf(claim)['phase']) }),
    },
  },
  {
    resource: volumeSnapshot,
    concerns: 'unreconciled',
    index: (object) => [...fullNameIn('', specOf(object).source?.snapshot), ...fixedSource(object)],
    predicate: {
      fields: (snapshot) => ({
        'status.readyToUse': field(statusOf(snapshot)['readyToUse']),
        'status.error': field(statusOf(snapshot)['error']),
      }),
    },
  },
  {
    resource: dataSource,
    concerns: 'unreconciled',
    index: (object) => fullNameIn(object.metadata.namespace ?? '', specOf(object).sourceRef),
    predicate: { generation: true },
  },
  { resource: storageClass, ...anyOf, predicate: { annotation: () => true } },
  { resource: volumeSnapshotClass, ...anyOf, predicate: { annotation: () => true } },
  {
    // One that was raised has room again.
    resource: resourceQuota,
    concerns: 'unreconciled',
    index: ({ metadata: { namespace = '' } }) => [namespace],
    key: ({ metadata: { namespace = '' } }) => namespace,
    predicate: { fields: ({ spec }) => ({ 'spec.hard': field((spec as { hard?: unknown } | undefined)?.hard) }) },
  },
  {
    // A Job that copies.
    resource: job,
    mapFunction: volumeOf,
    predicate: { fields: (object) => ({ 'status.conditions': field(conditionsIn(object)) }) },
  },
];

/** It says so itself: its spec is never changed. What is only observed, or left to CDI, is never brought about. */
function isReconciled(object: DataVolume, mode: ActiveMode): boolean {
  const { deletionTimestamp, finalizers = [], annotations: given = {} } = object.metadata;
  if (deletionTimestamp !== undefined) return !finalizers.includes(dataVolumeFinalizer);
  if (pendingRetry(object) !== null) return false;
  if (given[volumeAnnotations.leftTo] !== undefined) return true;
  if (finalizers.includes(dataVolumeFinalizer)) return false;
  const { phase } = object.status ?? {};
  if (phase === 'Succeeded' || phase === 'Failed') return true;
  const ready = conditionsOf(object as KubeObject).find(({ type }) => type === 'Ready');
  return modeOf(object, mode) === 'observe' && ready?.reason === 'ObserveOnly';
}

const read = (resource: { group: string; plural: string }, why: string): Access => ({
  group: resource.group,
  resources: [resource.plural],
  verbs: ['get', 'list'],
  why,
});

export const dataVolumeKind = defineKind({
  ...dataVolume,
  mode: { default: 'off' },
  workflowType: workflowTypes.cloneDataVolume,
  workflowId: (subject, cluster) => dataVolumeId(...namespaceAndName(subject), cluster),
  input: ['namespace', 'name'],
  describe(subject) {
    const [namespace, name] = namespaceAndName(subject);
    return {
      summary: `Make the volume of DataVolume ${subject}`,
      details: [
        `Clones the source of DataVolume **${subject}** into the PersistentVolumeClaim of its name: snapshot, claim, expansion, clean-up.`,
        `What it waits for is in its conditions: \`drover describe dv ${subject}\`, or \`kubectl describe dv -n ${namespace} ${name}\`.`,
      ],
    };
  },
  finalizer: dataVolumeFinalizer,
  predicate: {
    generation: true,
    annotation: (key) =>
      key === annotations.mode ||
      key === volumeAnnotations.crashConsistent ||
      key === volumeAnnotations.onDeadline ||
      key === volumeAnnotations.prePopulated,
  },
  isReconciled,
  condition: () => 'Ready',
  shown(object) {
    const { phase } = (object.status ?? {}) as { phase?: unknown };
    return shownAttention(textOf(phase), phase === 'Failed' ? 'Failed' : null);
  },
  dependsOn: () => dependsOn,
  role: 'data-volumes',
  access: [
    {
      group: dataVolume.group,
      resources: ['datavolumes'],
      verbs: ['get', 'list', 'patch'],
      why: 'patch: its finalizer, and what was fixed when the clone began. list: whose snapshots are not needed any more.',
    },
    { group: dataVolume.group, resources: ['datavolumes/status'], verbs: ['patch'], why: 'How far its volume is.' },
    blocksDeletion(dataVolume),
    read(dataSource, 'What a sourceRef stands for.'),
    {
      group: dataVolume.group,
      resources: ['storageprofiles', 'cdis', 'cdiconfigs'],
      verbs: ['get', 'list'],
      why: 'How volumes of a class are cloned, and what CDI is told of that.',
    },
    {
      group: dataVolume.group,
      resources: ['objecttransfers'],
      verbs: ['get', 'list', 'create', 'patch', 'delete'],
      why: 'The record of a volume on its way to another namespace.',
    },
    {
      group: dataVolume.group,
      resources: ['objecttransfers/status'],
      verbs: ['patch'],
      why: 'Each step of the way, before it is taken.',
    },
    {
      group: '',
      resources: ['persistentvolumeclaims'],
      verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
      why: 'watch: when it is bound. create: that of the DataVolume, and temporary ones beside its source. patch: its size, and what it says. delete: only those that drover has made.',
    },
    {
      group: '',
      resources: ['persistentvolumes'],
      verbs: ['get', 'patch'],
      why: 'patch: a volume that moves to another namespace is kept (Retain), and bound to the other claim.',
    },
    {
      group: '',
      resources: ['pods'],
      verbs: ['list'],
      why: 'Whether the source is in use.',
    },
    {
      group: '',
      resources: ['resourcequotas'],
      verbs: ['list'],
      why: 'A quota that is raised has room for a claim that was refused.',
    },
    {
      group: '',
      resources: ['events'],
      verbs: ['list'],
      why: 'What the provisioner says of a claim that stays Pending.',
    },
    {
      group: job.group,
      resources: [job.plural],
      verbs: ['get', 'list', 'create', 'delete'],
      why: 'The Job that copies a volume that the storage cannot clone.',
    },
    {
      group: storageClass.group,
      resources: ['storageclasses', 'csidrivers'],
      verbs: ['get', 'list'],
      why: 'What the storage can do.',
    },
    {
      group: volumeSnapshot.group,
      resources: ['volumesnapshots'],
      verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
      why: 'watch: when it is ready. create, patch and delete: temporary ones, which clones of one source share.',
    },
    {
      group: volumeSnapshot.group,
      resources: ['volumesnapshotclasses'],
      verbs: ['get', 'list'],
      why: 'With what snapshots are made.',
    },
    {
      group: volumeSnapshot.group,
      resources: ['volumesnapshotcontents'],
      verbs: ['get', 'list', 'patch'],
      why: 'Whether they are gone from the storage. patch: those of drover’s go with their VolumeSnapshot, whatever their class says.',
    },
    {
      group: 'admissionregistration.k8s.io',
      resources: ['validatingadmissionpolicies', 'validatingadmissionpolicybindings'],
      verbs: ['get'],
      why: 'Whether a DataVolume could only be created by a user who may clone from the namespace of its source.',
    },
  ],
});
