import type { CdiConfig } from '../../../contracts/crds/cdi.ts';
import type { ClassFacts } from '../../../contracts/data-volume/data-volume.ts';
import { type Strategy, strategies } from '../../../contracts/data-volume/metadata.ts';
import { type Overheads, readOverheads } from '../../../contracts/data-volume/size.ts';
import { type ComputedProfile, computeProfile } from '../../../contracts/data-volume/storage-profile.ts';
import { isUnknownKind } from '../../../runtime/kubernetes/kubernetes-faults.ts';
import { neighbourResources, resources } from '../../../runtime/kubernetes/resources.ts';
import {
  type SnapshotClass,
  type StorageClass,
  storageResources,
} from '../../../runtime/kubernetes/storage-resources.ts';
import type { VolumeTools } from './dependencies.ts';

/** What the cluster has to make and clone volumes with. */
export interface StorageWorld {
  classes: readonly StorageClass[];
  snapshotClasses: readonly SnapshotClass[];
  /** Of the spec of the CDI object; null: it says nothing. */
  strategyOverride: Strategy | null;
  overheads: Overheads;
}

/** A kind that the cluster does not know has no objects. */
async function unlessUnknown<Found>(read: Promise<Found>, none: Found): Promise<Found> {
  try {
    return await read;
  } catch (error) {
    if (!isUnknownKind(error)) throw error;
    return none;
  }
}

export async function readStorageWorld({ client, scope, filesystemOverhead }: VolumeTools): Promise<StorageWorld> {
  const { signal } = scope;
  const [classes, snapshotClasses, installations, config] = await Promise.all([
    client.listValid(storageResources.StorageClass, {}, signal),
    unlessUnknown(client.listValid(storageResources.VolumeSnapshotClass, {}, signal), []),
    unlessUnknown(client.listValid(neighbourResources.Cdi, {}, signal), []),
    unlessUnknown<CdiConfig | null>(client.get(neighbourResources.CdiConfig, { name: 'config' }, signal), null),
  ]);
  const named = installations.map(({ spec }) => spec?.cloneStrategyOverride);
  return {
    classes,
    snapshotClasses,
    strategyOverride: strategies.find((one) => named.includes(one)) ?? null,
    overheads: readOverheads(config) ?? filesystemOverhead,
  };
}

/** By its StorageProfile, as far as there is one. */
export async function readProfile(
  { client, scope }: VolumeTools,
  world: StorageWorld,
  storageClass: StorageClass,
): Promise<ComputedProfile> {
  const { name } = storageClass.metadata;
  const profile = await unlessUnknown(client.get(resources.StorageProfile, { name }, scope.signal), null);
  const computed = computeProfile({ class: storageClass, profile, snapshotClasses: world.snapshotClasses });
  // CDI may know more of the class than drover does.
  return { ...computed, cloneStrategy: profile?.status?.cloneStrategy ?? computed.cloneStrategy };
}

export async function describeClass(
  { client, scope }: VolumeTools,
  { metadata: { name }, provisioner, allowVolumeExpansion, volumeBindingMode }: StorageClass,
  { cloneStrategy, snapshotClass }: ComputedProfile,
): Promise<ClassFacts> {
  const driver = await client.get(storageResources.CSIDriver, { name: provisioner }, scope.signal);
  return {
    name,
    provisioner,
    expands: allowVolumeExpansion === true,
    waitsForConsumer: volumeBindingMode === 'WaitForFirstConsumer',
    isCsi: driver !== null,
    cloneStrategy,
    snapshotClass,
  };
}
