import type { StorageProfile } from '../../../contracts/crds/storage-profile.ts';
import { setVolumeConditions } from '../../../contracts/data-volume/conditions.ts';
import { type ComputedProfile, computeProfile } from '../../../contracts/data-volume/storage-profile.ts';
import type {
  ProfileStatus,
  StorageProfileActivities,
  StorageProfileInput,
  StorageProfileObservation,
} from '../../../contracts/data-volume/storage-profile-run.ts';
import { retryHandledAnnotation } from '../../../contracts/eviction/annotations.ts';
import { storageProfileId } from '../../../contracts/ids.ts';
import { digestOfRead } from '../../../contracts/kinds/digest.ts';
import { modeOf, pendingRetry } from '../../../contracts/kinds/requests.ts';
import { storageProfileKind } from '../../../contracts/kinds/storage-profile.ts';
import type { RunSettings, Unobserved } from '../../../contracts/runs.ts';
import { isFailure, isUnknownKind } from '../../../runtime/kubernetes/kubernetes-faults.ts';
import type { KubernetesObjects } from '../../../runtime/kubernetes/objects.ts';
import { resources } from '../../../runtime/kubernetes/resources.ts';
import { retryConflicts } from '../../../runtime/kubernetes/retry-conflicts.ts';
import {
  type SnapshotClass,
  type StorageClass,
  storageResources,
} from '../../../runtime/kubernetes/storage-resources.ts';
import { type ActivityContext, contextOf, type ForActivities } from '../../lib/context.ts';
import { readStorageProfileInput } from '../../lib/input.ts';
import { mutate } from '../../lib/mutate.ts';
import { recordReads } from '../lib/record-reads.ts';

/** What the composition root gives to the activities on StorageProfiles. */
export interface StorageProfileDependencies extends ForActivities<ActivityContext> {
  client: KubernetesObjects;
  /** Null: the kind is switched off. */
  settings: RunSettings | null;
  /** Prefix of workflow ids; empty by default. */
  cluster: string;
  /** Signals the profile's own run, starting it if need be. */
  signalWithStart: (input: StorageProfileInput) => Promise<void>;
}

type Tools = Omit<StorageProfileDependencies, 'scope'> & ActivityContext;

/** Of those that drover has made, as Kubernetes recommends it. */
const madeBy = { 'app.kubernetes.io/managed-by': 'drover' } as const;
const [[managedBy, drover]] = Object.entries(madeBy) as [[string, string]];

const profiles = resources.StorageProfile;

/** Activities on StorageProfiles, queue `volumes`. */
export function createStorageProfileActivities(dependencies: StorageProfileDependencies): StorageProfileActivities {
  const tools = (): Tools => contextOf(dependencies);
  return {
    observeStorageProfile: (input) => observe(tools(), input),
    createStorageProfile: (input) => create(tools(), input),
    deleteStorageProfile: (request) => retryConflicts(() => deleteOwn(tools(), request)),
    publishStorageProfile: (request) => retryConflicts(() => publish(tools(), request)),
  };
}

async function observe(tools: Tools, input: StorageProfileInput): Promise<StorageProfileObservation | Unobserved> {
  const { client, settings, cluster, scope } = tools;
  const { name } = readStorageProfileInput(input);
  if (settings === null)
    return {
      kind: 'nothing',
      message: `StorageProfiles are switched off in drover’s settings (modes.StorageProfile); ${name} is left as it is`,
    };
  const workflowId = storageProfileId(name, cluster);
  if (scope.run !== null && scope.run.workflowId !== workflowId) {
    await tools.signalWithStart({ name });
    return { kind: 'handedOver', message: `Run ${workflowId} drives ${name}` };
  }
  const { client: recording, read } = recordReads(client);
  const [object, found, snapshotClasses] = await Promise.all([
    client.get(profiles, { name }, scope.signal),
    recording.get(storageResources.StorageClass, { name }, scope.signal),
    listSnapshotClasses({ ...tools, client: recording }),
  ]);
  const storageClass = found?.metadata.deletionTimestamp === undefined ? found : null;
  const profile =
    storageClass === null ? null : computeProfile({ class: storageClass, profile: object, snapshotClasses });
  const computed = storageClass === null || profile === null ? null : statusOf(storageClass, profile);
  return {
    kind: 'observed',
    digest: digestOfRead(storageProfileKind, object, read),
    settings: object === null ? settings : { ...settings, mode: modeOf(object, settings.mode) },
    retry: object === null ? null : pendingRetry(object),
    desired:
      object === null
        ? null
        : {
            uid: object.metadata.uid,
            generation: object.metadata.generation,
            deleting: object.metadata.deletionTimestamp !== undefined,
            isOwn: object.metadata.labels?.[managedBy] === drover,
          },
    observed: {
      hasClass: storageClass !== null,
      computed,
      snapshotClassWhy: profile?.snapshotClassWhy ?? '',
      isSaid: object !== null && computed !== null && changeOf(object, computed, '') === null,
    },
  };
}

