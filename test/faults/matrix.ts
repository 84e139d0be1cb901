import { unlessAborted } from '../../runtime/unless-aborted.ts';
import { faultNames } from './faults.ts';
import type { LabEnvironment, MatrixLab } from './environment.ts';
import { openEnvironment } from './environment.ts';
import type { LabFixture } from './fixture.ts';
import { openFixture } from './fixture.ts';
import type { Cell, CellResult } from './run-cell.ts';
import { formatCell, isMissed, joinAttempts, runCell } from './run-cell.ts';
import type { Scenario } from './scenario.ts';
import { openContext } from './context.ts';
import type { SubjectKind } from './subjects.ts';
import { subjects } from './subjects.ts';
import { commonSteps, isOfWatch } from './step.ts';

/** A cell and how it went. */
export interface Outcome extends Cell, Omit<CellResult, 'steps'> {
  /** How often it was run, until its step came. */
  attempts: number;
}

export interface MatrixOptions {
  lab: MatrixLab;
  scenarios: readonly Scenario[];
  /** How many scenarios run side by side. */
  parallelism: number;
  mutation?: string;
  /** Which cells to run of those that there are. */
  choose: (cells: readonly Cell[]) => readonly Cell[];
  /** Those are a sample: another one takes the place of a cell whose step does not come. */
  isSample: boolean;
  report: (line: string) => void;
  take?: (outcome: Outcome) => void;
  /** Aborted: fixtures are closed at once, and the cells that were running do not count. */
  signal?: AbortSignal;
}

/** What one clean run of a scenario did, as often as it was tried. */
export interface CleanRuns {
  scenario: string;
  /** Steps that every run had. */
  steps: string[];
  /** Steps that came in some runs only: nothing can be targeted them. */
  unsteady: string[];
  complaints: string[];
  seconds: number;
}

export interface MatrixResult {
  clean: CleanRuns[];
  /** Every cell that there is. */
  planned: Cell[];
  /** Those that were to be run. */
  chosen: Cell[];
  outcomes: Outcome[];
}

const neverAborted = new AbortController().signal;

/** A cell whose step does not come is run so often; then a sample takes another one (`findSubstitute`). */
const mostAttempts = 3;

/** After so many cells Nova is relieved of the servers that they have deleted. */
const archiveEvery = 20;

/** So many clean runs tell which steps a scenario always has. */
const cleanRuns = 2;

/** Every fault at every step that the scenario targets. */
const planCells = (runs: readonly CleanRuns[], scenarios: readonly Scenario[]): Cell[] =>
  runs.flatMap(({ scenario, steps }) => {
    const targets = scenarios.find(({ name }) => name === scenario)?.targets ?? (() => true);
    const targeted = steps.filter((step) => !isOfWatch(step) && targets(step));
    return targeted.flatMap((step) => faultNames.map((fault) => ({ scenario, step, fault })));
  });

