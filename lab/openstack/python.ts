import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LabError } from '../lab-error.ts';
import type { LabContext } from '../part.ts';
import { ensurePrivateDirectory } from '../private-files.ts';

const MINUTE_MS = 60_000;
/** The system's own first: it is the one whose venv package a person has installed. */
const PYTHONS = ['python3', 'python3.13', 'python3.12', 'python3.11'];
/** Prints what a virtual environment belongs to: the version and the interpreter. Fails below 3.11. */
const IDENTIFY = 'import sys; assert sys.version_info >= (3, 11); print(sys.version, sys._base_executable)';

export const sourceFolder = (context: Pick<LabContext, 'checkoutDir'>) => join(context.checkoutDir, 'lab', 'openstack');
export const lockFile = (context: Pick<LabContext, 'checkoutDir'>) => join(sourceFolder(context), 'requirements.lock.txt');

/**
 * The virtual environment with Keystone, Placement and Nova exactly as the lock file says. It is made in the cache under
 * its final name, because its programs carry their own path, and is complete only with its stamp.
 */
export async function ensureVenv(context: LabContext): Promise<string> {
  const python = await findPython(context);
  const key = createHash('sha256').update(python.identity).update(readFileSync(lockFile(context))).digest('hex').slice(0, 16);
  const venv = join(context.cacheDir, `openstack-venv-${key}`);
  const complete = join(venv, '.complete');
  if (existsSync(complete)) return venv;
  return context.withLock(`openstack-venv-${key}`, async () => {
    if (existsSync(complete)) return venv;
    await requireVenvModule(context, python.command);
    rmSync(venv, { recursive: true, force: true });
    ensurePrivateDirectory(venv);
    const logFile = cacheLog(context, 'openstack-venv');
    await context.step(`installing Keystone, Placement and Nova from PyPI, log in ${logFile}`, '1 min', async () => {
      await context.exec({ command: python.command, args: ['-m', 'venv', venv], timeoutMs: 2 * MINUTE_MS, logFile });
      await context.exec({
        command: join(venv, 'bin', 'pip'),
        // The lock file is complete, so nothing is left to be resolved.
        args: ['install', '--quiet', '--no-input', '--disable-pip-version-check', '--no-deps', '--requirement', lockFile(context)],
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

/** What modules of `controlplane` need in their environment, besides the virtual environment's Python. */
export function pythonEnvironment(context: Pick<LabContext, 'checkoutDir'>): Record<string, string> {
  return {
    PYTHONPATH: sourceFolder(context),
    PYTHONDONTWRITEBYTECODE: '1',
    PYTHONWARNINGS: 'ignore',
    OS_NOVA_DISABLE_EVENTLET_PATCHING: 'true',
  };
}

/** `-P`: nothing is imported from the directory that the command happens to be started in. */
export const pythonModule = (venv: string, name: string, ...args: readonly string[]) => ({
  command: join(venv, 'bin', 'python'),
  args: ['-P', '-m', `controlplane.${name}`, ...args],
});

async function findPython(context: LabContext): Promise<{ command: string; identity: string }> {
  for (const command of PYTHONS) {
    const identity = await context.exec({ command, args: ['-c', IDENTIFY], timeoutMs: MINUTE_MS }).catch(() => undefined);
    context.signal.throwIfAborted();
    if (identity !== undefined) return { command, identity };
  }
  throw new LabError('OpenStack needs Python 3.11 or newer: install it with its venv module (Debian: apt-get install python3-venv).');
}

async function requireVenvModule(context: LabContext, command: string): Promise<void> {
  await context.exec({ command, args: ['-c', 'import venv, ensurepip'], timeoutMs: MINUTE_MS }).catch(() => {
    context.signal.throwIfAborted();
    throw new LabError(`${command} has no venv module: install it (Debian: apt-get install python3-venv).`);
  });
}