/** Where snapshots are not installed there is no class for them. */
async function listSnapshotClasses({ client, scope }: Tools): Promise<SnapshotClass[]> {
  try {
    return await client.list(storageResources.VolumeSnapshotClass, {}, scope.signal);
  } catch (error) {
    if (isUnknownKind(error)) return [];
    throw error;
  }
}

const statusOf = (
  { metadata, provisioner }: StorageClass,
  { cloneStrategy, claimPropertySets, dataImportCronSourceFormat, snapshotClass, recognized }: ComputedProfile,
): ProfileStatus => ({
  storageClass: metadata.name,
  provisioner,
  cloneStrategy,
  claimPropertySets,
  dataImportCronSourceFormat,
  snapshotClass,
  recognized,
});

async function create(tools: Tools, input: StorageProfileInput): Promise<void> {
  const { client, scope } = tools;
  const { name } = readStorageProfileInput(input);
  const entry = {
    action: 'createStorageProfile',
    cause: 'its StorageClass',
    object: `storageprofile/${name}`,
    before: null,
    after: { spec: {} },
  };
  // A name that is taken meanwhile is the next observation's.
  await mutate(tools, entry, () =>
    client.create(profiles, { metadata: { name, labels: madeBy }, spec: {} }, scope.signal),
  );
}

async function deleteOwn(tools: Tools, { name, uid }: StorageProfileInput & { uid: string }): Promise<void> {
  const { client, scope } = tools;
  const [found, storageClass] = await Promise.all([
    client.get(profiles, { name }, scope.signal),
    client.get(storageResources.StorageClass, { name }, scope.signal),
  ]);
  const isOwn = found?.metadata.uid === uid && found.metadata.labels?.[managedBy] === drover;
  if (found === null || !isOwn || storageClass !== null) return;
  const { resourceVersion } = found.metadata;
  const entry = {
    action: 'deleteStorageProfile',
    cause: 'its StorageClass is gone',
    object: `storageprofile/${name}`,
    before: { spec: found.spec ?? {} },
    after: null,
  };
  await mutate(tools, entry, () => client.delete(profiles, { name, uid, resourceVersion }, scope.signal));
}

/** What the object says of itself is no mutation that `drover stop` holds back. */
async function publish(
  { client, scope, clock }: Tools,
  {
    name,
    uid,
    status,
    retryHandled,
  }: StorageProfileInput & { uid: string; status: ProfileStatus; retryHandled: string | null },
): Promise<void> {
  const found = await client.get(profiles, { name }, scope.signal);
  if (found?.metadata.uid !== uid) return;
  try {
    const change = changeOf(found, status, new Date(clock.now()).toISOString());
    const { metadata } =
      change === null ? found : await client.patchStatus(profiles, found.metadata, change, scope.signal);
    if (retryHandled === null || metadata.annotations?.[retryHandledAnnotation] === retryHandled) return;
    await client.patch(
      profiles,
      metadata,
      { metadata: { annotations: { [retryHandledAnnotation]: retryHandled } } },
      scope.signal,
    );
  } catch (error) {
    if (!isFailure(error, 'ObjectNotFound')) throw error;
  }
}

/** Null: it says so. */
function changeOf({ status = {} }: StorageProfile, { recognized, ...wanted }: ProfileStatus, now: string) {
  const { conditions = [], ...current } = status;
  const fields = Object.entries(wanted).filter(
    ([field, value]) => JSON.stringify(current[field as keyof typeof current] ?? null) !== JSON.stringify(value),
  );
  const before = conditions.find(({ type }) => type === 'Recognized');
  const isRecognized =
    before?.status === recognized.status &&
    before.reason === recognized.reason &&
    (before.message ?? '') === recognized.message;
  if (fields.length === 0 && isRecognized) return null;
  return {
    ...wanted,
    claimPropertySets: [...wanted.claimPropertySets],
    conditions: setVolumeConditions(conditions, [{ type: 'Recognized', ...recognized }], now),
  };
}
