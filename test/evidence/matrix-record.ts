import { faultNames } from '../faults/faults.ts';
import type { MatrixResult, Outcome } from '../faults/matrix.ts';
import type { Cell } from '../faults/run-cell.ts';
import { formatCell } from '../faults/run-cell.ts';
import type { Scenario } from '../faults/scenario.ts';
import type { MatrixDetails, MatrixScenario, Tally } from './matrix-report.ts';
import { letters } from './matrix-report.ts';
import type { Run } from './record.ts';

/** Which scenarios a series of evidence is about. */
export const matrixSeries = {
  'matrix-evictions': [
    'happy',
    'hanging',
    'failing',
    'immovable',
    'cold',
    'consented',
    'forced',
    'leaving',
    'late',
    'limit',
    'cancel',
    'paused',
  ],
  'matrix-hypervisors': ['onboarding', 'maintenance', 'activation'],
  'matrix-decommissioning': ['decommissioning'],
  'matrix-repairs': ['drift', 'undermined', 'released', 'retried', 'leftovers'],
  'matrix-guests': ['guests'],
  'matrix-virtual-machines': [
    'made',
    'deployed',
    'dressed',
    'changed',
    'refused',
    'deleted',
    'volumed',
    'devolumed',
    'adopted',
    'waiting',
    'settled',
    'unwanted',
    'provided',
    'withdrawn',
  ],
  'matrix-fast-deploy': ['copied', 'linked', 'promoted', 'unpromoted', 'abandoned'],
} as const satisfies Record<string, readonly string[]>;

export type MatrixSeries = keyof typeof matrixSeries;
const matrixSeriesNames = Object.keys(matrixSeries) as MatrixSeries[];

/** @throws for a scenario that no series is about */
export function seriesOfScenario(scenario: string): MatrixSeries {
  const found = matrixSeriesNames.find((name) => (matrixSeries[name] as readonly string[]).includes(scenario));
  if (found === undefined)
    throw new Error(`no series of evidence is about the scenario ${scenario}: test/evidence/matrix-record.ts`);
  return found;
}

export interface MatrixRun extends MatrixResult {
  scenarios: readonly Scenario[];
  /** Outcomes of the same sources from before, in their order: what this run did not repeat. */
  earlier: readonly Outcome[];
  /** A sample was drawn, with this seed; null: the whole matrix. */
  seed: number | null;
  command: string;
  startedMs: number;
}

/** A run for each series whose scenarios were run. Pure. */
export function matrixRuns(run: MatrixRun): Run[] {
  const names = new Set(run.scenarios.map(({ name }) => seriesOfScenario(name)));
  return [...names].map((series) => {
    const isIts = ({ scenario }: Pick<Cell, 'scenario'>): boolean => seriesOfScenario(scenario) === series;
    const its = {
      ...run,
      clean: run.clean.filter(isIts),
      planned: run.planned.filter(isIts),
      chosen: run.chosen.filter(isIts),
      outcomes: run.outcomes.filter(isIts),
      earlier: run.earlier.filter(isIts),
    };
    const scenarios = run.scenarios
      .filter(({ name }) => isIts({ scenario: name }))
      .map((scenario) => describeScenario(scenario, its));
    const sum = (of: keyof Tally): number =>
      scenarios.flatMap(({ tally }) => Object.values(tally)).reduce((total, tally) => total + tally[of], 0);
    const details: MatrixDetails = {
      sample: run.seed === null ? null : its.chosen.length,
      faults: faultNames,
      scenarios,
    };
    const left = matrixSeries[series].length - scenarios.length;
    const counts = {
      passed: sum('passed'),
      failed: sum('failed'),
      missing: sum('missing'),
      ...(run.seed === null ? {} : { notSampled: sum('notSampled') }),
      ...(left === 0 ? {} : { missingScenarios: left }),
    };
    return {
      series,
      title: run.seed === null ? 'every cell' : 'a sample',
      seed: run.seed,
      command: run.command,
      startedMs: run.startedMs,
      counts,
      failures: failuresOf(its),
      details: { ...details },
    };
  });
}

const hasPassed = ({ complaints }: Outcome): boolean => complaints.length === 0;

/** Of every attempt; a clean run that fails is one as well. */
function failuresOf({ clean, outcomes, earlier }: MatrixRun): Run['failures'] {
  const all = [...earlier, ...outcomes];
  const broken = clean
    .filter(({ complaints }) => complaints.length > 0)
    .map(({ scenario, complaints }) => ({ what: `${scenario}, without a fault`, complaints }));
  const failed = all.flatMap((outcome, index) =>
    hasPassed(outcome)
      ? []
      : [
          {
            what: formatCell(outcome),
            complaints: outcome.complaints,
            passedLater: all
              .slice(index + 1)
              .some((later) => formatCell(later) === formatCell(outcome) && hasPassed(later)),
          },
        ],
  );
  return [...broken, ...failed];
}

function describeScenario(
  { name, title }: Scenario,
  { clean, planned, chosen, outcomes, earlier }: MatrixRun,
): MatrixScenario {
  const isIts = ({ scenario }: Pick<Cell, 'scenario'>): boolean => scenario === name;
  const { steps: cleanSteps = [], seconds: cleanSeconds = 0, unsteady = [] } = clean.find(isIts) ?? {};
  // The last one of each cell counts.
  const last = new Map([...earlier, ...outcomes].filter(isIts).map((outcome) => [formatCell(outcome), outcome]));
  const isChosen = new Set(chosen.filter(isIts).map(formatCell));
  const known = [...new Set([...planned.filter(isIts), ...last.values()].map(({ step }) => step))];
  const stateOf = (cell: Cell): keyof Tally => {
    const outcome = last.get(formatCell(cell));
    if (outcome !== undefined) return hasPassed(outcome) ? 'passed' : 'failed';
    // A step that came in an earlier sitting only has cells all the same.
    return isChosen.has(formatCell(cell)) || !planned.some((one) => isIts(one) && one.step === cell.step)
      ? 'missing'
      : 'notSampled';
  };
  const states = known.map((step) => ({
    step,
    its: faultNames.map((fault) => stateOf({ scenario: name, step, fault })),
  }));
  const tally = Object.fromEntries(
    faultNames.map((fault, index) => {
      const its = states.map((one) => one.its[index]);
      const count = (state: keyof Tally): number => its.filter((one) => one === state).length;
      return [
        fault,
        {
          passed: count('passed'),
          failed: count('failed'),
          missing: count('missing'),
          notSampled: count('notSampled'),
        },
      ];
    }),
  ) as MatrixScenario['tally'];
  return {
    name,
    title,
    cleanSteps: cleanSteps.length,
    cleanSeconds: Math.round(cleanSeconds),
    meanCellSeconds: Number(
      ([...last.values()].reduce((sum, { seconds }) => sum + seconds, 0) / Math.max(1, last.size)).toFixed(1),
    ),
    unsteady,
    steps: Object.fromEntries(states.map(({ step, its }) => [step, its.map((state) => letters[state]).join('')])),
    tally,
  };
}
