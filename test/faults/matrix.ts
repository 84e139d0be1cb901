import { unlessAborted } from '../../runtime/unless-aborted.ts';
import { faultNames } from './faults.ts';
import type { Ground, MatrixLab } from './ground.ts';
import { openGround } from './ground.ts';
import type { Lane } from './lane.ts';
import { openLane } from './lane.ts';
import type { Cell, CellResult } from './run-cell.ts';
import { formatCell, runCell } from './run-cell.ts';
import type { Scenario } from './scenario.ts';
import { openStage } from './stage.ts';
import type { SubjectKind } from './subjects.ts';
import { subjects } from './subjects.ts';
import { commonSteps } from './step.ts';

/** A cell and how it went. */
export interface Outcome extends Cell, Omit<CellResult, 'steps'> {}

export interface MatrixOptions {
  lab: MatrixLab;
  scenarios: readonly Scenario[];
  /** How many scenarios run side by side. */
  lanes: number;
  mutation?: string;
  /** Which cells to run of those that there are. */
  choose: (cells: readonly Cell[]) => readonly Cell[];
  report: (line: string) => void;
  take?: (outcome: Outcome) => void;
  /** Aborted: lanes are closed at once, and the cells that were running do not count. */
  signal?: AbortSignal;
}

/** What one clean run of a scenario did, as often as it was tried. */
export interface CleanRuns {
  scenario: string;
  /** Steps that every run had. */
  steps: string[];
  /** Steps that came in some runs only: nothing can be aimed at them. */
  unsteady: string[];
  complaints: string[];
  seconds: number;
}

const neverAborted = new AbortController().signal;

/** A cell whose step does not come is run so often. */
const attempts = 3;

/** After so many cells Nova is relieved of the servers that they have deleted. */
const archiveEvery = 20;

/** So many clean runs tell which steps a scenario always has. */
const cleanRuns = 2;

/** Every fault at every step that the scenario aims at. */
const planCells = (runs: readonly CleanRuns[], scenarios: readonly Scenario[]): Cell[] =>
  runs.flatMap(({ scenario, steps }) => {
    const aims = scenarios.find(({ name }) => name === scenario)?.aims ?? (() => true);
    return steps.filter(aims).flatMap((step) => faultNames.map((fault) => ({ scenario, step, fault })));
  });

/** Runs clean first, then with every chosen fault at every step. */
export async function runMatrix({ lab, scenarios, lanes, mutation, choose, report, take, signal = neverAborted }: MatrixOptions): Promise<{ clean: CleanRuns[]; outcomes: Outcome[] }> {
  const clean: CleanRuns[] = [];
  const outcomes: Outcome[] = [];
  await withLanes({ lab, scenarios, lanes, signal, ...(mutation === undefined ? {} : { mutation }) }, async (opened, group) => {
    const runs = await runClean(opened, group, report);
    clean.push(...runs);
    const cells = choose(planCells(runs, group));
    report(`${group.map(({ name }) => name).join(', ')}: ${cells.length} cells on ${opened.length} lanes`);
    await onLanes(opened, cells, async (lane, cell, index) => {
      const outcome = await runOnce(lane, group, cell);
      signal.throwIfAborted();
      outcomes.push(outcome);
      take?.(outcome);
      if (outcomes.length % archiveEvery === 0) await lane.ground.region?.fleet.archive();
      const verdict = outcome.complaints.length === 0 ? 'ok    ' : 'FAILED';
      report(`${String(index + 1).padStart(5)}/${cells.length} ${verdict} ${outcome.seconds.toFixed(0).padStart(4)} s  ${formatCell(cell)}${indented(outcome.complaints)}`);
    });
  });
  return { clean, outcomes };
}

const indented = (complaints: readonly string[]): string => complaints.map((complaint) => `\n        ${complaint}`).join('');

