import type { DataVolume } from '../crds/data-volume.ts';
import { quantityOf } from '../quantity.ts';
import type { ClaimSpec, VolumeProblem } from './data-volume.ts';
import type { ClaimPropertySet } from './known-provisioners.ts';
import { volumeAnnotations } from './metadata.ts';
import type { ComputedProfile, ProfiledClass } from './storage-profile.ts';

/** What the PVC of a DataVolume is to be. Pure. */

type Spec = DataVolume['spec'];

const invalid = (message: string): VolumeProblem => ({ reason: 'ErrClaimNotValid', message });

/** What is read of a StorageClass to choose one. */
export type ChoosableClass = ProfiledClass & {
  metadata: { name: string; creationTimestamp?: string | undefined };
};

export const isProblem = (value: object): value is VolumeProblem => 'reason' in value && 'message' in value;

/**
 * The class of the volume: the one that is named; else, for the disk of a VM that a profile may shape, the default for
 * VMs; else the default. Of several defaults the newest, as Kubernetes has it.
 */
export function chooseClass<Class extends ChoosableClass>(
  spec: Pick<Spec, 'pvc' | 'storage' | 'contentType'>,
  classes: readonly Class[],
): Class | VolumeProblem {
  const named = (spec.storage ?? spec.pvc)?.storageClassName;
  if (named !== undefined) {
    if (named === '') return invalid('StorageClass "" has no provisioner that could make the volume');
    return (
      classes.find(({ metadata }) => metadata.name === named) ??
      invalid(`StorageClass ${named} is not found: create it, or the DataVolume with another one`)
    );
  }
  const marks =
    spec.storage !== undefined && spec.contentType !== 'archive'
      ? [volumeAnnotations.isDefaultVirtClass, volumeAnnotations.isDefaultClass]
      : [volumeAnnotations.isDefaultClass];
  const chosen = marks.flatMap((mark) => newest(classes, mark) ?? [])[0];
  if (chosen !== undefined) return chosen;
  return invalid(
    spec.storage !== undefined && (spec.storage.accessModes ?? []).length === 0
      ? 'DataVolume.storage spec is missing accessMode and no storageClass to choose profile'
      : 'The DataVolume names no StorageClass, and none is the default',
  );
}

function newest<Class extends ChoosableClass>(classes: readonly Class[], mark: string): Class | undefined {
  const madeMs = ({ metadata }: Class): number => Date.parse(metadata.creationTimestamp ?? '') || 0;
  return classes
    .filter(({ metadata }) => metadata.annotations?.[mark] === 'true')
    .toSorted((a, b) => madeMs(b) - madeMs(a) || (a.metadata.name < b.metadata.name ? -1 : 1))[0];
}

export interface ClaimRequest {
  spec: Pick<Spec, 'pvc' | 'storage' | 'source' | 'sourceRef' | 'contentType' | 'preallocation'>;
  /** Of {@link chooseClass}. */
  storageClass: string;
  /** Of that class, by its StorageProfile or computed. */
  profile: Pick<ComputedProfile, 'claimPropertySets' | 'minimumBytes'>;
  /** The share of a file system in that class. */
  overhead: number;
}

/** What the spec leaves out is filled in from the profile, then as Kubernetes does. */
export function renderClaim(request: ClaimRequest): ClaimSpec | VolumeProblem {
  const { spec, storageClass, profile, overhead } = request;
  const wanted = spec.storage ?? spec.pvc;
  if (wanted === undefined) return invalid('Missing Data volume PVC');
  if (spec.pvc !== undefined && spec.storage !== undefined)
    return invalid('Duplicate storage definition, both target storage and target pvc defined');
  if (wanted.volumeName !== undefined || wanted.selector !== undefined)
    return invalid('volumeName and selector are of volumes that are there already: what is cloned is new');
  if (spec.preallocation === true)
    return invalid('drover does not preallocate volumes: leave preallocation out, and name a class that does');
  if (spec.pvc?.volumeAttributesClassName !== undefined)
    return invalid(
      'drover does not set volumeAttributesClassName: leave it out, and set it in the PersistentVolumeClaim that is made',
    );
  const size = sizeOf(spec);
  if (typeof size === 'object' && size !== null) return size;
  const modes =
    spec.storage === undefined ? modesOfPvc(spec) : modesOfStorage(spec, storageClass, profile.claimPropertySets);
  if (isProblem(modes)) return modes;
  return {
    storageClass,
    ...modes,
    requestBytes: size,
    overhead: spec.storage !== undefined && modes.volumeMode === 'Filesystem' ? overhead : 0,
    minimumBytes: profile.minimumBytes,
  };
}

const leastBytes = 1024 ** 2;

function sizeOf({ pvc, storage, source, sourceRef }: ClaimRequest['spec']): number | null | VolumeProblem {
  const name = storage === undefined ? 'PVC' : 'Storage';
  const asked = (storage ?? pvc)?.resources?.requests?.['storage'];
  if (asked === undefined) {
    const hasSource = sourceRef !== undefined || source?.pvc !== undefined || source?.snapshot !== undefined;
    return storage !== undefined && hasSource ? null : invalid(`${name} size is missing`);
  }
  const bytes = quantityOf(asked);
  if (bytes === null || !Number.isFinite(bytes)) return invalid(`${name} size ${asked} is no quantity`);
  if (bytes <= 0) return invalid(`${name} size can't be equal or less than zero`);
  return bytes < leastBytes ? invalid(`${name} size should be at least 1MiB`) : Math.ceil(bytes);
}

type Modes = Pick<ClaimSpec, 'accessModes' | 'volumeMode'>;

function modesOfPvc({ pvc, contentType }: ClaimRequest['spec']): Modes | VolumeProblem {
  const { accessModes = [], volumeMode = 'Filesystem' } = pvc ?? {};
  if (accessModes.length === 0) return invalid('Required value: at least 1 access mode is required');
  if (accessModes.length > 1) return invalid('PVC multiple accessModes');
  return contentType === 'archive' && volumeMode === 'Block' ? archiveInBlock : { accessModes, volumeMode };
}

const archiveInBlock = invalid('DataVolume with ContentType Archive cannot have block volumeMode');

function modesOfStorage(
  { storage, contentType }: ClaimRequest['spec'],
  storageClass: string,
  sets: readonly ClaimPropertySet[],
): Modes | VolumeProblem {
  const accessModes = storage?.accessModes ?? [];
  const isArchive = contentType === 'archive';
  if (isArchive && storage?.volumeMode === 'Block') return archiveInBlock;
  const volumeMode = isArchive ? 'Filesystem' : storage?.volumeMode;
  if (volumeMode !== undefined && accessModes.length > 0) return { accessModes, volumeMode };
  if (accessModes.length > 0) {
    const matching = sets.find((set) => accessModes.every((mode) => set.accessModes.includes(mode)));
    return { accessModes, volumeMode: matching?.volumeMode ?? 'Filesystem' };
  }
  const matching = sets.find((set) => set.accessModes.length > 0 && (volumeMode ?? set.volumeMode) === set.volumeMode);
  if (matching !== undefined) return { accessModes: matching.accessModes, volumeMode: matching.volumeMode };
  const missing = volumeMode === undefined ? 'accessMode and volumeMode,' : 'accessMode and';
  return invalid(
    `DataVolume.storage spec is missing ${missing} cannot get access mode from StorageProfile ${storageClass}`,
  );
}
