import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, matchesGlob, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openGraph, reach } from './imports.ts';

/**
 * The sources that evidence is about, as git tracks them: a file that is not added yet does not count. Outside of a
 * checkout all files do. They are named by globs:
 *
 * - `folder/**` selects;
 * - `>file.ts` selects whatever that file leads to, too (imports.ts);
 * - `|file.ts` selects a file where much comes together, and not what only it leads to;
 * - `!folder/**` leaves out, and what only it leads to.
 */

export const checkout = fileURLToPath(new URL('../..', import.meta.url));

/** @throws outside of a checkout, or where git refuses */
export function git(args: readonly string[]): string {
  // A clean checkout may belong to another user.
  return execFileSync('git', ['-c', 'safe.directory=*', ...args], {
    cwd: checkout,
    encoding: 'utf8',
    timeout: 60_000,
    maxBuffer: 64 * 2 ** 20,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/**
 * Globs as git takes them. It strips from all of them, from those that leave out too, the folder that all those share
 * that select, so that `!bin/**` leaves out everything below `lab`: the first one selects nothing, and shares none.
 */
export const pathspecs = (globs: readonly string[]): string[] => [
  ':(glob).shares-no-folder',
  ...withoutImports(globs).map((glob) => (glob.startsWith('!') ? `:(exclude,glob)${glob.slice(1)}` : `:(glob)${glob}`)),
];

const lines = (text: string): string[] => text.split('\0').filter((line) => line !== '');

const graph = openGraph(checkout);

/** The same selection in globs that only select and leave out, by the imports as they are on disk. */
export function withoutImports(globs: readonly string[]): string[] {
  const of = (mark: string): string[] => globs.filter((glob) => glob.startsWith(mark)).map((glob) => glob.slice(1));
  const [roots, seams, excluded] = [of('>'), of('|'), of('!')];
  const plain = globs.filter((glob) => !/^[>|]/u.test(glob));
  if (roots.length === 0) return [...plain, ...seams];
  const missing = [...roots, ...seams].filter((path) => !existsSync(join(checkout, path)));
  if (missing.length > 0) throw new Error(`${missing.join(', ')}: named as sources, and not there`);
  const isOut = matcherOf(excluded);
  const reached = reach(roots, graph, (path) => !seams.includes(path) && !isOut(path));
  // Git compares each path with each of them: what a folder selects already need not be named.
  const isIn = matcherOf(plain.filter(isFolder));
  return [...plain, ...seams, ...reached.filter((path) => !isOut(path) && !isIn(path)).toSorted()];
}

/** Git's id of a file's content. Pure. */
const blobOf = (content: Buffer): string =>
  createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');

/** Paths and content ids of an index: `mode id stage<tab>path`. */
function readIndex(globs: readonly string[]): Map<string, string> {
  const entries = lines(git(['ls-files', '-s', '-z', '--', ...pathspecs(globs)]));
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

const isFolder = (glob: string): boolean => /^[^!*]+\/\*\*$/u.test(glob);

/** Most globs are folders, and a comparison of their names costs a hundredth of a match. */
function matcherOf(globs: readonly string[]): (path: string) => boolean {
  const folders = globs.filter(isFolder).map((glob) => glob.slice(0, -2));
  const others = globs.filter((glob) => !isFolder(glob));
  return (path) => folders.some((folder) => path.startsWith(folder)) || others.some((glob) => matchesGlob(path, glob));
}

/** The same paths that git takes for these globs. Pure. */
export function selectFiles(paths: readonly string[], globs: readonly string[]): string[] {
  const all = withoutImports(globs);
  const wanted = all.filter((glob) => !glob.startsWith('!'));
  const excluded = all.filter((glob) => glob.startsWith('!')).map((glob) => glob.slice(1));
  const named = new Set(wanted);
  const isWanted = matcherOf(wanted.filter((glob) => glob.includes('*')));
  const isExcluded = matcherOf(excluded);
  return paths.filter((path) => (named.has(path) || isWanted(path)) && !isExcluded(path));
}

/** How many of the files are others than in that commit; null where it is not in this checkout's history. */
export function countChanged(commit: string, globs: readonly string[]): number | null {
  if (!hasCommit(commit)) return null;
  return lines(git(['diff', '--name-only', '-z', '--no-renames', commit, '--', ...pathspecs(globs)])).length;
}

/** How many of the tracked files that the globs name the other ones do not, of which some may name what is gone. */
export function countBeyond(globs: readonly string[], others: readonly string[]): number {
  const listed = (those: readonly string[]): string[] => lines(git(['ls-files', '-z', '--', ...pathspecs(those)]));
  const isThere = (glob: string): boolean => !/^[>|]/u.test(glob) || existsSync(join(checkout, glob.slice(1)));
  const known = new Set(listed(others.filter(isThere)));
  return listed(globs).filter((path) => !known.has(path)).length;
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

/** Decides a sample of what was proven before: the same for the same tree, another one with each commit. */
export const seedOfTree = (): number =>
  isCheckout ? Number.parseInt(git(['rev-parse', 'HEAD^{tree}']).slice(0, 8), 16) : 1;
