import type { StorageProfile } from '../crds/storage-profile.ts';
import { quantityOf } from '../quantity.ts';
import { type ClaimPropertySet, claimPropertySetsOf, findProvisioner } from './known-provisioners.ts';
import { type Strategy, strategies, volumeAnnotations } from './metadata.ts';

/** How volumes of a StorageClass are claimed and cloned. Pure. */

/** What is read of a StorageClass. */
export interface ProfiledClass {
  metadata: { name: string; annotations?: Readonly<Record<string, string>> | undefined };
  provisioner: string;
  parameters?: Readonly<Record<string, string>> | undefined;
}

/** What is read of a VolumeSnapshotClass. */
export interface ProfiledSnapshotClass {
  metadata: { name: string; annotations?: Readonly<Record<string, string>> | undefined };
  driver: string;
}

export interface ProfileFacts {
  class: ProfiledClass;
  /** The StorageProfile of that name, as far as its users write it; null: there is none. */
  profile: {
    metadata?: { annotations?: Readonly<Record<string, string>> | undefined };
    spec?: StorageProfile['spec'];
  } | null;
  /** All of the cluster. */
  snapshotClasses: readonly ProfiledSnapshotClass[];
}

export interface ComputedProfile {
  cloneStrategy: Strategy;
  claimPropertySets: readonly ClaimPropertySet[];
  dataImportCronSourceFormat: 'pvc' | 'snapshot';
  /** Null: none is of its driver. */
  snapshotClass: string | null;
  /** How it was chosen, or why there is none. */
  snapshotClassWhy: string;
  /** Least size that the class can make. */
  minimumBytes: number;
  /** Its condition Recognized. */
  recognized: { status: 'True' | 'False'; reason: string; message: string };
}

/** What users say goes before what the class says, that before what is known of the provisioner. */
export function computeProfile({ class: storageClass, profile, snapshotClasses }: ProfileFacts): ComputedProfile {
  const { provisioner, parameters = {}, metadata } = storageClass;
  const spec = profile?.spec ?? {};
  const found = findProvisioner(provisioner, parameters);
  const known = found === 'unknownParameters' ? null : found;
  const own = spec.claimPropertySets ?? [];
  const { name: snapshotClass, why } = chooseSnapshotClass(provisioner, spec.snapshotClass, snapshotClasses);
  const format =
    spec.dataImportCronSourceFormat ?? (known?.keepsSnapshots === true && snapshotClass !== null ? 'snapshot' : 'pvc');
  return {
    cloneStrategy: strategyOf(
      [spec.cloneStrategy, metadata.annotations?.[volumeAnnotations.classCloneStrategy]],
      known?.strategy,
      snapshotClass !== null,
    ),
    claimPropertySets: own.length > 0 ? own : known === null ? [] : claimPropertySetsOf(known),
    dataImportCronSourceFormat: format,
    snapshotClass,
    snapshotClassWhy: why,
    minimumBytes: minimumOf(
      profile?.metadata?.annotations?.[volumeAnnotations.minimumSupportedPvcSize] ?? known?.minimumSize,
    ),
    recognized: recognizedOf(storageClass, found),
  };
}

/** What is asked for stays as it is; what is known and needs snapshots is a copy where no class makes them. */
function strategyOf(
  asked: readonly (string | undefined)[],
  known: Strategy | undefined,
  hasSnapshots: boolean,
): Strategy {
  const chosen = asked.flatMap((one) => strategies.find((strategy) => strategy === one) ?? [])[0];
  if (chosen !== undefined) return chosen;
  const best = known ?? 'snapshot';
  return best === 'snapshot' && !hasSnapshots ? 'copy' : best;
}

const minimumOf = (quantity: string | undefined): number =>
  Math.max(0, Math.ceil(quantity === undefined ? 0 : (quantityOf(quantity) ?? 0)));

function recognizedOf(
  { provisioner, metadata: { name } }: ProfiledClass,
  found: ReturnType<typeof findProvisioner>,
): ComputedProfile['recognized'] {
  if (found === null)
    return {
      status: 'False',
      reason: 'UnrecognizedProvisioner',
      message: `Nothing is known of the volumes of ${provisioner}: say in spec.claimPropertySets what they can be`,
    };
  if (found === 'unknownParameters')
    return {
      status: 'False',
      reason: 'UnrecognizedStorageClassParameters',
      message: `Nothing is known of the volumes of ${provisioner} with the parameters of StorageClass ${name}`,
    };
  return { status: 'True', reason: 'RecognizedProvisioner', message: `What volumes of ${provisioner} can be is known` };
}

/** The VolumeSnapshotClass for volumes of a driver. */
export interface ChosenSnapshotClass {
  name: string | null;
  /** Which rule chose it, for people. */
  why: string;
}

/** That of the profile, which must be of the driver; the default of the driver; the first by name. */
export function chooseSnapshotClass(
  driver: string,
  named: string | undefined,
  all: readonly ProfiledSnapshotClass[],
): ChosenSnapshotClass {
  const ofDriver = all
    .filter((one) => one.driver === driver)
    .toSorted((a, b) => compare(a.metadata.name, b.metadata.name));
  if (named !== undefined && named !== '') {
    const isThere = ofDriver.some(({ metadata }) => metadata.name === named);
    return isThere
      ? { name: named, why: `VolumeSnapshotClass ${named} is named by the StorageProfile` }
      : {
          name: null,
          why: `VolumeSnapshotClass ${named}, which the StorageProfile names, is none of driver ${driver}`,
        };
  }
  const marked = ofDriver.find(
    ({ metadata }) => metadata.annotations?.[volumeAnnotations.isDefaultSnapshotClass] === 'true',
  );
  if (marked !== undefined)
    return {
      name: marked.metadata.name,
      why: `VolumeSnapshotClass ${marked.metadata.name} is the default of ${driver}`,
    };
  const [first] = ofDriver;
  return first === undefined
    ? { name: null, why: `No VolumeSnapshotClass is of driver ${driver}` }
    : {
        name: first.metadata.name,
        why: `VolumeSnapshotClass ${first.metadata.name} is the first of ${driver} by name`,
      };
}

/** By bytes, as every machine sorts them. */
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
