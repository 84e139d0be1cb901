import type { Check } from './objects.ts';
import type { DataVolumeFact } from './snapshot.ts';

/** Volumes that are cloned, and those that they are cloned from. */

/** 28: a claim that was bound has its volume, a volume has its bytes, and none is left that no claim has. */
export const noVolumeIsBereft: Check = ({ boundClaims, persistentVolumes, isQuiet }) => [
  ...boundClaims.flatMap(({ name, phase, volume }) => {
    if (phase === 'Lost') return [`PersistentVolumeClaim ${name} has lost its volume`];
    return volume === null && isQuiet ? [`the volume of PersistentVolumeClaim ${name} is not its own`] : [];
  }),
  ...persistentVolumes.flatMap(({ name, isClaimed, hasBytes }) => [
    ...(hasBytes || !isClaimed ? [] : [`PersistentVolume ${name} has no bytes any more`]),
    ...(isClaimed || !isQuiet ? [] : [`PersistentVolume ${name} is no claim's`]),
  ]),
];

/** What was on the source at some moment since it was asked for. */
const wasThere = ({ source, content, createdMs, succeededMs }: DataVolumeFact): boolean => {
  const held = source ?? [];
  return held.some((one, index) => {
    const untilMs = held[index + 1]?.fromMs ?? Infinity;
    // A Job writes what it copies onto a volume that was empty first.
    const isSame = (content ?? []).some(
      (written) => written.fromMs <= (succeededMs ?? Infinity) && written.content === one.content,
    );
    return untilMs > createdMs && one.fromMs <= (succeededMs ?? Infinity) && isSame;
  });
};

/** What is smaller than was asked for. */
function shortOf({ name, askedBytes, claimBytes, isGrownByNode, driverBytes }: DataVolumeFact): string[] {
  if (askedBytes === null) return [];
  const short = (bytes: number | null, whose: string): string[] =>
    (bytes ?? 0) >= askedBytes
      ? []
      : [`DataVolume ${name} asks for ${askedBytes} bytes, and has ${bytes ?? 'none'} by ${whose}`];
  return [...(isGrownByNode ? [] : short(claimBytes, 'its claim')), ...short(driverBytes, 'its driver')];
}

/**
 * 29: a clone that has succeeded has its claim, as large as it asks for, with the bytes that its source had when it was
 * asked for, or later.
 */
export const clonesAreTheirSources: Check = ({ dataVolumes }) =>
  dataVolumes.flatMap((one) => {
    if (!one.isThere || one.isDeleting || one.phase !== 'Succeeded' || one.source === null) return [];
    if (one.content === null) return [`DataVolume ${one.name} has succeeded and has no volume`];
    if (one.content.length === 0) return [`DataVolume ${one.name} has succeeded, and its driver never had its volume`];
    const short = shortOf(one);
    if (wasThere(one)) return short;
    const texts = one.content.map(({ content }) => content).join(', ');
    return [
      `DataVolume ${one.name} holds ${texts || 'nothing'}, which its source never was since it was asked for`,
      ...short,
    ];
  });

const isOver = ({ isThere, phase }: DataVolumeFact): boolean => !isThere || phase === 'Succeeded';

/** 30: what is made for DataVolumes alone goes with the last of them that needs it, down to the driver. */
export const nothingTemporaryStays: Check = ({ temporary, dataVolumes, leftAtDriver, isQuiet }) => {
  if (!isQuiet) return [];
  const needed = new Set(dataVolumes.filter((one) => !isOver(one)).map(({ uid }) => uid));
  return [
    ...temporary
      .filter(({ uids }) => !uids.some((uid) => needed.has(uid)))
      .map(({ what, uids }) => `${what} is left, which was made for ${uids.join(', ') || 'nothing'}`),
    ...leftAtDriver.map((what) => `${what} is left at its driver`),
  ];
};

/** 31: a volume is reclaimed as it was to be before it was moved. */
export const policiesAreAsBefore: Check = ({ persistentVolumes, isQuiet }) =>
  isQuiet
    ? persistentVolumes.flatMap(({ name, policy, policyBefore, isClaimed }) =>
        policy === policyBefore || !isClaimed
          ? []
          : [`PersistentVolume ${name} has the reclaim policy ${policy} instead of ${policyBefore}`],
      )
    : [];
