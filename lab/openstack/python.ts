import { join } from 'node:path';
import type { LabContext } from '../part.ts';
import { ensureVenv } from '../python.ts';

export const sourceFolder = (context: Pick<LabContext, 'checkoutDir'>) => join(context.checkoutDir, 'lab', 'openstack');
export const lockFile = (context: Pick<LabContext, 'checkoutDir'>) =>
  join(sourceFolder(context), 'requirements.lock.txt');

/** The virtual environment with Keystone, Placement and Nova. */
export const ensureOpenStackVenv = (context: LabContext): Promise<string> =>
  ensureVenv(context, {
    name: 'openstack',
    what: 'Keystone, Placement and Nova',
    lockFile: lockFile(context),
    usually: '1 min',
  });

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
