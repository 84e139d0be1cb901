/** `npm run matrix`: every fault at every step of every scenario. docs/testing.md says how to read it. */
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command, InvalidArgumentError } from 'commander';
import { describeMachine } from '../../bench/machine.ts';
import { untilInterrupted } from '../../lab/interruption.ts';
import { startLab } from '../../lab/lab.ts';
import type { CleanRuns, Outcome } from './matrix.ts';
import { runMatrix } from './matrix.ts';
import { mutationNames } from './mutations.ts';
import { renderReport } from './report.ts';
import type { Cell } from './run-cell.ts';
import { formatCell } from './run-cell.ts';
import { sample } from './sample.ts';
import { findScenario, partsFor, scenarios } from './scenarios.ts';

interface Options {
  scenario?: string[];
  cell?: string[];
  sample?: number;
  seed: number;
  lanes: number;
  mutation?: string;
  resume?: string;
  write?: string;
}

const number = (text: string): number => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0) throw new InvalidArgumentError('A whole number, please.');
  return value;
};
const signal = untilInterrupted(new Error('interrupted'));

const list = (text: string): string[] => text.split(',').map((part) => part.trim());
const print = (line: string): void => void process.stdout.write(`${line}\n`);

async function main({ scenario, cell, sample: count, seed, lanes, mutation, resume, write }: Options): Promise<void> {
  const named = cell === undefined ? scenario : [...new Set(cell.map((one) => one.split('/')[0] ?? ''))];
  const chosen = named === undefined ? scenarios : named.map(findScenario);
  const before = resume !== undefined && existsSync(resume) ? readOutcomes(resume) : [];
  const done = new Set(before.filter(({ complaints }) => complaints.length === 0).map(formatCell));
  const choose = (cells: readonly Cell[]): readonly Cell[] => {
    const wanted = cell === undefined ? cells : cells.filter((one) => cell.includes(formatCell(one)));
    const sampled = count === undefined ? wanted : sample(wanted, count, seed, ({ fault }) => fault);
    return sampled.filter((one) => !done.has(formatCell(one)));
  };

  const startedMs = Date.now();
  const machine = describeMachine();
  const own = process.env['DROVER_LAB'] === undefined ? mkdtempSync(join(tmpdir(), 'drover-matrix-')) : null;
  const lab = await startLab({ ...(own === null ? {} : { dir: join(own, 'lab') }), parts: partsFor(chosen), report: print, signal });
  let clean: CleanRuns[] = [];
  let outcomes: Outcome[] = [];
  try {
    const take = (outcome: Outcome): void => {
      if (resume !== undefined) appendFileSync(resume, `${JSON.stringify(outcome)}\n`);
    };
    ({ clean, outcomes } = await runMatrix({ lab, scenarios: chosen, lanes, choose, report: print, take, signal, ...(mutation === undefined ? {} : { mutation }) }));
  } finally {
    if (own !== null) {
      await lab.stop();
      rmSync(own, { recursive: true, force: true });
    }
  }
  const repeated = new Set(outcomes.map(formatCell));
  const all = [...before.filter((outcome) => done.has(formatCell(outcome)) && !repeated.has(formatCell(outcome))), ...outcomes];
  const seconds = (Date.now() - startedMs) / 1_000;
  const file = write ?? (cell === undefined && scenario === undefined && count === undefined && mutation === undefined ? fileURLToPath(new URL('matrix.md', import.meta.url)) : undefined);
  if (file !== undefined) writeFileSync(file, renderReport({ scenarios: chosen, clean, outcomes: all, machine: `${machine.cores} × ${machine.cpu}, ${machine.memoryGiB} GiB, ${machine.recordedAt.slice(0, 10)}` }));
  const failed = outcomes.filter(({ complaints }) => complaints.length > 0);
  const broken = clean.filter(({ complaints }) => complaints.length > 0);
  for (const one of failed) print(`again: npm run matrix -- --cell ${formatCell(one)}`);
  print(`${outcomes.length - failed.length} passed, ${failed.length + broken.length} failed in ${(seconds / 60).toFixed(1)} min${file === undefined ? '' : `; ${file}`}`);
  process.exitCode = failed.length + broken.length === 0 && outcomes.length > 0 ? 0 : 1;
}

/** The last one of each cell. */
function readOutcomes(file: string): Outcome[] {
  const lines = readFileSync(file, 'utf8').split('\n').filter((line) => line !== '');
  const outcomes = lines.map((line) => JSON.parse(line) as Outcome);
  return [...new Map(outcomes.map((outcome) => [formatCell(outcome), outcome])).values()];
}

const seedOfToday = Math.floor(Date.now() / 86_400_000);
await new Command('matrix')
  .description('Runs every scenario with every fault at every step, and checks how it ends and the invariants.')
  .option('--scenario <names>', `of ${scenarios.map(({ name }) => name).join(', ')}`, list)
  .option('--cell <cells>', 'scenario/step/fault, as the matrix prints them', list)
  .option('--sample <number>', 'only so many cells of each group, every fault as often', number)
  .option('--seed <number>', 'decides which', number, seedOfToday)
  .option('--lanes <number>', 'how many scenarios run side by side', number, availableParallelism())
  .option('--mutation <name>', `break an ensure verb on purpose: ${mutationNames.join(', ')}`)
  .option('--resume <file>', 'keeps outcomes there as they come, and leaves out what has passed')
  .option('--write <file>', 'the report; default for a whole matrix: matrix.md beside this program')
  .action(main)
  .parseAsync()
  .catch((error: unknown) => {
    process.stderr.write(`${signal.aborted ? 'Interrupted; what had been started is stopped.' : (error as Error).stack}\n`);
    // Looks that were under way still wait for their facts.
    process.exit(signal.aborted ? 130 : 1);
  });
