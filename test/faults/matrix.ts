import { unlessAborted } from '../../runtime/unless-aborted.ts';
import { faultNames } from './faults.ts';
import type { LabEnvironment, MatrixLab } from './environment.ts';
import { openEnvironment } from './environment.ts';
import type { LabFixture } from './fixture.ts';
import { openFixture } from './fixture.ts';
import type { Cell, CellResult } from './run-cell.ts';
import { formatCell, joinAttempts, runCell } from './run-cell.ts';
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

/** A cell whose step does not come is run so often. */
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
      clean.push(...runs);
      const all = planCells(runs, group);
      const cells = choose(all);
      planned.push(...all);
      chosen.push(...cells);
      report(`${group.map(({ name }) => name).join(', ')}: ${cells.length} cells on ${opened.length} fixtures`);
      await onFixtures(opened, cells, async (fixture, cell, index) => {
        const outcome = await runOnce(fixture, group, cell);
        signal.throwIfAborted();
        outcomes.push(outcome);
        take?.(outcome);
        if (outcomes.length % archiveEvery === 0) await fixture.environment.region?.fleet.archive();
        const verdict = outcome.complaints.length === 0 ? 'ok    ' : 'FAILED';
        report(
          `${String(index + 1).padStart(5)}/${cells.length} ${verdict} ${outcome.seconds.toFixed(0).padStart(4)} s  ${formatCell(cell)}${indented(outcome.complaints)}`,
        );
      });
    },
  );
  return { clean, planned, chosen, outcomes };
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

async function runOnce(fixture: LabFixture, scenarios: readonly Scenario[], cell: Cell): Promise<Outcome> {
  const scenario = scenarios.find(({ name }) => name === cell.scenario);
  if (scenario === undefined) throw new Error(`no scenario ${cell.scenario}`);
  // Some steps depend on how long the others take; a run without the step says nothing about the fault.
  const results = [await runCell(fixture, scenario, cell)];
  while (results.at(-1)?.injected === false && results.length < mostAttempts)
    results.push(await runCell(fixture, scenario, cell));
  return { ...cell, ...joinAttempts(cell, results), attempts: results.length };
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
