/**
 * `npm run simulate`: every fault of every lifecycle, and random schedules, on a virtual clock. docs/testing.md says
 * how to read it.
 */
import { availableParallelism } from 'node:os';
import { Command, InvalidArgumentError, Option } from 'commander';
import { untilInterrupted } from '../../lab/interruption.ts';
import { randomOf } from '../faults/random.ts';
import { sample, sampleAgain } from '../faults/sample.ts';
import type { SimulatedCell } from './matrix/cell.ts';
import { formatCell, pairCells, parseCell } from './matrix/cell.ts';
import { readCleanRuns, writeCleanRuns } from './matrix/clean-runs.ts';
import type { CellOutcome } from './matrix/shards.ts';
import { formatMutation, isMutation, runInShards } from './matrix/shards.ts';
import { mutations } from './mutations/table.ts';
import { evidenceMinutes } from './schedules/enough.ts';
import { simulateSchedules } from './schedules/simulate-schedules.ts';
import { partOf } from './matrix/part-of.ts';
import { type MatrixName, matrixNames } from './matrix/parts.ts';
import { recordParts } from './matrix/record-parts.ts';
import { allNamed, cellsOf } from './matrix/stories.ts';
import { traceCell } from './trace.ts';

interface Options {
  matrix?: true;
  fine?: number | true;
  pairs: number;
  passed: MatrixName[];
  passedSeed: number;
  scenario?: string[];
  cell?: string[];
  sample?: number;
  seed: number;
  processes: number;
  json?: true;
  writeCells?: true;
  trace?: true;
  minutes?: number;
  record: boolean;
  path?: string;
}

const number = (text: string): number => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0) throw new InvalidArgumentError('A whole number, please.');
  return value;
};
const list = (text: string): string[] => text.split(',').map((part) => part.trim());
const listMatrixNames = (text: string): MatrixName[] =>
  list(text).map((name) => {
    const found = matrixNames.find((one) => one === name);
    if (found === undefined) throw new InvalidArgumentError(`Choose from ${matrixNames.join(', ')}.`);
    return found;
  });
const collect = (text: string, cells: string[] = []): string[] => [...cells, text];

const signal = untilInterrupted(new Error('interrupted'));

async function main({
  scenario: named,
  cell,
  fine,
  pairs,
  passed,
  passedSeed,
  sample: count,
  seed,
  processes,
  json,
  writeCells,
  trace,
  minutes,
  record,
  path,
}: Options): Promise<void> {
  const names = named ?? Object.keys(readCleanRuns());
  const print = (line: string): void => void (json ? process.stderr : process.stdout).write(`${line}\n`);
  if (record && minutes !== undefined && minutes < evidenceMinutes)
    throw new InvalidArgumentError(`${evidenceMinutes} minutes of schedules are evidence; not less.`);
  if (trace === true)
    return await traceCell(
      cell?.[0] === undefined ? { scenario: names[0] ?? '', targets: [] } : parseCell(cell[0]),
      print,
    );
  if (writeCells === true) return await writeCleanRuns(named ?? allNamed.map(({ name }) => name), print);
  if (minutes !== undefined || path !== undefined)
    return await simulateSchedules({ minutes: minutes ?? 0, seed, path, json: json === true, record, print, signal });
  const chosen =
    cell ?? sampleOf(chooseCells(names, { fine, pairs, seed, passed, passedSeed }), count, seed).map(formatCell);
  const startedMs = performance.now();
  const failures: CellOutcome[] = [];
  const done = { cells: 0, mutations: 0 };
  const broken =
    cell === undefined && count === undefined && named === undefined ? chooseMutations(passed, passedSeed) : [];
  const all = [...broken, ...chosen];
  const recorder = record ? recordParts(all) : null;
  await runInShards(all, processes, signal, (outcome) => {
    done[isMutation(outcome) ? 'mutations' : 'cells'] += 1;
    recorder?.take(outcome);
    if (outcome.complaints.length > 0) {
      failures.push(outcome);
      print(
        `FAILED ${outcome.cell}\n${outcome.complaints.map((complaint) => `       ${complaint}`).join('\n')}\n       again: npm run simulate -- --cell '${outcome.cell}'`,
      );
    }
    if (process.stdout.isTTY && !json)
      process.stdout.write(
        `\r${done.cells + done.mutations}/${all.length} cells and mutations, ${failures.length} failed `,
      );
  });
  const seconds = Math.round((performance.now() - startedMs) / 100) / 10;
  const failed = failures.length;
  for (const file of recorder?.save() ?? []) print(`written: ${file}`);
  if (json) process.stdout.write(`${JSON.stringify({ ...done, failed, seconds, failures })}\n`);
  else print(`\n${done.cells} cells, ${done.mutations} mutations, ${failed} failed, in ${seconds} s`);
  process.exitCode = failed === 0 && all.length > 0 ? 0 : 1;
}

