import { join } from 'node:path';
import type { Lab } from '../../lab/lab.ts';
import { startLab } from '../../lab/lab.ts';
import { areas } from '../areas.ts';
import { series, type SeriesName, seriesNames } from '../evidence/series.ts';
import { seedOfTree } from '../evidence/sources.ts';
import { sampleSeed, seedOfDay } from '../seed.ts';
import type { Choice } from './choose.ts';
import type { Outcome } from './outcome.ts';
import { fileOf, flowProofs, type Proof, simulatedFlowProofs, suiteProofs } from './proofs.ts';
import { nothing, runCheck, runJest, runSimulated } from './stages.ts';

/** The rungs of the ladder, in two rows that are climbed side by side. */

export const rungs = ['checks', 'unit', 'simulator', 'schedules', 'flows', 'matrix', 'chaos'] as const;
export type Rung = (typeof rungs)[number];
/** Half an hour and more each: of the whole ladder alone, unless they are named. */
export const longRungs: readonly Rung[] = ['matrix', 'chaos'];

export interface Stage {
  rung: Rung;
  title: string;
  /** @param onFile told of the files that have ended so far, where each of them counts by itself */
  run: (signal: AbortSignal, onFile?: (soFar: Outcome) => void) => Promise<Outcome>;
  /** What of its files is evidence. */
  proofs?: readonly Proof[];
  /** What decides how it goes, as globs (test/evidence/sources.ts): of each thing that it shows. */
  sources: readonly (readonly string[])[];
}

export interface LadderOptions {
  /** Everything. */
  all: boolean;
  record: boolean;
}

const checks = [
  // Before a stage has been recorded, which writes the reports.
  ['reports of evidence', 'evidence', '--check'],
  ['format', 'format:check'],
  ['types', 'typecheck'],
  ['lint', 'lint'],
  ['layers', 'layers'],
  ['generated CRDs', 'crds:check'],
] as const;

const whole = series['test-all'].globs;
const globsOf = (isOfStage: (name: SeriesName) => boolean): (readonly string[])[] =>
  seriesNames.filter(isOfStage).map((name) => series[name].globs);

/** What has no lab, and takes what real parts leave of the processors, so that none is idle. */
export function stagesOnTheMachine(
  { simulated, unit, passed }: Choice,
  { all, record }: LadderOptions,
  background: boolean,
): Stage[] {
  const ofChecks: Stage[] = checks.map(([title, script, ...args]) => ({
    rung: 'checks',
    title,
    run: (signal) => runCheck({ title, script, args, background }, signal),
    sources: [whole],
  }));
  return [
    ...ofChecks,
    ...(unit === null ? [] : [unitStage(unit, all, background)]),
    ...simulatorStages(simulated, passed, { all, record }),
  ];
}

const unitStage = (chosen: readonly string[], all: boolean, background: boolean): Stage => {
  const title = 'unit tests';
  // A process that has loaded hundreds of modules anew for each file keeps them: another one takes its place.
  const args = ['--selectProjects', 'unit', '--maxWorkers=100%', '--workerIdleMemoryLimit=1500MB', ...chosen];
  const env = all ? { DROVER_FUZZ_RUNS: '10000' } : {};
  return {
    rung: 'unit',
    title,
    run: (signal) => runJest({ title, args, background, env }, signal),
    proofs: suiteProofs,
    // No unit test runs or reads one; that each has a row is asked of their names.
    sources: [[...whole, '!test/flows/*.test.ts']],
  };
};

/** What is sampled of the simulator's faults of outside calls, of kills with a task, and of runs with two faults. */
const sampled = { push: { fine: 220, pairs: 80 }, all: { fine: 3_000, pairs: 1_000 } };

function simulatorStages(names: readonly string[], passed: Choice['passed'], { all, record }: LadderOptions): Stage[] {
  const rung = 'simulator';
  const flows = 'simulator: flows';
  const jest = ['--selectProjects', 'flows', '--forceExit', '--runTestsByPath', ...names.map(fileOf)];
  const seed = ['--seed', String(all ? seedOfDay() : sampleSeed)];
  const { fine, pairs } = sampled[all ? 'all' : 'push'];
  const light = passed.length === 0 ? [] : ['--passed', passed.join(), '--passed-seed', String(seedOfTree())];
  const kept = record ? ['--record'] : [];
  const faults = ['--fine', String(fine), '--pairs', String(pairs), ...seed, ...light, ...kept];
  // Enough of them are evidence.
  const minutes = ['--minutes', all ? '60' : '1', ...seed, ...(all && record ? ['--record'] : [])];
  const matrix = ['simulator: every fault at every step', 'a sample of finer ones', 'the mutations']
    .join(', ')
    .concat(passed.length === 0 ? '' : `; of ${passed.join(', ')} a twentieth, by seed ${seedOfTree()}`);
  const schedules = `simulator: random schedules, ${all ? 'an hour' : 'a minute'} of a processor`;
  const ofFlows: Stage = {
    rung,
    title: flows,
    run: (signal) => runJest({ title: flows, args: jest, env: { DROVER_SIMULATED: '1' }, background: true }, signal),
    proofs: simulatedFlowProofs,
    sources: [series['suites-flows'].globs],
  };
  return [
    ...(names.length === 0 ? [] : [ofFlows]),
    {
      rung,
      title: matrix,
      run: (signal) => runSimulated(matrix, faults, signal),
      sources: globsOf((name) => name.startsWith('simulated-')),
    },
    {
      rung: 'schedules',
      title: schedules,
      run: (signal) => runSimulated(schedules, minutes, signal),
      sources: [series.simulation.globs],
    },
  ];
}