/** Opens lanes for each group of scenarios that can share a worker, one group after the other. */
export async function withLanes(
  { lab, scenarios, lanes, mutation, signal = neverAborted }: Pick<MatrixOptions, 'lab' | 'scenarios' | 'lanes' | 'mutation' | 'signal'>,
  use: (lanes: readonly Lane[], scenarios: readonly Scenario[]) => Promise<void>,
): Promise<void> {
  const ground = await openGround(lab);
  try {
    for (const group of groupScenarios(scenarios)) {
      const opened = await openLanes(ground, group, group.ownRegion ? 1 : lanes, mutation);
      try {
        signal.throwIfAborted();
        await unlessAborted(use(opened, group.scenarios), signal);
      } finally {
        await closeLanes(opened);
      }
    }
  } finally {
    await ground.close();
  }
}

const closeLanes = (lanes: readonly Lane[]): Promise<unknown> => Promise.all(lanes.map((lane) => lane.close()));

async function runOnce(lane: Lane, scenarios: readonly Scenario[], cell: Cell): Promise<Outcome> {
  const scenario = scenarios.find(({ name }) => name === cell.scenario);
  if (scenario === undefined) throw new Error(`no scenario ${cell.scenario}`);
  for (let attempt = 1; ; attempt += 1) {
    const { steps: _, ...result } = await runCell(lane, scenario, cell);
    // Some steps depend on how long the others take; a run without the step says nothing about the fault.
    if (result.struck || attempt === attempts) return { ...cell, ...result };
  }
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

const openLanes = async (ground: Ground, { subject, settings: fixed, settingsIn, hosts, scenarios }: Group, count: number, mutation?: string): Promise<Lane[]> => {
  const opened: Lane[] = [];
  const settings = { ...fixed, ...settingsIn?.(ground.lab) };
  for (let number = 1; number <= count; number += 1) {
    const name = `${scenarios[0]?.name ?? 'lane'}-${number}`;
    const names = Array.from({ length: hosts }, (_, index) => subjects[subject].nameIn(name, 'ab'[index] ?? ''));
    try {
      const lane = await openLane(ground, { name, subject, hosts: names, settings, ...(mutation === undefined ? {} : { mutation }) });
      opened.push(lane);
      await openStage(lane, subject, () => []).clear();
    } catch (error) {
      await closeLanes(opened);
      throw error;
    }
  }
  return opened;
};

async function runClean(lanes: readonly Lane[], scenarios: readonly Scenario[], report: (line: string) => void): Promise<CleanRuns[]> {
  const tries = scenarios.flatMap((scenario) => Array.from({ length: cleanRuns }, () => scenario));
  const results = new Map<string, CellResult[]>();
  await onLanes(lanes, tries, async (lane, scenario) => {
    const result = await runCell(lane, scenario, null);
    results.set(scenario.name, [...(results.get(scenario.name) ?? []), result]);
  });
  return scenarios.map(({ name }) => {
    const all = results.get(name) ?? [];
    const steps = commonSteps(all.map((result) => result.steps));
    const unsteady = [...new Set(all.flatMap((result) => result.steps))].filter((step) => !steps.includes(step));
    const complaints = all.flatMap((result) => result.complaints);
    const seconds = Math.max(...all.map((result) => result.seconds));
    report(`${name}: ${steps.length} steps in ${seconds.toFixed(0)} s${unsteady.length === 0 ? '' : `, not always ${unsteady.join(', ')}`}${indented(complaints)}`);
    return { scenario: name, steps, unsteady, complaints, seconds };
  });
}

/** Each lane takes the next of the items as soon as it is free. */
async function onLanes<Item>(lanes: readonly Lane[], items: readonly Item[], use: (lane: Lane, item: Item, index: number) => Promise<void>): Promise<void> {
  let next = 0;
  await Promise.all(
    lanes.map(async (lane) => {
      for (let index = next++; index < items.length; index = next++) await use(lane, items[index] as Item, index);
    }),
  );
}
