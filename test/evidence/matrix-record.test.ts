import type { CleanRuns, Outcome } from '../faults/matrix.ts';
import type { Cell } from '../faults/run-cell.ts';
import { faultNames } from '../faults/faults.ts';
import { findScenario, scenarios } from '../faults/scenarios.ts';
import type { MatrixRun } from './matrix-record.ts';
import { matrixRuns, matrixSeries } from './matrix-record.ts';
import type { MatrixDetails } from './matrix-report.ts';

const clean: CleanRuns[] = [
  { scenario: 'happy', steps: ['A/one.1', 'A/two.1'], unsteady: [], complaints: [], seconds: 3 },
];
/** Scenarios of the series beside `happy`. */
const others = matrixSeries['matrix-evictions'].length - 1;
const cellsOf = (step: string): Cell[] => faultNames.map((fault) => ({ scenario: 'happy', step, fault }));
const planned = [...cellsOf('A/one.1'), ...cellsOf('A/two.1')];
const outcome = (cell: Cell, complaints: string[] = []): Outcome => ({
  ...cell,
  complaints,
  injected: true,
  seconds: 2,
  attempts: 1,
});
const run = (more: Partial<MatrixRun>): MatrixRun => ({
  scenarios: [findScenario('happy')],
  clean,
  planned,
  chosen: planned,
  outcomes: planned.map((cell) => outcome(cell)),
  earlier: [],
  seed: null,
  command: 'npm run matrix',
  startedMs: 0,
  ...more,
});
const stepsOf = ({ details }: { details: object }): unknown => (details as MatrixDetails).scenarios[0]?.steps;

test('every scenario is in one series', () => {
  expect(Object.values(matrixSeries).flat().toSorted()).toEqual(scenarios.map(({ name }) => name).toSorted());
});

test('a letter for each cell', () => {
  const [record] = matrixRuns(
    run({ outcomes: planned.slice(0, -1).map((cell, index) => outcome(cell, index === 0 ? ['invariant 3'] : [])) }),
  );
  expect(record).toMatchObject({
    series: 'matrix-evictions',
    counts: { passed: 14, failed: 1, missing: 1, missingScenarios: others },
    failures: [{ what: 'happy/A/one.1/failBefore', complaints: ['invariant 3'], passedLater: false }],
  });
  expect(stepsOf(record!)).toEqual({ 'A/one.1': 'Fppppppp', 'A/two.1': 'ppppppp-' });
});

test('cells of a step that only an earlier sitting had are missing where none has run them', () => {
  const [record] = matrixRuns(run({ earlier: [outcome({ scenario: 'happy', step: 'A/three.1', fault: 'cancel' })] }));
  expect(record?.counts).toEqual({ passed: 17, failed: 0, missing: 7, missingScenarios: others });
  expect(stepsOf(record!)).toMatchObject({ 'A/three.1': '----p---' });
});

test('a failure stays in the record when its cell has passed later', () => {
  const [first] = planned;
  const [record] = matrixRuns(run({ earlier: [outcome(first!, ['too late'])] }));
  expect(record).toMatchObject({
    counts: { passed: 16, failed: 0, missing: 0 },
    failures: [{ what: 'happy/A/one.1/failBefore', complaints: ['too late'], passedLater: true }],
  });
});

test('what a sample leaves out is not missing', () => {
  const chosen = cellsOf('A/one.1');
  const [record] = matrixRuns(run({ chosen, outcomes: chosen.map((cell) => outcome(cell)), seed: 7 }));
  expect(record?.counts).toEqual({ passed: 8, failed: 0, missing: 0, notSampled: 8, missingScenarios: others });
  expect(stepsOf(record!)).toEqual({ 'A/one.1': 'pppppppp', 'A/two.1': '........' });
});

test('a scenario that fails without a fault is a failure of its series, and of no other', () => {
  const records = matrixRuns(
    run({
      scenarios: [findScenario('happy'), findScenario('made')],
      clean: [{ ...clean[0]!, complaints: ['it ended as Failed'] }],
    }),
  );
  expect(records.map(({ series, failures }) => [series, failures])).toEqual([
    ['matrix-evictions', [{ what: 'happy, without a fault', complaints: ['it ended as Failed'] }]],
    ['matrix-virtual-machines', []],
  ]);
});
