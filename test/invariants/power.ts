import type { Snapshot } from './snapshot.ts';

/** The spans in which a machine was without power. */
export const offs = (changes: Snapshot['power'][string]): { fromMs: number; untilMs: number }[] =>
  changes.flatMap(({ power, atMs }, index) =>
    power === 'Off' ? [{ fromMs: atMs, untilMs: changes[index + 1]?.atMs ?? Infinity }] : [],
  );
