import { quantityText } from '../quantity.ts';
import type { ClaimFacts, DesiredVolume, ObservedVolume, SnapshotFacts, VolumeProblem } from './data-volume.ts';
import { sentences } from './events.ts';
import { wantedBytes } from './size.ts';
import { goesOn } from './storage-answers.ts';

/**
 * Why a clone cannot be made of its source, in CDI's words; null: it can. Nothing is said of a source that is not
 * known, which has a problem of its own, nor of a volume without one. Pure.
 */
export function validateClone(
  desired: Pick<DesiredVolume, 'contentType' | 'api' | 'isPermissive'>,
  observed: Pick<ObservedVolume, 'source' | 'claimSpec'>,
): VolumeProblem | null {
  const { source } = observed;
  if (source === null || source.kind === 'blank') return null;
  if (source.kind === 'pvc') {
    if (source.claim === null) return withoutSource('pvc', source.name);
    return invalid(contentProblem(desired, source.claim) ?? claimSizeProblem(desired, source.claim, observed));
  }
  if (source.snapshot === null) return withoutSource('snapshot', source.name);
  return invalid(snapshotProblem(source.snapshot) ?? restoreSizeProblem(desired, source.snapshot, observed));
}

const withoutSource = (kind: 'pvc' | 'snapshot', name: string): VolumeProblem => ({
  reason: 'CloneWithoutSource',
  message: sentences.cloneWithoutSource(kind, name),
});

const invalid = (why: string | null): VolumeProblem | null =>
  why === null ? null : { reason: 'CloneValidationFailed', message: sentences.cloneValidationFailed(why) };

const contentProblem = ({ contentType }: Pick<DesiredVolume, 'contentType'>, claim: ClaimFacts): string | null =>
  claim.contentType === contentType
    ? null
    : `Source contentType (${claim.contentType}) and target contentType (${contentType}) do not match`;

type Sized = Pick<DesiredVolume, 'api' | 'isPermissive'>;
type ToBe = Pick<ObservedVolume, 'source' | 'claimSpec'>;

/** What is asked for is compared as it is; of a file system that is kept in one, with the room that is added for it. */
function claimSizeProblem({ api, isPermissive }: Sized, claim: ClaimFacts, toBe: ToBe): string | null {
  const asked = toBe.claimSpec?.requestBytes ?? null;
  if (asked === null || isPermissive) return null;
  const target = api === 'storage' && claim.volumeMode === 'Filesystem' ? wantedBytes(toBe) : asked;
  return target < claim.requestBytes ? tooSmall(target, claim.requestBytes) : null;
}

const tooSmall = (target: number, source: number): string =>
  `target resources requests storage size is smaller than the source ${quantityText(target)} < ${quantityText(source)}`;

function snapshotProblem({ isReady, error, restoreSizeBytes }: SnapshotFacts): string | null {
  if (!isReady && error !== null && !goesOn(error)) return `the snapshot has an error: ${error}`;
  return isReady && restoreSizeBytes === null ? 'snapshot has no RestoreSize' : null;
}

function restoreSizeProblem(
  { isPermissive }: Sized,
  { isReady, restoreSizeBytes }: SnapshotFacts,
  toBe: ToBe,
): string | null {
  if (!isReady || restoreSizeBytes === null || toBe.claimSpec === null) return null;
  const wanted = wantedBytes(toBe);
  if (wanted === 0) return 'the snapshot says no size, and neither does the DataVolume';
  return wanted < restoreSizeBytes && !isPermissive ? tooSmall(wanted, restoreSizeBytes) : null;
}
