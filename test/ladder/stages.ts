import { existsSync, mkdtempSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JestReport, Outcome } from './outcome.ts';
import { readJestReport } from './outcome.ts';
import { readFileResults, resultsVariable } from './report-files.ts';
import type { Command } from './run-command.ts';
import { runCommand } from './run-command.ts';

/** The stages of the ladder: each runs a program and says what it came to. */

const print = (text: string): void => void process.stdout.write(text);

async function timed(title: string, run: () => Promise<Omit<Outcome, 'title' | 'seconds'>>): Promise<Outcome> {
  const startedMs = performance.now();
  print(`── ${title}\n`);
  const outcome = await run();
  const seconds = (performance.now() - startedMs) / 1_000;
  const verdict = outcome.failed.length === 0 ? `ok, ${outcome.passed} passed` : `${outcome.failed.length} FAILED`;
  print(`── ${title}: ${verdict} in ${seconds.toFixed(0)} s\n\n`);
  return { title, seconds, ...outcome };
}

export const nothing = { passed: 0, failed: [], skipped: [], retried: [], took: [] } as const;

export interface CheckStage {
  title: string;
  /** Of package.json, and its arguments. */
  script: string;
  args: readonly string[];
  background?: boolean;
  /** For one that takes long: what it prints is shown as it comes, not only where it fails. */
  isLong?: boolean;
}

/** A command with one result: it passes or it fails, and then says why. */
export const runCheck = (
  { title, script, args, background = false, isLong = false }: CheckStage,
  signal: AbortSignal,
): Promise<Outcome> =>
  timed(title, async () => {
    const { status, stdout, stderr } = await runCommand(
      { ...npmScript(script, args), background, showStdout: isLong, showStderr: isLong },
      signal,
    );
    if (status !== 0) print(`${stdout}${stderr}`);
    return {
      ...nothing,
      passed: status === 0 ? 1 : 0,
      failed: status === 0 ? [] : [`npm run ${[script, ...args].join(' ')}`],
    };
  });

const npmScript = (script: string, args: readonly string[]): Pick<Command, 'command' | 'args'> => ({
  command: 'npm',
  args: ['run', '--silent', script, ...(args.length > 0 ? ['--', ...args] : [])],
});

/** What `npm run simulate -- --json` prints at its end. */
interface Simulated {
  cells?: number;
  mutations?: number;
  schedules?: number;
  /** Schedules that there have to be. */
  least?: number;
  stories?: number;
  failed: number;
  failures?: readonly { cell: string }[];
}

/** A part of the simulator: it takes what others leave of the processors, as its time is its own. */
export const runSimulated = (title: string, args: readonly string[], signal: AbortSignal): Promise<Outcome> =>
  timed(title, async () => {
    const command = { ...npmScript('simulate', [...args, '--json']), background: true };
    const { status, stdout, stderr } = await runCommand(command, signal);
    const told: Simulated = readLastLine(stdout) ?? { failed: 1 };
    const { cells = 0, mutations = 0, schedules = 0, failed, failures } = told;
    if (status !== 0) print(`${stdout}${stderr}`);
    if (told.schedules !== undefined)
      print(`   ${schedules} schedules, of at least ${told.least}, and ${told.stories} stories\n`);
    const all = cells + mutations + schedules;
    const unnamed = failed > 0 || status !== 0 ? [`${Math.max(1, failed)} of ${all}, listed above`] : [];
    const names = failures?.map(({ cell }) => cell) ?? [];
    return { ...nothing, passed: Math.max(0, all - failed), failed: names.length > 0 ? names : unnamed };
  });

function readLastLine(text: string): Simulated | null {
  const line = text.trimEnd().split('\n').at(-1) ?? '';
  return line.startsWith('{') ? (JSON.parse(line) as Simulated) : null;
}

export interface JestStage {
  title: string;
  /** What jest is to run, and how. */
  args: readonly string[];
  env?: Readonly<Record<string, string>>;
  background?: boolean;
  /** Told whenever a file has ended, of all that have. */
  onFile?: ((soFar: Outcome) => void) | undefined;
}

const fileReporter = fileURLToPath(new URL('report-files.ts', import.meta.url));
export const jestArgs: readonly string[] = ['--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js'];

export const runJest = (
  { title, args, env = {}, background = false, onFile }: JestStage,
  signal: AbortSignal,
): Promise<Outcome> =>
  timed(title, async () => {
    const dir = mkdtempSync(join(tmpdir(), 'drover-report-'));
    const report = join(dir, 'report.json');
    const results = join(dir, 'files.jsonl');
    writeFileSync(results, '');
    const startedMs = performance.now();
    const seconds = (): number => (performance.now() - startedMs) / 1_000;
    const watcher =
      onFile &&
      watch(results, () => onFile({ title, seconds: seconds(), ...readJestReport(readFileResults(results)) }));
    const reporters = onFile === undefined ? [] : ['--reporters=default', `--reporters=${fileReporter}`];
    try {
      const { status } = await runCommand(
        {
          command: process.execPath,
          args: [...jestArgs, '--json', `--outputFile=${report}`, ...reporters, ...args],
          env: { ...env, [resultsVariable]: results },
          background,
          showStderr: true,
        },
        signal,
      );
      const outcome = existsSync(report)
        ? readJestReport(JSON.parse(readFileSync(report, 'utf8')) as JestReport)
        : nothing;
      return { ...outcome, failed: status !== 0 && outcome.failed.length === 0 ? ['jest itself'] : outcome.failed };
    } finally {
      watcher?.close();
      rmSync(dir, { recursive: true, force: true });
    }
  });
