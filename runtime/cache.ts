import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, relative, resolve } from 'node:path';

/**
 * Where what is built lands: `$DROVER_CACHE`, else `$XDG_CACHE_HOME/drover`, else `~/.cache/drover`. Outside every
 * checkout, so that a second clone starts in seconds.
 */
export function cacheDirectory(env: NodeJS.ProcessEnv = process.env): string {
  if (env['DROVER_CACHE']) return resolve(env['DROVER_CACHE']);
  return join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'drover');
}

/** The files below a folder, relative to it, sorted. */
export function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => relative(folder, path))
    .sort();
}

/**
 * A name for what is built from a folder, or several, with certain settings: 16 hexadecimal digits over the names and
 * the contents of their files and over the settings. Where the folders lie does not matter.
 */
export function contentKey(folders: string | readonly string[], settings: readonly string[]): string {
  const hash = createHash('sha256');
  const add = (text: string | Buffer) => hash.update(`${Buffer.byteLength(text)}:`).update(text);
  for (const setting of settings) add(setting);
  for (const folder of [folders].flat()) {
    for (const file of filesBelow(folder)) {
      add(file);
      add(readFileSync(join(folder, file)));
    }
  }
  return hash.digest('hex').slice(0, 16);
}
