/** One number that a benchmark yields, and how it is judged. */
export interface Figure {
  /** What it is recorded under, such as `hot-object.signals`: never renamed, or there is nothing to compare with. */
  id: string;
  title: string;
  /** Such as `ms`, `MiB`, `signals/s`; empty for a ratio. */
  unit: string;
  better: 'lower' | 'higher';
  /** Still met when it is equal; null: it is only recorded. */
  goal: number | null;
}

/** Values by figure, one for each repetition. */
export type Samples = Readonly<Record<string, readonly number[]>>;

/** Something that can be measured by itself. */
export interface Benchmark<Run> {
  /** As in `--only`. */
  name: string;
  title: string;
  /** How long it takes on an idle machine. */
  minutes: number;
  figures: readonly Figure[];
  /** @throws when it cannot be measured, or when what was measured is no use */
  measure(run: Run): Promise<Samples>;
}

/** Benchmarks that are recorded together. */
export interface Suite<Run> {
  name: string;
  title: string;
  benchmarks: readonly Benchmark<Run>[];
}

/** What the record and the tables need to know of a suite. */
export interface SuiteFigures {
  name: string;
  title: string;
  figures: readonly Figure[];
}

export const figuresOf = ({ name, title, benchmarks }: Suite<never>): SuiteFigures => ({
  name,
  title,
  figures: benchmarks.flatMap(({ figures }) => figures),
});
