import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LabError } from './lab-error.ts';
import type { LabContext } from './part.ts';
import { ensurePrivateDirectory } from './private-files.ts';

const MINUTE_MS = 60_000;
/** The system's own first: it is the one whose venv package the user has installed. */
const PYTHONS = ['python3', 'python3.13', 'python3.12', 'python3.11'];
/** Prints what a virtual environment belongs to: the version and the interpreter. Fails below 3.11. */
const IDENTIFY = 'import sys; assert sys.version_info >= (3, 11); print(sys.version, sys._base_executable)';

export interface VenvSpec {
  /** Begins its name in the cache: `openstack`. */
  readonly name: string;
  /** What is installed, as it is shown: `'Keystone, Placement and Nova'`. */
  readonly what: string;
  /** Everything that is needed, frozen: it is installed with --no-deps. */
  readonly lockFile: string;
  /** How long installing usually takes. */
  readonly usually: string;
}

/**
 * A virtual environment exactly as its lock file says. It is made in the cache under its final name, because its
 * programs carry their own path, and is complete only with its stamp.
 */
export async function ensureVenv(context: LabContext, { name, what, lockFile, usually }: VenvSpec): Promise<string> {
  const python = await findPython(context);
  const key = createHash('sha256').update(python.identity).update(readFileSync(lockFile)).digest('hex').slice(0, 16);
  const venv = join(context.cacheDir, `${name}-venv-${key}`);
  const complete = join(venv, '.complete');
  if (existsSync(complete)) return venv;
  return context.withLock(`${name}-venv-${key}`, async () => {
    if (existsSync(complete)) return venv;
    await requireVenvModule(context, python.command);
    rmSync(venv, { recursive: true, force: true });
    ensurePrivateDirectory(venv);
    const logFile = cacheLog(context, `${name}-venv`);
    await context.step(`installing ${what} from PyPI, log in ${logFile}`, usually, async () => {
      await context.exec({ command: python.command, args: ['-m', 'venv', venv], timeoutMs: 2 * MINUTE_MS, logFile });
      await context.exec({
        command: join(venv, 'bin', 'pip'),
        // The lock file is complete, so nothing is left to be resolved.
        args: [
          'install',
          '--quiet',
          '--no-input',
          '--disable-pip-version-check',
          '--no-deps',
          '--requirement',
          lockFile,
        ],
        timeoutMs: 20 * MINUTE_MS,
        logFile,
      });
    });
    writeFileSync(complete, '');
    return venv;
  });
}

/** Where a command that fills the cache writes what it prints. */
export function cacheLog(context: Pick<LabContext, 'cacheDir'>, name: string): string {
  const folder = join(context.cacheDir, 'log');
  ensurePrivateDirectory(folder);
  return join(folder, `${name}.log`);
}

async function findPython(context: LabContext): Promise<{ command: string; identity: string }> {
  for (const command of PYTHONS) {
    const identity = await context
      .exec({ command, args: ['-c', IDENTIFY], timeoutMs: MINUTE_MS })
      .catch(() => undefined);
    context.signal.throwIfAborted();
    if (identity !== undefined) return { command, identity };
  }
  throw new LabError(
    'Python 3.11 or newer is needed: install it with its venv module (Debian: apt-get install python3-venv).',
  );
}

async function requireVenvModule(context: LabContext, command: string): Promise<void> {
  await context.exec({ command, args: ['-c', 'import venv, ensurepip'], timeoutMs: MINUTE_MS }).catch(() => {
    context.signal.throwIfAborted();
    throw new LabError(`${command} has no venv module: install it (Debian: apt-get install python3-venv).`);
  });
}
