import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { ProcessIdentity } from './part.ts';
import { identify, isAlive, signalIfSame, waitForEnd } from './process-identity.ts';

/**
 * The command under test is a Node program that starts `sleep` as a service of its run, as a plain child, and as a
 * service in a lab.
 */
let root: string;
let registry: string;
const programs: ChildProcess[] = [];
const started: ProcessIdentity[] = [];
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'drover-runs-')));
  registry = join(root, 'registry');
});
afterEach(() => {
  for (const program of programs.splice(0)) program.kill('SIGKILL');
  for (const identity of started.splice(0)) signalIfSame(identity, 'SIGKILL');
  rmSync(root, { recursive: true });
});

interface Running {
  program: ChildProcess;
  dir: string;
  /** What it started. */
  processes: ProcessIdentity[];
}

type Action = 'ends when interrupted' | 'does not end' | 'ends at once';

const urlOf = (file: string): string => JSON.stringify(new URL(file, import.meta.url).href);
const programText = (action: Action, lab: string | null, graceMs: number): string => `
  import { spawn } from 'node:child_process';
  import { join } from 'node:path';
  import { withRun } from ${urlOf('command-run.ts')};
  import { identify } from ${urlOf('process-identity.ts')};
  import { spawnService } from ${urlOf('processes.ts')};
  const sleep = { name: 'sleep', command: 'sleep', args: ['600'], ready: async () => true };
  const options = { command: 'npm run sample', registry: ${JSON.stringify(registry)}, report: console.error, graceMs: ${graceMs} };
  const lab = ${JSON.stringify(lab)};
  await withRun({ ...options, ...(lab !== null && { lab: { dir: lab, stops: [] } }) }, async ({ dir, signal }) => {
    const service = await spawnService(join(dir, 'lab', 'part'), sleep, signal);
    const inLab = lab === null ? [] : [await spawnService(join(lab, 'drover'), sleep, signal)];
    const child = spawn('sleep', ['600'], { stdio: 'ignore', detached: true });
    const pids = [service.pid, child.pid, ...inLab.map(({ pid }) => pid)];
    console.log(JSON.stringify({ dir, processes: pids.map((pid) => identify(pid)) }));
    if (${JSON.stringify(action)} === 'ends at once') return;
    setInterval(() => {}, 60_000);
    await new Promise((_, reject) => {
      if (${JSON.stringify(action)} === 'ends when interrupted') signal.addEventListener('abort', () => reject(signal.reason));
    });
  });`;

/** Runs it under a shell, as npm does, where `shell` says what that does. */
function runProgram(
  { action = 'ends when interrupted', lab = null as string | null, graceMs = 60_000 } = {},
  shell?: string,
): ChildProcess {
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e'];
  const code = programText(action as Action, lab, graceMs);
  const { npm_lifecycle_event: _, ...outer } = process.env;
  const options = { env: { ...outer, TMPDIR: root }, stdio: ['ignore', 'pipe', 'pipe'] as ['ignore', 'pipe', 'pipe'] };
  const program =
    shell === undefined
      ? spawn(process.execPath, [...args, code], options)
      : spawn('/bin/sh', ['-c', shell, process.execPath, ...args, code], {
          ...options,
          env: { ...options.env, npm_lifecycle_event: 'sample' },
        });
  programs.push(program);
  return program;
}

async function start(...how: Parameters<typeof runProgram>): Promise<Running> {
  const program = runProgram(...how);
  const [line] = (await once(program.stdout!, 'data')) as [Buffer];
  const { dir, processes } = JSON.parse(line.toString()) as Omit<Running, 'program'>;
  started.push(...processes);
  return { program, dir, processes };
}

const livingOf = ({ processes }: Running): boolean[] => processes.map(isAlive);
const recordsOf = (): string[] => readdirSync(registry).filter((file) => file.endsWith('.json'));

/** A command that ends at once; what it says of others. */
async function startNext(lab: string | null = null): Promise<string> {
  const program = runProgram({ action: 'ends at once', lab });
  program.stdout!.resume();
  return text(program.stderr!);
}

