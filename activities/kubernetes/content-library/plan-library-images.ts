import { setConditions, type ConditionUpdate } from '../../../contracts/conditions.ts';
import type { LibraryContent, LibraryItem } from '../../../contracts/virtual-machine/content-library.ts';
import type { AnyImage } from '../../../contracts/crds/virtual-machine-image.ts';
import type { MergePatch } from '../../../runtime/kubernetes/objects.ts';
import { patchBetween } from '../lib/merge-patch.ts';
import { imageCacheName } from '../virtual-machine/read-objects.ts';

export type ImageStatus = NonNullable<AnyImage['status']>;

/** What the images of a library lack. */
export interface LibraryImagePlan {
  make: { name: string; status: ImageStatus }[];
  /** As a merge patch of the status. */
  change: { image: AnyImage; status: MergePatch<ImageStatus> }[];
  remove: AnyImage[];
  unchanged: number;
}

/**
 * Compares a library with the images that are there of it. Pure.
 *
 * @param images those that have the library's label
 * @param now RFC 3339
 */
export function planLibraryImages(
  { items }: LibraryContent,
  images: readonly AnyImage[],
  now: string,
): LibraryImagePlan {
  const there = new Map(images.map((image) => [image.metadata.name, image]));
  const plan: LibraryImagePlan = { make: [], change: [], remove: [], unchanged: 0 };
  for (const item of items) {
    const name = imageCacheName(item.id);
    const image = there.get(name);
    there.delete(name);
    if (image === undefined) {
      plan.make.push({ name, status: statusWith({}, item, now) });
      continue;
    }
    const { status = {} } = image;
    const patch = patchBetween(status, statusWith(status, item, now));
    if (patch === undefined) plan.unchanged += 1;
    else plan.change.push({ image, status: patch as MergePatch<ImageStatus> });
  }
  return { ...plan, remove: [...there.values()] };
}

/** What others have written into it stays. */
function statusWith(status: ImageStatus, { id, name, type, version, problem }: LibraryItem, now: string): ImageStatus {
  const ready: ConditionUpdate =
    problem === null
      ? { type: 'Ready', status: 'True', reason: 'True', message: '' }
      : { type: 'Ready', status: 'False', ...problem };
  const conditions = setConditions(status.conditions ?? [], [ready], now);
  return { ...status, name, type, providerItemID: id, providerContentVersion: version, conditions: [...conditions] };
}
