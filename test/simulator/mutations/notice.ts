import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/**
 * What is noticed where the named mutation has broken something.
 * @param mutant the program that breaks it, in a process of its own
 */
export async function noticedBy(mutant: URL, name: string): Promise<unknown> {
  const { stdout } = await execute(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', fileURLToPath(mutant), name],
    { timeout: 100_000 },
  );
  return JSON.parse(stdout) as unknown;
}
