import { type Condition, findCondition } from '../../contracts/conditions.ts';
import type { Strategy } from '../../contracts/data-volume/metadata.ts';
import { byNeed } from '../command/list-objects.ts';
import type { VolumeObject } from './volume-object.ts';

/** `left`: CDI imports or uploads it. `unknown`: no run has said anything yet. */
export type CloneStatus = 'complete' | 'under way' | 'waiting' | 'failed' | 'left' | 'unknown';

/**
 * One line of `drover clones`, and one element of its `--json`. Times are RFC 3339, sizes bytes; what is null
 * is not known.
 */
export interface ListedClone {
  namespace: string;
  name: string;
  /** Of the DataVolume; null: none yet. */
  phase: string | null;
  status: CloneStatus;
  /** The user has to act: nothing comes by itself, or not for long. */
  needsAttention: boolean;
  since: string | null;
  /** A condition reason: what it waits for, or why it is not made. Null: for nothing. */
  reason: string | null;
  message: string;
  source: string;
  strategy: Strategy | null;
  fallbackReason: string | null;
  sizeBytes: number | null;
  deleting: boolean;
}

export const listClones = (
  volumes: readonly VolumeObject[],
  { attention }: { attention: boolean },
  nowMs: number,
): ListedClone[] =>
  volumes
    .map((volume) => listClone(volume, nowMs))
    .filter(({ needsAttention: needs }) => needs || !attention)
    .sort(byNeed);

function listClone(volume: VolumeObject, nowMs: number): ListedClone {
  const { namespace, name, phase, since, source, strategy, fallbackReason, sizeBytes, deleting } = volume;
  const problem = problemOf(volume);
  return {
    namespace,
    name,
    phase: phase === '' ? null : phase,
    status: statusOf(volume),
    needsAttention: needsAttention(volume, nowMs),
    since,
    reason: problem?.reason ?? null,
    message: problem?.message ?? '',
    source,
    strategy,
    fallbackReason,
    sizeBytes,
    deleting,
  };
}

/** What is waited for, or keeps it from being made, as its condition Ready says; null: nothing. */
export function problemOf({ conditions }: Pick<VolumeObject, 'conditions'>): Condition | null {
  const ready = findCondition(conditions, 'Ready');
  if (ready?.status !== 'False' || ready.reason === '' || ready.reason === 'TransferRunning') return null;
  return ready;
}

export function statusOf(volume: Pick<VolumeObject, 'conditions' | 'phase' | 'isLeft'>): CloneStatus {
  if (volume.isLeft) return 'left';
  if (volume.phase === 'Succeeded') return 'complete';
  if (volume.phase === 'Failed') return 'failed';
  if (problemOf(volume) !== null) return 'waiting';
  return volume.phase === '' ? 'unknown' : 'under way';
}

/** How long it may wait for what others may be about to bring. */
const patienceMs = 10 * 60_000;

/** What comes by itself, or when the volume is used. */
const passing: readonly string[] = ['TooManyClones', 'WaitForFirstConsumer', 'Copying', 'ObserveOnly'];

/** What only a user changes. */
const lasting: readonly string[] = [
  'CloneFailed',
  'CloneNotPermitted',
  'CloneValidationFailed',
  'CopyFailed',
  'CopyNotPossible',
  'ErrClaimLost',
  'ErrClaimNotValid',
  'ErrResourceExists',
];

export function needsAttention(volume: VolumeObject, nowMs: number): boolean {
  const status = statusOf(volume);
  if (status === 'failed') return true;
  if (status !== 'waiting') return false;
  const problem = problemOf(volume);
  if (problem === null || passing.includes(problem.reason)) return false;
  return lasting.includes(problem.reason) || nowMs - Date.parse(problem.lastTransitionTime) > patienceMs;
}