export interface RealParts {
  /** Of what is sampled in long runs. */
  seed: number;
  /** Where the labs of the flows lie. */
  dir: string;
  report: (line: string) => void;
}

/** What needs the real counterparts. Chaos and the matrix have labs of their own, which they break. */
export function stagesOnRealParts({ flows }: Pick<Choice, 'flows'>, where: RealParts): Stage[] {
  const seed = String(where.seed);
  const matrix = 'a tenth of the matrix on real parts';
  const chaos = '30 minutes of chaos';
  return [
    ...(flows.length === 0 ? [] : [flowStage(flows, where)]),
    {
      rung: 'matrix',
      title: matrix,
      run: (signal) =>
        runCheck(
          { title: matrix, script: 'matrix', args: ['--sample', '10%', '--seed', seed, '--record'], isLong: true },
          signal,
        ),
      sources: globsOf((name) => name.startsWith('matrix-')),
    },
    {
      rung: 'chaos',
      title: chaos,
      run: (signal) => {
        const args = ['--seed', seed, '--minutes', '30', '--record'];
        return runCheck({ title: chaos, script: 'chaos', args, isLong: true }, signal);
      },
      sources: [series.chaos.globs],
    },
  ];
}

/** How many flow files run side by side, each on a lab of its own. They wait more than they work. */
const flowsAtOnce = 2;

export const titleOfFlows = 'flows on the real counterparts';

/** What decides how a flow goes: all of drover, the lab, and what the file leads to. */
export const flowSources = (file: string): readonly string[] => [
  ...areas.all,
  ...['starters', 'bin', 'deploy', 'lab', 'test/fixtures', 'test/jest'].map((folder) => `${folder}/**`),
  'test/*.mjs',
  'package.json',
  'jest.config.mjs',
  'Dockerfile',
  'docker-compose.yml',
  'drover.example.yaml',
  `>${file}`,
];

const flowStage = (names: readonly string[], where: RealParts): Stage => {
  const title = titleOfFlows;
  // Forced, because a connection that a file left open must not hold the run when every test has ended.
  const args = ['--selectProjects', 'flows', `--maxWorkers=${flowsAtOnce}`, '--forceExit', '--runTestsByPath'];
  const run: Stage['run'] = async (signal, onFile) => {
    const labs: Lab[] = [];
    try {
      const problem = await startLabs(labs, where, signal);
      if (problem !== null) return { ...nothing, title, seconds: 0, failed: [problem] };
      const env = { DROVER_LABS: labs.map(({ dir }) => dir).join() };
      return await runJest({ title, args: [...args, ...names.map(fileOf)], env, onFile }, signal);
    } finally {
      // What the flows came to counts all the same; the next command stops what is left.
      await Promise.all(labs.map((lab) => lab.stop().catch((error: unknown) => where.report(String(error)))));
    }
  };
  return { rung: 'flows', title, run, proofs: flowProofs, sources: names.map((name) => flowSources(fileOf(name))) };
};

/**
 * The labs of the flows that do not break theirs: what is missing is built first, and says so.
 *
 * @param labs takes each as soon as it is up
 * @returns why they are not; null: they are
 */
async function startLabs(labs: Lab[], { dir, report }: RealParts, signal: AbortSignal): Promise<string | null> {
  report('── labs: the real counterparts (the first time they are built, which takes a quarter of an hour)');
  try {
    // One after the other, so that nothing is built twice.
    for (let number = 1; number <= flowsAtOnce; number += 1)
      labs.push(await startLab({ dir: join(dir, `lab-${number}`), report, signal }));
    return null;
  } catch (error) {
    signal.throwIfAborted();
    report(String(error));
    return 'the labs do not come up';
  }
}
