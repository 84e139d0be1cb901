import type { PlacedAt } from '../../../contracts/virtual-machine/observation.ts';
import { cachedAt, judgeFiles } from './cached-files.ts';
import type { Context } from './context.ts';

/**
 * Whether fast deploy is on for a VM that does not say so itself, where the settings leave it to what
 * is there (`auto`).
 */

/** Fast deploy is neither asked for nor refused: it is on where it can be. */
export const isAuto = ({ desired, settings }: Pick<Context, 'desired' | 'settings'>): boolean =>
  settings.fastDeploy === 'auto' && desired.fastDeploy === null;

const copies = { kind: 'cachedDisks', itemId: '', mode: 'direct' } as const;

/**
 * Why it is made without cached files; null: nothing is known that speaks against them. Whatever is not there, or does
 * not do its part in time, must not hold up a VM that can be deployed from its item.
 *
 * @param at null: it is not known where it goes
 */
export function judgeCache(context: Context, at: PlacedAt | null): string | null {
  const { desired, observed, nowMs } = context;
  const { imageCache, prerequisites } = observed;
  if (imageCache === null) return 'no VirtualMachineImageCache was read';
  if (imageCache.kind !== 'found' && imageCache.kind !== 'notFound') return imageCache.message;
  if (imageCache.kind === 'notFound' && imageCache.unknownKind === true) return imageCache.message;
  if (at?.noFolders === true) return `datastore ${at.datastore} has no folders of files`;
  const { storageClass } = prerequisites;
  const profileId = storageClass?.kind === 'found' ? storageClass.value.profileId : '';
  const [datacenterId, datastoreId, waitedFor] = desired.imageCache.location?.split(',') ?? [];
  const place =
    datacenterId !== undefined && datastoreId !== undefined && waitedFor !== undefined
      ? { datacenterId, datastoreId, profileId: waitedFor }
      : at && { datacenterId: at.datacenter, datastoreId: at.datastore, profileId };
  const location = place === null ? undefined : cachedAt(imageCache, place);
  if (location?.ready === false) return `its files could not be cached: ${location.message}`;
  const hardwareReady = imageCache.kind === 'found' && imageCache.value.hardwareReady;
  if (location?.ready === true && hardwareReady && prerequisites.image?.kind === 'found') {
    const judged = judgeFiles(copies, prerequisites.image.value, location.files);
    return 'problem' in judged ? judged.problem : null;
  }
  const untilMs = waitsForCacheUntilMs(context);
  return untilMs !== null && nowMs >= untilMs
    ? `nothing has cached its files within ${context.settings.imageCacheMs / 1_000} s`
    : null;
}

/** Until when a VM waits for the files that were asked for; null: they were not asked for. */
export function waitsForCacheUntilMs({
  desired,
  observed,
  settings,
}: Pick<Context, 'desired' | 'observed' | 'settings'>): number | null {
  const askedMs = Date.parse(desired.imageCacheAskedAt ?? '');
  // No controller has ever said anything of this image: to ask anew makes no difference.
  const silentSinceMs = observed.imageCache?.kind === 'found' ? observed.imageCache.value.silentSinceMs : null;
  const sinceMs = [askedMs, silentSinceMs ?? NaN].filter((ms) => Number.isFinite(ms));
  return sinceMs.length === 0 ? null : Math.min(...sinceMs) + settings.imageCacheMs;
}
