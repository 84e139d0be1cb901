/**
 * `npm test`: the ladder, with a line for each stage. Ends with `N passed, N failed, N skipped` over all stages; a
 * skip that was not expected fails the run, and so do two tests that passed only at their second attempt.
 * docs/testing.md says what is in it.
 */
import { basename, join } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { type CommandRun, withRun } from '../lab/command-run.ts';
import type { Lab } from '../lab/lab.ts';
import { startLab } from '../lab/lab.ts';
import { judgeAll } from './evidence/judge-all.ts';
import { listNotFresh } from './evidence/judge.ts';
import { saveRecord, writeReports } from './evidence/keep.ts';
import { makeRecord, unknown } from './evidence/record.ts';
import { series, seriesNames } from './evidence/series.ts';
import { digestNow, seedOfTree } from './evidence/sources.ts';
import type { Choice } from './ladder/choose.ts';
import { chooseAll, chooseChanged, choosePush } from './ladder/choose.ts';
import type { Outcome } from './ladder/outcome.ts';
import { renderTimes, summarize } from './ladder/outcome.ts';
import { fileOf, flowProofs, type Proof, recordProofs, suiteProofs } from './ladder/proofs.ts';
import { runCommand } from './ladder/run-command.ts';
import { jestArgs, nothing, runCheck, runJest, runSimulated } from './ladder/stages.ts';
import { sampleSeed, seedOfDay } from './seed.ts';
import type { PartName } from './simulator/matrix/parts.ts';

/**
 * Tests that may be skipped on a developer's machine. In CI a missing browser, Prometheus or package that only root may
 * install is a failure.
 */
const expectedSkips: readonly RegExp[] =
  process.env['CI'] === undefined ? [/^Web UI/u, /^Prometheus/u, /^libvirt/u, /^Open vSwitch/u, /^Ceph/u] : [];

/** How many flow files run side by side, each on a lab of its own. They wait more than they work. */
const flowsAtOnce = 2;

const stageNames = ['checks', 'unit', 'simulator', 'flows', 'long'] as const;
type StageName = (typeof stageNames)[number];

interface Options {
  all: boolean;
  record: boolean;
  changed?: string;
  only?: StageName[];
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);

const main = async (options: Options): Promise<void> =>
  withRun({ command: commandOf(options), report: print }, (run) => climb(options, run));

const commandOf = ({ all, changed }: Options): string =>
  all ? 'npm run test:all' : changed === undefined ? 'npm test' : 'npm run test:changed';

async function climb(options: Options, { dir, signal }: CommandRun): Promise<void> {
  const { all, record, changed, only } = options;
  const startedMs = Date.now();
  const digests = new Map(record ? seriesNames.map((name) => [name, digestNow(series[name].globs)]) : []);
  if (all) process.env['DROVER_SAMPLE_SEED'] = String(seedOfDay());
  const choice = all
    ? chooseAll()
    : changed === undefined
      ? choosePush()
      : await chooseChanged(changed, (paths) => listRelatedFlows(paths, signal));
  for (const note of choice.notes) print(note);
  const outcomes = await runStages(choice, {
    all,
    record,
    dir,
    interrupted: signal,
    wants: (name) => only?.includes(name) ?? (name !== 'long' || all),
    onEnd: (proofs, outcome) => {
      if (!record) return;
      const seed = all ? seedOfDay() : null;
      const command = all ? 'npm run test:all' : 'npm test -- --record';
      for (const path of recordProofs(proofs, outcome, { command, seed, startedMs, digests }))
        print(`written: ${path}`);
    },
  });

  const { passed, failed, skipped, lines } = summarize(outcomes, (name) =>
    expectedSkips.some((expected) => expected.test(name)),
  );
  for (const line of [...renderTimes(outcomes), ...lines]) print(line);
  // Of the whole ladder itself there is a record when it has ended.
  const notFresh = listNotFresh(
    judgeAll().filter(({ name }) => name !== 'test-all'),
    Date.now(),
  );
  const old = all ? notFresh.due : [];
  for (const line of [...notFresh.exempt, ...(all ? [] : notFresh.due)]) print(line);
  for (const line of old) print(`FAILED ${line}`);
  const allFailed = failed + old.length;
  if (all && record && only === undefined)
    recordWhole(outcomes, startedMs, digests.get('test-all') ?? unknown, { passed, failed: allFailed, skipped }, [
      ...lines.filter((line) => line.startsWith('FAILED ')),
      ...old,
    ]);
  // Stages that run side by side have each written them without the other's records.
  if (record) writeReports();
  print(`${commandOf(options)} took ${secondsSince(startedMs).toFixed(0)} s`);
  print(`${passed} passed, ${allFailed} failed, ${skipped} skipped`);
  process.exitCode = allFailed === 0 ? 0 : 1;
}

