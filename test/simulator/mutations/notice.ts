import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** A mutant that tries again and again takes most of a minute of a processor that may be busy. */
export const mutantLimitMs = 1_800_000;

/**
 * What is noticed where the named mutation has broken something.
 * @param mutant the program that breaks it, in a process of its own
 */
export async function noticedBy(mutant: URL, name: string): Promise<unknown> {
  const { stdout } = await execute(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', fileURLToPath(mutant), name],
    { timeout: mutantLimitMs },
  );
  return JSON.parse(stdout) as unknown;
}
