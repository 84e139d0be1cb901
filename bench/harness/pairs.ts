/** One run of each side, from the same start. */
export interface PairOf<Side extends string, Measured> {
  first: Side;
  sides: Record<Side, Measured>;
}

/** Who goes first alternates, so that what changes with time meets both alike. */
export const orderOf = <Side extends string>(
  [one, other]: readonly [Side, Side],
  pair: number,
): readonly [Side, Side] => (pair % 2 === 0 ? [one, other] : [other, one]);

/** Measures two sides so many times, one after the other, never at once. */
export async function runPairs<const Side extends string, Measured>(
  pairs: number,
  sides: readonly [Side, Side],
  measure: (side: Side, pair: number) => Promise<Measured>,
): Promise<PairOf<Side, Measured>[]> {
  const measured: PairOf<Side, Measured>[] = [];
  for (let pair = 0; pair < pairs; pair += 1) {
    const [first, second] = orderOf(sides, pair);
    const outcome = { [first]: await measure(first, pair), [second]: await measure(second, pair) } as Record<
      Side,
      Measured
    >;
    measured.push({ first, sides: outcome });
  }
  return measured;
}

/** One side ÷ the other, pair by pair: what slows both down falls out. */
export const ratiosOf = <Side extends string>(
  pairs: readonly PairOf<Side, number>[],
  one: Side,
  other: Side,
): number[] => pairs.map(({ sides }) => sides[one] / sides[other]);