const secondsSince = (startedMs: number): number => (Date.now() - startedMs) / 1_000;

interface Climb extends Pick<Options, 'all' | 'record'> {
  /** Where the labs lie. */
  dir: string;
  interrupted: AbortSignal;
  wants: (name: StageName) => boolean;
  /** Files that make evidence have ended; what comes after them takes long. */
  onEnd: (proofs: readonly Proof[], outcome: Outcome) => void;
}

async function runStages(
  { flows, simulated, unit, tenth }: Choice,
  { all, record, dir, interrupted, wants, onEnd }: Climb,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const take = async (running: Promise<Outcome | Outcome[]>): Promise<void> =>
    void outcomes.push(...[await running].flat());
  const failure = new AbortController();
  const signal = AbortSignal.any([interrupted, failure.signal]);
  const labs = wants('flows') && flows.length > 0 ? startLabs(dir, signal) : Promise.resolve([]);
  // The stage that awaits them reports the failure.
  labs.catch(() => undefined);
  const stopLabs = async (): Promise<unknown> => Promise.all((await labs.catch(() => [])).map((lab) => lab.stop()));
  try {
    // Of what has no lab, whose time is its own: it takes what real parts leave of the processors, so that
    // none is idle.
    const background = wants('flows') && flows.length > 0;
    const onTheMachine = async (): Promise<void> => {
      if (wants('checks'))
        for (const [title, script, ...args] of checks) await take(runCheck(title, script, args, signal, background));
      if (wants('unit') && unit !== null) {
        const ofUnits = await runJest(
          {
            title: 'unit tests',
            // A process that has loaded hundreds of modules anew for each file keeps them: another one
            // takes its place.
            args: ['--selectProjects', 'unit', '--maxWorkers=100%', '--workerIdleMemoryLimit=1500MB', ...unit],
            background,
            ...(all && { env: { DROVER_FUZZ_RUNS: '10000' } }),
          },
          signal,
        );
        outcomes.push(ofUnits);
        onEnd(suiteProofs, ofUnits);
      }
      if (wants('simulator')) await take(runSimulator(simulated, tenth, { all, record }, signal));
    };
    const onRealParts = async (): Promise<void> => {
      const dirs = await labs.then(
        (up) => up.map(({ dir }) => dir),
        (error: unknown) => {
          signal.throwIfAborted();
          print(String(error));
          outcomes.push({ ...nothing, title: 'labs', seconds: 0, failed: ['they do not come up'] });
          return [];
        },
      );
      if (wants('flows') && dirs.length > 0) {
        const ofFlows = await runFlows(flows, dirs, signal);
        outcomes.push(ofFlows);
        onEnd(flowProofs, ofFlows);
      }
      await stopLabs();
      if (!wants('long')) return;
      await take(runCheck('a tenth of the matrix on real parts', 'matrix', ['--sample', '10%', '--record'], signal));
      const chaos = ['--seed', String(seedOfDay()), '--minutes', '30', '--record'];
      await take(runCheck('30 minutes of chaos', 'chaos', chaos, signal));
    };
    await Promise.all([onTheMachine(), onRealParts()]);
    return outcomes;
  } catch (error) {
    failure.abort(error);
    throw error;
  } finally {
    await stopLabs();
  }
}

const checks = [
  ['format', 'format:check'],
  ['types', 'typecheck'],
  ['lint', 'lint'],
  ['layers', 'layers'],
  ['generated CRDs', 'crds:check'],
  ['reports of evidence', 'evidence', '--check'],
] as const;

