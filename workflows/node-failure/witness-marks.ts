import type { ObservedWitness, Witness } from '../../contracts/node-failure/node-failure.ts';

/** What a witness says now, before it is known since when. */
export type Report = Pick<Witness, 'kind' | 'says' | 'message' | 'mark'>;

/**
 * A mark that has changed is a sign of life; one that stays the same for long is a silence, by the run's own clock:
 * that of the host that leaves it may be wrong. A mark that was observed once says neither. Pure.
 *
 * @param last what the witness said before; null: nothing was observed of it
 */
export function readMark(
  { kind, mark: value, silentAfterMs, message }: ObservedWitness,
  last: Pick<Witness, 'says' | 'mark'> | null,
  askedMs: number,
): Report {
  const known = last?.mark;
  if (value === null) return { kind, says: 'unknown', message, ...(known && { mark: known }) };
  if (known === undefined) return { kind, says: 'unknown', message, mark: { value, sinceMs: askedMs } };
  if (known.value !== value) return { kind, says: 'alive', message, mark: { value, sinceMs: askedMs } };
  const isSilent = askedMs - known.sinceMs >= silentAfterMs;
  return { kind, says: isSilent ? 'silent' : last?.says === 'alive' ? 'alive' : 'unknown', message, mark: known };
}
