import type { Figure } from './benchmark.ts';
import type { BenchRecord, RecordedFigure } from './records.ts';
import { isAlike, type MachineKind } from '../machine.ts';
import type { Spread } from './spread.ts';

/** A figure as it was recorded before. */
export interface LastFigure extends RecordedFigure {
  commit: string;
  /** Whether the machine is like this one: if not, the two numbers say little about each other. */
  alike: boolean;
}

/** The newest record of a figure, of a machine like this one if there is any. */
export function findLast(records: readonly BenchRecord[], id: string, machine: MachineKind): LastFigure | null {
  const found = records.flatMap((record) => {
    const figure = record.figures[id];
    return figure === undefined
      ? []
      : [
          {
            ...figure,
            commit: record.changed ? `${record.commit} and changes` : record.commit,
            alike: isAlike(record.machine, machine),
          },
        ];
  });
  const newest = found.toSorted(
    (a, b) => Number(a.alike) - Number(b.alike) || a.recordedAt.localeCompare(b.recordedAt),
  );
  return newest.at(-1) ?? null;
}

/** Null where there is no goal. */
export const meetsGoal = ({ goal, better }: Figure, { value }: Spread): boolean | null =>
  goal === null ? null : better === 'lower' ? value <= goal : value >= goal;

export interface Change {
  /** Now ÷ before. */
  ratio: number;
  verdict: 'better' | 'worse' | 'same';
}

/** Below this share a difference is noise, however well the repetitions agree with each other. */
const noise = 0.05;

/**
 * `same` where either median lies within the other's spread, or next to it. Null where there is nothing to divide by.
 */
export function compareFigure({ better }: Figure, now: Spread, before: Spread): Change | null {
  if (before.value === 0) return null;
  const ratio = now.value / before.value;
  const isWithin = (value: number, { min, max }: Spread): boolean => value >= min && value <= max;
  const isSame = Math.abs(ratio - 1) <= noise || isWithin(now.value, before) || isWithin(before.value, now);
  return { ratio, verdict: isSame ? 'same' : ratio < 1 === (better === 'lower') ? 'better' : 'worse' };
}
