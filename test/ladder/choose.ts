import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { areas } from '../areas.ts';
import type { Judgement } from '../evidence/judge.ts';
import { judgeSeries } from '../evidence/judge-all.ts';
import type { SeriesName } from '../evidence/series.ts';
import { checkout, git, pathspecs, seedOfTree } from '../evidence/sources.ts';
import { type MatrixName, matrixNames } from '../simulator/matrix/parts.ts';
import type { FlowTier, ProvenArea } from '../tiers.ts';
import { flowTiers } from '../tiers.ts';
import { simulatedSuites, type SuiteGroup, suiteGroups } from '../simulated-suites.ts';
import { sampleAgain } from '../faults/sample.ts';

/** What a run of the tests takes. */
export interface Choice extends FlowChoice {
  /** For jest: which unit tests; empty: all; null: none. */
  unit: readonly string[] | null;
  /** Parts of the simulator's matrix, and its mutations, of which a twentieth is run. */
  passed: readonly MatrixName[];
}

export interface FlowChoice {
  /** Files of test/flows/ on the real counterparts, by name. */
  flows: readonly string[];
  /** Those over the fakes. */
  simulated: readonly string[];
  /** Remarks for the developer, a line each. */
  notes: readonly string[];
}

type Rows = Readonly<Record<string, FlowTier>>;
export const namesOf = (rows: Rows, isChosen: (row: FlowTier) => boolean): string[] =>
  Object.entries(rows)
    .filter(([, row]) => isChosen(row))
    .map(([name]) => name);
const simulatedOf = (rows: Rows): string[] => namesOf(rows, ({ tier }) => tier === 'simulated');

/** Those of every push, and those whose area has changed since they were run. Pure. */
export function chooseForPush(rows: Rows, hasChanged: (area: ProvenArea) => boolean): FlowChoice {
  const flows = namesOf(rows, (row) => row.tier === 'push' || (row.tier === 'changed' && hasChanged(row.area)));
  const simulated = simulatedOf(rows);
  const left = Object.keys(rows).filter((name) => !flows.includes(name) && !simulated.includes(name));
  return { flows, simulated, notes: left.length === 0 ? [] : [`left to npm run test:all: ${left.join(', ')}`] };
}

/** Those of a push whose area changed, and any that changed itself, or by what it imports. Pure. */
export function chooseForChange(
  rows: Rows,
  { hasChanged, isConcerned }: { hasChanged: (row: FlowTier) => boolean; isConcerned: (name: string) => boolean },
): FlowChoice {
  const concerned = Object.entries(rows).filter(([name, row]) => isConcerned(name) || hasChanged(row));
  const names = (isChosen: (name: string, row: FlowTier) => boolean): string[] =>
    concerned.filter(([name, row]) => isChosen(name, row)).map(([name]) => name);
  const left = names((name, { tier }) => tier === 'daily' && !isConcerned(name));
  return {
    flows: names((name, { tier }) => (tier !== 'daily' && tier !== 'simulated') || isConcerned(name)),
    simulated: names((_, { tier }) => tier === 'simulated'),
    notes: left.length === 0 ? [] : [`concerned too, and left to npm run test:all: ${left.join(', ')}`],
  };
}

/**
 * What is simulated is deterministic: where a part has passed with these very sources, a twentieth of it is enough.
 * Pure.
 */
export function chooseParts(judge: (name: MatrixName) => Judgement): Pick<Choice, 'passed' | 'notes'> {
  const judged = matrixNames.map((name) => ({ name, ...judge(name) }));
  const [fresh, others] = [
    judged.filter(({ state }) => state === 'fresh'),
    judged.filter(({ state }) => state !== 'fresh'),
  ];
  return {
    passed: fresh.map(({ name }) => name),
    notes: [
      ...fresh.map(({ name, why }) => `simulated, a twentieth: ${name}, which passed with these sources: ${why}`),
      ...others.map(({ name, state, why }) => `simulated, all of it: ${name}: ${state}: ${why}`),
    ],
  };
}

