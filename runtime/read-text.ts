import { readFile } from 'node:fs/promises';
import { droverFailure } from './failure.ts';
import { isError } from './is-error.ts';

/**
 * Reads a file that settings name: a certificate, a key, a password.
 * @throws what the system says; the signal's reason
 */
export type ReadText = (file: string, signal: AbortSignal) => Promise<string>;

export const readTextFile: ReadText = (file, signal) => readFile(file, { encoding: 'utf8', signal });

/**
 * @param what as the failure calls it
 * @throws InvalidConfiguration where the file cannot be read; the signal's reason
 */
export async function requireText(
  readText: ReadText,
  file: string,
  what: string,
  signal: AbortSignal,
): Promise<string> {
  try {
    return await readText(file, signal);
  } catch (error) {
    signal.throwIfAborted();
    throw droverFailure(
      'InvalidConfiguration',
      `${what} cannot be read: ${isError(error) ? error.message : String(error)}`,
    );
  }
}
