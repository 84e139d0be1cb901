import type { JudgedSeries, Judgement } from './judge.ts';
import { judge } from './judge.ts';
import { readRecords } from './record.ts';
import type { Series, SeriesName } from './series.ts';
import { series, seriesNames } from './series.ts';
import { countBeyond, countChanged, digestNow } from './sources.ts';

/** Of the sources as they are on disk. @throws outside of a checkout */
export const judgeSeries = (name: SeriesName): Judgement => {
  const { globs } = series[name];
  return judge(readRecords(name), {
    globs,
    digest: digestNow(globs),
    countChanged,
    countBeyond: (old) => countBeyond(globs, old),
  });
};

export const judgeAll = (): ({ name: SeriesName } & JudgedSeries)[] =>
  seriesNames.map((name) => {
    const { command, exempt }: Series = series[name];
    const startedAt = readRecords(name).at(-1)?.startedAt ?? null;
    return { name, ...judgeSeries(name), command, exempt: exempt ?? null, startedAt };
  });
