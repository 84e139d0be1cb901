/** `npm run matrix`: every fault at every step of every scenario. docs/testing.md says how to read it. */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { type CommandRun, withRun } from '../../lab/command-run.ts';
import { labDirectory, startLab } from '../../lab/lab.ts';
import { matrixRuns, seriesOfScenario } from '../evidence/matrix-record.ts';
import { saveRecord } from '../evidence/keep.ts';
import { makeRecord, unknown } from '../evidence/record.ts';
import { series } from '../evidence/series.ts';
import { digestNow } from '../evidence/sources.ts';
import type { Outcome } from './matrix.ts';
import { runMatrix } from './matrix.ts';
import { mutationNames } from './mutations.ts';
import type { Cell } from './run-cell.ts';
import { formatCell } from './run-cell.ts';
import { sample } from './sample.ts';
import { findScenario, partsFor, scenarios } from './scenarios.ts';
import { seedOfDay } from '../seed.ts';

interface Options {
  scenario?: string[];
  cell?: string[];
  sample?: SampleSize;
  seed: number;
  parallel: number;
  mutation?: string;
  resume?: string;
  record: boolean;
}

/** So many cells of each group, or such a share of them. */
type SampleSize = { cells: number } | { share: number };

const number = (text: string): number => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0) throw new InvalidArgumentError('A whole number, please.');
  return value;
};
const sampleSize = (text: string): SampleSize =>
  text.endsWith('%') ? { share: number(text.slice(0, -1)) / 100 } : { cells: number(text) };
const list = (text: string): string[] => text.split(',').map((part) => part.trim());
const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** In the lab that DROVER_LAB names, which stays up; else in one of its own. */
async function main(options: Options): Promise<void> {
  const isShared = process.env['DROVER_LAB'] !== undefined;
  const lab = isShared ? { lab: { dir: labDirectory(), stops: [] } } : {};
  await withRun({ command: 'npm run matrix', report: print, ...lab }, (run) =>
    runScenarios(options, isShared ? labDirectory() : join(run.dir, 'lab'), run),
  );
}

async function runScenarios(
  { scenario, cell, sample: size, seed, parallel, mutation, resume, record }: Options,
  dir: string,
  { signal }: CommandRun,
): Promise<void> {
  if (record && (cell !== undefined || mutation !== undefined))
    throw new InvalidArgumentError('A single cell or a mutation is no evidence.');
  const named = cell === undefined ? scenario : [...new Set(cell.map((one) => one.split('/')[0] ?? ''))];
  const chosen = named === undefined ? scenarios : named.map(findScenario);
  const digests = new Map(chosen.map(({ name }) => [name, digestNow(series[seriesOfScenario(name)].globs)]));
  const earlier =
    resume !== undefined && existsSync(resume)
      ? readOutcomes(resume).filter(({ scenario: its, sources }) => digests.get(its) === sources)
      : [];
  const passed = new Set(
    [...new Map(earlier.map((one) => [formatCell(one), one])).values()]
      .filter(({ complaints }) => complaints.length === 0)
      .map(formatCell),
  );
  const choose = (cells: readonly Cell[]): readonly Cell[] => {
    const wanted = cell === undefined ? cells : cells.filter((one) => cell.includes(formatCell(one)));
    const count =
      size === undefined ? wanted.length : 'cells' in size ? size.cells : Math.ceil(wanted.length * size.share);
    const sampled = size === undefined ? wanted : sample(wanted, count, seed, ({ fault }) => fault);
    return sampled.filter((one) => !passed.has(formatCell(one)));
  };

  const startedMs = Date.now();
  const lab = await startLab({ dir, parts: partsFor(chosen), report: print, signal });
  const take = (outcome: Outcome): void => {
    if (resume !== undefined)
      appendFileSync(
        resume,
        `${JSON.stringify({ ...outcome, sources: digests.get(outcome.scenario) } satisfies Partial<KeptOutcome>)}\n`,
      );
  };
  const result = await runMatrix({
    lab,
    scenarios: chosen,
    parallelism: parallel,
    choose,
    isSample: size !== undefined,
    report: print,
    take,
    signal,
    ...(mutation === undefined ? {} : { mutation }),
  });
  if (record) {
    const seedToo = size === undefined || process.argv.includes('--seed') ? [] : ['--seed', String(seed)];
    const command = `npm run matrix -- ${[...process.argv.slice(2), ...seedToo].join(' ')}`;
    for (const one of matrixRuns({
      ...result,
      scenarios: chosen,
      earlier,
      seed: size === undefined ? null : seed,
      command,
      startedMs,
    })) {
      const [name = ''] = chosen.filter((its) => seriesOfScenario(its.name) === one.series).map((its) => its.name);
      print(`written: ${saveRecord(makeRecord({ ...one, digestBefore: digests.get(name) ?? unknown }))}`);
    }
  }
  const failed = result.outcomes.filter(({ complaints }) => complaints.length > 0);
  const broken = result.clean.filter(({ complaints }) => complaints.length > 0);
  for (const one of failed) print(`again: npm run matrix -- --cell ${formatCell(one)}`);
  const minutes = ((Date.now() - startedMs) / 60_000).toFixed(1);
  print(`${result.outcomes.length - failed.length} passed, ${failed.length + broken.length} failed in ${minutes} min`);
  process.exitCode = failed.length + broken.length === 0 && result.outcomes.length + passed.size > 0 ? 0 : 1;
}

/** An outcome with the sources that it is of: with others it says nothing. */
interface KeptOutcome extends Outcome {
  sources: string | undefined;
}

const readOutcomes = (file: string): KeptOutcome[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as KeptOutcome);

await new Command('matrix')
  .description('Runs every scenario with every fault at every step, and checks how it ends and the invariants.')
  .option('--scenario <names>', `of ${scenarios.map(({ name }) => name).join(', ')}`, list)
  .option('--cell <cells>', 'scenario/step/fault, as the matrix prints them', list)
  .option(
    '--sample <number>',
    'only so many cells of each group, or such a share as 10%, every fault as often',
    sampleSize,
  )
  .option('--seed <number>', 'decides which', number, seedOfDay())
  .option('--parallel <number>', 'how many scenarios run side by side', number, availableParallelism())
  .option('--mutation <name>', `break an ensure verb on purpose: ${mutationNames.join(', ')}`)
  .option('--resume <file>', 'keeps outcomes there as they come, and leaves out what has passed with the same sources')
  .option('--record', 'keeps the result as evidence', false)
  .action(main)
  .parseAsync()
  .catch((error: unknown) => {
    process.stderr.write(`${(error as Error).stack}\n`);
    // Looks that were under way still wait for their facts.
    process.exit(1);
  });
