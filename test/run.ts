/**
 * `npm test`: the ladder, with a line for each stage. Ends with `N passed, N failed, N skipped` over all stages; a
 * skip that was not expected fails the run, and so do two tests that passed only at their second attempt.
 * docs/testing.md says what is in it.
 */
import { basename } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { type CommandRun, withRun } from '../lab/command-run.ts';
import { judgeAll } from './evidence/judge-all.ts';
import { listNotFresh } from './evidence/judge.ts';
import { writeReports } from './evidence/keep.ts';
import { readRecords, unknown } from './evidence/record.ts';
import { series, seriesNames } from './evidence/series.ts';
import { digestNow, readCommit } from './evidence/sources.ts';
import { type Choice, chooseAll, chooseChanged, choosePush } from './ladder/choose.ts';
import {
  flowSources,
  longRungs,
  type Rung,
  rungs,
  type Stage,
  stagesOnRealParts,
  stagesOnTheMachine,
  titleOfFlows,
} from './ladder/list-stages.ts';
import { type Outcome, renderTimes, summarize } from './ladder/outcome.ts';
import { fileOf, recordProofs } from './ladder/proofs.ts';
import { runCommand } from './ladder/run-command.ts';
import { jestArgs } from './ladder/stages.ts';
import { type EndedStage, filesToKeep, isOfNow, saveWhole, stagesToKeep, withKept } from './ladder/whole.ts';
import { sampleSeed, seedOfDay } from './seed.ts';

/**
 * Tests that may be skipped on a developer's machine. In CI a missing browser, Prometheus or package that only root may
 * install is a failure.
 */
const expectedSkips: readonly RegExp[] =
  process.env['CI'] === undefined ? [/^Web UI/u, /^Prometheus/u, /^libvirt/u, /^Open vSwitch/u, /^Ceph/u] : [];

interface Options {
  all: boolean;
  record: boolean;
  resume: boolean;
  changed?: string;
  only?: Rung[];
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);

const main = async (options: Options): Promise<void> =>
  withRun({ command: commandOf(options), report: print }, (run) => climb(options, run));

const commandOf = ({ all, changed }: Options): string =>
  all ? 'npm run test:all' : changed === undefined ? 'npm test' : 'npm run test:changed';

async function climb(options: Options, { dir, signal }: CommandRun): Promise<void> {
  const { all, record, changed, only, resume } = options;
  const startedMs = Date.now();
  const seed = all ? seedOfDay() : sampleSeed;
  const digests = new Map(record ? seriesNames.map((name) => [name, digestNow(series[name].globs)]) : []);
  const digest = digests.get('test-all') ?? unknown;
  const commit = readCommit(series['test-all'].globs);
  if (all) process.env['DROVER_SAMPLE_SEED'] = String(seed);
  const choice = all
    ? chooseAll()
    : changed === undefined
      ? choosePush()
      : await chooseChanged(changed, (paths) => listRelatedFlows(paths, signal));
  for (const note of choice.notes) print(note);
  if (resume && !(all && record)) throw new Error('--resume goes with --all --record: npm run test:all -- --resume');
  const where = { dir, seed, report: print };
  const stages = [...stagesOnTheMachine(choice, { all, record }, true), ...stagesOnRealParts(choice, where)];
  const { kept, flows: keptFlows } = resume ? listKept(stages, choice) : { kept: [], flows: null };
  const isKept = ({ title }: Stage): boolean => kept.some((stage) => stage.title === title);
  const remaining = choice.flows.filter((name) => !keptFlows?.took.some(({ path }) => path === fileOf(name)));
  const isChosen = (stage: Stage): boolean =>
    !isKept(stage) && (only?.includes(stage.rung) ?? (all || !longRungs.includes(stage.rung)));
  const real = stagesOnRealParts({ flows: remaining }, where);
  const chosenReal = real.filter(isChosen);
  const machine = stagesOnTheMachine(choice, { all, record }, chosenReal.length > 0);

  const ended: EndedStage[] = [...kept];
  const summarizeEnded = (): ReturnType<typeof summarize> =>
    summarize(ended, (name) => expectedSkips.some((expected) => expected.test(name)));
  const recordWhole = (old: readonly string[] | null, underWay: EndedStage | null = null): void => {
    // Some stages alone are no ladder, but they may be what is missing of one.
    if (!all || !record || (only !== undefined && !resume)) return;
    const { passed, skipped, failures } = summarizeEnded();
    saveWhole(
      { seed, startedMs, digest, commit, stageCount: stages.length },
      { stages: ended, underWay, passed, skipped, failures: [...failures, ...(old ?? [])], isOver: old !== null },
    );
  };
  const withTitle = ({ title, rung }: Stage, outcome: Outcome): EndedStage => ({
    ...(rung === 'flows' ? withKept(outcome, keptFlows) : outcome),
    title,
    rung,
    seed,
    endedAt: new Date().toISOString(),
  });
  const onFile = (stage: Stage, soFar: Outcome): void => recordWhole(null, withTitle(stage, soFar));
  await runRows([machine.filter(isChosen), chosenReal], { signal, onFile }, (stage, part) => {
    const outcome = withTitle(stage, part);
    ended.push(outcome);
    if (!record) return;
    const run = { command: all ? 'npm run test:all' : 'npm test -- --record', seed: all ? seed : null };
    for (const path of recordProofs(stage.proofs ?? [], outcome, { ...run, startedMs, digests }))
      print(`written: ${path}`);
    recordWhole(null);
  });

  const { passed, skipped, failures, remarks } = summarizeEnded();
  for (const line of [...renderTimes(ended), ...remarks]) print(line);
  // Of the whole ladder itself there is a record when it has ended.
  const notFresh = listNotFresh(
    judgeAll().filter(({ name }) => name !== 'test-all'),
    Date.now(),
  );
  const old = all ? notFresh.due : [];
  for (const line of [...notFresh.exempt, ...(all ? [] : notFresh.due)]) print(line);
  const failed = [...failures, ...old];
  for (const line of failed) print(`FAILED ${line}`);
  if (only === undefined) recordWhole(old);
  // Stages that run side by side have each written them without the other's records.
  if (record) writeReports();
  print(`${commandOf(options)} took ${((Date.now() - startedMs) / 1_000).toFixed(0)} s`);
  print(`${passed} passed, ${failed.length} failed, ${skipped} skipped`);
  process.exitCode = failed.length === 0 ? 0 : 1;
}

