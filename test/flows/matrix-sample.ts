import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startLab } from '../../lab/lab.ts';
import type { MatrixLab } from '../faults/environment.ts';
import type { AnyFaultName } from '../faults/faults.ts';
import { runMatrix } from '../faults/matrix.ts';
import type { Cell } from '../faults/run-cell.ts';
import { formatCell } from '../faults/run-cell.ts';
import { sample } from '../faults/sample.ts';
import { findScenario, partsFor } from '../faults/scenarios.ts';
import { isSampleOfDay, sampleSeed } from '../seed.ts';

/** What the flows of the matrix share: `npm run matrix` runs all of it. */

/** A lab of their own: hosts of the matrix would be targets for others. */
export async function openMatrixLab(scenarios: readonly string[]): Promise<{ lab: MatrixLab; close(): Promise<void> }> {
  const root = mkdtempSync(join(tmpdir(), 'drover-matrix-'));
  const lab: MatrixLab & { stop(): Promise<void> } = await startLab({
    dir: join(root, 'lab'),
    parts: partsFor(scenarios.map(findScenario)),
  });
  return {
    lab,
    async close() {
      await lab.stop();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

/** The first on a push, another one each day. */
export const scenarioOfDay = (names: readonly string[]): string =>
  (isSampleOfDay ? sample(names, 1, sampleSeed, (name) => name)[0] : names[0]) ?? '';

/**
 * A kill -9, a cancel and one fault more, each at a step that the seed decides. On a push only the worker of
 * hypervisors is killed here: the flows eviction-durability and virtual-machine kill theirs, and each kill waits the 15
 * s after which Temporal gives a call up.
 */
function oneOfEach(cells: readonly Cell[]): Cell[] {
  // One that hangs waits for Temporal's patience, and for nothing else: the whole matrix has those.
  const others: readonly AnyFaultName[] = ['failBefore', 'failAfter', 'terminate', 'signalTwice', 'changeSpec'];
  return [...Map.groupBy(cells, ({ scenario }) => scenario)].flatMap(([scenario, all]) => {
    const its = all.filter(({ step }) => !isLastOfSeveral(step, all));
    const isKilled = isSampleOfDay || findScenario(scenario).subject === 'Hypervisor';
    return [...(isKilled ? [['killWorker']] : []), ['cancel'], others].flatMap((faults) =>
      sample(
        its.filter(({ fault }) => faults.includes(fault)),
        1,
        sampleSeed,
        ({ fault }) => fault,
      ),
    );
  });
}

/**
 * How often a run publishes depends on how fast it is, and on a busy machine the last time may not come: the whole
 * matrix tries those again until they do.
 */
function isLastOfSeveral(step: string, cells: readonly Cell[]): boolean {
  const kindOf = (one: string): string => one.slice(0, one.lastIndexOf('.'));
  const numberOf = (one: string): number => Number(one.slice(one.lastIndexOf('.') + 1));
  return (
    numberOf(step) > 1 &&
    cells.every((other) => kindOf(other.step) !== kindOf(step) || numberOf(other.step) <= numberOf(step))
  );
}

/**
 * Every clean run of the scenario and {@link oneOfEach} of its cells pass; of one that does not, how it is run again.
 */
export async function expectSampleToPass(lab: MatrixLab, scenario: string, parallelism: number): Promise<void> {
  const { clean, chosen, outcomes } = await runMatrix({
    lab,
    scenarios: [findScenario(scenario)],
    parallelism,
    choose: oneOfEach,
    isSample: true,
    report: () => undefined,
  });
  for (const { complaints } of clean) expect({ scenario, complaints }).toEqual({ scenario, complaints: [] });
  expect(outcomes.map(formatCell).toSorted()).toEqual(chosen.map(formatCell).toSorted());
  for (const outcome of outcomes)
    expect({ again: `npm run matrix -- --cell ${formatCell(outcome)}`, complaints: outcome.complaints }).toMatchObject({
      complaints: [],
    });
}
