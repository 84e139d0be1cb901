import {
  diskName,
  nvramName,
  type CachedFile,
  type DiskProvisioning,
  type FileOperation,
  type FilePlace,
} from '../../../contracts/virtual-machine/cached-files.ts';
import { virtualMachineAnnotations, virtualMachineLabels } from '../../../contracts/virtual-machine/metadata.ts';
import type {
  ObservedImageCache,
  ObservedImage,
  PlacedAt,
  Fetched,
} from '../../../contracts/virtual-machine/observation.ts';
import type { CreateSource } from '../../../contracts/virtual-machine/mutations.ts';
import type { Outcome, VirtualMachineAction } from './context.ts';
import { execute, recheck, stop, type Context } from './context.ts';
import { digestOf } from './no-progress.ts';
import type { DesiredVirtualMachine } from '../../../contracts/virtual-machine/lifecycle.ts';

/** Fast deploy: a VM of the files that are cached of its image. */

type CachedSource = Extract<CreateSource, { kind: 'cachedDisks' }>;
/** Before it is known what is cached. */
export type ChosenCache = Pick<CachedSource, 'kind' | 'itemId' | 'mode'>;
type CachedLocation = ObservedImageCache['locations'][number];

/** The files for it where the VM goes, or what comes first: they are asked for and waited for, or cannot be used. */
export function planCachedFiles(
  context: Context,
  chosen: ChosenCache,
  at: PlacedAt,
): { source: CachedSource } | { outcome: Outcome } {
  const { desired, observed, settings, nowMs } = context;
  const image = observed.prerequisites.image?.kind === 'found' ? observed.prerequisites.image.value : null;
  const storage =
    observed.prerequisites.storageClass?.kind === 'found' ? observed.prerequisites.storageClass.value : null;
  if (image === null || image.providerItemId === null || storage === null)
    return { outcome: stop('NotSupported', 'Cached disks need an image and a storage class') };
  const { datacenter, datastore } = at;
  const location = { datacenterId: datacenter, datastoreId: datastore, profileId: storage.profileId };
  const cached = cachedAt(observed.imageCache, location);
  // Its controller tries again too.
  const againMs = context.nowMs + context.settings.pollMs;
  if (cached?.ready === false)
    return {
      outcome: recheck(
        'ImageCacheFailed',
        `The files of image ${image.name} could not be cached on ${datastore}: ${cached.message}`,
        againMs,
      ),
    };
  if (cached?.ready !== true) {
    const ask = {
      kind: 'ensureImageCache',
      name: image.cacheName,
      providerId: image.providerItemId,
      providerVersion: image.providerVersion,
      location,
    } as const;
    const annotation = {
      labels: { [virtualMachineLabels.imageCache]: image.cacheName },
      annotations: {
        [virtualMachineAnnotations.imageCacheLocation]: `${datacenter},${datastore},${storage.profileId}`,
        ...(settings.fastDeploy === 'auto' &&
          desired.imageCacheAskedAt === null && {
            [virtualMachineAnnotations.imageCacheAsked]: new Date(nowMs).toISOString(),
          }),
      },
    };
    return {
      outcome: execute(
        'create',
        [`Have image ${image.name} cached on ${datastore}`, ask],
        [`Let ${desired.name} wait for it`, { kind: 'patchVirtualMachine', patches: [annotation] }],
      ),
    };
  }
  const source = judgeFiles(chosen, image, cached.files);
  return 'problem' in source ? { outcome: recheck('ImageCacheFailed', source.problem, againMs) } : { source };
}

export const cachedAt = (
  imageCache: Context['observed']['imageCache'],
  { datacenterId, datastoreId, profileId }: Pick<CachedLocation, 'datacenterId' | 'datastoreId' | 'profileId'>,
): CachedLocation | undefined =>
  imageCache?.kind === 'found'
    ? imageCache.value.locations.find(
        (one) => one.datacenterId === datacenterId && one.datastoreId === datastoreId && one.profileId === profileId,
      )
    : undefined;