const judgedParts = (): Pick<Choice, 'passed' | 'notes'> => chooseParts((name) => judgeSeries(`simulated-${name}`));

/** Of what has passed with these very sources all but a twentieth. Pure. */
export function leaveOut(passed: readonly string[], seed: number): string[] {
  const again = sampleAgain(passed, seed, (file) => file);
  return passed.filter((file) => !again.includes(file));
}

/** Simulated suites that have passed with these very sources, but for a twentieth. Pure. */
export function chooseLeftOut(isFresh: (group: SuiteGroup) => boolean, seed: number): string[] {
  const fresh = suiteGroups.filter(isFresh);
  const passed = Object.keys(simulatedSuites).filter((file) => fresh.includes(simulatedSuites[file] ?? 'all'));
  return leaveOut(passed, seed);
}

const withoutSuites = (files: readonly string[]): string[] =>
  files.map((file) => `--testPathIgnorePatterns=/${file.replaceAll('.', String.raw`\.`)}$`);

export function choosePush(): Choice {
  const isFresh = (name: SeriesName): boolean => judgeSeries(name).state === 'fresh';
  const { notes, flows, simulated } = chooseForPush(flowTiers, (area) => !isFresh(`flows-${area}`));
  const parts = judgedParts();
  const seed = seedOfTree();
  const suites = chooseLeftOut((group) => isFresh(`suites-${group}`), seed);
  const ofFlows = isFresh('suites-flows') ? leaveOut(simulated, seed) : [];
  const leftOut = [...suites, ...ofFlows];
  const ofSuites =
    leftOut.length === 0 ? [] : [`left out, as they have passed with these very sources: ${leftOut.join(', ')}`];
  return {
    unit: withoutSuites(suites),
    flows,
    simulated: simulated.filter((name) => !ofFlows.includes(name)),
    passed: parts.passed,
    notes: [...notes, ...ofSuites, ...parts.notes],
  };
}
export const chooseAll = (): Choice => ({
  flows: Object.keys(flowTiers),
  simulated: simulatedOf(flowTiers),
  unit: [],
  passed: [],
  notes: [],
});

/** What no import leads to: the bundle of the workflows is made of a folder. */
const substitutes: readonly { globs: readonly string[]; file: string }[] = [
  { globs: ['workflows/**'], file: 'workers/bundle.ts' },
];

/**
 * By what differs from the base: an area for the flows, imports for everything else. `listRelated` gives the flow
 * files that import one of the paths.
 */
export async function chooseChanged(
  base: string,
  listRelated: (paths: readonly string[]) => Promise<string[]>,
): Promise<Choice> {
  const changed = readChanged(base, ['**']);
  const concerned = await listRelated(readChanged(base, ['test/**']));
  const unit = [
    ...changed,
    ...substitutes.filter(({ globs }) => readChanged(base, globs).length > 0).map(({ file }) => file),
  ].filter((file) => existsSync(join(checkout, file)));
  const chosen = chooseForChange(flowTiers, {
    hasChanged: ({ area }) => readChanged(base, areas[area]).length > 0,
    isConcerned: (name) => concerned.includes(name),
  });
  const parts = judgedParts();
  const named = [...chosen.flows, ...chosen.simulated.map((name) => `${name} (simulated)`)];
  return {
    ...chosen,
    passed: parts.passed,
    unit: unit.length === 0 ? null : ['--passWithNoTests', '--findRelatedTests', ...unit],
    notes: [
      `${changed.length} files differ from ${base}; flows: ${named.join(', ') || 'none'}`,
      ...chosen.notes,
      ...parts.notes,
    ],
  };
}

/** Paths that differ from the base, or are new. */
function readChanged(base: string, globs: readonly string[]): string[] {
  const specs = pathspecs(globs);
  const listed = (...args: string[]): string[] =>
    git([...args, '-z', '--', ...specs])
      .split('\0')
      .filter((path) => path !== '');
  return [
    ...listed('diff', '--name-only', '--no-renames', '--merge-base', base),
    ...listed('ls-files', '--others', '--exclude-standard'),
  ];
}
