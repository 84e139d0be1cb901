import type { StorageProfile } from '../crds/storage-profile.ts';
import { volumeAnnotations } from '../data-volume/metadata.ts';
import { annotations, storageProfileId, workflowTypes } from '../ids.ts';
import { type ActiveMode, defineKind, type Watch } from './kind.ts';
import type { KubeObject } from './object.ts';
import { modeOf, pendingRetry } from './requests.ts';
import { storageProfile } from './resources.ts';
import { storageClass, volumeSnapshotClass } from './storage-resources.ts';

const dependsOn: readonly Watch[] = [
  {
    resource: storageClass,
    predicate: { annotation: (key) => key === volumeAnnotations.classCloneStrategy },
    mapFunction: ({ metadata }) => metadata.name,
    creates: ({ metadata }: KubeObject, mode: ActiveMode) => mode === 'act' && metadata.deletionTimestamp === undefined,
  },
  {
    // Any one of them may be the best for a driver.
    resource: volumeSnapshotClass,
    index: () => ['any'],
    key: () => 'any',
    predicate: { annotation: (key) => key === volumeAnnotations.isDefaultSnapshotClass },
  },
];

/** It says so itself; what else counts, its run observes. What is only observed says nothing. */
const isReconciled = (object: StorageProfile, mode: ActiveMode): boolean =>
  pendingRetry(object) === null &&
  (modeOf(object, mode) === 'observe' || object.status?.storageClass === object.metadata.name);

/**
 * How volumes of a StorageClass are claimed and cloned: the StorageProfile has the name of its class, and is
 * made for it.
 */
export const storageProfileKind = defineKind({
  ...storageProfile,
  mode: { default: 'off' },
  workflowType: workflowTypes.reconcileStorageProfile,
  workflowId: storageProfileId,
  input: ['name'],
  describe: (name) => ({
    summary: `Say how volumes of ${name} are cloned`,
    details: [
      `Says in StorageProfile **${name}** what volumes of the StorageClass of that name can be, and how they are cloned: docs/data-volumes.md.`,
      `What users say in its spec goes first: \`kubectl describe storageprofile ${name}\`.`,
    ],
  }),
  predicate: {
    generation: true,
    annotation: (key) => key === volumeAnnotations.minimumSupportedPvcSize || key === annotations.mode,
    // Nothing in its status says for which generation it is: the digest does.
    fields: ({ metadata: { generation } }) => ({ 'metadata.generation': { value: generation } }),
  },
  isReconciled,
  dependsOn: () => dependsOn,
  role: 'data-volumes',
  access: [
    {
      group: storageProfile.group,
      resources: ['storageprofiles'],
      verbs: ['get', 'list', 'create', 'patch', 'delete'],
      why: 'Each StorageClass gets one. patch: the retry that was taken up. delete: one that drover has made, when its class is gone.',
    },
    {
      group: storageProfile.group,
      resources: ['storageprofiles/status'],
      verbs: ['patch'],
      why: 'What volumes of the class can be, and how they are cloned.',
    },
    {
      group: storageClass.group,
      resources: [storageClass.plural],
      verbs: ['get'],
      why: 'Whose volumes they are.',
    },
    {
      group: volumeSnapshotClass.group,
      resources: [volumeSnapshotClass.plural],
      verbs: ['list'],
      why: 'With what snapshots of them are made.',
    },
  ],
});
