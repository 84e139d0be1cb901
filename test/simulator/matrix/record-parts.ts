import { saveRecord } from '../../evidence/keep.ts';
import { makeRecord, type Run } from '../../evidence/record.ts';
import { series } from '../../evidence/series.ts';
import { digestNow } from '../../evidence/sources.ts';
import { formatCell } from './cell.ts';
import { cellsOfParts, type PartCells } from './part-of.ts';
import { partNames, parts, type PartName } from './parts.ts';
import type { CellOutcome } from './shards.ts';

/** What whole parts of the matrix came to, as evidence. */

export interface RanPart extends PartCells {
  name: PartName;
  /** By cell, as it is typed. */
  complaints: ReadonlyMap<string, readonly string[]>;
  startedMs: number;
}

/** Pure. */
export function partRun({ name, scenarios, cells, complaints, startedMs }: RanPart): Run {
  const complaintsOf = (cell: string): readonly string[] => complaints.get(cell) ?? ['there is no result of it'];
  const formatted = cells.map(formatCell);
  const failed = formatted.filter((cell) => complaintsOf(cell).length > 0);
  const ofScenario = (scenario: string): number => cells.filter((cell) => cell.scenario === scenario).length;
  return {
    series: `simulated-${name}`,
    title: `every fault at every activity call: ${parts[name].title}`,
    seed: null,
    command: recordCommand,
    startedMs,
    counts: { passed: cells.length - failed.length, failed: failed.length, missing: 0 },
    failures: failed.map((cell) => ({ what: cell, complaints: [...complaintsOf(cell)] })),
    details: { scenarios: Object.fromEntries(scenarios.map((scenario) => [scenario, ofScenario(scenario)])) },
  };
}

export const recordCommand = 'npm run simulate -- --record';

export interface PartRecorder {
  take(outcome: CellOutcome): void;
  /** Of the parts that were run wholly. Returns the files that were written. */
  save(): string[];
}

/** @param chosen cells that are run, as they are typed */
export function openPartRecorder(chosen: readonly string[]): PartRecorder {
  const startedMs = Date.now();
  const isChosen = new Set(chosen);
  const all = cellsOfParts();
  const whole = partNames.flatMap((name) => {
    const its = all.get(name);
    if (its === undefined || !its.cells.every((cell) => isChosen.has(formatCell(cell)))) return [];
    return [{ name, ...its, digestBefore: digestNow(series[`simulated-${name}`].globs) }];
  });
  const complaints = new Map<string, readonly string[]>();
  return {
    take: (outcome) => void complaints.set(outcome.cell, outcome.complaints),
    save: () =>
      whole.map(({ digestBefore, ...part }) =>
        saveRecord(makeRecord({ ...partRun({ ...part, complaints, startedMs }), digestBefore })),
      ),
  };
}