/** The labs of the flows that do not break theirs: what is missing is built first, and says so. */
async function startLabs(root: string, signal: AbortSignal): Promise<Lab[]> {
  print('── labs: the real counterparts (the first time they are built, which takes a quarter of an hour)');
  const labs: Lab[] = [];
  try {
    // One after the other, so that nothing is built twice.
    for (let number = 1; number <= flowsAtOnce; number += 1)
      labs.push(await startLab({ dir: join(root, `lab-${number}`), report: print, signal }));
    return labs;
  } catch (error) {
    await Promise.all(labs.map((lab) => lab.stop()));
    throw error;
  }
}

// Forced, because a connection that a file left open must not hold the run when every test has ended.
const runFlows = (names: readonly string[], dirs: readonly string[], signal: AbortSignal): Promise<Outcome> =>
  runJest(
    {
      title: 'flows on the real counterparts',
      args: [
        '--selectProjects',
        'flows',
        `--maxWorkers=${flowsAtOnce}`,
        '--forceExit',
        '--runTestsByPath',
        ...names.map(fileOf),
      ],
      env: { DROVER_LABS: dirs.join() },
    },
    signal,
  );

/** What is sampled of the simulator's faults of outside calls, of kills with a task, and of runs with two faults. */
const sampled = { push: { fine: 220, pairs: 80 }, all: { fine: 3_000, pairs: 1_000 } };

async function runSimulator(
  names: readonly string[],
  tenth: readonly PartName[],
  { all, record }: Pick<Options, 'all' | 'record'>,
  signal: AbortSignal,
): Promise<Outcome[]> {
  const args = ['--selectProjects', 'flows', '--forceExit', '--runTestsByPath', ...names.map(fileOf)];
  const flows =
    names.length === 0
      ? []
      : [await runJest({ title: 'simulator: flows', args, env: { DROVER_SIMULATED: '1' }, background: true }, signal)];
  const seed = ['--seed', String(all ? seedOfDay() : sampleSeed)];
  const { fine, pairs } = sampled[all ? 'all' : 'push'];
  const light = tenth.length === 0 ? [] : ['--tenth', tenth.join(), '--tenth-seed', String(seedOfTree())];
  const kept = record ? ['--record'] : [];
  const faults = ['--fine', String(fine), '--pairs', String(pairs), ...seed, ...light, ...kept];
  // Enough of them are evidence.
  const minutes = ['--minutes', all ? '60' : '1', ...seed, ...(all && record ? ['--record'] : [])];
  return [
    ...flows,
    await runSimulated(titleOf(tenth), faults, signal),
    await runSimulated(`simulator: random schedules, ${all ? 'an hour' : 'a minute'}`, minutes, signal),
  ];
}

const titleOf = (tenth: readonly PartName[]): string =>
  ['simulator: every fault at every step', 'a sample of finer ones', 'the mutations']
    .join(', ')
    .concat(tenth.length === 0 ? '' : `; of ${tenth.join(', ')} a tenth, by seed ${seedOfTree()}`);

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

function recordWhole(
  outcomes: readonly Outcome[],
  startedMs: number,
  digestBefore: string,
  counts: Record<string, number>,
  failures: readonly string[],
): void {
  const stages = outcomes.map(({ title, seconds, passed, failed, took }) => ({
    title,
    seconds: Math.round(seconds),
    passed,
    failed: failed.length,
    took: took.map(({ what, seconds: its }) => `${what} ${its.toFixed(0)}`),
  }));
  const record = makeRecord({
    series: 'test-all',
    title: 'npm run test:all',
    seed: seedOfDay(),
    command: 'npm run test:all',
    startedMs,
    digestBefore,
    counts,
    failures: failures.map((what) => ({ what, complaints: [] })),
    details: { stages },
  });
  print(`written: ${saveRecord(record)}`);
}

const stagesOf = (text: string): StageName[] =>
  text.split(',').map((part) => {
    const found = stageNames.find((name) => name === part);
    if (found === undefined) throw new InvalidArgumentError(`Choose from ${stageNames.join(', ')}.`);
    return found;
  });

try {
  await new Command('test')
    .description('Runs the ladder of tests.')
    .option('--all', 'everything, and the long runs', false)
    .option('--record', 'keeps the results as evidence', false)
    .option('--changed <base>', 'what is concerned by the difference from a commit')
    .option('--only <stages>', stageNames.join(', '), stagesOf)
    .action(main)
    .parseAsync();
} catch (error) {
  process.exitCode = 1;
  print(`${(error as Error).stack}\n0 passed, 1 failed, 0 skipped`);
}
