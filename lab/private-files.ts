import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Makes the directory and its parents; it and only it gets mode 0700, also when it was there before. */
export function ensurePrivateDirectory(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  chmodSync(path, 0o700);
}

/** Writes a file of mode 0600 so that a reader sees the old text or the new one, never half of it. */
export function writePrivateFile(path: string, text: string, mode = 0o600): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = temporaryName(path);
  try {
    writeFileSync(temporary, text, { mode });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** Makes `path` a symbolic link to `target`, whatever it was before. */
export function replaceLink(path: string, target: string): void {
  const temporary = temporaryName(path);
  symlinkSync(target, temporary);
  renameSync(temporary, path);
}

function temporaryName(path: string): string {
  return `${path}.${randomBytes(6).toString('hex')}.tmp`;
}

export function writePrivateJson(path: string, value: unknown): void {
  writePrivateFile(path, `${JSON.stringify(value, null, 2)}\n`);
}

/** The text of a file, or undefined where there is none. */
export function readFileIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}

/** What is in a JSON file, or undefined where there is none. */
export function readJsonIfThere(path: string): unknown {
  const text = readFileIfThere(path);
  return text === undefined ? undefined : JSON.parse(text);
}
