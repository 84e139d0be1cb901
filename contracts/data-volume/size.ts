import type { CdiConfig } from '../crds/cdi.ts';
import type { ClaimFacts, ClaimSpec, ObservedVolume, SnapshotFacts } from './data-volume.ts';

/** How large a volume is to be. Pure; in bytes. */

const mib = 1024 ** 2;

/** The share that a file system takes of a volume: of all classes, and of those that have their own. */
export interface Overheads {
  default: number;
  classes: Readonly<Record<string, number>>;
}

/** As the settings of CDI say; null: they say nothing that is a share. */
export function readOverheads(config: Pick<CdiConfig, 'status'> | null): Overheads | null {
  const { global, storageClass } = config?.status?.filesystemOverhead ?? {};
  const shared = shareOf(global);
  if (shared === null) return null;
  const own = Object.entries(storageClass ?? {}).flatMap(([name, text]) => {
    const share = shareOf(text);
    return share === null ? [] : [[name, share] as const];
  });
  return { default: shared, classes: Object.fromEntries(own) };
}

const shareOf = (text: string | null | undefined): number | null =>
  text !== null && text !== undefined && /^(?:0(?:\.\d{1,3})?|1(?:\.0{1,3})?)$/u.test(text) ? Number(text) : null;

export const overheadOf = ({ default: shared, classes }: Overheads, storageClass: string): number =>
  Object.hasOwn(classes, storageClass) ? (classes[storageClass] ?? shared) : shared;

/** With room for a file system, whole MiB first, as CDI counts since 1.58: 1 GiB with 0.06 is 1138166334. */
export function withOverhead(bytes: number, overhead: number): number {
  const rounded = Math.ceil(bytes / mib) * mib;
  // In thousandths: products of binary fractions would be a byte too large now and then.
  return Math.ceil((rounded * Math.round((1 + overhead) * 1_000)) / 1_000);
}

/**
 * What the volume is to have in the end. Where its spec says no size, that of its source: that has room for its file
 * system already, or has none and gets it. 0: the source does not say.
 */
export function wantedBytes(observed: Pick<ObservedVolume, 'source' | 'claimSpec'>): number {
  const { claimSpec, source } = observed;
  if (claimSpec === null) return 0;
  const { requestBytes, minimumBytes } = claimSpec;
  if (requestBytes !== null) return Math.max(inflated(requestBytes, claimSpec), minimumBytes);
  const known = sourceBytes(source);
  if (known === 0) return 0;
  return Math.max(isBlock(source) ? inflated(known, claimSpec) : known, minimumBytes);
}

const inflated = (bytes: number, { overhead, volumeMode }: ClaimSpec): number =>
  overhead === 0 || volumeMode === 'Block' ? bytes : withOverhead(bytes, overhead);

function sourceBytes(source: ObservedVolume['source']): number {
  if (source?.kind === 'pvc') return source.claim?.capacityBytes ?? source.claim?.requestBytes ?? 0;
  return source?.kind === 'snapshot' ? (source.snapshot?.restoreSizeBytes ?? 0) : 0;
}

function isBlock(source: ObservedVolume['source']): boolean {
  if (source?.kind === 'pvc') return source.claim?.volumeMode === 'Block';
  return source?.kind === 'snapshot' && source.snapshot?.sourceVolumeMode === 'Block';
}

/**
 * What the volume is requested with at first: as large as what it is made from, since several drivers make no larger
 * one; it is expanded afterwards. A driver that says 0 of a snapshot makes any size.
 */
export function restoreBytes(from: SnapshotFacts | ClaimFacts, wanted: number): number {
  const bytes = 'restoreSizeBytes' in from ? from.restoreSizeBytes : (from.capacityBytes ?? from.requestBytes);
  return bytes === null || bytes === 0 ? wanted : bytes;
}