/** Runs clean first, then with every chosen fault at every step. */
export async function runMatrix({
  lab,
  scenarios,
  parallelism,
  mutation,
  choose,
  isSample,
  report,
  take,
  signal = neverAborted,
}: MatrixOptions): Promise<MatrixResult> {
  const clean: CleanRuns[] = [];
  const planned: Cell[] = [];
  const chosen: Cell[] = [];
  const outcomes: Outcome[] = [];
  await withFixtures(
    { lab, scenarios, parallelism, signal, ...(mutation === undefined ? {} : { mutation }) },
    async (opened, group) => {
      const runs = await runClean(opened, group, report);
      const all = planCells(runs, group);
      const cells = [...choose(all)];
      const unreached: Cell[] = [];
      report(`${group.map(({ name }) => name).join(', ')}: ${cells.length} cells on ${opened.length} fixtures`);
      const runOrSubstitute = async (fixture: LabFixture, cell: Cell, index: number): Promise<Outcome> => {
        const { hasStep, outcome } = await runOnce(fixture, group, cell);
        signal.throwIfAborted();
        if (hasStep || !isSample) return outcome;
        unreached.push(cell);
        const other = findSubstitute(cell, { planned: all, chosen: cells, unreached });
        if (other === null) return outcome;
        report(
          `the step of ${formatCell(cell)} did not come in ${outcome.attempts} runs: ${formatCell(other)} takes its place`,
        );
        cells[index] = other;
        return await runOrSubstitute(fixture, other, index);
      };
      await onFixtures(opened, cells, async (fixture, cell, index) => {
        const outcome = await runOrSubstitute(fixture, cell, index);
        outcomes.push(outcome);
        take?.(outcome);
        if (outcomes.length % archiveEvery === 0) await fixture.environment.region?.fleet.archive();
        const verdict = outcome.complaints.length === 0 ? 'ok    ' : 'FAILED';
        report(
          `${String(index + 1).padStart(5)}/${cells.length} ${verdict} ${outcome.seconds.toFixed(0).padStart(4)} s  ${formatCell(outcome)}${indented(outcome.complaints)}`,
        );
      });
      clean.push(...runs.map((run) => withoutSteps(run, unreached)));
      planned.push(...all);
      chosen.push(...cells);
    },
  );
  return { clean, planned, chosen, outcomes };
}

/**
 * What a sample takes in place of a cell whose step does not come: the next cell of the plan with the same fault of the
 * same scenario that is not taken yet, and whose step is not known to stay away. Null: there is none, and then the cell
 * fails. Pure.
 */
export function findSubstitute(
  cell: Cell,
  { planned, chosen, unreached }: Record<'planned' | 'chosen' | 'unreached', readonly Cell[]>,
): Cell | null {
  const taken = new Set([...chosen, cell].map(formatCell));
  const staysAway = (step: string): boolean =>
    unreached.some((other) => other.scenario === cell.scenario && other.step === step);
  const at = planned.findIndex((one) => formatCell(one) === formatCell(cell));
  return (
    [...planned.slice(at + 1), ...planned.slice(0, Math.max(0, at))].find(
      (one) =>
        one.scenario === cell.scenario &&
        one.fault === cell.fault &&
        !taken.has(formatCell(one)) &&
        !staysAway(one.step),
    ) ?? null
  );
}

/** Steps that did not come do not come in every run of the scenario. */
function withoutSteps(run: CleanRuns, unreached: readonly Cell[]): CleanRuns {
  const away = new Set(unreached.filter(({ scenario }) => scenario === run.scenario).map(({ step }) => step));
  return {
    ...run,
    steps: run.steps.filter((step) => !away.has(step)),
    unsteady: [...run.unsteady, ...away],
  };
}

const indented = (complaints: readonly string[]): string =>
  complaints.map((complaint) => `\n        ${complaint}`).join('');

/** Opens fixtures for each group of scenarios that can share a worker, one group after the other. */
export async function withFixtures(
  {
    lab,
    scenarios,
    parallelism,
    mutation,
    signal = neverAborted,
  }: Pick<MatrixOptions, 'lab' | 'scenarios' | 'parallelism' | 'mutation' | 'signal'>,
  use: (fixtures: readonly LabFixture[], scenarios: readonly Scenario[]) => Promise<void>,
): Promise<void> {
  const environment = await openEnvironment(lab);
  try {
    for (const group of groupScenarios(scenarios)) {
      const opened = await openFixtures(environment, group, group.ownRegion ? 1 : parallelism, mutation);
      try {
        signal.throwIfAborted();
        await unlessAborted(use(opened, group.scenarios), signal);
      } finally {
        await closeFixtures(opened);
      }
    }
  } finally {
    await environment.close();
  }
}

const closeFixtures = (fixtures: readonly LabFixture[]): Promise<unknown> =>
  Promise.all(fixtures.map((fixture) => fixture.close()));

