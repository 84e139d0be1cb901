import type { ClaimFacts, VolumeCondition, VolumeProblem } from './data-volume.ts';
import type { VolumePhase } from './metadata.ts';

/** Conditions of a DataVolume, as CDI writes them. Pure. */

export interface VolumeState {
  phase: VolumePhase;
  /** The PVC of its name; null: none. */
  claim: Pick<ClaimFacts, 'name' | 'phase'> | null;
  /** What is waited for, or what keeps it from being made; null: it goes on. */
  problem: VolumeProblem | null;
  /** It is the clone of another volume. */
  isClone: boolean;
}

/** Bound, Running, Ready: all three, always. */
export function volumeConditions(state: VolumeState): VolumeCondition[] {
  const running = runningOf(state);
  return [
    { type: 'Bound', ...boundOf(state) },
    { type: 'Running', ...running },
    { type: 'Ready', ...readyOf(state, running) },
  ];
}

type Said = Omit<VolumeCondition, 'type'>;

const saying = (status: Said['status'], reason = '', message = ''): Said => ({ status, reason, message });

function boundOf({ claim, problem }: VolumeState): Said {
  if (claim === null)
    return problem === null
      ? saying('False', 'NotFound', 'No PVC found')
      : saying('False', problem.reason, problem.message);
  switch (claim.phase) {
    case 'Bound':
      return saying('True', 'Bound', `PVC ${claim.name} Bound`);
    case 'Pending':
      return saying('False', 'Pending', `PVC ${claim.name} Pending`);
    case 'Lost':
      return saying('False', 'ClaimLost', 'Claim Lost');
  }
}

const pending: readonly VolumePhase[] = ['', 'Pending', 'CloneScheduled', 'WaitForFirstConsumer', 'PendingPopulation'];

function runningOf({ phase, problem, isClone }: VolumeState): Said {
  if (phase === 'Succeeded') return saying('False', 'Completed', isClone ? 'Clone Complete' : '');
  if (problem !== null) return saying('False', problem.reason, problem.message);
  if (pending.includes(phase)) return saying('False', 'Pending', isClone ? 'Clone Pending' : '');
  if (phase === 'Failed') return saying('False', 'Error', isClone ? 'Clone Failed' : '');
  if (phase === 'Paused' || phase === 'Unknown') return saying('False', phase);
  return saying('True', 'Populator is running');
}

function readyOf({ phase, problem }: VolumeState, running: Said): Said {
  if (phase === 'Succeeded') return saying('True');
  if (problem !== null) return saying('False', problem.reason, problem.message);
  if (phase === 'Unknown') return saying('Unknown');
  return saying('False', running.status === 'True' ? 'TransferRunning' : '');
}

/** A condition of any kind of CDI's. */
type CdiCondition<Type extends string> = Omit<VolumeCondition, 'type'> & { type: Type };

/** As the object has it. */
export type WrittenCondition<Type extends string = VolumeCondition['type']> = CdiCondition<Type> & {
  /** RFC 3339: when its status changed last. */
  lastTransitionTime: string;
  /** RFC 3339: when anything of it changed last. */
  lastHeartbeatTime: string;
};

type MaybeWritten = { type: string; status?: unknown } & Partial<Omit<WrittenCondition, 'type' | 'status'>>;

/**
 * Puts `updates` into what the object says. Those of other types stay as they are.
 * @param now RFC 3339
 */
export function setVolumeConditions<Other extends { type: string }, Type extends string>(
  current: readonly (Other | MaybeWritten)[],
  updates: readonly CdiCondition<Type>[],
  now: string,
): (Other | WrittenCondition<Type>)[] {
  const types = new Set<string>(updates.map(({ type }) => type));
  return [
    ...current.filter((one): one is Other => !types.has(one.type)),
    ...updates.map((update) => {
      const before: MaybeWritten | undefined = current.find(({ type }) => type === update.type);
      const hasStatus = before?.status === update.status;
      const isSame =
        hasStatus && (before?.reason ?? '') === update.reason && (before?.message ?? '') === update.message;
      return {
        ...update,
        lastTransitionTime: (hasStatus ? before?.lastTransitionTime : undefined) ?? now,
        lastHeartbeatTime: (isSame ? before?.lastHeartbeatTime : undefined) ?? now,
      };
    }),
  ];
}
