import { LabError } from './lab-error.ts';
import type { LabContext } from './part.ts';

const MINUTE_MS = 60_000;

/** Programs that come from the distribution, because building them for a test would take too long. */
export interface DebianPrograms {
  /** What they are for, by its common name: `libvirt`. */
  readonly what: string;
  readonly packages: readonly string[];
  /** What is missing, as a program's name or a file's; empty when all is there. */
  readonly missing: () => readonly string[];
  /** How long installing usually takes. */
  readonly usually: string;
}

/** Debian's packages for the programs that are missing: what a user without root has to ask for. */
export const installCommand = (packages: readonly string[]): string =>
  `apt-get install --no-install-recommends ${packages.join(' ')}`;

/**
 * Makes sure that the programs are there: installs their packages where this process may.
 *
 * @throws LabError with the one command to run where it may not
 */
export async function ensureDebianPrograms(
  context: LabContext,
  { what, packages, missing, usually }: DebianPrograms,
): Promise<void> {
  if (missing().length === 0) return;
  const isRoot = process.getuid?.() === 0;
  if (!isRoot) throw new LabError(`${what} needs ${missing().join(', ')}; on Debian: sudo ${installCommand(packages)}`);
  await context.withLock('apt', async () => {
    if (missing().length === 0) return;
    const apt = (...args: string[]) =>
      context.exec({
        command: 'apt-get',
        args: ['-qq', '-o', 'DPkg::Lock::Timeout=300', ...args],
        env: { DEBIAN_FRONTEND: 'noninteractive' },
        timeoutMs: 10 * MINUTE_MS,
      });
    await context.step(`installing ${packages.join(', ')} from Debian`, usually, async () => {
      await apt('update');
      await apt('install', '--yes', '--no-install-recommends', ...packages);
    });
    if (missing().length > 0)
      throw new LabError(`${what} still needs ${missing().join(', ')} after ${installCommand(packages)}`);
  });
}
