import type { DataVolume } from '../../../contracts/crds/data-volume.ts';
import type { ClaimedVolume } from '../../../contracts/data-volume/data-volume.ts';
import { readClaimedVolume } from '../../../contracts/data-volume/read-data-volume.ts';

/**
 * What the clone began with; null: it has not begun. Where the policy on sources is in force no user can write it;
 * where it is not, a user could name anything: one that the spec does not name counts for nothing. Pure.
 */
export function recordedClaim({ metadata, spec }: Pick<DataVolume, 'metadata' | 'spec'>): ClaimedVolume | null {
  const claimed = readClaimedVolume({ metadata });
  if (claimed === null) return null;
  const { kind, namespace, name } = claimed.source;
  const { source, sourceRef } = spec;
  const named = kind === 'pvc' ? source?.pvc : source?.snapshot;
  const isNamed =
    sourceRef === undefined
      ? named?.namespace === namespace && named.name === name
      : namespace === (sourceRef.namespace || metadata.namespace);
  return isNamed ? claimed : null;
}

export const recordedSource = (volume: Pick<DataVolume, 'metadata' | 'spec'>): ClaimedVolume['source'] | null =>
  recordedClaim(volume)?.source ?? null;