/** Whether a VM can be made of these files. */
export function judgeFiles(
  chosen: ChosenCache,
  { name, hardware }: Pick<ObservedImage, 'name' | 'hardware'>,
  files: readonly CachedFile[],
): CachedSource | { problem: string } {
  const disks = files.filter(({ kind }) => kind === 'disk').map(({ path }) => path);
  const known = hardware.disks.length;
  if (files.some(({ kind }) => kind === 'managedDisk'))
    return {
      problem: `Image ${name} is cached as a first-class disk, which drover does not copy; cache it as files, or switch fast deploy off for this VM`,
    };
  if (disks.length === 0) return { problem: `No disk of image ${name} is cached` };
  if (known > 0 && known !== disks.length)
    return { problem: `Image ${name} has ${known} disks in its status, and ${disks.length} are cached` };
  // vCenter makes a child only with its parent’s capacity.
  if (chosen.mode === 'linked' && (known === 0 || hardware.disks.some(({ capacityBytes }) => capacityBytes === null))) {
    return {
      problem: `Image ${name} does not say mode large its disks are (status.disks[].limit), and a linked disk needs that; fast deploy ${virtualMachineAnnotations.fastDeploy}: direct does not`,
    };
  }
  return {
    ...chosen,
    disks,
    nvram: files.find(({ kind, path }) => kind === 'other' && path.toLowerCase().endsWith('.nvram'))?.path ?? null,
    hardware,
  };
}

export const placeOf = (
  uid: string,
  { datacenter, datastore }: Pick<FilePlace, 'datacenter' | 'datastore'>,
): FilePlace => ({ datacenter, datastore, folder: uid });

/** Of which files a VM has copies: with a newer version of the image, or another mode, they are others. */
export const sourcesOf = ({ mode, disks, nvram }: CachedSource): string =>
  digestOf(JSON.stringify([mode, disks, nvram]));

/** What is copied for a VM before it can be made. */
export function planCopies(
  source: CachedSource,
  vmName: string,
  place: FilePlace,
  provisioning: DiskProvisioning | null,
): [summary: string, action: VirtualMachineAction][] {
  const step = (summary: string, operation: FileOperation): [string, VirtualMachineAction] => [
    summary,
    { kind: 'file', place, operation },
  ];
  const disks = source.mode === 'linked' ? [] : source.disks;
  const of = (index: number): string => `disk ${index + 1} of ${disks.length} for ${vmName}`;
  return [
    ...(source.nvram === null
      ? []
      : [step(`Copy the NVRAM for ${vmName}`, { kind: 'copyOther', from: source.nvram, to: nvramName(vmName) })]),
    ...disks.flatMap((from, index) => [
      step(`Copy ${of(index)}`, {
        kind: 'copyDisk',
        from,
        to: diskName(index),
        ...(provisioning !== null && { provisioning }),
      }),
      step(`Keep ${of(index)}`, { kind: 'keepDisk', to: diskName(index) }),
    ]),
  ];
}

/** What was copied for a VM that is not made, or is made elsewhere, or of other files. */
export const removeCopies = (vmName: string, place: FilePlace): [summary: string, action: VirtualMachineAction][] => [
  [`Remove what was copied for VM ${vmName}`, { kind: 'file', place, operation: { kind: 'removeFolder' } }],
  [
    'Note that nothing is copied any more',
    { kind: 'patchVirtualMachine', patches: [{ annotations: { [virtualMachineAnnotations.copies]: null } }] },
  ],
];

export type CacheReadiness =
  | { kind: 'ready'; /** What the VM waits for no longer. */ drop: ('label' | 'location')[] }
  | { kind: 'notReady'; drop: ('label' | 'location')[]; message: string };

/**
 * Whether the cached files that a VM waits for are there.
 */
export function judgeImageCache(
  { imageCache: wanted }: Pick<DesiredVirtualMachine, 'imageCache'>,
  fetched: Fetched<ObservedImageCache> | null,
): CacheReadiness {
  if (wanted.name === null) return { kind: 'ready', drop: [] };
  if (fetched?.kind !== 'found')
    return notReady(fetched === null ? `VirtualMachineImageCache ${wanted.name} was not read` : fetched.message);
  const { hardwareReady, locations } = fetched.value;
  if (!hardwareReady) return notReady(`VirtualMachineImageCache ${wanted.name} does not know the image’s hardware yet`);
  if (wanted.location === null) return { kind: 'ready', drop: ['label'] };

  const [datacenterId, datastoreId, profileId] = wanted.location.split(',');
  // As an older release wrote it: the next observation begins again.
  if (profileId === undefined)
    return {
      kind: 'notReady',
      drop: ['label', 'location'],
      message: 'The place of the cached files was not known in full',
    };
  const location = locations.find(
    (one) => one.datacenterId === datacenterId && one.datastoreId === datastoreId && one.profileId === profileId,
  );
  if (location?.ready === true) return { kind: 'ready', drop: ['label', 'location'] };
  return notReady(location?.message ?? `The files are not cached on ${datastoreId} yet`);
}

const notReady = (message: string): CacheReadiness => ({ kind: 'notReady', drop: [], message });
