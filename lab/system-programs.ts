import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Where daemons are, which is not on every user's PATH. */
const SYSTEM_FOLDERS = ['/usr/sbin', '/usr/bin', '/sbin', '/bin'];

const find = (name: string): string | undefined =>
  [...(process.env['PATH'] ?? '').split(delimiter), ...SYSTEM_FOLDERS]
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, name))
    .find((path) => isThere(path, constants.X_OK));

/** The path of a program of the system; its bare name where it is missing. */
export const systemProgram = (name: string): string => find(name) ?? name;

/** Those that are missing, of programs by their names and of files by their absolute paths. */
export const missingPrograms = (...names: readonly string[]): string[] =>
  names.filter((name) => (name.startsWith('/') ? !isThere(name, constants.R_OK) : find(name) === undefined));

function isThere(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}
