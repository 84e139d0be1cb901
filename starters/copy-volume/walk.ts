import type { Stats } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';

import { bytesOf, under } from './paths.ts';

/** What is in a volume. */
export interface Entry {
  /** From the top, which is empty. */
  path: string;
  stats: Stats;
}

/** While the copy is under way it stands at the top of the target: what is there is that of an unfinished copy. */
export const marker = '.drover-copy-under-way';

/** At the top: made with a file system, and empty but for what its repair has found; and the marker. */
const ofTheVolume: readonly string[] = ['lost+found', marker];

/** Null: there is nothing of that name. */
export async function statsOf(path: string): Promise<Stats | null> {
  try {
    return await lstat(bytesOf(path));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Names in a directory, in order. */
export async function namesIn(top: string, path: string): Promise<string[]> {
  const names = await readdir(bytesOf(under(top, path)), { encoding: 'latin1' });
  return names.filter((name) => path !== '' || !ofTheVolume.includes(name)).sort();
}

/** All there is, each directory before what is in it. Links are not followed. */
export async function* walk(top: string, path = ''): AsyncGenerator<Entry> {
  const stats = await lstat(bytesOf(under(top, path)));
  yield { path, stats };
  if (!stats.isDirectory()) return;
  for (const name of await namesIn(top, path)) yield* walk(top, path === '' ? name : under(path, name));
}

export type EntryType = 'directory' | 'file' | 'link' | 'other';

export function typeOf(stats: Stats): EntryType {
  if (stats.isDirectory()) return 'directory';
  if (stats.isFile()) return 'file';
  return stats.isSymbolicLink() ? 'link' : 'other';
}
