import { saveRecord } from '../../evidence/keep.ts';
import { makeRecord, type Run } from '../../evidence/record.ts';
import { series, type SeriesName } from '../../evidence/series.ts';
import { digestNow } from '../../evidence/sources.ts';
import { formatCell } from './cell.ts';
import { cellsOfParts, type PartCells } from './part-of.ts';
import { partNames, parts, type PartName } from './parts.ts';
import { mutations } from '../mutations/table.ts';
import { type CellOutcome, formatMutation } from './shards.ts';

/** What whole parts of the matrix, and all mutations, came to, as evidence. */

export interface RanPart extends PartCells {
  name: PartName;
  complaints: Complaints;
  startedMs: number;
}

/** By cell or mutation, as it is typed. */
type Complaints = ReadonlyMap<string, readonly string[]>;

const countsOf = (cells: readonly string[], complaints: Complaints): Pick<Run, 'counts' | 'failures'> => {
  const complaintsOf = (cell: string): readonly string[] => complaints.get(cell) ?? ['there is no result of it'];
  const failed = cells.filter((cell) => complaintsOf(cell).length > 0);
  return {
    counts: { passed: cells.length - failed.length, failed: failed.length, missing: 0 },
    failures: failed.map((cell) => ({ what: cell, complaints: [...complaintsOf(cell)] })),
  };
};

/** Pure. */
export function partRun({ name, scenarios, cells, complaints, startedMs }: RanPart): Run {
  const ofScenario = (scenario: string): number => cells.filter((cell) => cell.scenario === scenario).length;
  return {
    series: `simulated-${name}`,
    title: `every fault at every activity call: ${parts[name].title}`,
    seed: null,
    command: recordCommand,
    startedMs,
    ...countsOf(cells.map(formatCell), complaints),
    details: { scenarios: Object.fromEntries(scenarios.map((scenario) => [scenario, ofScenario(scenario)])) },
  };
}

const mutationRun = (complaints: Complaints, startedMs: number): Run => ({
  series: 'simulated-mutations',
  title: 'every mutation',
  seed: null,
  command: recordCommand,
  startedMs,
  ...countsOf(mutations.map(formatMutation), complaints),
  details: {},
});

export const recordCommand = 'npm run simulate -- --record';

export interface PartRecorder {
  take(outcome: CellOutcome): void;
  /** Of what was run wholly. Returns the files that were written. */
  save(): string[];
}

/** @param chosen cells and mutations that are run, as they are typed */
export function recordParts(chosen: readonly string[]): PartRecorder {
  const startedMs = Date.now();
  const isChosen = new Set(chosen);
  const complaints = new Map<string, readonly string[]>();
  const all = cellsOfParts();
  const whole: { name: SeriesName; run: () => Run }[] = partNames.flatMap((name) => {
    const its = all.get(name);
    if (its === undefined || !its.cells.every((cell) => isChosen.has(formatCell(cell)))) return [];
    return [{ name: `simulated-${name}` as const, run: () => partRun({ name, ...its, complaints, startedMs }) }];
  });
  if (mutations.every((mutation) => isChosen.has(formatMutation(mutation))))
    whole.push({ name: 'simulated-mutations', run: () => mutationRun(complaints, startedMs) });
  const begun = whole.map(({ name, run }) => ({ run, digestBefore: digestNow(series[name].globs) }));
  return {
    take: (outcome) => void complaints.set(outcome.cell, outcome.complaints),
    save: () => begun.map(({ run, digestBefore }) => saveRecord(makeRecord({ ...run(), digestBefore }))),
  };
}