/** What earlier runs have of these sources. Where the last one has everything, it is begun anew. */
function listKept(
  stages: readonly Stage[],
  { flows }: Pick<Choice, 'flows'>,
): { kept: EndedStage[]; flows: EndedStage | null } {
  const all = readRecords('test-all');
  const newest = all.at(-1);
  const isWhole = newest?.counts['missing'] === 0 && isOfNow(newest, series['test-all'].globs);
  const records = isWhole ? [] : all;
  const files = flows.map(fileOf);
  const ofFlows = filesToKeep(records, { title: titleOfFlows, files }, { globsOf: flowSources, isOf: isOfNow });
  const others = stages.filter(({ rung }) => rung !== 'flows');
  const kept = stagesToKeep(records, others, isOfNow);
  for (const { title, endedAt } of kept) print(`kept, as it ended with these very sources at ${endedAt}: ${title}`);
  if (ofFlows !== null) print(`kept, as they ended with these very sources: ${ofFlows.took.length} files of the flows`);
  return { kept: ofFlows?.took.length === files.length ? [...kept, ofFlows] : kept, flows: ofFlows };
}

/** Each row in its order, side by side with the others. */
async function runRows(
  rows: readonly (readonly Stage[])[],
  { signal: interrupted, onFile }: { signal: AbortSignal; onFile: (stage: Stage, soFar: Outcome) => void },
  onEnd: (stage: Stage, outcome: Outcome) => void,
): Promise<void> {
  const failure = new AbortController();
  const signal = AbortSignal.any([interrupted, failure.signal]);
  const ends = await Promise.allSettled(
    rows.map(async (row) => {
      try {
        for (const stage of row) onEnd(stage, await stage.run(signal, (soFar) => onFile(stage, soFar)));
      } catch (error) {
        failure.abort(error);
        throw error;
      }
    }),
  );
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

/** Flow files that import one of the paths, however indirectly. */
async function listRelatedFlows(paths: readonly string[], signal: AbortSignal): Promise<string[]> {
  if (paths.length === 0) return [];
  const { stdout } = await runCommand(
    {
      command: process.execPath,
      args: [...jestArgs, '--selectProjects', 'flows', '--listTests', '--findRelatedTests', ...paths],
    },
    signal,
  );
  return stdout
    .split('\n')
    .filter((line) => line.endsWith('.test.ts'))
    .map((line) => basename(line, '.test.ts'));
}

const stagesOf = (text: string): Rung[] =>
  text.split(',').map((part) => {
    const found = rungs.find((name) => name === part);
    if (found === undefined) throw new InvalidArgumentError(`Choose from ${rungs.join(', ')}.`);
    return found;
  });

try {
  await new Command('test')
    .description('Runs the ladder of tests.')
    .option('--all', 'everything, and the long runs', false)
    .option('--record', 'keeps the results as evidence', false)
    .option('--changed <base>', 'what is concerned by the difference from a commit')
    .option('--resume', 'with --all: not what has ended with these very sources', false)
    .option('--only <stages>', rungs.join(', '), stagesOf)
    .action(main)
    .parseAsync();
} catch (error) {
  process.exitCode = 1;
  print(`${(error as Error).stack}\n0 passed, 1 failed, 0 skipped`);
}