const sampleOf = (cells: SimulatedCell[], count: number | undefined, seed: number): SimulatedCell[] =>
  count === undefined ? cells : sample(cells, count, seed, ({ scenario }) => scenario);

function chooseMutations(passed: readonly MatrixName[], seed: number): string[] {
  const all = mutations.map(formatMutation);
  return passed.includes('mutations') ? sampleAgain(all, seed, (name) => name) : all;
}

/** Of the committed list: a cell that vanishes or appears is a change of that file. */
function chooseCells(
  names: readonly string[],
  {
    fine,
    pairs,
    seed,
    passed,
    passedSeed,
  }: Pick<Options, 'pairs' | 'seed' | 'passed' | 'passedSeed'> & {
    fine: number | true | undefined;
  },
): SimulatedCell[] {
  const runs = readCleanRuns();
  const known = names.map((name) => {
    const run = runs[name];
    if (run === undefined)
      throw new Error(`${name} has no cells: npm run simulate -- --write-cells --scenario ${name}`);
    return { name, run };
  });
  const ofActivities = known.flatMap(({ name, run }) => cellsOf(name, run).activity);
  const ofCalls = fine === undefined ? [] : known.flatMap(({ name, run }) => cellsOf(name, run).fine);
  const perScenario = [...Map.groupBy([...ofActivities, ...ofCalls], ({ scenario }) => scenario).values()];
  const random = randomOf(seed);
  const hasPassed = ({ scenario }: SimulatedCell): boolean => passed.includes(partOf(scenario));
  return [
    ...ofActivities.filter((one) => !hasPassed(one)),
    ...sampleAgain(ofActivities.filter(hasPassed), passedSeed, ({ scenario }) => scenario),
    ...sampleOf(ofCalls, fine === true ? undefined : fine, seed),
    ...perScenario.flatMap((those) => pairCells(those, Math.ceil(pairs / perScenario.length), random)),
  ];
}

await new Command('simulate')
  .description('Runs every scenario with faults in a simulation, and checks how each ends and the invariants.')
  .addOption(new Option('--matrix', 'every fault at every activity call').default(true).hideHelp())
  .option(
    '--fine [number]',
    'besides, every call of an outside system fails or is slow, and the worker dies with every workflow task; with a number, so many of these',
    number,
  )
  .option('--pairs <number>', 'so many runs with two faults, sampled', number, 0)
  .option(
    '--passed <parts>',
    `parts of the matrix, or the mutations, that have passed with these sources: of these only one in twenty: ${matrixNames.join(', ')}`,
    listMatrixNames,
    [],
  )
  .option('--passed-seed <number>', 'decides which of these', number, 1)
  .option('--scenario <names>', `of ${allNamed.map(({ name }) => name).join(', ')}`, list)
  .option('--cell <cell>', 'one cell or mutation, as the matrix prints it; may be repeated', collect)
  .option('--sample <number>', 'only so many cells, of every scenario as many', number)
  .option('--seed <number>', 'decides which are sampled and paired', number, 1)
  .option('--processes <number>', 'how many run side by side', number, availableParallelism())
  .option('--json', 'prints {cells, mutations, failed, seconds, failures} at the end')
  .option('--write-cells', 'runs each scenario without a fault and writes where faults can be injected')
  .option(
    '--minutes <number>',
    'instead, random schedules of all lifecycles, for so many minutes of a processor',
    number,
  )
  .option(
    '--record',
    `keeps random schedules of ${evidenceMinutes} minutes or more as evidence, or what whole parts of the matrix and all mutations came to`,
    false,
  )
  .option('--path <path>', 'one schedule again, as it was printed, with its --seed')
  .option('--trace', 'tells the story of one cell, event by event')
  .action(main)
  .parseAsync()
  .catch((error: unknown) => {
    process.stderr.write(`${signal.aborted ? 'Interrupted.' : (error as Error).stack}\n`);
    process.exit(signal.aborted ? 130 : 1);
  });