/** @returns `hasStep`: false where every attempt passed as a clean run, without the step */
async function runOnce(
  fixture: LabFixture,
  scenarios: readonly Scenario[],
  cell: Cell,
): Promise<{ outcome: Outcome; hasStep: boolean }> {
  const scenario = scenarios.find(({ name }) => name === cell.scenario);
  if (scenario === undefined) throw new Error(`no scenario ${cell.scenario}`);
  // Some steps depend on how long the others take; a run without the step says nothing about the fault.
  const results = [await runCell(fixture, scenario, cell)];
  while (results.at(-1)?.injected === false && results.length < mostAttempts)
    results.push(await runCell(fixture, scenario, cell));
  const outcome = { ...cell, ...joinAttempts(cell, results), attempts: results.length };
  // A step that came without its fault is a defect of what injects it.
  const hasStep = outcome.injected || results.some(({ steps }) => steps.includes(cell.step));
  return { outcome, hasStep: hasStep || !outcome.complaints.every(isMissed) };
}

interface Group {
  scenarios: Scenario[];
  subject: SubjectKind;
  hosts: number;
  settings: object;
  settingsIn: Scenario['settingsIn'];
  ownRegion: boolean;
}

function groupScenarios(scenarios: readonly Scenario[]): Group[] {
  const groups = new Map<object, Group>();
  for (const scenario of scenarios) {
    const { subject, settings, settingsIn, hosts, ownRegion } = scenario;
    const group = groups.get(settings) ?? { scenarios: [], subject, hosts, settings, settingsIn, ownRegion };
    group.scenarios.push(scenario);
    groups.set(settings, group);
  }
  return [...groups.values()];
}

const openFixtures = async (
  environment: LabEnvironment,
  { subject, settings: fixed, settingsIn, hosts, scenarios }: Group,
  count: number,
  mutation?: string,
): Promise<LabFixture[]> => {
  const opened: LabFixture[] = [];
  const settings = { ...fixed, ...settingsIn?.(environment) };
  for (let number = 1; number <= count; number += 1) {
    const name = `${scenarios[0]?.name ?? 'fixture'}-${number}`;
    const names = Array.from({ length: hosts }, (_, index) => subjects[subject].nameIn(name, 'ab'[index] ?? ''));
    try {
      const fixture = await openFixture(environment, {
        name,
        subject,
        hosts: names,
        settings,
        ...(mutation === undefined ? {} : { mutation }),
      });
      opened.push(fixture);
      await openContext(fixture, subject, () => []).clear();
    } catch (error) {
      await closeFixtures(opened);
      throw error;
    }
  }
  return opened;
};

async function runClean(
  fixtures: readonly LabFixture[],
  scenarios: readonly Scenario[],
  report: (line: string) => void,
): Promise<CleanRuns[]> {
  const tries = scenarios.flatMap((scenario) => Array.from({ length: cleanRuns }, () => scenario));
  const results = new Map<string, CellResult[]>();
  await onFixtures(fixtures, tries, async (fixture, scenario) => {
    const result = await runCell(fixture, scenario, null);
    results.set(scenario.name, [...(results.get(scenario.name) ?? []), result]);
  });
  return scenarios.map(({ name }) => {
    const all = results.get(name) ?? [];
    const steps = commonSteps(all.map((result) => result.steps));
    const unsteady = [...new Set(all.flatMap((result) => result.steps))].filter((step) => !steps.includes(step));
    const complaints = all.flatMap((result) => result.complaints);
    const seconds = Math.max(...all.map((result) => result.seconds));
    report(
      `${name}: ${steps.length} steps in ${seconds.toFixed(0)} s${unsteady.length === 0 ? '' : `, not always ${unsteady.join(', ')}`}${indented(complaints)}`,
    );
    return { scenario: name, steps, unsteady, complaints, seconds };
  });
}

/** Each fixture takes the next of the items as soon as it is free. */
async function onFixtures<Item>(
  fixtures: readonly LabFixture[],
  items: readonly Item[],
  use: (fixture: LabFixture, item: Item, index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  await Promise.all(
    fixtures.map(async (fixture) => {
      for (let index = next++; index < items.length; index = next++) await use(fixture, items[index] as Item, index);
    }),
  );
}
