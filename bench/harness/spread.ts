/** The repetitions of one figure. */
export interface Spread {
  /** The median. */
  value: number;
  min: number;
  max: number;
  samples: number;
}

/** Rounded to four digits that count. @throws for no values, or one that is no number: there is nothing to record */
export function spreadOf(values: readonly number[]): Spread {
  if (values.length === 0 || !values.every(Number.isFinite))
    throw new Error(`nothing was measured: ${JSON.stringify(values)}`);
  const sorted = values.toSorted((a, b) => a - b);
  const half = (sorted.length - 1) / 2;
  const median = ((sorted[Math.floor(half)] ?? 0) + (sorted[Math.ceil(half)] ?? 0)) / 2;
  return {
    value: significant(median),
    min: significant(sorted[0] ?? 0),
    max: significant(sorted.at(-1) ?? 0),
    samples: values.length,
  };
}

const significant = (value: number): number => Number(value.toPrecision(4));
