import type { WantedImageCache } from '../../../contracts/virtual-machine/mutations.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import { isUnknownKind } from '../../../runtime/kubernetes/kubernetes-faults.ts';
import { retryConflicts } from '../../../runtime/kubernetes/retry-conflicts.ts';
import { mutate } from '../../lib/mutate.ts';
import type { VirtualMachineTools } from './dependencies.ts';
import { type ImageCache, imageCaches } from './schemas.ts';

/**
 * Puts the location into the VirtualMachineImageCache, which is made if there is none. One of that name is of the same
 * item: the name is made of it. Its version follows that of the image.
 *
 * @throws ImageCacheNotInstalled; ObjectConflict when others write all the time; Stopped
 */
export async function ensureImageCache(tools: VirtualMachineTools, wanted: WantedImageCache): Promise<void> {
  try {
    await retryConflicts(() => putLocation(tools, wanted));
  } catch (error) {
    if (!isUnknownKind(error)) throw error;
    throw droverFailure(
      'ImageCacheNotInstalled',
      `VirtualMachineImageCache ${wanted.name} cannot be made: this cluster does not know that kind`,
    );
  }
}

async function putLocation(tools: VirtualMachineTools, wanted: WantedImageCache): Promise<void> {
  const { client, scope, imageCacheNamespace: namespace } = tools;
  const { name } = wanted;
  const found = await client.get(imageCaches, { namespace, name }, scope.signal);
  const after = specWith(found?.spec ?? null, wanted);
  if (after === null) return;
  const entry = {
    action: 'ensureImageCache',
    cause: 'a virtual machine is made from cached files',
    object: `virtualmachineimagecache/${namespace}/${name}`,
    before: found?.spec ?? null,
    after,
  };
  const isMade = await mutate(tools, entry, async () => {
    if (found === null)
      return (await client.create(imageCaches, { metadata: { namespace, name }, spec: after }, scope.signal)) !== null;
    const { uid, resourceVersion } = found.metadata;
    await client.patch(imageCaches, { namespace, name, uid, resourceVersion }, { spec: after }, scope.signal);
    return true;
  });
  // Another VM was quicker, with another location maybe.
  if (!isMade)
    throw droverFailure('ObjectConflict', `VirtualMachineImageCache ${namespace}/${name} was made at the same moment`);
}

/** Null: it says all of it already. Pure. */
export function specWith(
  spec: ImageCache['spec'] | null,
  { providerId, providerVersion, location }: WantedImageCache,
): ImageCache['spec'] | null {
  const wanted = {
    datacenterID: location.datacenterId,
    datastoreID: location.datastoreId,
    profileID: location.profileId,
  };
  const locations = spec?.locations ?? [];
  const isThere = locations.some(
    ({ datacenterID, datastoreID, profileID }) =>
      datacenterID === wanted.datacenterID && datastoreID === wanted.datastoreID && profileID === wanted.profileID,
  );
  const isCurrent =
    spec?.providerID === providerId && (providerVersion === null || spec.providerVersion === providerVersion);
  if (isThere && isCurrent) return null;
  return {
    ...spec,
    providerID: providerId,
    ...(providerVersion !== null && { providerVersion }),
    locations: isThere ? locations : [...locations, wanted],
  };
}