test.each<NodeJS.Signals>(['SIGINT', 'SIGTERM', 'SIGHUP'])(
  '%s stops all that was started and removes the directory',
  async (signal) => {
    const run = await start();
    expect(livingOf(run)).toEqual([true, true]);
    run.program.kill(signal);
    expect(await once(run.program, 'exit')).toEqual([130, null]);
    expect(livingOf(run)).toEqual([false, false]);
    expect([existsSync(run.dir), recordsOf()]).toEqual([false, []]);
  },
);

test('one Ctrl-C that arrives twice, as under npm, is one request', async () => {
  const run = await start();
  run.program.kill('SIGINT');
  run.program.kill('SIGINT');
  expect(await once(run.program, 'exit')).toEqual([130, null]);
  expect(livingOf(run)).toEqual([false, false]);
});

test('an action that does not end is not waited for beyond its grace', async () => {
  const run = await start({ action: 'does not end', graceMs: 200 });
  run.program.kill('SIGTERM');
  expect(await once(run.program, 'exit')).toEqual([130, null]);
  expect([livingOf(run), existsSync(run.dir)]).toEqual([[false, false], false]);
});

test('the end of npm, even by kill -9, is a request', async () => {
  const run = await start({}, '"$0" "$@" & wait');
  run.program.kill('SIGKILL');
  for (const identity of run.processes) expect(await waitForEnd(identity, 10_000)).toBe(true);
});

test('what ends by itself leaves nothing', async () => {
  const run = await start({ action: 'ends at once' });
  if (run.program.exitCode === null) await once(run.program, 'exit');
  expect(run.program.exitCode).toBe(0);
  expect([livingOf(run), existsSync(run.dir), recordsOf()]).toEqual([[false, false], false, []]);
});

test('after a kill -9 the next start stops the orphans, and leaves what belongs to a living run alone', async () => {
  const [killed, living] = await Promise.all([start(), start()]);
  killed.program.kill('SIGKILL');
  await once(killed.program, 'exit');
  expect([livingOf(killed), livingOf(living)]).toEqual([
    [true, true],
    [true, true],
  ]);

  expect(await startNext()).toBe(
    `stopping what npm run sample (process ${killed.program.pid}), which was killed, left behind\n`,
  );
  expect([livingOf(killed), existsSync(killed.dir)]).toEqual([[false, false], false]);
  expect([livingOf(living), existsSync(living.dir), recordsOf().length]).toEqual([[true, true], true, 1]);
  expect(await startNext()).toBe('');

  living.program.kill('SIGINT');
  expect(await once(living.program, 'exit')).toEqual([130, null]);
  expect(livingOf(living)).toEqual([false, false]);
});

test('a command that a killed one had started ends with it, and all that it had started', async () => {
  const outer = await start();
  const inner = await start({}, `DROVER_LAB_PROCESS=${outer.dir}/command TMPDIR=${outer.dir} exec "$0" "$@"`);
  const innerProgram = identify(inner.program.pid!)!;
  outer.program.kill('SIGKILL');
  await once(outer.program, 'exit');
  await startNext();
  expect(isAlive(innerProgram)).toBe(false);
  expect([...livingOf(outer), ...livingOf(inner), existsSync(inner.dir), recordsOf().length]).toEqual([
    ...Array<boolean>(4).fill(false),
    false,
    0,
  ]);
});

describe('a lab that outlives commands', () => {
  let lab: string;
  beforeEach(() => mkdirSync((lab = join(root, 'lab'))));

  test('is of one command at a time', async () => {
    const run = await start({ lab });
    expect(await startNext(lab)).toContain(`npm run sample (process ${run.program.pid}) uses the lab in ${lab}`);
    expect(livingOf(run)).toEqual([true, true, true]);
  });

  test('keeps its files when the command is killed; what the command ran in it is stopped', async () => {
    const run = await start({ lab });
    run.program.kill('SIGKILL');
    await once(run.program, 'exit');
    await startNext();
    expect([livingOf(run), existsSync(join(lab, 'drover', 'log'))]).toEqual([[false, false, false], true]);
  });
});
