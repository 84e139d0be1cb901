import type { FaultName } from '../faults/faults.ts';
import { saveRecord } from '../evidence/keep.ts';
import { letters, type MatrixDetails, type MatrixScenario, type Tally } from '../evidence/matrix-report.ts';
import { makeRecord, type Run } from '../evidence/record.ts';
import { series } from '../evidence/series.ts';
import { digestNow } from '../evidence/sources.ts';
import type { SimulatedCell } from './cell.ts';
import { formatCell } from './cell.ts';
import { observeCleanRun } from './clean-runs.ts';
import type { CellOutcome } from './shards.ts';
import { cellsOf, type SimulatedNamed, stories } from './stories.ts';
import { activityFaults } from './story-faults.ts';

/** What the cells of stories came to, as evidence: the matrix on a lab has none of them. */

/** Which story a series of evidence is about. */
export const storySeries = {
  'matrix-machines': 'sweep',
  'matrix-agent-pools': 'pool',
  'matrix-clones': 'clone',
  'matrix-clones-elsewhere': 'cloneElsewhere',
  'matrix-clones-copied': 'cloneCopied',
  'matrix-clones-deleted': 'cloneDeleted',
} as const;
type StorySeries = keyof typeof storySeries;

export interface ToldCells {
  name: string;
  title: string;
  /** Of one that was told without a fault. */
  cleanSteps: number;
  cleanSeconds: number;
  cells: readonly SimulatedCell[];
  /** By cell, as it is typed. */
  complaints: ReadonlyMap<string, readonly string[]>;
  /** Of all cells, on all processes together. */
  seconds: number;
  command: string;
  startedMs: number;
}

/** @throws for a story that no series is about */
export function seriesOfStory(name: string): StorySeries {
  const found = (Object.keys(storySeries) as StorySeries[]).find((series) => storySeries[series] === name);
  if (found === undefined) throw new Error(`no series of evidence is about ${name}: test/simulator/record-stories.ts`);
  return found;
}

/** Pure. */
export function storyRun(told: ToldCells): Run {
  const { name, cells, complaints, command, startedMs } = told;
  const hasFailed = (cell: SimulatedCell): boolean => (complaints.get(formatCell(cell))?.length ?? 1) > 0;
  const count = (at: string): number =>
    cells.filter(({ targets: [target] }) => target?.at === at).filter((cell) => !hasFailed(cell)).length;
  const details: MatrixDetails = { sample: null, faults: activityFaults, scenarios: [describeStory(told, hasFailed)] };
  const failed = cells.filter(hasFailed);
  return {
    series: seriesOfStory(name),
    title: 'every cell',
    seed: null,
    command,
    startedMs,
    counts: {
      passed: cells.length - failed.length,
      failed: failed.length,
      missing: 0,
      'activity calls': count('activity'),
      'outside calls': count('call'),
      'kills with a task': count('task'),
    },
    failures: failed.map((cell) => ({
      what: formatCell(cell),
      complaints: [...(complaints.get(formatCell(cell)) ?? ['there is no result of it'])],
    })),
    details: { ...details },
  };
}

function describeStory(
  { name, title, cleanSteps, cleanSeconds, cells, seconds }: ToldCells,
  hasFailed: (cell: SimulatedCell) => boolean,
): MatrixScenario {
  const steps: Record<string, string> = {};
  const tally = Object.fromEntries(
    activityFaults.map((fault) => [fault, { passed: 0, failed: 0, missing: 0, notSampled: 0 }]),
  ) as Record<FaultName, Tally>;
  for (const cell of cells) {
    const [target] = cell.targets;
    if (target?.at !== 'activity') continue;
    const state = hasFailed(cell) ? 'failed' : 'passed';
    tally[target.fault][state] += 1;
    // Cells come in the order of the faults.
    steps[target.step] = (steps[target.step] ?? '') + letters[state];
  }
  const meanCellSeconds = Number((seconds / Math.max(1, cells.length)).toFixed(1));
  return {
    name,
    title,
    cleanSteps,
    cleanSeconds: Math.round(cleanSeconds),
    meanCellSeconds,
    unsteady: [],
    steps,
    tally,
  };
}

export interface StoryRecorder {
  take(outcome: CellOutcome): void;
  /** Returns the files that were written. */
  save(): string[];
}

/** Tells each story without a fault first. @throws where that does not end as it should */
export async function openStoryRecorder(names: readonly string[]): Promise<StoryRecorder> {
  const beganMs = Date.now();
  const clean = async ({ name, title }: SimulatedNamed) => {
    const startedMs = performance.now();
    const run = await observeCleanRun(name);
    const cleanSeconds = (performance.now() - startedMs) / 1_000;
    const digestBefore = digestNow(series[seriesOfStory(name)].globs);
    return { name, title, run, cleanSeconds, digestBefore, complaints: new Map<string, readonly string[]>() };
  };
  const told: Awaited<ReturnType<typeof clean>>[] = [];
  for (const story of stories) if (names.includes(story.name)) told.push(await clean(story));
  const startedMs = performance.now();
  return {
    take({ cell, complaints }) {
      told.find(({ name }) => cell.startsWith(`${name}/`))?.complaints.set(cell, complaints);
    },
    save() {
      const seconds = (performance.now() - startedMs) / 1_000;
      const all = told.reduce((sum, { complaints }) => sum + complaints.size, 0);
      return told.map(({ run, digestBefore, ...one }) => {
        const { activity, fine } = cellsOf(one.name, run);
        const made = storyRun({
          ...one,
          cleanSteps: run.steps.length,
          cells: [...activity, ...fine],
          seconds: (seconds * one.complaints.size) / Math.max(1, all),
          command: `npm run simulate -- --scenario ${one.name} --fine --record`,
          startedMs: beganMs,
        });
        return saveRecord(makeRecord({ ...made, digestBefore }));
      });
    },
  };
}
