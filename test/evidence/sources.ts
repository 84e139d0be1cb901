import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, matchesGlob, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * The sources that evidence is about, as git tracks them: a file that is not added yet does not count. Outside of a
 * checkout all files do.
 */

export const checkout = fileURLToPath(new URL('../..', import.meta.url));

/** @throws outside of a checkout, or where git refuses */
export function git(args: readonly string[], env: Readonly<Record<string, string>> = {}): string {
  // A clean checkout may belong to another user.
  return execFileSync('git', ['-c', 'safe.directory=*', ...args], {
    cwd: checkout,
    encoding: 'utf8',
    timeout: 60_000,
    maxBuffer: 64 * 2 ** 20,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
}

/** Globs as git takes them; one with `!` excludes. */
export const pathspecs = (globs: readonly string[]): string[] =>
  globs.map((glob) => (glob.startsWith('!') ? `:(exclude,glob)${glob.slice(1)}` : `:(glob)${glob}`));

const lines = (text: string): string[] => text.split('\0').filter((line) => line !== '');

/** Git's id of a file's content. Pure. */
const blobOf = (content: Buffer): string =>
  createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');

/** Paths and content ids of an index: `mode id stage<tab>path`. */
function readIndex(globs: readonly string[], env: Readonly<Record<string, string>> = {}): Map<string, string> {
  const entries = lines(git(['ls-files', '-s', '-z', '--', ...pathspecs(globs)], env));
  return new Map(entries.map((entry) => [entry.slice(entry.indexOf('\t') + 1), entry.split(' ')[1] ?? '']));
}

/** Of paths and content ids, in whatever order. Pure. */
export function digestOf(files: ReadonlyMap<string, string>): string {
  const hash = createHash('sha256');
  for (const [path, id] of [...files].toSorted(([a], [b]) => (a < b ? -1 : 1))) hash.update(`${path}\0${id}\n`);
  return `sha256:${hash.digest('hex')}`;
}

export const isCheckout = existsSync(join(checkout, '.git'));

/** Of the tracked files as they are on disk now. @throws where the globs name no file */
export function digestNow(globs: readonly string[]): string {
  const files = isCheckout
    ? readWorkTree(globs)
    : new Map(selectFiles(listFiles(), globs).map((path) => [path, blobOf(readFileSync(join(checkout, path)))]));
  if (files.size === 0) throw new Error(`${globs.join(', ')} name no tracked file`);
  return digestOf(files);
}

function readWorkTree(globs: readonly string[]): Map<string, string> {
  const files = readIndex(globs);
  const listed = (how: string): string[] => lines(git(['ls-files', how, '-z', '--', ...pathspecs(globs)]));
  const deleted = new Set(listed('-d'));
  for (const path of listed('-m')) {
    if (deleted.has(path)) files.delete(path);
    else files.set(path, blobOf(readFileSync(join(checkout, path))));
  }
  return files;
}

/** What lies in the folder of the sources, where there is no git to say what belongs to them. */
const listFiles = (): string[] =>
  globSync('**', {
    cwd: checkout,
    withFileTypes: true,
    exclude: ({ name }) => ['node_modules', '.lab', 'test-results'].includes(name),
  })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(checkout, join(entry.parentPath, entry.name)));

/** The same paths that git takes for these globs. Pure. */
export function selectFiles(paths: readonly string[], globs: readonly string[]): string[] {
  const [wanted, excluded] = [
    globs.filter((glob) => !glob.startsWith('!')),
    globs.filter((glob) => glob.startsWith('!')).map((glob) => glob.slice(1)),
  ];
  const matches = (path: string, some: readonly string[]): boolean => some.some((glob) => matchesGlob(path, glob));
  return paths.filter((path) => matches(path, wanted) && !matches(path, excluded));
}

/** The same of a commit; null where it is not in this checkout's history. */
export function digestAt(commit: string, globs: readonly string[]): string | null {
  if (!hasCommit(commit)) return null;
  const dir = mkdtempSync(join(tmpdir(), 'drover-index-'));
  try {
    const env = { GIT_INDEX_FILE: join(dir, 'index') };
    git(['read-tree', commit], env);
    return digestOf(readIndex(globs, env));
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** How many of the files are others than in that commit; null where it is not in this checkout's history. */
export function countChanged(commit: string, globs: readonly string[]): number | null {
  if (!hasCommit(commit)) return null;
  return lines(git(['diff', '--name-only', '-z', '--no-renames', commit, '--', ...pathspecs(globs)])).length;
}

export function hasCommit(commit: string): boolean {
  try {
    git(['cat-file', '-e', `${commit}^{commit}`]);
    return true;
  } catch {
    return false;
  }
}

/** Ten digits, and whether any of these files differs from it. */
export function readCommit(globs: readonly string[]): { commit: string; changed: boolean | 'unknown' } {
  if (!isCheckout) return { commit: 'unknown', changed: 'unknown' };
  return {
    commit: git(['rev-parse', '--short=10', 'HEAD']).trim(),
    changed: git(['status', '--porcelain', '--untracked-files=no', '--', ...pathspecs(globs)]).trim() !== '',
  };
}
