import type { ClaimFacts, ClassFacts, ClaimSpec, SnapshotFacts } from './data-volume.ts';
import type { Strategy } from './metadata.ts';

/** Why a volume is not cloned as its StorageProfile says, in CDI's words, by the reason of the Event that says so. */
export const fallbacks = {
  NoPopulator: 'In tree storage class does not support snapshot/clone',
  IncompatibleProvisioners: 'Provisioners are incompatible',
  NoProvisionerMatch: 'The storageclass provisioner does not match the volumesnapshotcontent driver',
  NoVolumeSnapshotClass: 'No compatible volumesnapshotclass found',
  IncompatibleVolumeModes: 'The volume modes of source and target are incompatible',
  NoVolumeExpansion: 'No volume expansion is possible',
  WaitForFirstConsumer: 'The target is bound where it is used first, which is in another namespace than its source',
} as const;

export type FallbackReason = keyof typeof fallbacks;

export interface StrategyFacts {
  source: { kind: 'pvc'; claim: ClaimFacts; class: ClassFacts | null } | { kind: 'snapshot'; snapshot: SnapshotFacts };
  /** Of the target. */
  class: ClassFacts;
  claimSpec: Pick<ClaimSpec, 'volumeMode'>;
  /** Of the target: `wantedBytes`. */
  wantedBytes: number;
  /** The source is in another namespace than the DataVolume. */
  isElsewhere: boolean;
  /** By CDI, or by the settings; null: as the StorageProfile of the source's class says. */
  override: Strategy | null;
}

export interface ChosenStrategy {
  strategy: Strategy;
  /** Null: it is the one that is preferred. */
  fallbackReason: string | null;
}

/**
 * How a volume is cloned: as it is preferred, where the storage can; else its data are copied, and why. A snapshot can
 * only be restored, whatever is preferred. Drivers are compared, not the names of classes. Pure.
 */
export function chooseStrategy(facts: StrategyFacts): ChosenStrategy {
  const preferred = preferredStrategy(facts);
  const reason = preferred === 'copy' ? undefined : tests.find(([, fails]) => fails(facts, preferred))?.[0];
  return reason === undefined
    ? { strategy: preferred, fallbackReason: null }
    : { strategy: 'copy', fallbackReason: fallbacks[reason] };
}

const preferredStrategy = ({ source, override }: StrategyFacts): Strategy =>
  source.kind === 'snapshot' ? 'snapshot' : (override ?? source.class?.cloneStrategy ?? 'snapshot');

/** In this order: the first that fails says why. */
const tests: readonly (readonly [FallbackReason, fails: (facts: StrategyFacts, preferred: Strategy) => boolean])[] = [
  ['NoPopulator', ({ class: { isCsi } }) => !isCsi],
  [
    'IncompatibleProvisioners',
    ({ source, class: { provisioner } }) => source.kind === 'pvc' && source.class?.provisioner !== provisioner,
  ],
  [
    'NoProvisionerMatch',
    ({ source, class: { provisioner } }) => source.kind === 'snapshot' && source.snapshot.driver !== provisioner,
  ],
  [
    'NoVolumeSnapshotClass',
    ({ source }, preferred) =>
      preferred === 'snapshot' && source.kind === 'pvc' && (source.class?.snapshotClass ?? null) === null,
  ],
  [
    'IncompatibleVolumeModes',
    ({ source, claimSpec }) => (modeOf(source) ?? claimSpec.volumeMode) !== claimSpec.volumeMode,
  ],
  ['NoVolumeExpansion', (facts) => !facts.class.expands && isLarger(facts)],
  ['WaitForFirstConsumer', ({ isElsewhere, class: { waitsForConsumer } }) => isElsewhere && waitsForConsumer],
];

/** Null: the snapshot does not say. It is restored as what the target is to be then, as it would be to copy it. */
const modeOf = (source: StrategyFacts['source']): 'Filesystem' | 'Block' | null =>
  source.kind === 'pvc' ? source.claim.volumeMode : source.snapshot.sourceVolumeMode;

/** A driver that says 0 of a snapshot makes any size. */
function isLarger({ source, wantedBytes }: StrategyFacts): boolean {
  if (source.kind === 'pvc') return wantedBytes > (source.claim.capacityBytes ?? source.claim.requestBytes);
  const { restoreSizeBytes } = source.snapshot;
  return restoreSizeBytes !== 0 && wantedBytes > (restoreSizeBytes ?? 0);
}
