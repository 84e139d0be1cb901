/**
 * `npm test`: the whole ladder, one stage after the other, with a line for each. Ends with `N passed, N failed, N skipped` over all
 * stages; a skip that was not expected fails the run.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Lab } from '../lab/lab.ts';
import { startLab } from '../lab/lab.ts';

const checkout = fileURLToPath(new URL('..', import.meta.url));

/** Tests that may be skipped here, and why. Elsewhere than in CI a missing browser, Prometheus or package that only root may install is no reason to fail. */
const expectedSkips: readonly RegExp[] = process.env['CI'] === undefined ? [/^Web UI/, /^Prometheus/, /^libvirt/, /^Open vSwitch/, /^Ceph/] : [];

interface Counts {
  passed: number;
  failed: number;
  /** Full names. */
  skipped: string[];
  /** Full names of those that needed a second run. */
  retried: string[];
}

/** The part of jest's JSON report that counts. */
interface JestReport {
  numPassedTests: number;
  numFailedTests: number;
  numRuntimeErrorTestSuites: number;
  testResults: { assertionResults: { status: string; fullName: string; invocations?: number }[] }[];
}

const elapsed = (sinceMs: number): string => `${((Date.now() - sinceMs) / 1000).toFixed(0)} s`;

/** A check has one result: it passes or it fails. */
function check(title: string, script: string): Counts {
  const startedMs = Date.now();
  process.stdout.write(`── ${title}\n`);
  const { status } = spawnSync('npm', ['run', '--silent', script], { cwd: checkout, stdio: 'inherit' });
  process.stdout.write(`── ${title}: ${status === 0 ? 'ok' : 'FAILED'} in ${elapsed(startedMs)}\n\n`);
  return { passed: status === 0 ? 1 : 0, failed: status === 0 ? 0 : 1, skipped: [], retried: [] };
}

function jest(title: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Counts {
  const startedMs = Date.now();
  const reportDir = mkdtempSync(join(tmpdir(), 'drover-report-'));
  const report = join(reportDir, 'report.json');
  process.stdout.write(`── ${title}\n`);
  try {
    const command = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js'];
    const { status } = spawnSync(process.execPath, [...command, '--json', `--outputFile=${report}`, ...args], { cwd: checkout, env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'inherit'] });
    const { numPassedTests, numFailedTests, numRuntimeErrorTestSuites, testResults } = JSON.parse(readFileSync(report, 'utf8')) as JestReport;
    const all = testResults.flatMap(({ assertionResults }) => assertionResults);
    const names = (some: typeof all): string[] => some.map(({ fullName }) => fullName);
    const skipped = names(all.filter((one) => one.status === 'pending' || one.status === 'todo'));
    const retried = names(all.filter(({ invocations = 1 }) => invocations > 1));
    const failed = numFailedTests + numRuntimeErrorTestSuites;
    process.stdout.write(`── ${title}: ${status === 0 ? 'ok' : 'FAILED'} in ${elapsed(startedMs)}\n\n`);
    return { passed: numPassedTests, failed: status === 0 ? failed : Math.max(1, failed), skipped, retried };
  } finally {
    rmSync(reportDir, { recursive: true, force: true });
  }
}

/** How many flow files run side by side, each on a lab of its own. They wait more than they work. */
const flowsAtOnce = 2;

/** The labs of the flows that do not break theirs: what is missing is built first, and says so. */
async function withLabs(flows: (dirs: string[]) => Counts): Promise<Counts> {
  const dir = mkdtempSync(join(tmpdir(), 'drover-labs-'));
  process.stdout.write('── labs: the real counterparts (the first time they are built, which takes a quarter of an hour)\n');
  const labs: Lab[] = [];
  try {
    // One after the other, so that nothing is built twice.
    for (let number = 1; number <= flowsAtOnce; number += 1) {
      labs.push(await startLab({ dir: join(dir, String(number)), report: (line) => void process.stdout.write(`${line}\n`) }));
    }
    process.stdout.write('\n');
    return flows(labs.map((lab) => lab.dir));
  } finally {
    await Promise.all(labs.map((lab) => lab.stop()));
    rmSync(dir, { recursive: true, force: true });
  }
}

const startedMs = Date.now();
const stages: Counts[] = [
  check('types', 'typecheck'),
  check('lint', 'lint'),
  check('layers', 'layers'),
  check('generated CRDs', 'crds:check'),
  jest('unit tests', ['--selectProjects', 'unit', '--maxWorkers=100%']),
  // Forced, because a connection that a file left open must not hold the run when every test has ended.
  await withLabs((dirs) => jest('flows on the real counterparts', ['--selectProjects', 'flows', `--maxWorkers=${flowsAtOnce}`, '--forceExit'], { DROVER_LABS: dirs.join() })),
];

const sum = (count: (stage: Counts) => number): number => stages.reduce((total, stage) => total + count(stage), 0);
const skipped = stages.flatMap((stage) => stage.skipped);
const unexpected = skipped.filter((name) => !expectedSkips.some((expected) => expected.test(name)));
for (const name of skipped) process.stdout.write(`skipped: ${name}${unexpected.includes(name) ? ' (not expected)' : ''}\n`);
for (const name of stages.flatMap((stage) => stage.retried)) process.stdout.write(`run twice: ${name}\n`);
const failed = sum((stage) => stage.failed) + unexpected.length;
process.stdout.write(`npm test took ${elapsed(startedMs)}\n`);
process.stdout.write(`${sum((stage) => stage.passed)} passed, ${failed} failed, ${skipped.length} skipped\n`);
process.exitCode = failed === 0 ? 0 : 1;
